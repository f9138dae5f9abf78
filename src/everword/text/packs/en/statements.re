[I]
\b(?:i|we)

[HAVE]
(?:['’]ve|\shave)?

[AM]
\b(?:i['’]?m|i\sam|we['’]re|we\sare|i['’]ve\sbeen|i\shave\sbeen|we['’]ve\sbeen|been)

[SOFT]
(?:\s(?:also|just|still|always|both|all|\w+ly))*

[NOT]
\s(?:do\snot|don['’]?t|did\snot|didn['’]t|never|can['’]?t|cannot|can\snot|won['’]t|will\snot|haven['’]t
|wouldn['’]t)

[WORK]
(?:{I}{SOFT}\swork|{AM}{SOFT}\sworking)

[FAN]
(?:a\s)?(?:big\s|huge\s)?fan\sof

[DONE]
(?:went|bought|got|made|took|met|saw|won|lost|found|built|ran|wrote|read|taught|gave|began|left|sold|ate|drove
|flew|had|\w{3,}ed)

[DONE_ELSEWHERE]
(?:wanted|needed|used|ended|liked|loved|enjoyed|decided|agreed|hoped|wished|moved|relocated|picked|opted
|settled)

[BUSY_ELSEWHERE]
(?:going|planning|hoping|looking|trying\sto|thinking|working|feeling|wondering|being|considering|having|getting)

[WILL_ELSEWHERE]
(?:\w+ly\s|also\s)*(?:be|let|keep\sthat|take\sa\slook|have|go\swith|use|stick|switch|settle|try\sto|make\ssure)

[LIKED_ELSEWHERE]
(?:to\s(?:know|see|hear)|how|that|the\sidea|your|it)

[AGREED]
(?:(?!not|never)\w+\s)?(?:decided|agreed|chosen)

[LETS]
\b(?:let['’]?s|(?:i|we)['’]ll|(?:i|we)\swill)

[CHOSE]
(?:settled\son|opted\s(?:for|to)|went\swith|chose|picked|ended\sup\s(?:choosing|picking|with))

[favourite]
(?i)\bmy\s(?:all-time\s)?(favou?rite\s[\w\s]{2,30}?)\s(?:is|are|was|has\sto\sbe)\s

[doubt]
(?i)\b(?:don['’]?t\s(?:think|believe)|doubt|not\ssure|if|whether|would|(?:wouldn|can|won)['’]?t\ssay)\s(?:that\s
|if\s)?$

[NAME]
[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}

[RELATION]
(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents|sister|brother|son
|daughter|kids?|children|baby|aunt|uncle|cousin|niece|nephew|grandmother|grandma|grandfather|grandpa|boss
|manager|colleague|coworker|teacher|doctor|therapist|neighbou?r|roommate|friend|dog|cat|puppy|kitten|pet|horse
|car|company|team|landlord|coach)

[called]
\b(?:[Mm]y|[Oo]ur)\s(?:(?:older|younger|little|big|best|twin|old|new|late
|eldest)\s)?({RELATION})(?:['’]s\sname\sis|,?\s(?:is\s|was\s)?(?:named|called)|,|\sis)?\s({NAME})

[is_my]
\b({NAME})(?:,|\sis|\swas)\smy\s(?:\w+\s)?({RELATION})\b

[HAIL]
(?:^|[Hh]i[,!]?\s|[Hh]ello[,!]?\s|[Hh]ey[,!]?\s)

[my_name]
\b(?:[Mm]y\s(?:full\s|first\s)?name(?:['’]s|\sis)|[Cc]all\sme|I\s?(?:['’]m|\sam)\scalled)\s({NAME}|\w+)
|{HAIL}(?:I['’]m|I\sam|[Tt]his\sis)\s({NAME})(?=[,.!]|\sand\b|\sfrom\b|$)

[age]
(?i)\b(?:i['’]?m|i\sam|turned|turning)\s(\d{1,2})(?=\syears|\sand\b|[,.!]|$)

[i_am_a]
(?i)\bI(?:['’]m|\sam)\s(?:also\s)?an?\s(?!(?:bit|little|lot|big\sfan|huge\sfan|fan)\b)

[theirs]
\b(?:(?:[Mm]y|[Oo]ur)\s({RELATION})|({NAME}))\s(?:\w+ly\s)?(loves|likes|enjoys|prefers|hates|dislikes
|doesn['’]t\slike|works\sas|lives\sin)\s

[trip]
\b(?:trip|travel(?:l?ing)?|fly(?:ing)?|flight|vacation|holiday|move|moving|going|heading)\s(?:to
|in)\s((?:the\s)?{NAME})

[subject]
(?i)^(?:(the|my|our|your|his|her|their|this)\s)?((?:[\w'’&/-]+\s){0,4}?[\w'’&/-]+)\s
        (?:will\s(?:now\s)?be|is|are|was|were|costs?|starts?|has\sbeen)\s
        (?:(?:cut|raised|set|moved|changed|increased|reduced|postponed|planned|scheduled|due|now|currently|usually
            |to|for|on|until|by|from|at|in)\s)*(?=\S)

[mine]
(?<!^)\b(?:[Mm]y|[Oo]ur)\s((?:[\w'’-]+\s){0,2}?[\w'’-]+)\s(?:is|are|was|were)\s(?=[^.!?]{0,30}[\dA-Z])

[joint]
(?i)^(?:and|but|so|or|no,|yes,)\s

[and_elsewhere]
,|\s(?:y|und|et|e|i|och|og|a|и|та|pero|aber|mais|ma|mas|maar|но|als|como|con|mit|avec)\s

[stop]
(?i)[.!?;:…。！？]
        | ,\s(?=(?:and|but|so|which|who|because|though|although|as|where|when|it|i|we|they|she|he|do|can|or)\b)
        | \s(?:but|because|which|who|so\s(?:that|i|we|it)|while|although|though|since|where|when\s(?:i|we|it)|if
            |and\s(?:i|we|it|they|she|he|my|also|am|hate|love|like|need|want|would|was|is|it['’]s|i['’]\w+))\b
        | \s[-–—]+\s | -- | \s\(

[loose]
(?i)^(?:(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|my|our|some)\s+)+(?=\S)

[asking]
(?i)^(?:(?:so|and|also|but|by\sthe\sway|oh|hey|hi)[\s,]+)*
        (?: (?:can|could|would|will)\syou\s(?:(?:please|also|maybe|perhaps)\s)* | do\syou\sthink\syou\s(?:can|could)\s
          | i\swas\swondering\sif\syou\scould\s | please\s | i\s(?:need|want)\syou\sto\s )(?=\w)

[tell]
(?i)^(?:tell|give|show|help|provide|send)\s(?:me|us)\s(?:(?:with|more|some|to)\s)*(?:about\s|on\s)?

[have_you]
(?i)^(?:do\syou\s(?:have|know)|have\syou\sgot|got|are\sthere|is\sthere|what\sare)\s(?:of\s)?
        (?:any\s|some\s|a\s|the\s)?(?:good\s|other\s|best\s)?
        (?=(?:\w+\s)?(?:recommendation|tip|suggestion|idea|advice|resource|way)s?\b)

[order]
(?i)^(?=(?:write|create|make|explain|describe|give|tell|show|list|help|find|fix|suggest|recommend|translate
        |summari[sz]e|compare|generate|rewrite|refactor|remind|book|draft|convert|calculate|solve|design|review|check
        |provide|analy[sz]e|act|set)\b)

[please]
(?i)^please\s(?!(?:note|remember|keep|feel|let|don['’]?t\shesitate)\b)

[opinion]
(?i)^(?:do\syou\s(?:think|know|believe)|would\syou\ssay)\s(?:that\s|if\s)?(?!you\b)

# How much a statement weighs, its key, and the words after which its value stands.
[TRIGGERS]
11 allergic_to \ballergic\sto\s
9 dislikes {I}{SOFT}{NOT}{SOFT}\s(?:like|love|enjoy|care\sfor)\s
9 dislikes {I}{SOFT}\s(?:hate|dislike|detest|loathe|can['’]?t\sstand)\s
9 dislikes {AM}{SOFT}\snot\s(?:really\s)?(?:{FAN}|into|keen\son)\s
7.5 does_not {I}{SOFT}{NOT}{SOFT}\s(?=(?:eat|drink|use|have|own|work|want|need|speak|drive|smoke)\b)
9 prefers {I}(?:['’]d|\swould)?{SOFT}\s(?:prefer|rather\shave)\s(?:to\s)?
8.5 likes {I}{SOFT}\s(?:like|love|enjoy|adore)\s(?!{LIKED_ELSEWHERE}\b)
8 likes {AM}{SOFT}\s(?:{FAN}|into|fond\sof|passionate\sabout)\s
8.5 favourite \bmy\sfavou?rites?\s(?:is|are)\s
10 lives_in (?:{I}{SOFT}\s(?:live|reside)|{AM}{SOFT}\s(?:living|based))\sin\s
8 from {AM}{SOFT}\sfrom\s
8.5 moved_to {I}{HAVE}{SOFT}\s(?:moved|relocated)\s(?:\w+\s)?to\s
9 job {WORK}\sas\s(?:an?\s|the\s)?
8.5 works_at {WORK}\s(?:at|for)\s
7 works_in {WORK}\sin\s
8.5 born \b(?:was|were)\sborn\s(?:in|on)\s
9 decision (?:\b(?:i|we|they){HAVE}|\bhas|\bit\swas)\s{AGREED}\s(?:to|on|that)\s
9 decision \b(?:i|we|they){HAVE}{SOFT}\s(?:decided|agreed)\s(?=not\b|against\b)
9 decision {I}{HAVE}{SOFT}\s{CHOSE}\s
9 decision {LETS}\s(?:go\swith|stick\s(?:with|to)|use|switch\sto|settle\son)\s
8.5 decision \bdecision\s(?:is|was)\s(?:to\s)?
8.5 deadline \b(?:deadline|due\sdate)\s(?:is|was)?\s?(?:on|by)?\s?|\bis\sdue\s(?:on|by)?\s?
7.5 plan (?:{I}{SOFT}\s(?:plan|intend|hope)|{AM}{SOFT}\s(?:planning|hoping|going|about))\s(?:to|on)\s
7 plan {AM}{SOFT}\s(?:planning|scheduling|preparing\sfor)\s(?!to\b|on\b)
6.5 plan \b(?:i|we)(?:['’]ll|\swill)\s(?!{WILL_ELSEWHERE}\b)
7 considering {AM}{SOFT}\s(?:considering|thinking\s(?:of|about))\s
7 wants {I}(?:['’]d|\swould)?{SOFT}\s(?:want|like|wish|love)\sto\s(?!know\b)
7 needs {I}{SOFT}\sneed\s(?:to\s)?(?!(?:say|admit|know)\b)
6.5 must \b(?:must|has\sto|have\sto)\s(?!(?:be\s(?:so|very)|have|say|admit)\b)
7.5 looking_for {AM}{SOFT}\s(?:looking|searching)\s(?:for|to|into)\s
7 trying_to {AM}{SOFT}\strying\sto\s
7 interested_in {AM}{SOFT}\s(?:interested\sin|curious\sabout)\s
7.5 working_on {AM}{SOFT}\s(?:working\son|building|writing|developing)\s
7.5 learning {AM}{SOFT}\s(?:learning|studying)\s(?:to\s|about\s|how\sto\s)?
7 reading {AM}{SOFT}\sreading\s
7 using {AM}{SOFT}\susing\s
5.5 doing {AM}{SOFT}\s(?=\w+ing\s)(?!{BUSY_ELSEWHERE}\b)
6 did {I}{HAVE}{SOFT}\s(?={DONE}\s)(?!{DONE_ELSEWHERE}\b)
6.5 has {I}(?:['’]ve\sgot|{SOFT}\s(?:have|own))\s(?=(?:an?|two|three|four|five|six|\d+|my|some)\s)
5 feels {AM}{SOFT}\s(?=(?:so\s)?(?:proud|worried|excited|nervous|stressed|sad|tired|afraid|grateful)\b)
6 suggests \bi(?:['’]d|\swould)?{SOFT}\s(?:recommend|suggest|advise)\s(?:that\s)?(?:you\s)?(?:to\s)?
4.5 because \b(?:because|due\sto|thanks\sto)\s(?:of\s)?

# The keys of statements in other languages, and the words after which their values stand.
[ELSEWHERE]
name me\sllamo|mi\snombre\ses|ich\sheiße|mein\sname\sist|je\sm['’]appelle|mi\schiamo|meu\snome\sé
name me\schamo|ik\sheet|jag\sheter|jeg\shedder|nazywam\ssię|jmenuji\sse|меня\sзовут|мене\sзвати
name mă\snumesc|nama\ssaya
lives_in vivo\sen|ich\s(?:wohne|lebe)\sin|j['’]habite\s(?:à|en|au)|abito\sa|vivo\sa|moro\sem
lives_in ik\swoon\sin|jag\sbor\si|mieszkam\sw|я\sживу\sв
dislikes no\sme\sgustan?|odio|ich\s(?:mag|hasse)\skeine?n?|ich\shasse|je\sn['’]aime\spas|je\sdéteste
dislikes non\smi\spiac(?:e|ciono)|não\sgosto\sde|ik\shou\sniet\svan|мне\sне\sнравится|я\sне\sлюблю
likes (?<!no\s)me\s(?:gustan?|encantan?)|ich\s(?:mag|liebe)(?!\skein)|j['’](?:aime(?!\spas)|adore)
likes (?<!non\s)mi\spiac(?:e|ciono)|(?<!não\s)gosto\sde|ik\shou\svan|мне\sнравится|я\sлюблю

