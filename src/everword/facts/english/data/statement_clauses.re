# A sentence cut into clauses that may be statements: each with its own subject, without what depends on it.
# The speaker as the subject, alone, as "we", or with somebody else.
[speaker]
    (?i)(?:(?:(?=some\s(?:of\smy\s)?(?:friends|colleagues|cousins)\b)
    |(?!{SUBJECTS_THAT_POINT}\b|i\b|we\b))
    (?P<other>(?:[\w'’-]+\s){1,6}?)and\s(?=i\b))?(?:i|(?P<we>we))\s+(?=\w)(?!all\b|both\b)
[time_word]
    {TIME_WORDS MONTHS WEEKDAYS}
# A time before the subject: "last week, I".
[time_first]
    (?i)((?:(?:{time_word}|\d{1,4}(?:st|nd|rd|th)?),?\s+){1,6})(?=(?:i|we|my|our)\s)
[time_hint]
    (?i)\d|\b{STRONG_TIME_WORDS MONTHS WEEKDAYS}
[brackets]
    \[[^\[\]]{0,400}\]|\([^()]{0,200}\)
[subject]
    {SUBJECT_WORDS}\b
[time_lead]
    (?:just\s)?(?:yesterday|today|recently|lately|(?:last|this|next)\s\w+),?
[cut]
    (?i)(?P<broken>\s*…\s*)|(?P<main>,?\s+(?:and,?\s+)?{EXCLAMATIONS}\b,?\s*|\s*;\s*|,\s+but\s+|\s+[–—-]+\s+
    |(?<=\w)-\s+|\s*(?:--|—|–)\s*|:\s+
    |,?\s+{JOINTS}\s+(?:then\s+|also\s+|now\s+|even\s+|maybe\s+|perhaps\s+)?(?=(?:{time_lead}\s+)?{subject})
    |,\s+(?={subject}|the\b)
    |\s+and\s+(?=the\s(?:[\w'-]+\s){1,3}(?:is|are|was|were|looks|has)\b))
    |(?P<sub>,?\s+and\s+(?={THOUGHTS_THEN}\b)|,?\s+(?:{SUBORDINATORS}\s+(?=\S)|{JOINTS_OF_TIME}\s+(?={subject})))
[opener]
    (?i)(?:{OPENING_WORDS}\b(?:,?\s(?-i:[A-Z][a-z]+)(?=[,!.]))?[\s,!.:–—-]*
    |(?!{TIME_WORDS MONTHS WEEKDAYS}\b)(?-i:[A-Z][a-z]+)(?:,|!)\s+
    (?=(?:i|we|my|our|gonna|just)\b))
[announcement]
    (?i)i\s(?:(?:am|was)\s(?:\w+\s)?{GLAD_WORDS}|(?:just\s)?(?:wanted|want|have|had|need))\sto\s
    (?:(?:tell\syou|let\syou\sknow)(?:\sthat)?[\s,:–—-]+(?=(?:i|we|my|our)\b)
    |(?:share|say|announce|report|mention|admit)(?:\swith\syou)?(?:\sthat\s|[,:–—-]+\s*|\s(?=(?:i|we)\b))(?=\w))
[condition]
    (?i)^{CONDITION_LEADS LEADING_WORDS}\b
[unreal_lead]
    (?i)(?:even\s)?(?:if|unless)\b
[leading_clause]
    (?i)^{LEADING_WORDS}
    \b[^,]{2,80},\s+(?=(?:i|we|my|our)\b)
[age_of_life]
    (?i)(?:even\s)?as\san?\s(?:little\s|small\s|young\s)?(?:kid|child|boy|girl|teen(?:ager)?|student)\b
    |when\s(?:i|we)\s(?:was|were)\b
[during]
    (?i)during\s(?!the\b|that\b|this\b|these\b|those\b)(?:[\w'’-]+\s?){1,4},
# "when I was a child", "learned how to row"
[no_cut]
    (?i)\show\sto\b|(?<=go-to)\swhen\b|,?\swhen\s(?:i|we)\s(?:was|were)\s(?:an?\s(?:\w+\s)?(?:kid|child|boy|girl|teen
    |teenager|student)\b|in\s\w+\sschool\b
    |in\s(?:school|college|university)\b|young(?:er)?\b|little\b|small\b|\d
    |{NUMBERS_TO_SIX NUMBERS_TO_TEN}\b)
[me_and]
    (?i)^me\sand\s((?:my|our|the)\s(?:\w+\s)?(?:{RELATIONS}|kids|family|friends|parents))\b
[wanna]
    (?i)\bwanna\b
[short_day]
    (?i)\b(last|this|next|on)\s(mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\b\.?
[hanging]
    (?i)[\s,]+{JOINTS}$
[open_word]
    {OPEN_ENDS THOUGHT_VERBS}
[open_end]
    (?i)(?:[\s,]+(?:and|or|but))?(?:[\s,]+{open_word})+$
[and_my]
    (?i),?\sand\s(?:my|our)\b
