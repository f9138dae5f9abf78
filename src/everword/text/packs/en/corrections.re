# Words that mend what was said just before.
[mending]
(?i)\bi\ (?:actually\ )?meant\b|\bi\ mean,|^\W*i\ mean\b|\bcorrection\b|\bscratch\ that\b|\bmake\ that\b
|\bmy\ mistake\b|\bi\ misspoke\b|\btypo\b|(?:^|[.!?]\s+)(?:\W*(?:oh|ah|hm+|um),?\s)*(?:oops|whoops|sorry
|wait)[,!.:–—-]|^\W*(?:no|nope)\s*[,!.:–—-]|(?:^|[.!?,]\s*)(?:no|wait),?\ (?:it'?s|it\ is|that'?s|i\ meant
|not)\b|\bmade\ a\ mistake\b|\bgot\ (?:it|that)\ wrong\b

# Words that set one thing against another.
[contrasting]
(?i)(?:^|[.!?,;:\-]\s*)actually\b|^rather\b|\bon\ second\ thoughts?\b|\bchanged\ (?:my|our|his|her|their)\ minds?\b
|\bturns\ out\b|\binstead\ of\b|,\ not\s

# Words that change what was planned.
[changing]
(?i)\b(?:moved|pushed|postponed|rescheduled|delayed|brought\ forward|changed|switched|shifted|bumped|extended|raised
|lowered|reduced|increased|renamed|updated)\b(?:\ (?!house\b)\w+){0,4}?\ (?:to|until|till|from|by)\b|\b(?:is|are
|it'?s|will\ be)\ now\b|\bnow\ (?:it'?s|it\ is|it\ will\ be|at|on)\b|\bchange\ of\ plans?\b|\bplans?\ (?:has\ 
|have\ )?changed\b

# Words that end it.
[ending]
(?i)\bno\ longer\b|\bnot\ any\ ?more\b|\bcancel+ed\b|\bcalled\ off\b|\bfell\ through\b

[states]
(?i)\b(?:is|are|['’]s|will\sbe|costs?|starts?|begins?|ends?|due|opens?|closes?|leaves?|arrives?|takes\splace|weighs?
|scheduled|amounts?)\b

[definite]
(?i)^(?:\w+\s){0,3}?(?:the|my|our|your|his|her|their|its)\s|^it\b|['’]s\s

