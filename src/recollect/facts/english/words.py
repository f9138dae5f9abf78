"""The words in the patterns of this package, one list a theme, and the functions that put lists into a pattern.

In a list, an underscore joins the words of a phrase. Words are tried in the order of the list: a phrase stands before a
shorter one it begins with. See docs/patterns.md for how to add a word or a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from recollect.text.calendar_words import MONTHS, WEEKDAYS


def word_tuple(text: str) -> tuple[str, ...]:
    """The words of a text, in order; an underscore joins the words of a phrase."""
    return tuple(word.replace("_", " ") for word in text.split())


def any_of(*lists: Iterable[str], space: str = r"\s") -> str:
    """A regular expression for any word of the lists, in their order. `space` is what matches a space in a phrase."""
    literals = [re.escape(word).replace(r"\ ", space) for words in lists for word in words]
    return f"(?:{'|'.join(literals)})"


def longest_first(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a list that has no order of its own, so that none hides a longer one."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


# Names of the calendar, as they are written in a sentence

MONTH_NAMES = tuple(map(str.capitalize, MONTHS))
WEEKDAY_NAMES = tuple(map(str.capitalize, WEEKDAYS))

# What is not stated: jokes, fiction, roles, texts to work on

SPEAKER_WORDS = word_tuple("i my me we our am is are")
JOKE_WORDS = word_tuple("lol lmao rofl obviously as_if apparently supposedly so-called not!")
SUPPOSING = word_tuple(
    "supposing suppose imagine pretend hypothetically what_if assume assuming say_i say_my picture_this according_to"
)
WORKS = word_tuple("novel story book film movie song poem article text form")
SCENES = word_tuple("game dream play series episode roleplay scenario letter email example")
PARTS_OF_WORKS = word_tuple("lyrics lyric hero character protagonist narrator sign quote")
ROLE_PLAY = word_tuple("you_are_now in_character fictional the_prompt")
TEXT_TASKS = word_tuple(
    """translate proofread rephrase paraphrase rewrite reword summarise summarize correct fix improve edit polish
    analyse analyze continue complete write compose draft generate classify repeat say type print output conjugate
    decline"""
)
TASK_TEXTS = word_tuple(
    """this that following below story poem sentence persona character song letter email essay bio into
    dialogue"""
)

# Questions

BEFORE_QUESTION = word_tuple("so and but or well ok okay hey hi hello please also then")
QUESTION_VERBS = word_tuple("is are am do does did can could should would will")
FIRST_QUESTION_VERBS = word_tuple("was were shall may has")
QUESTION_WORDS = word_tuple("what who which where when why how any")
FIRST_QUESTION_WORDS = word_tuple("whom whose")
LAST_QUESTION_WORDS = word_tuple("got know wanna want ever anything you")

# Short forms

BEFORE_NOT = word_tuple("is are was were do does did has have had would could should")
BEFORE_IS = word_tuple("name birthday job timezone email nickname colour color here who that it he she")

# Opening words, corrections, hedges

GREETINGS = word_tuple("hi hello hey hiya yo greetings howdy good_morning good_evening good_afternoon")
GREETED = word_tuple("there all everyone team again folks")
REMINDERS = word_tuple("note remember know keep_in_mind be_aware don't_forget do_not_forget")
INTENDING = word_tuple("should must have_to want_to wanted_to need_to forgot_to")
MENTIONING = word_tuple("mention say add tell_you let_you_know")
ANNOUNCEMENTS = word_tuple("you_should_know the_fact_is the_truth_is the_thing_is it's_true let_me_add")
INTERJECTIONS = word_tuple("oh ah um uh yes yeah yep sure ok okay right thanks thank_you cool great nice")
CONNECTIVES = word_tuple(
    "well so and but also anyway plus then now firstly first secondly second lastly finally note reminder important"
)
ASIDES = word_tuple(
    """btw by_the_way fyi honestly frankly basically for_the_record for_context for_reference as_i_said as_i_mentioned
    as_you_know as_you_said as_you_mentioned as_you_noted just_so_you_know in_fact to_be_honest tbh look listen you_see
    ps p.s. please generally personally usually"""
)
BEFORE_CORRECTION = word_tuple("oh ah well but and ok okay hey")
CORRECTIONS = word_tuple(
    """actually wait correction sorry scratch_that my_mistake my_bad i_meant_to_say i_meant i_mean_to_say i_mean
    that_is_wrong that_is_not_right that_is_incorrect not_quite update oops to_correct_myself to_correct_that in_fact
    i_misspoke"""
)
HEDGING_VERBS = word_tuple("think guess believe suppose reckon suspect feel_like")

# What others said, or only thought

SAYING = word_tuple(
    """said says saying told tells claim claims claimed heard wrote writes asked asks insist insists insisted
    mean_that means_that meant_that call_me calls_me called_me"""
)
THINKING = word_tuple(
    """think thinks thinking thought believe believes believed wonder wonders wondered wondering guess guesses guessed
    dreamt dreamed pretend pretends pretended pretending wish wishes wished hope hopes hoped assume assumes prefer_that
    sure_if sure_whether feel_as feel_like feels_as feels_like feeling_as feeling_like"""
)

# Where a clause ends and another begins

SUBJECTS = word_tuple(
    """i we my our he she they it you your his her their there this that these those the people everyone everybody
    nobody someone"""
)
ADVERBS_OF_CLAUSES = word_tuple("now also currently still just mostly really")
VERBS_OF_CLAUSES = word_tuple(
    """live lives work works speak speaks have has love loves hate hates enjoy enjoys prefer prefers dislike dislikes
    study studies grew moved am adore adores"""
)
VERBS_AFTER_AND = word_tuple("was were are is do does can use keep eat own never used_to started quit left")
BEFORE_TIME = word_tuple("in on at from until after before during next this every")
RELATIVE_WORDS = word_tuple("as when where which who whom whose that")
CONJUNCTIONS = word_tuple("but so because although though while whereas cos cuz since")
CONDITION_WORDS = word_tuple("if whether unless in_case as_though until_i once_i when_i before_i after_i till_i")
BEFORE_FIRST_TIME = word_tuple("since from as_of in until for")

# What holds only for a while

PASSING_TIMES = word_tuple(
    """right_now just_now at_the_moment atm lately today tonight this_morning this_afternoon this_evening this_weekend
    this_week this_month tomorrow for_now temporarily until_tomorrow next_week next_month next_year next_summer
    next_winter next_spring on_holiday on_vacation on_business"""
)
OCCASIONS = word_tuple("conference meeting trip visit weekend week few_days while day moment")

# People

RELATIVE_ADJECTIVES = word_tuple(
    "older younger elder little big best twin old new late eldest youngest oldest dear good close childhood"
)
SUBJECT_ADJECTIVES = word_tuple("middle lovely beloved first second only")
NOT_HERE = word_tuple(
    "Same Nothing Anyone Anything Right Over Up Down Out Back Not New Newbie Stuck Look Looky Come Sign Click"
)
PRONOUNS_NOT_NAMES = word_tuple(
    """The A An This That These Those There It He She They You Your His Her Their Its Everyone Everybody Nobody Someone
    Somebody People One I We My Our"""
)
PARTICLES_NOT_NAMES = word_tuple(
    """Who What When Where Why How If As In On At For To From With By And But So Or Not No Here Which While Because
    Since Although Though"""
)
QUANTITIES_NOT_NAMES = word_tuple("Some Most Many All Both Each Every Any None")
OPENERS_NOT_NAMES = word_tuple("Yes Please Thanks Hi Hello Hey Call Let God Life Love")
ADVERBS_NOT_NAMES = word_tuple(
    "Always Never Maybe Perhaps Then Now Also Originally Today Tomorrow Just Only Even Still"
)
NO_MENTION = word_tuple("if wish imagine called named")
FACT_HINTS = word_tuple("i im my me we our mine here always never stop keep call from_now")

# Verbs and what stands before them

MODALS = word_tuple(
    """would will might may could should shall must wish want wants wanted hope hopes plan plans need needs going_to
    about_to intend dream tried try seem seems wonder"""
)
BEFORE_PERFECT = word_tuple("also just always recently now already not never only lived been really")
PERFECT_VERBS = word_tuple(
    """been lived moved worked become spoken started changed stopped quit left turned relocated switched studied joined
    given retired got"""
)
AFTER_DO = word_tuple("not like love enjoy live work speak eat drink have hate prefer")
BE_FORMS = word_tuple("am are is be been being")
ADVERBS = word_tuple(
    """also still just now currently really actually always usually mostly generally absolutely totally recently
    presently definitely truly simply genuinely honestly mainly officially originally both all already basically
    personally especially particularly only long ever"""
)
DEGREES = word_tuple(
    """quite severely very deathly highly deeply extremely slightly mildly terribly strictly kind_of sort_of so"""
)
VERBS_WITH_S = word_tuple(
    """live work speak love like hate enjoy prefer keep eat use come own dislike adore reside follow drink"""
)
MOVED_WHERE = word_tuple("back over here house home away")
LIVE_WHERE = word_tuple("over here up down out")
FAN_DEGREES = word_tuple("big huge massive great real")
FOND_OF = word_tuple("fan_of fond_of into keen_on passionate_about crazy_about obsessed_with")
DISLIKING = word_tuple("hate dislike detest loathe can_not_stand can_not_bear")

# Values, and where they end

PRONOUN_FORMS = word_tuple("he she they ze xe it any ey fae")
ZONE_NAMES = word_tuple("UTC GMT CEST EEST BST IST JST AEST WET EET MSK SGT AKST HST NZST KST PKT")
NAMED_ZONES = word_tuple("Pacific Eastern Central Mountain")
NO_FAVOURITES = word_tuple(
    "thing things part parts way one ones time memory memories moment bit example option answer version line"
)
AFTER_CONTRAST = word_tuple("in at on to for a an")
AFTER_BUT_NOT = word_tuple("so very that too only when as")
COUNTRIES_WITH_THE = word_tuple("Nether US UK Phil Czech Baha Mald Unit")
NUMBERS_TO_SIX = word_tuple("two three four five six")
NUMBERS_TO_TEN = word_tuple("seven eight nine ten")
ALLERGY_DEGREES = word_tuple("severe bad mild serious slight strong")
TRAIT_ENDS = word_tuple("and but so by from with because since at in for who")
NAME_ENDS = word_tuple("and from here by_the_way btw nice your")
PREFERENCE_ENDS = word_tuple("because since when if but so for please in_the in_my in_general")
LANGUAGE_ENDS = word_tuple("but because so with at when since if whenever")
ANIMAL_ENDS = word_tuple("at and that who which but now in")
NO_LANGUAGE = word_tuple("with for to about at of out up from in")
NO_STUDIES = word_tuple("for hard abroad late here together today a")
RARELY = word_tuple("much often enough yet very")
THING_LEADS = word_tuple(
    "to both all_kinds_of all_sorts_of all_types_of any some eating drinking an a really most only also"
)
KNOWN_TO_ALL = word_tuple(
    """outdoors community beach ocean sea mountains mountain forest woods world city countryside stars sky piano guitar
    violin cello drums flute clarinet saxophone trumpet harp kids children family dogs cats gym arts internet news
    environment garden house lake river sun sunrise sunset snow rain park museum cinema theatre theater opera blues
    coast desert campfire hospital clinic zoo farm library church vet dentist doctor wife husband team government
    military army navy police year summer winter spring weekend holidays past future streets homeless"""
)
BEFORE_THINGS = word_tuple("to in of with at on for about from")
THING_CONJUNCTIONS = word_tuple(
    """but because since although though while when where which who so if as_it as_they as_well as_much especially
    that_is that_are"""
)
THING_ADVERBS = word_tuple(
    """in_general at_all too very_much a_lot a_bit much myself the_most best more_than more_then to_death btw by_the_way
    instead than_anything except only please thanks just really personally 'cause cause to_be_honest"""
)
THING_TIMES = word_tuple(
    """on_weekends every sometimes now these_days for_years for_breakfast for_lunch for_dinner after before during once
    twice"""
)
THING_PRONOUNS = word_tuple("i he she itself it they we you")
AFTER_THING_COMMA = word_tuple(
    "but so because which who especially not it they please thanks and_it and_they and_he and_she and_that"
)

