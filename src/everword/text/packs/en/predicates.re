[contraction]
(?i)n['’]t\b|\bi\sam\b|\b(?:i|we|you|they|it|he|she|there|here|that|this|these|who|what|where|how|when|why|let
|everyone|everything|someone|something|nothing|name)['’](?:s|re|m|ve|ll|d)\b|['’](?:re|ve|ll)\b|\w['’]s\s(?:an?
|the|been|got|going|not|so|my|our|your|really|very|also|always|now|still|too|in|on|at|called|getting)\b

[ADVERB]
(?:\w+ly|also|just|still|never|always|often|even|all|both|now|then|usually|sometimes|ever|already|once)

[subject_verb]
(?i)\b(?:i|we|they|he|she|who)\s+(?:{ADVERB}\s+)*(?P<verb>[a-z]{2,})\b

[OBJECT]
(?:an?|the|my|our|your|his|her|its|their|this|these|those|some|any|all|each|every|me|you|him|us|them|it)

[PARTICLE]
(?:to|in|on|at|for|with|from|by|out|up|down|off|over|into|about|as|away|back|through|around|that|how)

[NO_SUBJECT]
(?<!,)(?<!\b(?i:a))(?<!\b(?i:an))(?<!\b(?i:the))(?<!\b(?i:my))(?<!\b(?i:our))(?<!\b(?i:your))(?<!\b(?i:so))(?<!\b(?i:too))(?<!\b(?i:very))(?<!\b(?i:super))(?<!\b(?i:really))(?<!\b(?i:and))(?<!\b(?i:but))(?<!\b(?i:or))

# what is before the verb is looked at last: it takes longest
[past]
(?=\s[a-z]\w+[^\We]ed\b){NO_SUBJECT}\s\w+(?=\s(?:{OBJECT}|{PARTICLE}|\d|[A-Z])|\W*$)
|^\w{2,}[^\We]ed\s(?:{OBJECT}|{PARTICLE}|\d|[A-Z])

[third_person]
(?i)\b(?P<verb>[a-z]{2,}s)(?=\s(?:(?P<object>{OBJECT}\b)|(?P<place>(?:in|on|at|for|with|from|by|of)\b)|\S))

[request]
(?i)(?:^|[,;:–—]\s+|\b(?:then|please)\s+)[\"“(]?(?:(?:please|always|never|just|also|then|simply|first|don['’]t
|do\snot)\s+)*(?P<verb>[a-z]{2,})\b(?=\s\S)

[leads_in]
(?i)(?:when|if|to|for|as|before|after|while|once|instead|based|in|on|with|by|during|at|next|then|first|since|unless
|depending|also|please|remember|\w+ing)\b

[after_noun]
\b(?P<subject>[^\W\d_]{2,})(?=\s(?:{ADVERB}\s)?(?P<verb>[a-z]{2,})\b)

# A clause that hangs on another: its verb is not the verb of the sentence.
[subordinate]
(?i)(?<=[\w,])\s(?:when|while|whenever|because|if|as|since|where|who|that|which|every\stime|after|before|until|how
|what|so\sthat|whose|than)\s[^,;:.!?–—]*

[asks]
(?i)\W*(?:(?:and|but|so|or|oh|hey|well|wow)\W+)?(?:who|what|when|where|why|how|which|whose|whom|is|are|was|were|do
|does|did|can|could|will|would|should|may|might|must|has|have|had|am|\w+n['’]t)\b|.*,\s(?:who|what|when|where
|why|how)\b

