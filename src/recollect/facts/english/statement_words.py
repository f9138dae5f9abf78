"""The words by which statements are chosen: which verbs tell of a life, which only talk, which words say little.

See `words` for how lists are written.
"""

from __future__ import annotations

from recollect.facts.english.words import word_tuple

# Verbs and what stands before them

EMPTY_ADVERBS = word_tuple(
    """just also really actually finally recently even definitely totally honestly already basically literally
    truly simply absolutely certainly kinda kind_of sort_of lately currently now so super pretty seriously
    probably thankfully luckily fortunately unfortunately sadly"""
)
VERBS_IN_LY = word_tuple("reply apply supply rely fly multiply imply comply bully")
HELPERS = word_tuple("do does did am are was were have has had will")
ADVERBS_OF_HABIT = word_tuple(
    "always usually often sometimes never still mostly rarely normally generally regularly only"
)
POSSIBLE = frozenset(word_tuple("can could would should might may must shall ought cannot wanna gotta"))
PARTICIPLES = frozenset(
    word_tuple(
        """been done gone seen taken written known given grown begun become broken chosen driven eaten fallen
        forgotten gotten got ridden run sung spoken swum woken worn flown drunk thrown drawn frozen hidden risen
        shaken stolen torn come born"""
    )
)
PAST_PARTICIPLES = frozenset(
    word_tuple(
        """had used got made met found bought thought felt left kept lost told said held led learnt lent laid meant
        paid sat sent shot slept sold spent stood taught understood won built caught brought fought sought stuck
        hung dug fed fled swept struck swung"""
    )
)

AFTER_PAST_READ = word_tuple(
    """a an the this that these those my your his her about it some all both one two three four five six up through"""
)

# What stands before a statement

OPENING_WORDS = word_tuple(
    """hey hi hello hiya wow whoa woah oh ah aw aww hmm hm well so and but also plus then yeah yea yep yup yes no
    nope nah sure definitely absolutely totally exactly certainly indeed right true agreed cool great awesome
    nice amazing fantastic perfect sweet gotcha ok okay alright anyway anyways honestly actually basically
    luckily thankfully fortunately unfortunately sadly btw by_the_way fyi in_fact to_be_honest tbh as_for_me
    for_me personally for_sure of_course no_worries no_problem you_bet guess_what long_time_no_see thanks_a_lot
    thanks_so_much thanks thank_you thank_you_so_much congrats congratulations sorry recently lately sounds_good
    i_know i_mean you_know plus on_a_different_note on_another_note on_top_of_that speaking_of_which
    other_than_that besides_that meanwhile like_i_said as_i_said overall and_yeah yes_please apart_from_that
    otherwise this_time even_so still for_example for_instance turns_out it_turns_out since_we_last_spoke
    since_we_last_talked since_we_last_chatted since_our_last_chat the_other_day one_time"""
)

# Where a statement ends

SUBJECT_WORDS = word_tuple(
    """i we it he she they you that this there my our your his her their its these those everyone everybody nobody
    someone somebody people what who nothing everything"""
)
JOINTS = word_tuple("and but so yet or plus then")
SUBORDINATORS = word_tuple(
    """because 'cause cuz cos although though whereas which who whose where when whenever if unless so_that even_if
    even_though as_if as_though in_case how what why except especially particularly"""
)
JOINTS_OF_TIME = word_tuple("as since before after until till once while than")
CONDITION_LEADS = word_tuple("if unless whenever even_if what how why")
OPEN_ENDS = word_tuple(
    """i we especially particularly including such like as was were am is are have for with of about to at in on by
    from and or the a"""
)
LEADING_WORDS = word_tuple(
    """when after since before while as once because even_though although though during despite besides with without
    even_as"""
)
FACTIVE_JOINTS = frozenset(word_tuple("after when since because 'cause where while as though although"))
NOUNS_THAT_LEAD = word_tuple("part way moment point fact reason kind time day one idea feeling")
PHRASE_STARTS = word_tuple("and with to for in on at by from")
EXCLAMATIONS = word_tuple("wow yikes boy check_it_out check_this_out take_a_look look_at")
THOUGHTS_THEN = word_tuple(
    "thought felt knew realized realised hoped figured wondered wow wanted want need hope wonder wondering looking_for"
)
ASIDES = word_tuple("like_i_said as_i_said of_course for_example for_instance you_know unsurprisingly apparently")
WALKS = word_tuple("walk run jog gym work store school errands lunch dinner shopping church class practice bed home")
END_PHRASES = word_tuple(
    """speaking_of speaking_of_which though_it though too as_well at_all haha lol these_days again so_far for_sure
    to_be_honest of_course by_the_way btw and_stuff and_all or_something or_so you_know for_example for_instance
    probably as_usual as_always even now for_a_while for_a_while_now in_this_way this_way like_this like_that"""
)

