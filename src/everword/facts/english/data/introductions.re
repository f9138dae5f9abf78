# "I'm Dana" is a name only where somebody introduces themselves; else it is a joke, a role or a comparison.
[called]
    (?i)\b(?:my\s(?:\w+\s)?name(?:['’]s|\sis|:)|call(?:s|ed)?(?:\sme)?)\s+$
[we_are]
    (?i)\b(?:we(?:['’]re|\sare)|our\sname(?:['’]s|\sis))\s+$
[i_am]
    (?i)\bi(?:['’]m|\sam)\s+$
[introduced]
    (?i)\s*(?:[.(–—]|-\s|$|,?\s*(?:\d|{AFTER_INTRODUCTION}(?:\b|['’])))
[loudly]
    \s*!
[greeting]
    (?i)\b{GREETINGS}\b
