"""The English words by which a sentence is seen to refer to something outside it.

Lists of words, no patterns: `references` reads a sentence once, word by word, and looks each word up. A word that is
not listed is taken for content, which loses a sentence now and then and never makes one clear that is not.
"""

from __future__ import annotations

from recollect.text.calendar_words import MONTHS, WEEKDAYS
from recollect.text.fact_words import PETS, RELATIONS, wordlist

# -- words that refer

PERSON_PRONOUNS = wordlist("he him his himself she her hers herself")
PLURAL_PRONOUNS = wordlist("they them their theirs themselves themself em")
THING_PRONOUNS = wordlist("it its itself")
HELPING = wordlist("help helps helped helping let lets inspire inspires encourage encourages")
DEMONSTRATIVES = wordlist("this that these those")
OWN_WORDS = wordlist("i me my mine myself we us our ours")
ADVISING = wordlist("recommend suggest advise")
SPEAKERS = wordlist("i we you my our your to if when since as while for in with by after once")
EVENT_VERBS = wordlist(
    """sold bought lost quit left finished won broke booked paid cancelled canceled signed ordered returned missed
    passed failed opened closed rented hired married divorced adopted donated"""
)
"""Verbs of what changes something for good: who says them tells something, whatever it happened to."""
SUBJECTS = wordlist("i we you he she it they there who")

# -- words that hang on another sentence

OPENERS = wordlist(
    """and but or nor so because cause cuz plus also too especially including instead otherwise therefore thus
    hence then besides still yet again likewise similarly alternatively conversely additionally furthermore
    moreover meanwhile however though afterwards consequently accordingly nevertheless nonetheless rather except
    yes no yeah yep yup nope nah sure maybe exactly definitely absolutely totally probably right true correct
    agreed indeed same such not neither none nothing everything me us him them whichever whereas than etc ditto
    only another others ones examples example"""
)
OPENING_PAIRS = wordlist(
    """as_for after_all after_that speaking_of in_turn in_addition of_course not_only even_though even_better
    as_well kind_of sort_of in_contrast by_contrast for_example for_instance that_said with_that on_top at_least
    as_such like_that even_so even_then even_more much_better all_of most_of some_of many_of just_a just_an
    just_some just_the by_doing in_doing in_the_meantime gonna_be"""
)
ANSWERED_BY = wordlist(
    """yes no yeah yep yup nope nah sure maybe exactly definitely absolutely totally probably both neither none
    nothing everything not mostly sometimes usually never always often since only about around"""
)
STRANDED = wordlist(
    """to do did does don didn doesn can could will would should might must am have has had so then same another
    others more some any few many several lots both since"""
)
# A step that leaves out what is done: "bake for 20 minutes".
COOKING = wordlist(
    "cook bake simmer boil fry roast grill serve stir mix chill refrigerate season garnish fold rest repeat"
)
AFTER_COOKING = wordlist("on for in at until with over and")
ADVERBS = wordlist("always still just currently now never also")
SEEMING = wordlist("sounds looks seems")
FAVOURITES = wordlist("favorite favorites favourite favourites fave faves")
ELLIPTIC = wordlist("else former latter aforementioned above-mentioned")
COMPARING = wordlist("one ones there here same such both another other more each some any") | ELLIPTIC | FAVOURITES

ASKING = wordlist(
    """who what when where why how which whose is are was were do does did can could will would should may might
    must has have had am isn aren doesn don didn"""
)

# -- words of courtesy: a sentence that begins so is said to the other person, and tells nothing

