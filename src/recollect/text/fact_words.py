"""The words by which facts about people are recognised: relations, animals, diets, languages, trades.

Where a pattern alone would take anything for a fact ("I'm a …", "I have a …", "I speak …"), the word decides. A word
that is not listed is not found: that loses a fact and never adds a false one.
"""

from __future__ import annotations

import re

from recollect.text.calendar_words import MONTHS, WEEKDAYS
from recollect.text.lazy_patterns import lazy_pattern


def wordlist(text: str) -> frozenset[str]:
    """The words of a text, as a set; an underscore joins two into one entry."""
    return frozenset(word.strip().replace("_", " ") for word in text.split())


_SAME_RELATION = """
    mother: mom mum mama mommy mummy
    father: dad papa daddy
    boss: manager supervisor
    colleague: coworker co-worker workmate teammate
    child: kid baby
    friend: best_friend buddy mate bestie
    roommate: flatmate housemate
    grandmother: grandma granny nana
    grandfather: grandpa granddad
    fiancé: fiance
    fiancée: fiancee
    spouse:
    neighbour: neighbor
    mother-in-law:
    father-in-law:
    wife: husband: partner: girlfriend: boyfriend: ex: sister: brother: son: daughter: aunt: uncle: cousin: niece:
    nephew:
    grandson: granddaughter: stepmother: stepfather: stepson: stepdaughter: stepbrother: stepsister: twin: teacher:
    tutor:
    doctor: therapist: dentist: landlord: landlady: coach: mentor: sister-in-law: brother-in-law: godmother: godfather:
"""


def _relations() -> dict[str, str]:
    relations: dict[str, str] = {}
    for line in _SAME_RELATION.split("\n"):
        key = ""
        for word in line.split():
            key = word[:-1].replace("-", " ") if word.endswith(":") else key
            name = word.rstrip(":").replace("_", " ")
            relations |= dict.fromkeys((name, name.replace("-", " ")), key)
    return relations


RELATIONS = _relations()
"""Words for relations, and the key each is stored under."""

PETS = wordlist(
    """dog cat puppy kitten rabbit bunny hamster parrot budgie canary turtle tortoise horse pony goldfish fish
    snake lizard gecko ferret rat mouse gerbil hedgehog chinchilla cockatiel tarantula axolotl pug labrador
    poodle beagle bulldog corgi dachshund terrier husky greyhound chicken duck goat llama alpaca donkey
    iguana chameleon bird"""
)
_SPECIES = {"puppy": "dog", "kitten": "cat", "bunny": "rabbit"}
_IRREGULAR = {"mice": "mouse", "puppies": "puppy", "bunnies": "bunny", "ponies": "pony", "huskies": "husky"}


def species(word: str) -> str:
    """The animal a word means, in the singular; empty if it means none."""
    plain = word.casefold()
    plain = _IRREGULAR.get(plain, plain)
    if plain not in PETS:
        plain = plain.removesuffix("s")
    return _SPECIES.get(plain, plain) if plain in PETS else ""


DIETS = wordlist(
    """vegan vegetarian pescatarian pescetarian flexitarian fruitarian keto ketogenic paleo halal kosher
    gluten-free gluten_free dairy-free dairy_free sugar-free low-carb low_carb low-sodium lactose_intolerant
    lactose-intolerant gluten_intolerant gluten-intolerant plant-based plant_based raw_vegan coeliac celiac
    teetotal sober"""
)
FOODS = (
    "dairy|gluten|nuts|peanuts|sugar|caffeine|coffee|alcohol|lactose|milk|soy|eggs|wheat|shellfish|pork|beef|meat|fish"
    "|salt|cheese|spicy"
)
"""Foods of which "I can't have" states a lasting fact."""