TIME_WORDS = word_tuple(
    """just only back earlier later late early over during in on about around the a an one two three four five six
    few couple of past last this next every each other ago day days night nights week weeks weekend month months
    year years morning afternoon evening summer winter spring fall autumn yesterday today tonight tomorrow
    recently lately mon tues tue wed thurs thu fri sat sun"""
)
STRONG_TIME_WORDS = word_tuple(
    """day night week month year morning afternoon evening summer winter spring autumn yesterday today tonight
    tomorrow ago"""
)
BEFORE_TIME = word_tuple(
    "later on in at during over from by just back for about around almost nearly over earlier late the"
)
BEFORE_NO_TIME = word_tuple("like than as of with between and or such_as every each")
BEFORE_DAY = word_tuple("for later earlier late early just back about around almost nearly over")
PARTICLES = word_tuple("across into to at on in with from for out up through about by")
GLAD_WORDS = word_tuple("excited happy glad thrilled pleased proud stoked")
NO_NOUNS = word_tuple(
    "is was has had will the with in for on at to from by and or as after before when because so while during of too"
)
VAGUE_TIMES = word_tuple(
    "recently lately the_other_day a_while_ago a_while_back not_long_ago not_too_long_ago these_days nowadays earlier"
)

LONG_AGO = word_tuple(
    """used_to back_then way_back growing_up as_a_kid as_a_child when_i_was when_we_were childhood years_ago
    in_high_school in_college in_my_youth once_upon_a_time grew_up when_i_turned back_in"""
)

# Pointers: who or what is meant stands elsewhere

POINTERS = word_tuple("it this that these those them they their he she him his her hers its there here one ones such")
BEFORE_POINTER = word_tuple(
    """of with for to from in on at by about like love loved enjoy enjoyed do did doing done use used try tried
    make made get got see seen after before than and or need want keep kept"""
)
NOUNS_THAT_POINT = word_tuple(
    "idea process cause issue problem situation topic result results matter details tournament event magazine shelter"
)
YOU_WORDS = word_tuple("you your yours yourself u ur y'all you're you've you'd you'll")
TALK_WORDS = word_tuple(
    """chat chatting talk_soon pic pics photo photos picture pictures image screenshot link message question
    questions shots shot_of great_news good_news news_to_share recommendation recommendations suggestions suggestion"""
)

PASSING_WORDS = word_tuple(
    """right_now just_now at_the_moment atm today tonight this_morning this_afternoon this_evening for_now again
    temporarily at_present all_day"""
)
KIN_DOINGS = word_tuple(
    """expecting getting_married getting_divorced moving studying working training graduating retiring starting
    recovering fighting battling undergoing teaching learning visiting coming_to turning living renovating building"""
)
AFTER_LASTING_IS = word_tuple(
    """a an the my our about to called named from made based one two three four five all both such in on at part
    important special essential crucial vital key huge_for"""
)
THINGS_OF_THE_MOMENT = word_tuple(
    """meeting meetings call appointment exam deadline question questions problem problems issue issues idea ideas
    headache cold feeling look chance trouble doubt doubts time fun blast good great point bug error errors clue
    story stories no hunch sense"""
)

TROUBLES = word_tuple(
    "issue issues problem problems question questions trouble doubt doubts headache difficulty bug error game"
)

