# What a sentence of a summary is worth: signs of what happened, is planned or is so, and of what is only felt.
[matters]
(?i)\b(?: decid\w+|agree[ds]?|chose|chosen|settled\son|went\swith|go\swith|instead\sof|cancel\w*|postpone\w*
    | plan\w*|going\sto|will|book(?:ed|ing)|sign(?:ed)?\sup|start(?:ed|ing)|deadline|due|must|need\w*|prefer\w*
    | allergic|favou?rite|birthday|anniversary|moved?|married|born|works?\s(?:at|as|for)|lives?\sin
    | bought|sold|won|lost|broke|finished|built|met|because|result\w*|total|solution|error|fail\w*|recommend\w*
    | my\s\w+|our\s\w+|name(?:d|\sis)|called )\b

# A number, or a day or month as it is written in a chat.
[digit]
\d|(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|april|june|july|august|september|october|november|december)\b|\bin\s(?:march|may)\b)

# Somebody will do something, or it is agreed.
[plan]
(?i)\b(?:gonna(?!\sbe\b)|going\sto(?!\s(?:be|keep)\b)(?=\s\w+)|planning|plan\sto|plans\sto|book(?:ed|ing)|sign(?:ed|ing)\sup|(?<!big\s)(?<!great\s)deal(?!\swith)|interview|appointment
    |deadline|let['’]?s\s(?:do|meet|go|get|plan|make|try|pick|move|say\s\d)|decided|agreed)\b
|\b(?:i|we)(?:['’]ll|\swill)\s(?!(?:be|keep|always|never|definitely|let|make\ssure|try|stay|do|check|remember|continue|see|have
    |give|get|miss|need)\b)\w
|(?-i:\b[A-Z][a-z]+)\s(?:will|is\sgoing\sto)\s\w
|\b(?:am|are|is|['’]m|['’]re|['’]s|im|hes|shes|were)\s(?:\w+ly\s)?(?:starting|moving|getting|having|visiting|leaving|taking
    |giving|flying|meeting|seeing|coming|sending|raising|off\sto)\b

# Who may do or be something: the speaker, theirs, or somebody by a pronoun.
[person]
(?i)\b(?:i|we|my|our|he|she|they|his|her|me|us)\b(?!['’]?d\b)
# What happened to something: "the place closed", "Joey and Olivia finally broke up".
[happens]
(?i)^(?:\W*(?:so|and|but|well|yeah|oh|wow|geez|no\sway|omg|apparently)\b,?\s)*
(?!(?:it|this|that|these|those|there|what|how|when|where|why|which|who|if|as|you|your|have|has|had|did|does|do|are|is|were|was
    |love|loved|so|too|always|never|thanks|hey|hi|well|no|not|for|by|in|on|at|with|from|\w+ing)\b)
(?:(?:the|an?|some|one|every)\s)?[\w-]+(?:\sand\s[\w-]+)?\s(?:(?:has|have|just|finally|also|even|\w+ly)\s)?(?P<word>[a-z]+)\b(?!['’]|.*\?\W*$)
[begins]
(?i)^(?:\W*(?:just|finally|also|yesterday|today|recently|already|so|and|then|even)\b,?\s)*
(?P<word>[a-z]+)
[had]
(?i)\b(?:had|got|did|made)\s(?:\w+ly\s)?(?:an?|my|our|the|some|two|three|to|this|\d+|surgery|dinner|lunch)\b
    (?!\s(?:great|good|amazing|awesome|lovely|wonderful)?\s?(?:time|blast|fun|feeling|sense|idea|difference|impact|point|me)\b)
|\b(?:was|were)\s(?:\w+ly\s)?(?:in|at|on|able|born|diagnosed|(?:\w+\s)?[a-z]{3,}ing|(?!{felt}\b)[a-z]{3,}ed)\b

# A name or somebody's as the subject: "Marta will bring", "Emma lives", "My sister Johanna keeps".
[named]
(?!(?:The|This|That|These|Those|It|There|What|Who|When|Where|How|Why|If|As|And|But|So|Or|No|Yes|Yeah|Just|Even|Being|Having)\b)
(?!\w+ing\b)(?:(?:My|Our|His|Her)\s[a-z]+\s)?(?:(?<=\s)|[A-Z][a-z]+\s)(?P<verb>will|is|has|had|was|got|went|[a-z]+(?:ed|s))\b
# A name inside a sentence, or something that is not told of everything.
[name]
(?<=[a-z,]\s)[A-Z][a-z]|^(?i:the|an?|some|it|he|she|they)\s

# What is so with somebody, for a while or for good.
[state]
(?i)\b(?:i|we|he|she|they)(?:['’]m|['’]re|['’]s|['’]ve|\sam|\sare|\sis|\shave|\shas|\sneed|\swant|\scan['’]?t|\swill|['’]ll)\b
|\b(?:i|he|she|they)\s(?:works?|lives?|plays?|do|use|owns?|study|studies|teach|teaches|runs?|go|goes|usually|often|don['’]?t|can|prefer
    |hates?|might|may|mentor|collect|cook|paint|train|drive|drink|eat)\b|\b(?:my|our|his|her)\s(?:\w+\s){1,3}?(?:is|are|has|have|s)\b
|^(?:\W*(?:just|still|also|yeah|only|so)\s)*(?:been\s\w+ing|had\sto|haven['’]?t|gotta|need(?:ed)?\sto|don['’]?t\shave)\b

# Wishes, praise, advice, and what is said to please.
[pleases]
(?i)^(?:\W*(?:so|and|but|well|oh|yeah|wow)\b,?\s)*(?:you|your|you['’]\w+|keep|don['’]?t|remember|stay|take\scare
    |let['’]?s(?=\s(?:keep|stay|hope|see|not|say|just|catch|remember|face|cherish|stick)\b)|hope|hopefully|wish|glad|happy\s(?:to|for)|can['’]?t\swait|good\sluck|enjoy|love\s(?:it|that|this
    |how|the|your)|i\s(?:\w+\s)?(?:love\show|love\sthat|hope|wish|agree|appreciate|bet|feel|felt
    |(?:know|guess|think|believe)(?!\s(?:that\s)?(?:i|we|he|she|they|my|our)\b))
    |i['’]?m\s(?:\w+\s)?(?:glad|happy\sfor|proud\sof|sure|sorry|here\sfor)|(?:these|those)\s(?:moments|things|memories))\b

[judges]
(?i)(?:\b(?:is|are|was|were|be|been|being|feels?|felt|looks?|looked|sounds?|sounded|seems?|seemed|made\s\w+)|['’](?:s|re|m)|^)
\s?(?:(?:so|such|really|truly|very|always|an?|the|all|pretty|super|too|quite|kinda|absolutely|just|definitely|both|how|what
    |more|most|much)\s){0,4}{judging}\b

# Where a sentence goes on after a pause.
[pause]
(?<!\s)\s++[-–—]++\s+|\s?[–—]\s?|(?<=\w)-\s+

# How it was, after what was done: ", and it was amazing!"
[felt_tail]
(?i)(?:,?\sand|,)\s(?:it|that|this)(?:['’]s(?:\sbeen)?|\swas|\sis|\shas\sbeen)\s
(?:(?:so|such|really|truly|very|an?|the|all|pretty|super|quite|just|always|definitely)\s){0,3}{judging}\b[^.!?,]*[.!?]*$

[quoted]
^\[|["“”]

# What announces news: "I'm so excited to tell you I started", "wanted to let you know that we moved".
[announces]
(?i)^(?:(?!\b(?:not|don['’]?t|never|can['’]?t|if|when)\b)[^.!?;]){0,60}?\b(?:tell(?:ing)?\s(?:you|u)|let\s(?:you|u)\sknow|share\swith\s(?:you|u))
(?:\sthat)?,?\s(?=(?:i|i['’]m|i['’]ve|im|we|we['’]re|we['’]ve|my|our)\s)
