# Facts in a message, found by its wording, without a model: in plain English, few and sure rather than many.
[hint]
    (?i)(?:\b(?:{FACT_HINTS}|{NEWS_VERBS}|i['’]m|don['’]?t)\b|\bis\b|\b\w+s\s)
[long_ago]
    (?i)\b{LONG_AGO}\b
[before_today]
    (?i)\b(?:last\s(?!time\b)\w|yesterday\b|ago\b|the\sother\s(?:day|night|week)\b|was\swhen\b)
[modifier]
    (?:{RELATIVE_ADJECTIVES}\s)*
[mention]
    (?i)\b(?:my|our)\s{modifier}({KIN}),?\s(?=[^\W\d_])
[no_mention]
    (?i)\b{NO_MENTION}\b
[as_name]
    [^\W\d_]+(?:['’-][^\W\d_]+)*(?:\s[^\W\d_]+(?:['’-][^\W\d_]+)*){0,2}
# "my girlfriend Ada's dog", "my girl Ada is a beagle dog": whose name it is, is not sure
[animal]
    (?i)[\w-]+(?:['’]s)?\s(?:is\s(?:an?|my|our|the)\s)?(?:\w+\s){0,2}(?:{PETS})\b
[new_animal]
    (?i)\b(?:i|we)\s(?:\w+\s){0,2}?(?:got|adopted|have|bought|rescued)\s(?:an?|another|this)\s(?:[\w-]+\s){0,3}?
    ({PETS})\b[^?]{0,120}?[.!,–—-]+\s+
    (?:(?:her|his|its)\sname(?:['’]s|\sis)|(?:she|he|it)(?:['’]s|\sis)\s(?:called|named)
    |(?:i|we)\s(?:named|called)\s(?:her|him|it))\s(?-i:([A-Z]\w+))