UNREAL_WORDS = word_tuple("would could might may should can must if whether maybe perhaps")
GROUPS = word_tuple("kids children people folks family team friends parents dogs cats pets others")
FAMILIAR_THINGS = word_tuple(
    """morning afternoon evening night neighborhood neighbourhood mall store shop subway bus train weekends weather
    backyard yard kitchen office trees people country chance time way same opportunity courage basics ropes elderly
    poor needy area town village local most best first"""
)
PERSON_NOUNS = word_tuple("kid children girl boy woman man guy lady teen people folks friend")
NEW_SEVERAL = word_tuple("some many several other the")

AFTER_RELATIVE = word_tuple("is was has had have will are were i we they he she my our the helped makes")
QUANTITIES = word_tuple("some several many a_few few more most all lots plenty enough")
AFTER_QUANTITY = word_tuple("from for in at on to with so left already too")

# Verbs that tell nothing of a life

THOUGHT_VERBS = word_tuple(
    """think thinks thought guess guessed hope hoped hoping wish wished wishing believe believed suppose supposed
    mean meant bet imagine imagined wonder wondered wondering know knew known understand understood agree agreed
    agreeing appreciate appreciated see seem seemed hear heard hearing feel felt feeling say said saying tell
    told telling ask asked asking thank thanked thanking apologize apologise promise promised swear admit recommend
    suggest remember remembered forget forgot forgotten care cared notice noticed realize realized realise
    realised figure figured doubt sense assume expect expected wanted worry worried worrying miss missed missing
    relate pray prayed dig mind guess wonder hate_to let look looking looked sound sounded sounds want_to_hear
    respect admire admired support_you need needed seen kidding joking saying doing sending showing checking
    sure glad thinking believing lol wanna gotta bet struggling stand deserve owe count check please got_to
    got_it got_you get_it get_that guessing dunno reckon dare mention mentioned referring suspect gather"""
)
POINTING_OBJECTS = word_tuple(
    """the that this these those it them him her how when what where who seeing hearing knowing having_you
    being_able your you their his its everything anything both watching_them reading_about learning_about all"""
)
FEELING_WORDS = word_tuple(
    """glad happy excited proud thankful grateful thrilled stoked pumped sorry sure curious amazed blessed honored
    honoured touched impressed surprised shocked sad upset tired exhausted stressed overwhelmed nervous anxious
    worried scared afraid relieved pleased delighted jealous bored hungry thirsty sleepy busy swamped fine good
    great well okay ok better bad alright here there back home ready all done free late early lost stuck
    confused hopeful hyped psyched eager down game all_ears speechless in_awe awestruck blown moved inspired
    humbled bummed disappointed frustrated torn annoyed angry mad lonely calm awake able unable aware certain
    positive optimistic confident right wrong serious kidding joking out_of not so too just very really super feeling
    doing looking hoping wondering thinking saying kind sort lucky_you with_you on_it in_love_with_it
    always_here so_happy so_glad fortunate lucky interested_in_hearing determined mesmerized mesmerised
    captivated stunned floored hooked beyond over_the_moon content comfortable sick cold hot wet full set open
    up alive concerned intrigued"""
)
EMPTY_DEEDS = word_tuple(
    """stay_calm stay_positive stay_strong stayed_calm stayed_positive did_some_research did_a_lot took_the_plunge
    had_no_idea weigh_the blessed_with_loads blessed_with_so made_it_to ended_up_laughing
    chasing_my_dreams keep_chasing keep_going keep_pushing"""
)
MORE_WORDS = word_tuple("longer farther further faster more harder better")
MOODS = word_tuple("surge rush boost sense feeling kick laugh vibe urge hunch")
OF_NOW_ONLY = word_tuple(
    """taking_a_break taking_the_time taking_time taking_it taking_things making_a_note making_sure making_progress
    making_a_difference making_a_real making_an_impact enjoying_the giving_my doing_my sticking_to_it trying_my_best"""
)
DOING_LATELY = frozenset(word_tuple("meaning noticing loving feeling"))
DOING_JUST_NOW = frozenset(
    word_tuple(
        """finding keeping staying hanging chilling relaxing resting heading waiting sitting standing watching
        listening eating drinking walking driving leaving coming taking_the_time getting running_late
        reaching_out hearing assuming leaning encountering debating guessing focusing relying starting adding
        loving deciding figuring arriving itching dying"""
    )
)
LASTING_STATES = word_tuple(
    """passionate_about interested_in into lucky_to_have_my lucky_to_have_a lucky_to_have_such blessed_to_have_my
    blessed_with fortunate_to_have_my dedicated_to committed_to able_to involved_in involved_with
    responsible_for good_at bad_at afraid_of scared_of terrified_of used_to new_to keen_on fascinated_by
    fascinated_with obsessed_with addicted_to diagnosed_with drawn_to trained_in trained_as based_in
    originally_from married engaged divorced single retired pregnant vegan vegetarian allergic_to a an the
    part_of one_of in_charge_of in_a on_a member_of a_member proud_of_my inspired_by friends_with
    best_friends in_touch self-employed working studying fluent_in terrible_at great_at hooked_on fond_of
    crazy_about certified in_talks_with in_the_process_of keen_to determined_to enrolled_in signed_up_for"""
)
WANT_TO_TALK = word_tuple(
    "hear see know say thank ask tell share show talk chat check let wish congratulate mention catch_up meet_up be"
)

