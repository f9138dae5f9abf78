# Whether a clause is clear by itself: it speaks to nobody, supposes nothing, and names all it is about.
[unreal]
    \b{UNREAL_WORDS}\b
[unclear]
    (?i){TALK}|{SO_THAT}|{THEN}|{SOMETHING}|{CUT_SHORT}|{WHICH_ONE}
[TALK]
    \b{YOU_WORDS TALK_WORDS}\b
[SO_THAT]
    \b(?:so|such)\s(?:\w+\s){1,6}that\b
[THEN]
    \b(?:(?:since|by|until|before|after)\sthen|the\s(?:same|whole)\s\w+$|a\ssimilar|got\sthe\s\w+(?:$|\sand\b)
    |the\smain\s\w+(?!\s(?:of|in|at|for)\b)|(?<!for\s)the\s(?:first|second|last)\stime$)
[SOMETHING]
    (?<!,\s)\b(?:something|somewhere|somehow)\b
[CUT_SHORT]
    \b(?:the|a)\s{NOUNS_THAT_LEAD}$|\bgo-to$
[WHICH_ONE]
    \bthe\s{NOUNS_THAT_POINT}(?:$|,|\s(?:and|to|for|from|with)\b)
[pointer]
    (?i)\b{POINTERS}\b
[person]
    \b(?:{RELATIONS}|{PERSON_NOUNS})s?\b|(?<=\s)(?!I\b)[A-Z][a-z]+
[several]
    (?i)\b(?:{NEW_SEVERAL NUMBERS_TO_SIX}\s(?:[\w'’-]+\s){0,3}?\w+s\b|{GROUPS}\b)
[relative]
    (?i)\s(?:{AFTER_RELATIVE}|\w+s|\w+ed)\b
[new_thing]
    (?i)\ban?\s+\w{2,}
[this_time]
    (?i)\s{STRONG_TIME_WORDS WEEKDAYS MONTHS}
[those_who]
    (?i)\s(?:in\sneed|who|with|an?)\b
[one_of]
    (?i)\s(?:of(?!\smy\sown)|day|year|week|month|time|night)\b
[about]
    (?i)\b(?:about|of|from|with)\s$
[points_back]
    (?i)(?:\b{BEFORE_POINTER}|^\w+\s\w+)\s*$