CONDITIONS = wordlist(
    """asthma adhd add autism diabetes dyslexia dyscalculia epilepsy arthritis hypertension depression anxiety
    insomnia migraines migraine tinnitus eczema psoriasis hypothyroidism celiac_disease coeliac_disease
    crohn's_disease high_blood_pressure low_vision hearing_loss chronic_pain multiple_sclerosis lupus
    endometriosis fibromyalgia ptsd ocd ibs gout anaemia anemia vertigo sleep_apnea parkinson's scoliosis
    a_pacemaker a_heart_condition tourette's type_1_diabetes type_2_diabetes back_problems bad_knees
    a_bad_back"""
)
CONDITION_ADJECTIVES = wordlist(
    """diabetic asthmatic epileptic dyslexic colour-blind colourblind color-blind colorblind colour_blind
    color_blind blind deaf hard_of_hearing autistic neurodivergent left-handed left_handed paraplegic
    visually_impaired hearing-impaired wheelchair-bound immunocompromised dyspraxic short-sighted
    near-sighted"""
)

LANGUAGES = wordlist(
    """Afrikaans Albanian Amharic Arabic Armenian Azerbaijani Basque Belarusian Bengali Bosnian Bulgarian Burmese
    Cantonese Catalan Cebuano Chinese Croatian Czech Danish Dari Dutch English Esperanto Estonian Farsi
    Filipino Finnish Flemish French Frisian Gaelic Galician Georgian German Greek Gujarati Hausa Hawaiian
    Hebrew Hindi Hungarian Icelandic Igbo Indonesian Irish Italian Japanese Javanese Kannada Kazakh Khmer
    Kinyarwanda Korean Kurdish Lao Latin Latvian Lithuanian Luxembourgish Macedonian Malay Malayalam Maltese
    Mandarin Maori Marathi Mongolian Nepali Norwegian Oromo Pashto Persian Polish Portuguese Punjabi Quechua
    Romanian Romansh Russian Samoan Serbian Shona Sinhala Slovak Slovene Slovenian Somali Spanish Swahili
    Swedish Tagalog Tajik Tamil Tatar Telugu Thai Tibetan Tigrinya Turkish Twi Ukrainian Urdu Uzbek
    Vietnamese Welsh Wolof Xhosa Yiddish Yoruba Zulu"""
)
LANGUAGE = lazy_pattern(
    r"\b(?:(?:Brazilian|European|Mexican|Swiss|Austrian|British|American|simple|plain|easy)\s)?(?:"
    + "|".join(sorted(LANGUAGES))
    + r"|(?:ASL|BSL|(?:\w+\s)?sign\slanguage))\b",
    re.IGNORECASE,
)
PROGRAMMING = wordlist(
    """python rust haskell java javascript typescript go golang c c++ c# ruby php kotlin swift scala clojure elixir
    erlang ocaml f# perl lua r julia dart zig nim fortran cobol lisp scheme prolog"""
)

_TRADES = """
    accountant actor actress actuary administrator adviser advisor agent analyst anaesthetist apprentice archaeologist
    architect archivist artist assistant astronomer attorney auditor author baker bank_clerk banker barber barista
    barrister bartender beekeeper biologist blacksmith blogger bookkeeper botanist bricklayer broker builder butcher
    captain carer caretaker carpenter cashier chaplain chef chemist cleaner clerk coder composer conductor consultant
    contractor cook copywriter counsellor counselor courier curator dancer dentist designer detective developer
    dietitian diplomat director doctor driver ecologist economist editor educator electrician engineer entrepreneur
    estate_agent farmer filmmaker firefighter fisherman florist freelancer gardener geographer geologist goldsmith
    guard hairdresser historian housewife illustrator inspector instructor interpreter investor janitor jeweller
    journalist judge lab_technician landscaper lawyer lecturer librarian linguist lifeguard locksmith machinist magician
    manager mathematician mechanic midwife miner model musician neurologist nurse nutritionist officer optician
    paediatrician painter paralegal paramedic pastor pathologist pharmacist philosopher photographer physician physicist
    physiotherapist pianist pilot plumber podcaster poet policeman policewoman politician postman potter priest
    principal producer professor programmer psychiatrist psychologist publisher radiologist realtor receptionist
    recruiter reporter researcher restorer sailor salesman saleswoman scientist sculptor secretary seamstress
    seismologist singer social_worker soldier solicitor statistician stay-at-home_mum stay-at-home_dad stonemason
    streamer student supervisor surgeon surveyor sysadmin tailor tattooist teacher technician tester therapist trader
    trainee trainer translator tutor undertaker vet veterinarian videographer violinist waiter waitress warehouse_worker
    watchmaker weaver webmaster welder writer zoologist intern postdoc founder ceo cto cfo coordinator specialist
    strategist lead planner operator controller representative dba devops_engineer product_owner scrum_master
"""
TRADES = wordlist(_TRADES)
"""The last word, or the last two words, of the name of a trade."""