WANT_TO_TALK_DOING = word_tuple("hearing seeing knowing chatting talking catching meeting sharing")

LIFE_VERBS = word_tuple(
    """become live adopt move open travel pursue study retire marry get_married volunteer settle emigrate learn visit
    explore improve work_on own start build raise get_stronger get_into get_better give join teach write run_a run_for
    buy create grow help inspire"""
)
WISHES = word_tuple(
    "open visit learn travel adopt move live_in live_on own start write build become study teach explore"
)
LIFE_EFFORTS = word_tuple(
    """eat lose save cut quit learn improve balance spend exercise live prioritize prioritise reduce recover grow
    write build cook bake paint garden"""
)
PLANNING_VERBS = word_tuple(
    "want wanted plan planning intend aim thinking considering looking hope hoping hoped meaning"
)
HARD_STEPS = word_tuple(
    """say_goodbye take_a_break quit sell move cancel leave give_up stop close postpone drop_out have_surgery rely learn
    relearn cut_back take_time_off"""
)
EXERCISES = word_tuple(
    "yoga pilates karate taekwondo judo kickboxing boxing aerobics crossfit zumba gymnastics ballet training"
)

# Verbs with which a sentence may begin that has no subject: "Just got back from Rome"

BEFORE_BARE = word_tuple("just recently finally also even have already")
BARE_PAST = word_tuple(
    """got went took made started finished visited joined moved attended signed volunteered organized organised
    celebrated adopted received bought completed launched passed failed graduated tried had met won lost read
    wrote painted planted built ran baked cooked spent found saw began picked hiked played watched participated
    helped gave landed quit sold created recorded practiced practised worked learned learnt traveled travelled"""
)
BARE_PROGRESSIVE = word_tuple(
    """planning_to planning_on planning_a working_on trying_to trying_out training_for preparing_for moving_to
    loving_my enjoying_my learning volunteering_at researching studying hoping_to saving_up"""
)
WE_ARE_DOING = word_tuple(
    """considering planning thinking moving adopting building expecting organizing organising hosting launching
    developing renovating training going getting having opening putting hosting"""
)

# Verbs with which something else than the speaker is told of

FINITE_VERBS = word_tuple(
    """is are was were has have had got loves love likes like enjoys enjoy lives live works work helps help makes
    make keeps keep means mean reminds remind motivates motivate inspires inspire gives give brings bring plays
    play goes go runs run wants want teaches teach supports support lets let shows show includes include takes
    take represents symbolizes consists starts gets get loved liked enjoyed matters matter calms calm relaxes relax
    refreshes energizes brightens brighten drives drive fuels fuel pushes push"""
)
EFFECT_VERBS = word_tuple("made gave helped brought taught kept inspired motivated")
SUBJECTS_THAT_POINT = word_tuple(
    """it this that these those the there he she they you your his her their its what which who how why when where
    if not so such all some any no one both each every everyone everything nothing something someone people
    others another here then now just only even maybe perhaps let sounds looks seems can could would should will
    may might do does did seeing hearing knowing imagining thinking talking looking is are was were has have had
    and or but because as in on at for to from with by of about thanks thank hope glad sorry a an really
    definitely truly honestly actually finally literally already still never always again"""
)
PASSING_ACTS = word_tuple("sat lay laid stood jumped slept woke smiled laughed barked purred stared waved cried")
FINDING_VERBS = word_tuple("found learned learnt noticed discovered realized realised heard read saw decided showed")

