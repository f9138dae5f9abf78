# Standing instructions: how somebody wants to be answered from now on, and how to be called.
[lead]
    (?i)^(?:(?:{BEFORE_ORDER}|i['’]d\slike\syou\sto)[,:\s]+)+
[for_good]
    (?i)^(?:from\shere\son\sout|{FOR_GOOD}|whenever\syou\s(?:answer|reply|respond|write)
    |in\sall\s(?:your\s)?(?:answers|replies)|for\sall\sfuture\s\w+)[,:\s]+(?:please\s)?
    (?:(?:you\s)?(?:should|must)\s)?
[for_good_after]
    (?i)[,\s]+(?:{FOR_GOOD}|always)(?=\W*$)
[always]
    (?i)^always\s+
[never]
    (?i)^(?:never|don['’]?t\sever|do\snot\sever)\s+(?!mind\b|ever\b|say\snever\b|forget\b)
[not_word]
    (?i)^(?:don['’]?t|{NOT_TO})\s+
[order]
    (?i)^{ORDERS}\b
# "always be yourself": it is said of life, and to everybody
[maxim]
    (?i).*\b{MAXIM_WORDS}\b
[reply]
    (?i)^{REPLY_VERBS}(?:\s(?:to\s)?me)?(?:\sback)?\s(?:only\s)?in\s
[call_me]
    (?i)^(?:{BEFORE_CALL_ME}\s)*(?:call|address)\sme\s(?:as\s)?(?=\S)|^refer\sto\sme\sas\s
[after_call_me]
    {AFTER_CALL_ME}\b
[nicknamed]
    (?i)^(?:(?:all\s)?my\s(?:friends|family|colleagues|mates)|friends|people|everyone
    |everybody)(?:\sall)?\scalls?\sme\s
[answering]
    (?i)\b(?:{ASSISTANT_WORDS}|(?:the|this|an?)\s{ASSISTANT_NAMES})\b
[joint]
    (?i)(?<=\w);\s+|,?\s+(?:and|but)\s+(?=(?:{JOINED_ORDERS}|don['’]?t)\b)
[pleasing]
    (?i)[,\s]*{PLEASANTRIES}[\s.!]*$
# Without one of these words a sentence has no instruction: most sentences need not be read further.
[may_instruct]
    (?i)\b(?:calls?|address|refer|always|never|ever|whenever|in\sall|for\sall|under|emojis?|smileys?|emoticons?|units?|metric
    |imperial|celsius|fahrenheit|tone|{FOR_GOOD LENGTHS TONES FORMATS})\b
