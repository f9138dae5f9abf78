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