TURNING_POINTS = frozenset(word_tuple("graduated retired emigrated eloped"))
GOALS = word_tuple("goal aim purpose idea intention")
MATES = word_tuple("teammates classmates roommates workmates friends partners neighbours neighbors colleagues")

NOUN_ENDINGS = ("ing", "ship", "ness", "ment", "tion", "ity", "ism", "ics")

# Words that say little

THIN_WORDS = frozenset(
    word_tuple(
        """thing things stuff lot lots bit time times way ways day days good great nice awesome amazing cool fun
        best better really much many new some more most big little kind sort something anything everything
        someone people get got go going went make made do did done have had take took give gave come came be
        been feel start started keep know see try tried look find found want love like enjoy enjoyed think year
        week month today yesterday tomorrow weekend super special important wonderful fantastic incredible
        perfect definitely always never recently blast pretty real happy sure able help place part while moment
        moments world life back experience hard work reminder huge difference key long old first last next also
        still even every well many few couple home early late one two three four five six seven eight nine ten
        ton sore spot major trip trips event events win story stories friend tough crazy dream
        appointment book gains progress okay fine bad start hurdles kinds challenges personal tour weather young
        younger kid milestone distance upgrade making challenge activities group whole collection alright
        eventful accomplishment call frustrating keys wallet pushing flowing eventually managed country
        issue issues scare setback snag hurdle interesting learned learnt quiet adventure wild similar turnout
        hang hard impact together busy weekend night hour hours positive stay stays staying options situation
        amount memories bonding goals achieving putting getting ready having laughing ended meet met held opponents
        journey support voice connections incident unexpected believing
        attitude energy idea ideas effort efforts vibe vibes step steps plan plans them their they themself
        theirs is are was were has will would can could not begin determined continue continuing sometime
        someday"""
    )
)

# Categories

POSSESSION_VERBS = word_tuple("bought purchased own owned inherited adopted collect collected ordered")
WORK_WORDS = word_tuple(
    """job jobs company career business boss colleague colleagues coworker coworkers client clients promotion
    promoted startup employer office hired interview internship firm workplace salary campaign degree freelance
    freelancing manager coding programming software contract gig profession"""
)
HEALTH_WORDS = word_tuple(
    """doctor my_health their_health the_hospital in_hospital surgery injury injured hurt diagnosed ill illness therapy
    therapist medication allergy allergic asthma anxiety depression pain sprained broke_my weight diet sick healthy
    healthier treatment insomnia physical_therapy ankle knee vegan vegetarian gluten sober smoking"""
)
RELATION_WORDS = word_tuple(
    """married engaged dating girlfriend boyfriend fiance fiancee friends_with best_friend best_friends broke_up
    proposed divorced wife husband wedding anniversary"""
)
LIKING_VERBS = word_tuple("loves likes enjoys adores prefers cherishes treasures")
FOND_OF = word_tuple(
    """passionate_about interested_in into keen_on fond_of obsessed_with fascinated_by fascinated_with"""
)
AFTER_GOT = word_tuple("with about at for from call email offer deal")
PLACE_VERBS = word_tuple("live lived living moved moving grew relocated reside")

# Answers

ANSWERS_YES = word_tuple("yes yeah yep yup yea sure of_course i_do i_am i_have absolutely definitely indeed a_lot")
ANSWERS_NO = word_tuple("no nope nah not_really none never no_i_don't i_don't no,_i_do_not nothing")
BEFORE_ANSWER = word_tuple("well just only mostly mainly in at on from it's it_is that's to for as i'd_say oh um")
NO_VALUES = word_tuple(
    """please thanks thank_you hi hello hey hiya sup greetings well ok okay sorry maybe why
    what that this good great fine not_sure no_idea depends same hmm lol haha
    secret private guess anything everything all a_few many some lots and but"""
)
VAGUE_OBJECTS = word_tuple("other any different too as_well either more else it that this them those these")
ASKED_STATES = word_tuple("vegan vegetarian pescatarian diabetic married single retired left-handed")
