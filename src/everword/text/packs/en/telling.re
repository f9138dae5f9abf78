# What a sentence of a summary is worth: signs of what happened, is planned or is so, and of what is only felt.
[matters]
(?i)\b(?: decid\w+|agree[ds]?|chose|chosen|settled\son|went\swith|go\swith|instead\sof|cancel\w*|postpone\w*
    | plan\w*|going\sto|will|book(?:ed|ing)|sign(?:ed)?\sup|start(?:ed|ing)|deadline|due|must|need\w*|prefer\w*
    | allergic|favou?rite|birthday|anniversary|moved?|married|born|works?\s(?:at|as|for)|lives?\sin
    | bought|sold|won|lost|broke|finished|built|met|because|result\w*|total|solution|error|fail\w*|recommend\w*
    | my\s\w+|our\s\w+|name(?:d|\sis)|called )\b

[digit]
\d

# Somebody will do something, or it is agreed.
[plan]
(?i)\b(?:gonna(?!\sbe\b)|going\sto(?!\s(?:be|keep)\b)(?=\s\w+)|planning|plan\sto|plans\sto|book(?:ed|ing)|sign(?:ed|ing)\sup|deal|interview|appointment
    |deadline|lets\sdo|let['’]s\sdo|decided|agreed)\b
|(?-i:\b[A-Z][a-z]+)\s(?:will|is\sgoing\sto)\s\w
|\b(?:am|are|is|['’]m|['’]re|['’]s|im|hes|shes|were)\s(?:\w+ly\s)?(?:starting|moving|getting|having|visiting|leaving|taking
    |giving|flying|meeting|seeing|coming|sending|raising|off\sto)\b

# Who may do or be something: the speaker, theirs, or somebody by a pronoun.
[person]
(?i)\b(?:i|we|my|our|he|she|they|his|her|me|us)\b(?!['’]?d\b)
[begins]
(?i)^(?:\W*(?:just|finally|also|yesterday|today|recently|already|so|and|then|even)\b,?\s)*
(?P<word>[a-z]+)
[had]
(?i)\b(?:had|got|did|made)\s(?:\w+ly\s)?(?:an?|my|our|the|some|two|three|to|this|\d+|surgery|dinner|lunch)\b
    (?!\s(?:great|good|amazing|awesome|lovely|wonderful)?\s?(?:time|blast|fun|feeling|sense|idea|difference|impact|point|me)\b)
|\b(?:was|were)\s(?:\w+ly\s)?(?:in|at|on|able|born|diagnosed|(?:\w+\s)?[a-z]{3,}ing|(?!{felt}\b)[a-z]{3,}ed)\b

# A name as the subject: "Marta will bring", "Emma lives".
[named]
(?!(?:The|This|That|These|Those|It|There|What|Who|When|Where|How|Why|If|As|And|But|So|Or|No|Yes|Yeah|Just|Even|Being|Having)\b)
(?!\w+ing\b)[A-Z][a-z]+\s(?:will|is|has|had|was|lives|works|wants|got|went|[a-z]+(?:ed|s))\b

# What is so with somebody, for a while or for good.
[state]
(?i)\b(?:i|we|he|she|they)(?:['’]m|['’]re|['’]s|['’]ve|\sam|\sare|\sis|\shave|\shas|\sneed|\swant|\scan['’]?t|\swill|['’]ll)\b
|\b(?:i|he|she|they)\s(?:works?|lives?|plays?|do|use|owns?|study|studies|teach|teaches|runs?|go|goes|usually|often|don['’]?t|can|prefer
    |hates?|might|may|mentor|collect|cook|paint|train|drive|drink|eat)\b|\b(?:my|our|his|her)\s(?:\w+\s){1,3}?(?:is|are|has|have|s)\b

# Wishes, praise, advice, and what is said to please.
[pleases]
(?i)^(?:\W*(?:so|and|but|well|oh|yeah|wow)\b,?\s)*(?:you|your|you['’]\w+|keep|don['’]?t|remember|stay|take\scare|let['’]?s
    (?!\s(?:do|meet|go)\b)|hope|hopefully|wish|glad|happy\s(?:to|for)|can['’]?t\swait|good\sluck|enjoy|love\s(?:it|that|this
    |how|the|your)|i\s(?:\w+\s)?(?:love\show|love\sthat|hope|wish|agree|appreciate|bet|know|guess|think|believe|feel|felt)
    |i['’]?m\s(?:\w+\s)?(?:glad|happy\sfor|proud\sof|sure|sorry|here\sfor)|(?:these|those)\s(?:moments|things|memories))\b

[judges]
(?i)(?:\b(?:is|are|was|were|be|been|being|feels?|felt|looks?|looked|sounds?|sounded|seems?|seemed|made\s\w+)|['’](?:s|re|m)|^)
\s?(?:(?:so|such|really|truly|very|always|an?|the|all|pretty|super|too|quite|kinda|absolutely|just|definitely|both|how|what
    |more|most|much)\s){0,4}{judging}\b

# Where a sentence goes on after a pause.
[pause]
\s+[-–—]+\s+|\s?[–—]\s?|(?<=\w)-\s+

# How it was, after what was done: ", and it was amazing!"
[felt_tail]
(?i)(?:,?\sand|,)\s(?:it|that|this)(?:['’]s(?:\sbeen)?|\swas|\sis|\shas\sbeen)\s
(?:(?:so|such|really|truly|very|an?|the|all|pretty|super|quite|just|always|definitely)\s){0,3}{judging}\b[^.!?,]*[.!?]*$

[quoted]
^\[|["“”]