COURTESY = wordlist(
    """kudos congrats congratulations thanks thank thx cheers props hope hoping hopefully glad sorry wishing good
    great nice awesome amazing cool wow yay sounds sound looks look seems seem feels makes reminds bravo welcome
    hats hooray bye goodbye hello hi hey appreciate fantastic wonderful lovely perfect brilliant excellent
    beautiful gorgeous stunning interesting impressive proud best wonder love adore loving enjoy"""
)
COURTEOUS_PAIRS = wordlist(
    """keep_it keep_up keep_going keep_pushing keep_me keep_rocking keep_shining keep_doing keep_believing way_to
    take_care stay_safe stay_strong stay_positive stay_in see_you see_ya talk_to talk_soon talk_later catch_you
    well_done happy_to happy_for looking_forward can_'t_wait count_me let_me feel_free no_problem no_worries
    no_doubt don_'t_worry don_'t_be what_a what_an how_cool how_nice how_great how_lovely how_sweet how_exciting
    you_got you_rock you_deserve so_glad so_happy so_proud so_excited so_cool so_sorry really_glad really_happy
    really_proud really_appreciate be_sure i_agree i_bet i_appreciate i_hope i_wish i_understand i_see i_hear
    i_get i_knew i_apologize take_a check_out look_at catch_ya have_a have_an have_fun seeing_your speak_to
    really_looking so_looking fingers_crossed i_completely i_totally i_fully i_can_imagine i_'ll_keep i_'ll_let
    i_'ll_be_sure don_'t_forget don_'t_give never_give it_'s_okay it_'s_ok long_time_no i_'m_looking
    i_can_'t_wait i_'m_glad i_'m_happy_for i_can_send i_'m_sorry if_you_want if_you_need i_can_picture"""
)
# Anywhere in a sentence: it is said to the other person. Each by what is looked for first, which few sentences have.
COURTEOUS_PHRASES = {
    "you": (
        *("people like you", "friends like you", "someone like you", "you're so ", "lucky to have you"),
        *("keep you posted", "keep you updated"),
    ),
    "in awe": ("in awe",),
}
RESUMING = {"since we": ("since we last", "since we talked", "since we spoke", "since we chatted")}
# A wish or a proposal without a day: "let's", "I'd love to", "we should … sometime".
WISHES = wordlist("let_'s i_'d_love i_would_love we_'d_love we_would_love")
SOMETIME = wordlist("sometime someday together soon")
# What an assistant says of anything: "prices vary", "it depends".
GENERIC = wordlist("vary varies depend depends crucial essential key vital")
SENTIMENTS = wordlist(
    """hope wish appreciate glad proud thankful grateful bet sure believe happy sorry thank love admire excited
    impressed know knew agree curious rooting"""
)
SEEN = wordlist("see hear seeing hearing know knowing")
# What the other person said or showed: "your advice" is in a message before.
SAID_THINGS = wordlist(
    """words advice idea ideas suggestion suggestions tip tips point message photo photos pic pics picture pictures
    question questions explanation answer feedback recommendation recommendations list offer encouragement
    response kindness support help perspective insight insights story stories post comment concern concerns
    request"""
)

# -- what is named

DETERMINERS = wordlist(
    """a an my our your his her its their some any each every no many several few one two three four five six seven
    eight nine ten another which what whose"""
)
PERSONS = (
    wordlist(
        """woman man girl boy guy lady person kid child baby someone somebody anyone everyone everybody artist
        author actor actress singer writer player director president founder owner nurse student grandma grandpa
        mom mum dad pup puppy stranger veteran leader professor instructor guest client customer patient
        employee trainer vet pet character hero"""
    )
    | frozenset(RELATIONS)
    | PETS
)
GROUPS = wordlist(
    """people children kids men women family team group everyone everybody someone somebody anyone parents couple
    staff company crew band folks police friend partner person child kid audience class crowd community guests
    men women"""
)
# Groups that "it" never means.
PEOPLE = wordlist("people children kids men women family friends friend parents couple folks partner guests")
NOT_PLURAL = wordlist(
    """is was has does its his this us yes as always perhaps less these those towards across besides sometimes
    afterwards news thus unless whereas nowadays hers theirs ours yours lots plus goes makes takes gets"""
)
RELATIVE_TIMES = wordlist("last next this yesterday today tomorrow tonight every each")
TIMES = (
    wordlist(
        """week weekend month year morning afternoon evening night day spring summer autumn fall winter season time
        past coming last next quarter semester today tonight yesterday tomorrow decade century weeks months
        years days mornings evenings nights weekends holidays christmas easter halloween thanksgiving minute
        hour moment hours minutes moments times meantime"""
    )
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
)
# There is one of each for everybody.
UNIQUE = wordlist(
    """world earth sun moon sky sea internet web weather environment economy government news future past truth
    universe planet us uk usa poor homeless elderly outdoors north south east west"""
)
# There is one of each for the speaker, or which one does not matter; as a subject it does.
FAMILIAR = wordlist(
    """ocean beach coast police radio tv gym dentist doctor vet hospital bank pharmacy library cinema movies
    theater theatre park mall supermarket airport station bus train subway metro garden kitchen bathroom bedroom
    house city town country countryside wild mountains woods forest present public law end beginning start
    bottom top middle left right way road street shower phone computer floor ground air water rain snow wind
    kids children family dog cat guys office army navy military media market rest whole community neighborhood
    neighbourhood fridge oven freezer dishwasher car holidays spot hood board go lookout mood verge brink soil
    oil heat light lights wall walls table door window desk"""
)
# After "a" it names nothing that "it" could stand for: "make a point to visit it".
LIGHT = wordlist(
    """point bit lot chance try go while way blast break look shot ton few couple hand kind sort type part idea
    opportunity reason ride walk"""
)
ORDINALS = wordlist(
    """best worst most least first second third last next only latest greatest biggest smallest main key right
    wrong upcoming current early late one two three four five six seven more less better entire whole various
    usual ultimate same"""
)
# After a noun: what says which one is meant.
IDENTIFIERS = wordlist(
    """of for that which who whose where when why between about behind by against outside called named titled i we
    you he she they my our your each such"""
)
OWNERS = wordlist("my our your")
LOCATORS = wordlist("in at on near inside outside")
PREPOSITIONS = wordlist("on in up down over out from of at around near through behind about with to for")
BEFORE_EXISTENTIAL = wordlist("and but so or if because when where while that which as since though although than")
EXISTENTIAL = wordlist(
    "is are was were 's 're will would 'll has have had isn aren wasn weren must should could can might may seems"
)
# -- "that"

