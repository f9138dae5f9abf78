[MONTH]
(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|jun(?:e)?|jul(?:y)?|aug(?:ust)?|sept?(?:ember)?
|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)

[COUNT]
(?:\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty
|a\scouple\sof)

[SEASON]
(?:spring|summer|autumn|fall|winter)

[AGO]
(?:(?:about|around|almost|nearly|over)\s)?{COUNT}\s(?:day|week|month|year|decade|{SEASON})s?

[POINT]
(?:\d{4}-\d\d-\d\d|\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?{MONTH}\b(?:,?\s\d{4})?|{MONTH}\b\s\d{1,2}(?:st|nd|rd
|th)?\b(?!\d)(?:,?\s\d{4})?|{MONTH}\b(?:\s\d{4})?|(?:19|20)\d\d\b|last\s(?:year|month|week|{SEASON}|{MONTH}\b)|yesterday
|{AGO}\sago)

[between]
(?i)\bfrom\s({POINT})\s(?:to|until|till)\s({POINT})

[since]
(?i)\b(?:ever\s)?since\s(?:about\s|early\s|late\s|the\s)?({POINT})

[lasting]
(?i)\bfor\s(?:the\s(?:last|past)\s)?({AGO})(?:\snow)?(?=[\s,.!]|$)

[until]
(?i)\b(?:until|till|up\sto)\s(?:about\s|early\s|late\s|the\s)?({POINT})

[then]
(?i)\b(?:(?:back\s)?in\s)?({POINT})(?=[\s,.!]|$)

[iso_month]
(?:19|20)\d\d-(0[1-9]|1[0-2])
