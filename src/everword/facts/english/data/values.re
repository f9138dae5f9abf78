# The values of facts, read from the words that follow a phrase such as "I live in".
[word]
    [\w'’&.+/-]+(?<!\.)|\S
[before_place]
    (?i)^(?:the\s(?:city|town|village|state)\sof\s|the\s)
[before_company]
    (?i)^(?:a\s(?:company|firm|startup|start-up)\s(?:called|named)\s|the\s)
[before_trade]
    (?i)^(?:an?|the|your|one\sof\sthe)\s
[between_things]
    \s*,\s*(?:and\s|or\s)?|\s+(?:and|or|as\swell\sas)\s+|\s*&\s*
[doing]
    \s*\w+ing\s\w
[kind_of]
    (?i)\s*(?!music)\w+(?:ic|ical)
[head_noun]
    (?i)(?<=\w)\s(?:music|songs|films|movies|novels|books|games)$
[of_several]
    (?i)\w\s(?:about|on|like|such\sas)\s\w
[points_elsewhere]
    (?i)\b{BEFORE_THINGS}\s(?:this|that|these|those)\b
# "polishing the trophy": which trophy stands elsewhere
[does_to_one]
    (?i)\w+ing\sthe\s(?!{KNOWN_TO_ALL}\b)[a-z]+
[thing_end]
    (?i)[.!?;:()…\n]|\s[–—-]+\s|\s{THING_CONJUNCTIONS THING_ADVERBS THING_TIMES THING_PRONOUNS}\b
    |,\s(?={AFTER_THING_COMMA}\b)
[lead]
    (?i)^(?:{THING_LEADS}\s+)+(?=\S)
[language_end]
    [.!?;:(]|\s{LANGUAGE_ENDS}\b
[named_animal]
    (?i)(?:an?\s|my\s|our\s|the\s)?(?:[\w-]+\s){0,2}?(\w+)(?:,)?\s(?:who\sis\s|which\sis\s)?(?:named|called
    |whose\sname\sis)\s(.+)$
[plain_animal]
    (?i)(?:(an?|one|my|our)|({NUMBERS_TO_SIX NUMBERS_TO_TEN}|\d{1,2}|several|some))
    \s(?:(?!for\b|of\b|about\b|with\b|on\b|in\b)[a-z-]+\s){0,2}?(\w+)(?=$|[.!?;:(]|\s{ANIMAL_ENDS}\b)