CLAUSE_VERBS = wordlist(
    """know knew known think thought say said says feel felt realize realized realise realised hope hoped believe
    believed mean means meant tell told show shows showed shown see saw find found learn learned learnt decide
    decided mention mentioned remember remembered notice noticed understand understood ensure ensures suggest
    suggests suggested recommend recommended agree agreed hear heard guess wish imagine assume note noted prove
    proved worry worried sure glad happy aware certain clear true proud afraid possible likely important such so
    now fact idea knowing thinking saying feeling realizing hoping believing meaning telling showing seeing
    finding learning ensuring suggesting remembering noticing requires require required confirm confirmed
    explain explained reminded remind reminds indicates indicate given provided considering excited sorry
    surprised"""
)
BEFORE_THAT = wordlist(
    """of about like with for to on at by from after before than do does did done doing is was are were can could
    would will all how why try tried use using via through around over into during since without behind in and
    but or if when because as love loved like liked enjoy enjoyed get got make made want wanted have had need
    take took keep kept buy bought read share shared capture visit start started 's 're not even just has having
    give gives gave makes"""
)
# -- "it" that stands for nothing

MODALS = wordlist("'ll will would 'd can could may might has must should")
BE_FORMS = MODALS | wordlist("'s is was isn wasn be been being seems seemed feels felt gets got became")
NO_JUDGEMENT = wordlist(
    """the my our your his her their what how like made helped given taken all about one going
    supposed meant expected scheduled designed set used known"""
)
EMPTY_VERBS = wordlist("takes took take happens")
WEATHER = wordlist("rains rained snows snowed")
AFTER_OUT = DETERMINERS | SUBJECTS | wordlist("that the")  # "it turns out that", and not "it turned out well"
EMPTY_ENDS = wordlist("to that how if being seeing having when what since knowing watching getting why where")
EMPTY_NOUNS = wordlist("pity shame pleasure joy honor honour challenge struggle relief blessing miracle mistake")
EMPTY_OBJECTS = wordlist("make makes made making find finds found finding think consider believe keep")
SMALL_WORDS = wordlist("kinda so very really also always just not too quite pretty more still often never super a such")

# -- around a word

AFTER_THOSE = wordlist("who with interested in of that which around")
AFTER_POINTING = BE_FORMS | wordlist("one way kind sort much stuff part")
AFTER_ONE = wordlist(
    """done in at for from on to too that which as and but or with yet before soon yesterday last this is was i you
    we"""
)
BEFORE_THE_ONE = wordlist(", ( - – — like than as is was not")
AFTER_SOME = wordlist("to for from and but too myself already")
OBJECTS = wordlist("it them him her that this these those")
BEFORE_PLAIN_ONE = wordlist("no any some every number")
BEFORE_NOUN = wordlist(
    """of by from about with for into in love loved like liked enjoy enjoyed started tried try bought made have had
    got need needs study studied learn learned learning play played playing doing do did use using eat drink
    read reading watch watched teach teaches practice"""
)
BEFORE_PLACE = wordlist("in at to near visit visited visiting from around")
BEFORE_VERB = SUBJECTS | wordlist("that which and to")
BEFORE_IS = SUBJECTS | wordlist("let that this what here how where when why everything something nothing")
AFTER_NAME = wordlist("'s is was has had will can said told")
AFTER_PLURAL = wordlist("a an are were can will had have may might could would should must do did of in for")
