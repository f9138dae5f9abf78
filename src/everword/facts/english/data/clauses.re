# What a message states, clause by clause: of whom, whether it holds, since when.
# a row of a table is left: `own_words` says whose it is
[quoted_line]
    (?m)^[^\S\n]*+(?:>|\|(?![^|\n]++\|[^\n]*\|[^\S\n]*$)).*$
[code]
    (?s)```.*?(?:```|$)|`[^`\n]{1,200}`
# each begins with a mark: others are passed over
[quotes]
    \"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|»([^«\n]{1,400})«|„([^“”\n]{1,400})[“”]
    |‘([^’\n]{1,400})’(?!\w)
    |'(?<![\w']')((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)
[speaks]
    (?i)\b(?:{SPEAKER_WORDS}|i['’]m|i['’]ve)\b
# where small letters begin a sentence too
[small_stop]
    (?<=[a-z]{2})(?<!\b[dmsj]r)(?<!\b[mv]s)(?<!\bst)(\s?[.!?]+)\s+(?=[a-z])
[joked]
    (?i)(?:^|\s)/s\b|\b(?:jk|j/k|just\s(?:kidding|joking)|(?:i['’]?m|only)\s(?:kidding|joking))\b
[joking]
    (?i)\b(?:{JOKE_WORDS}|(?:ha){2,}h?|(?:he){2,}|yeah,?\sright|oh,?\ssure)|[🙄😂🤣😜😝🤪😏]
[made_up]
    (?i)^(?:so\s|ok\s|okay\s|now\s)?(?:
    {SUPPOSING} | let['’]?s\s(?:say|pretend|imagine|assume)
    | in\s(?:the|a|my|this|that)\s(?:\w+\s)?{WORKS SCENES}\b
    | (?:the|a|this|that)\s(?:\w+\s)?{WORKS PARTS_OF_WORKS}\b
    )
# "my coach" helps who asks
[roles]
    (?i)\b(?:role-?\s?play(?:ing)?|act\sas(?!\s(?:my|our)\b)|{ROLE_PLAY})\b
[work_on_text]
    (?i)\b{TEXT_TASKS}\b(?=.*(?::|\b{TASK_TEXTS}\b))
    |(?:^|,\s|\b(?:to|must|should|please|you)\s)(?:(?:grade|mark|assess|score)\s(?:this|these|the\sfollowing)
    |give\sthis\s(?:\w+\s)?(?:essay|text|exam|paper)\sa)\b
[text_follows]
    :|\b(?:this|following|below)\b
[question]
    {QUESTION_VERBS QUESTION_WORDS}
[asks]
    (?i)^(?:{BEFORE_QUESTION}[,\s]+)*(?:{question}|what['’]?s|who['’]?s|have\s(?:i|you|we)
    |{FIRST_QUESTION_VERBS FIRST_QUESTION_WORDS})\b
[then_asks]
    (?is)(?:[,;–—-]\s*|\s(?:and|so|but)\s)(?:(?:so|and|but|please)\s)*
    (?:{question}|what['’]?s|{LAST_QUESTION_WORDS})\b.*$
[when_clause]
    (?i)(?:and\s|but\s|so\s|oh,?\s)?when\s(?:i|we|my|our)\s[^,?]{2,80},\s\w
[unreal]
    (?i)\bwould\b|['’]d\b|\bcould\b
[if_word]
    (?i)\bif\s(?:i|we|my|our)\b
[short_forms]
    (?i)\b(?: (?P<i_am>i'm|im)\b(?!\s?=) | (?P<i_have>i've|ive)\b | (?P<i_would>i'd)\b | (?P<i_will>i'll)\b
    | (?P<we_are>we're)\b | (?P<we_have>we've)\b | (?P<we_would>we'd)\b | (?P<we_will>we'll)\b
    | (?P<can_not>can'?t\b|cannot)\b | (?P<will_not>won'?t)\b | (?P<not>{BEFORE_NOT})n'?t\b
    | (?P<is>{BEFORE_IS})'s\b | (?P<anymore>any\s?more|any\slonger)\b )
[openers]
    (?i)^(?:
    {GREETINGS}(?:\s{GREETED})?[,!.\s-]+(?=\w)
    | (?:(?:please\s)?{REMINDERS}
    |i\s{INTENDING}\s{MENTIONING}
    |{ANNOUNCEMENTS}
    )(?:,?\sthat)?[:,]?\s+(?=(?:i|we|my|our|[A-Z])\b|[A-Z])
    | {INTERJECTIONS CONNECTIVES ASIDES}[,:.!\s–—-]+(?=\w)
    )
[correction]
    (?i)^(?:(?:hm+|{BEFORE_CORRECTION})[,\s]+)?
    (?:no(?:pe)?(?=[,.!:–—\s]+(?:i|my|we|it|actually|sorry)\b)|{CORRECTIONS})
    [,:.!\s–—-]+(?:(?:that\s)?(?=\w))
[hedges]
    (?i)^(?:i\s{HEDGING_VERBS}|probably|i\sam\s(?:pretty|fairly|quite|almost)\ssure)
    \s(?:that\s)?(?=i\b|my\b|we\b)
[others_said]
    (?i)\b{SAYING THINKING}\b
[subject]
    {SUBJECTS}\b
[verbs]
    (?:{ADVERBS_OF_CLAUSES}\s)?{VERBS_OF_CLAUSES}\b
[more_verbs]
    {VERBS_AFTER_AND}\b
[lead]
    (?:{BEFORE_TIME}\s+(?:[\w’']+\s+){1,2}|tomorrow\s+)
[split]
    (?i)(?P<beside>,?\s+{RELATIVE_WORDS}\s+(?={subject}))
    |(?P<hard>\s*[;…]\s*|\s+[–—-]+\s+|\s*--\s*|(?<=\w):\s+(?={subject})
    |,?\s+{CONJUNCTIONS}\s+(?={subject})
    |,\s*(?:and\s+|but\s+|so\s+|now\s+|yet\s+)*(?={lead}?{subject}))
    |(?P<soft>\s+(?:and|or)\s+(?={subject}))
    |(?P<verb>,?\s+(?:and|but|or)\s+(?={verbs}|{more_verbs})|,\s+(?={verbs}))
[but]
    (?i)\bbut\b
[condition]
    (?i)(?:^|\s){CONDITION_WORDS}\b
[time_first]
    (?i)^({BEFORE_FIRST_TIME}\s[^,]{3,30}?),?\s+(?=(?:i|we|my)\s)
[passing]
    (?i)\b(?:{PASSING_TIMES}|for\s(?:a|the)\s{OCCASIONS})\b
[modifier]
    (?:{RELATIVE_ADJECTIVES SUBJECT_ADJECTIVES}\s)*
[relation]
    {RELATIONS}
[name]
    [^\W\d_a-zß-öø-ÿ][\w'’-]*(?:\s[^\W\d_a-zß-öø-ÿ][\w'’-]*)?
[who]
    (?P<self>(?i:i|we)\b)
    |(?i:my|our)\s(?i:{modifier})(?P<relation>(?i:{relation}))(?:,?\s(?P<called>{name}),?)?(?=\s(?!name\b))(?!['’]s)
    |(?P<named>@[\w.-]{1,40}|{name})(?=\s)
[second_job]
    (?i)\balso\s(?:work|am\sworking|started|joined)\b|\bwork\b.*\b(?:part[\s-]time|on\sthe\sside|(?:on|at)\s(?:the\s)?weekends?)\b
    |\b(?:second|side|other|another)\sjob\b
# "Just moved to Rome": who speaks is meant
[no_subject]
    (?i)(?:(?:just|finally|officially|recently)\s)+(?={NEWS_VERBS}\b)
    |(?=(?:started|joined|moved\sto|relocated\sto|(?:got|landed|accepted)\s(?:a|the|my)\s(?:new\s|dream\s)?{JOBS})\b)
# what is so from that day on, and not for the day
[news]
    (?i)(?:(?:i|we)\s)?(?:(?:just|finally|officially|recently)\s)*(?:{NEWS_VERBS}|had\smy\sfirst)\b
[first_day]
    (?i)(?:today|yesterday|{WEEKDAY_NAMES})(?:\s(?:is|was)|'s)\smy\sfirst\s(?:day|week)(?=\sat\b)
[attribute]
    (?:(?:(?i:my|our)\s(?i:{modifier})(?P<relation>(?i:{relation}))(?:\s(?P<called>{name}?))?
    |(?P<named>{name}?))'s
    |(?P<mine>(?i:my|our)))
    \s(?P<what>[\w'’ -]{2,40}?)\s?(?:\b(?i:is|are|was|will\sbe|has\sto\sbe)\b|=|:)\s*(?P<value>\S.*)$
[related]
    (?i:{modifier})(?i:{relation})(?P<called>,?\s{name})?
[called]
    (?:(?i:called|named)\s|{name}$|{name}[.,!])
[here]
    (?:(?i:it\sis|this\sis)\s)?(?P<named>{name})\shere(?=\W|$)(?!\s(?:is|are|was|to|and)\b)
[nobody]
    {NOT_HERE}\b
[is_my]
    (?P<named>{name})\ is\ (?i:my|our)\ (?i:{modifier})(?P<relation>(?i:{relation}))\b(?!['’]s)
[auxiliary]
    (?i)(?:
    (?P<ended>no\slonger|used\sto|stopped\sbeing|ceased\sto\sbe)
    | (?P<not>not|never)
    | (?P<modal>{MODALS})
    | (?P<perfect>(?:have|has|had)(?=\s(?:{BEFORE_PERFECT}\s)*{PERFECT_VERBS}\b))
    | (?P<emphasis>do|does)(?=\s{AFTER_DO}\b)
    | (?P<did>did)(?=\snot\b)
    | (?P<be>{BE_FORMS})
    | (?P<was>was|were)
    | (?P<can>can)(?=\snot\b)
    | (?P<adverb>{ADVERBS DEGREES})
    )\s+
[now]
    (?i)\bnow\b
[third]
    ^({VERBS_WITH_S})s\b
[base]
    ^(?:{VERBS_WITH_S}|have|study)\b
# Words with a capital letter that are no names.
[not_names]
    ^{PRONOUNS_NOT_NAMES PARTICLES_NOT_NAMES QUANTITIES_NOT_NAMES OPENERS_NOT_NAMES ADVERBS_NOT_NAMES WEEKDAY_NAMES}\b