# Instructions

BEFORE_ORDER = word_tuple(
    """please and also_please also oh but so okay ok hey btw by_the_way remember_to make_sure_to be_sure_to you_should
    you_must i_want_you_to i_would_like_you_to i_need_you_to can_you_please one_more_thing thanks"""
)
FOR_GOOD = word_tuple("from_now_on from_here_on in_the_future in_future going_forward every_time")
NOT_TO = word_tuple("do_not stop no_more avoid quit")
ORDERS = word_tuple(
    """answer reply respond write use call speak address include give show keep explain format cite ask remind translate
    start begin end finish add avoid make be tell provide send put sign quote talk say mention suggest recommend assume
    convert check apologise apologize refer treat summarise summarize list greet sound repeat mark round spell skip
    stick"""
)
REPLY_VERBS = word_tuple("answer reply respond write speak talk")
BEFORE_CALL_ME = word_tuple("you_can you_may you_could you_should just please everyone always")
AFTER_CALL_ME = word_tuple("please instead if from and for btw")
ASSISTANT_NAMES = word_tuple("assistant bot chatbot ai model")
ASSISTANT_WORDS = word_tuple(
    """you your yours yourself instruction instructions prompt prompts answer answers answered answering reply replies
    replied replying respond responds responded responding response responses"""
)
ANSWERS = word_tuple("answer answers replies response responses it things explanation explanations")
LENGTHS = word_tuple("short brief concise long detailed terse to_the_point crisp")
TONES = word_tuple("formal informal casual polite friendly serious professional humorous")
AFTER_TONE = word_tuple("tone language style way with_me")
FORMATS = word_tuple("bullet_point bullet_points markdown table tables plain_text heading headings")
JOINED_ORDERS = word_tuple("never always please call_me keep stop")
PLEASANTRIES = word_tuple("please thanks thank_you okay ok")
