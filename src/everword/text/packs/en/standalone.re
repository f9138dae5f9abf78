[reply]
(?i)^(?:\W*(?:oh|haha|well|hmm)\b\W*)?(?:yes|no|yeah|yep|yup|nope|nah|sure|maybe|probably|exactly|definitely
|absolutely|totally|of\ course|not\ really|not\ yet|i\ do|i\ did|i\ am|i\ have|me\ too|me\ neither|same\ here
|so\ do\ i|neither\ do\ i|right|true|correct|agreed|indeed|kind\ of|sort\ of|both|neither|none|nothing
|everything)\b(?!\sone\b)

[yes_or_no]
(?i)^(?:yes|no|yeah|yep|yup|nope|nah)\b\s*[,.!–—-]

[pronoun]
(?i)^(?:it|they|he|she|them|him|his|their|its|both|one|ones|some|most|all|another)\b(?!\sof\s(?:the|my|our)\b)
|^(?:that|this|these|those|which|who)(?:['’](?:s|ll|d|re)|\s(?:is|are|was|were|will|would|has|had|have|did|does
|do|can|could|should|might|may|must|really|also|one|way|helps?|makes?|made|sounds?|looks?|means?|meant|kind|sort
|all|gives?|gave|keeps?|kept|took|takes?|happened|went|came|got|shows?|works?|seems?|feels?|felt|reminds?
|brings?))\b

[there]
(?i)\b(?:there|then|so|too|either|the\ssame|like\sthat|that\sone|this\sone)[.!?]*$

[farewell]
(?i)^(?:see\s(?:you|ya)|bye|take\scare|stay\ssafe|(?:talk|speak|chat|catch)\s(?:(?:to|with)\s)?(?:(?:you
|ya)\s)?(?:soon|later))\b

[object]
(?i)\b(?:it|them|they|him|he|she)\b

[names_thing]
\b(?:a|an|the|my|our|your|his|her|their|this|that|some|\d+)\s|\s[A-Z]\w|[\"“]

[joins]
(?i)^(?:and|or|but|nor|plus|because|cause|cuz|so|than|like|especially|including|such\sas|as\swell|too|also|with
|without|to|for|from|of|at|by|about|into|even|just|only|not|etc)\b

[exclaims]
(?i)^(?:what\san?|such\san?|how\s(?:\w+ly\s)?(?!(?:many|much|long|often|far|old|big)\b)\w+!|so\s\w+!|looks?|sounds?
|seems?|reminds?|glad|good\sto|hope|can['’]t\swait|good\s(?:luck|job|call)|love\s(?:it|that|this|the|your|how)
|nice|great|awesome|cool|wow|keep|appreciate|i\s(?:\S+\s)?agree|cheers|always|an?\s(?:amazing|great|perfect)
|adding|(?:that|this|it)['’]s\s(?:\w+\s)?(?:helpful|useful|good|great|nice)\b|no\s(?:problem|worries|regrets
|doubts?)|looking\sforward\sto\smore)\b

[addition]
(?:And|Plus,?)\s+(?=\S+\s+\S)

# What turned in somebody's life: one word tells enough
[news]
(?i)\b(?:i|we|he|she|they)['’\s](?:\w+\s){0,2}?(?:got|getting|was|were|am|m|are|re|is|s|been)\s(?:\w+\s)?
(?:promoted|engaged|married|divorced|pregnant|hired|fired|laid\soff|accepted|admitted|elected|evicted|robbed|diagnosed)\b

[vocative]
^(?:(?i:speaking|talking)\sof\s[\w\s'’-]{2,40},\s)?(?:(?i:oof|ugh|aw+|yay|god|gosh|man|dude|damn|whoa|woah|haha|lol|ouch|geez|ah
|oh)[,!.\s]+)?(?:[A-Z]\w+[,!.]\s+)?(?=\w)

[first_person]
(?i)^(?:i|we|my|our)(?:['’]\w+)?\s

[label]
(?i)^\W*(?:option|step|task|goal|day|week|month|phase|part|tip|example|question|answer|scenario|idea|section|chapter
|exercise|round|level|stage|rule|method|approach|version|table|figure|item|lesson|module|act|scene|verse|stanza
|paragraph|slide|page|no|number|problem|case|team|group|set|q|a)?\W*(?:\d+(?:\s*[-–]\s*\d+)?|[ivx]+|[a-z]|one
|two|three|four|five)?\W*(?:hours?|hrs?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|am|pm|a\.m\.?
|p\.m\.?)?\W*$

# "staying hydrated" has no predicate
[state]
(?i)^\w+ing\s\w+ed\b

[day]
(?i)\d|\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july
|august|september|october|november|december|tomorrow|tonight|next\s(?:week|weekend|month|year|spring|summer
|autumn|fall|winter))\b

[caption]
\[[^\[\]]*\]\W*

[he_or_she]
(?i)^(?:he|she)(?:['’](?:s|ll|d)|\s)

# a time, a place or a number is asked for
[asks_value]
(?i)^(?:when|where|how\s(?:many|much|long|old|far))\b

# neither yes nor no answers it
[asks_what]
(?i)^(?:and\s|so\s|but\s)*(?:what|who|whom|whose|which|when|where|why|how)\b

[supposing]
(?i)\b(?:i\s(?:think|believe|guess|suppose|hope)|maybe|probably|perhaps)\b