FEELINGS = wordlist(
    """afraid angry annoyed anxious ashamed awake aware back bad better bored busy calm careful certain cold
    confused curious cute dead delighted different done down drunk dumb early excited exhausted fine
    finished free fun glad good grateful great guilty happy here home hot hungry hurt impressed in insane
    interested jealous joking just kidding late lazy lonely lost lucky mad nervous new next nice not
    obviously off ok okay old on online open out over pleased proud quite ready really relieved right sad
    safe scared serious shocked sick sleepy so sorry special still stressed stuck stupid sure surprised
    sweet terrible thankful thirsty thrilled tired too torn totally trying unable unsure up upset used
    useless very wary well worried worse wrong yours going about all also always an a the at by but if it
    like my no none only that there this what with working looking having doing making getting thinking
    taking using team"""
)
"""Words after "I'm" that are no name, even with a capital."""

PLACES = wordlist(
    """amsterdam athens auckland austin australia austria baghdad bangkok bangladesh barcelona beijing belgium
    belgrade berlin bern birmingham bogota bordeaux boston brazil bristol brussels bucharest budapest
    buenos_aires cairo california canada cape_town caracas chicago chile china cologne colombia copenhagen
    croatia dallas delhi denmark denver dhaka dubai dublin edinburgh egypt england estonia ethiopia finland
    florence florida france frankfurt geneva georgia germany ghana glasgow greece hamburg hanoi helsinki
    hong_kong houston hungary iceland india indonesia iran iraq ireland israel istanbul italy jakarta japan
    jerusalem johannesburg karachi kenya kiev kolkata korea krakow kuala_lumpur kyiv kyoto lagos lahore
    latvia leeds lima lisbon lithuania liverpool london los_angeles lyon madrid malaysia manchester manila
    marseille melbourne mexico mexico_city miami milan montreal morocco moscow mumbai munich nairobi naples
    nepal netherlands new_delhi new_jersey new_york new_zealand nigeria norway nyc osaka oslo ottawa
    pakistan paris peru philadelphia philippines poland portland porto portugal prague quebec riga rio
    romania rome rotterdam russia saigon san_diego san_francisco santiago sao_paulo saudi_arabia scotland
    seattle senegal seoul serbia shanghai singapore slovakia slovenia sofia south_africa south_korea spain
    stockholm sweden switzerland sydney taipei taiwan tallinn tanzania tehran tel_aviv texas thailand tokyo
    toronto tunisia turin turkey uganda uk ukraine usa utrecht valencia vancouver venice venezuela vienna
    vietnam vilnius wales warsaw washington zagreb zurich"""
)
"""Places that are recognised without a capital letter."""
NO_PLACES = wordlist(
    """hope fear peace sin denial hell heaven poverty luxury harmony squalor pain exile isolation chaos silence
    darkness sweatpants pajamas pyjamas jeans constant mars narnia mordor hogwarts neverland gotham country
    city town village state suburbs countryside industry area house apartment flat middle same world farm
    boondocks southwest woods forest mountains desert dorm basement reality past future present moment
    general particular shock awe tears love"""
).union(MONTHS, WEEKDAYS)
DEMONYMS = wordlist(
    """american albanian algerian argentinian australian austrian belgian brazilian british bulgarian canadian
    chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian ethiopian filipino
    finnish french georgian german ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish
    israeli italian jamaican japanese jordanian kenyan korean latvian lebanese lithuanian malaysian maltese
    mexican moroccan nepalese nigerian norwegian pakistani peruvian polish portuguese romanian russian
    scottish senegalese serbian singaporean slovak slovenian spanish sudanese swedish swiss syrian taiwanese
    thai tunisian turkish ugandan ukrainian venezuelan vietnamese welsh"""
)
BELIEFS = wordlist(
    """christian catholic protestant muslim jewish hindu buddhist sikh atheist agnostic mormon european african
    asian latino latina hispanic arab libertarian republican democrat marxist gen"""
)
