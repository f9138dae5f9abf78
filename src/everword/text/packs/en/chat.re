# "an RN" is a nurse
[particle]
    (?i)(?:(?<!\ba)(?<!\ban),?\s|^){particles}\b(?=[\s,.!?]|$)(?P<more>,?(?=\s\w))?
[spelling]
    (?<![\w'’.@/-]){SPELLINGS}(?=[\s,.!?]|$)
# "ill call", "id rather"
[i_will]
    (?i)\bill(?=\s(?:{plain_verbs}|never|not|just)\b)
[i_would]
    (?i)\bid(?=\s(?:rather|love|like|say|be|never|prefer)\b)
# One clause after another without a mark between them: "i passed my test im so happy".
[run_on]
    (?<![\w'’])(?!(?:{BEFORE_CLAUSE})\b)([a-z\d]{2,})\s+(?=(?:i\sam|i['’]m|im|it['’]s|its\s(?:an?|so|the|been|my|really|like)
    |he['’]s|she['’]s|they['’]re|we['’]re|that['’]s|thats)\s(?!\w+ing\b)\w)
[BEFORE_CLAUSE]
    and|but|or|so|because|cause|if|when|while|since|that|what|where|how|why|who|as|than|though|until|till|after|before
    |thinks?|thought|know|knew|guess|feels?|felt|says?|said|like|hope|wish|sure|bet|swear|figure|heard|see|saw|means?
    |tell|told|tells|whenever|unless|except|once|ever|everything|all|only|thing|things|way|reason|place|time|day|moment
    |one|now|then|even|now|whatever|anything|something|nothing|glad|happy|sorry|sad|maybe|god|lol|idk|know|believe|which
# A question that ends without its mark: "when do u land", "hows the dog".
[asks]
    (?i)(?:{interjection}[\s,.!]+)*(?:(?:what|how|where|who|when|why)['’]?s\s\w
    |(?:what|how|where|who|when|why|which)\s(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|am|r
    |happened|kind|time|about|many|much|long|often|old|far|come|else|day|color|colour|sort|year|one)\b
    |(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|r|am|may)\s(?:u|you|ya|i|we|he|she|it|they|that|this
    |there|your|ur|the|any|anyone|someone|everyone|my|our)\b
    |(?:is|are|was|were)\s[a-z]+\s(?:\w+ing|ok|here|there|still|back)\b)(?!.*[.!?…]$)
[interjection]
    (?:lol|lmao+|l+o+l+|(?:ha)+h?|omf?g|yea+h?|ya+|ye[ps]+|yup|nah|nope|okay|ok|kk?|oh|ugh+|aw+|wow|btw|also|anyway|so|and|but
    |well|dude|bro|bruh|wait|hey+|yo+|damn|right|cool|nice|sweet|sick|ikr|idk|hmm+|no\sway|yes+|no+|obvi|true|same|sounds\sgood
    |guess\swhat|you\sknow\swhat)\b
[opening]
    (?i)(?:{interjection}[\s,.!]+)+(?=\w+['’]?\w*\s\S)
# A statement that hands the word on: "got married last week - how about you?", "it snowed, right?"
[returned]
    (?i)[\s,.;–—-]+(?:(?:and|so|but)\s)?(?:(?:how|what)(?:['’]?s|\sis|\sare)?\s(?:about|bout)\s(?:you|u|ya|yours|yourself|your\s\w+)
    |how\s(?:are|r|have|['’]?ve)\s(?:you|u|things)(?:\s\w+)?|(?<=[,;–—-]\s)(?:and\s)?(?:you|u|yourself|right|huh|eh|hbu|wbu)|hbu|wbu
    |(?:right|huh|eh|you\sknow|isn['’]?t\sit|don['’]?t\syou\sthink))\?+$
