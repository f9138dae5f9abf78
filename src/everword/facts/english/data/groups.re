# What lasts of what people say of themselves in a group: what they use, have, are, do by habit, plan, and steps of a life.
[lasting]
    (?i)^(?:{ADVERBS_OF_HABIT}\s)*(?:{GROUP_HABITS}\s|works?\s(?:as|at|for|in|from|with)\s
    |has\s(?:got\s)?(?:an?|two|three|four|five|six|\d+|both)\s(?!{GROUP_TRIFLES}\b)
    |has\s(?:always|never)\s\w|has\s(?:been\s(?:using|running|in|with|on|an?)|(?:only\s)?(?:used|run))\s
    |is\s(?:an?|{GROUP_STATES})\b|is\s(?:using|running)\s|is\son\s(?:an?\s)?\w*\d|is\sworking\s(?:as|at|for)\s|is\s\d+\syears
    |their\s(?!own\b)(?:\w+\s){1,2}(?:is\san?|has|does\snot\shave|runs|uses|lives|works)\s
    |(?:is\sgoing|is\splanning|plans|wants|hopes)\sto\s(?:try\sto\s)?{GROUP_PLANS}\b|{GROUP_STEPS}\b)
# What is of the moment, points at something, or is a command or output.
[passing]
    (?i)\b{GROUP_MOMENT}\b|\b(?:fail|freez|crash|click|reboot|install|boot)\w*|[/\\=|<>{}$#`~*@]|\s--?\w|https?:
    |\.(?:so|conf|deb|txt|py|sh|dll)\b|\.(?:iso|img)\b|[:;]-?[)(pPD]|\.\.|,\s(?:and|but|so)\b|\s{GROUP_OPEN_ENDS}$
    |\bso\s(?!far\b|much\b|many\b|long\b)\w|\baccording\sto\b|\binstead\b|^(?:is\s)?(?:runs?|running)\s{GROUP_PLACES}\b
    |^(?:is\s)?us(?:es|ing)\s(?:their\s\w+s$|an?\sprogram\b)|\b(?:such|scripts?|lines?\sfor|member\sof|actually|xd)\b|\b(?:whole|entire|very|own|same)$|^[^(]*\)
    |^has\s(?:never|always)\s(?:use|run|have|like|need|want|try)\b|\b(?:at\shand|the\s(?:\w+\s)?{GROUP_CHOICES}\s)
    |\b{GROUP_OATHS}\b|\bthey\s|\blive\s?{GROUP_MEDIA}\b|\b(\w{4,})\s(?:\w+\s)?\1\b|^\w+ing\s\w+ly$|^is\sa\s(?:bit|little|tad)\b
    |\b(?:stuff|luck)\b|^(?:has(?:\sgot)?|bought)\san?\s(?:[\w'’-]+\s){0,2}{GROUP_THINGS}(?:\swhich\s.*)?$
    |^(?:is\s)?(?:us(?:es|ing)|runs|running)\s(?:an?\s|the\s)?(?:\d+[\s-]?bit\s)?{GROUP_RELEASES}\d*$
# Another thought that goes on behind what is told: "and am trying", "and ssh is slow".
[goes_on]
    (?i),\sthemself$|,?\s{GROUP_JOINTS}\s(?:also\s|then\s|now\s|after\s.*|when\s.*
    |(?:(?:their|the|my)\s)?(?:\w+\s)?{GROUP_VERBS}\s).*$
# The value of a key that says something.
[bare_value]
    (?i)^[\w][\w .,'’+&-]{1,60}$
# Whom a line is said to.
[address]
    ^\s*@?[^\s:,]{1,40}(?:\s?:|,)\s+
# Whoever tells their own name says so: "Ann here: the manual is" is said to Ann.
[introduces]
    (?i)\bmy\s(?:\w+\s)?name\b|\bi(?:['’]?m|\sam)\b|\bcall(?:ed)?\sme\b
# Whoever tells of themselves says "I" or "my": "Yes, moved to it" is said of a package.
[of_oneself]
    (?i)\b{GROUP_OURSELVES}\b
# Where somebody else is from.
[of_relative]
    (?i)\bmy\s\w+\s(?:is|was|are|were|comes?)\s+(?:\w+\s)?from\b
