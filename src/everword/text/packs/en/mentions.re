[name]
(?<![\w'’])(?:[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ][\w'’&-]*\w
|[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ](?=\s[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ]\w))(?:\.(?=\w)\w+)*(?:(?:\s|\.\s(?=[A-Z]))(?:(?:of|de|la
|van|von|der|du|del|&)\s(?:the\s|la\s)?)?(?:[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ][\w'’&-]*\w|[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ](?!\w)
|\d{1,4}(?![\w.,:%])))*

[OTHER_MONTHS]
januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre
|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre
|diciembre

[MONTH]
(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|jun(?:e)?|jul(?:y)?|aug(?:ust)?|sept?(?:ember)?
|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|{OTHER_MONTHS})

[DAY]
(?:(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?)

[PART]
(?:week(?:end)?|month|year|summer|winter|spring|fall|night|morning)

[COUNTED]
(?:\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|couple\sof|several)

[SPAN]
(?:second|minute|min|hour|day|night|week|month|year|decade)s?

# A date, a time of day, or a time relative to now.
[when]
(?i)\b(?: \d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)? | \d{1,2}[./]\d{1,2}[./]\d{2,4}
        | (?:the\s)?\d{1,2}(?:st|nd|rd|th|\.)?\s(?:of\s)?{MONTH}\b(?:,?\s\d{4})?
        | {MONTH}\s\d{1,2}(?:st|nd|rd|th)?\b(?:,?\s\d{4})? | {MONTH}\s\d{4}
        | (?:next|last|this|every|past)\s(?:{DAY}|{MONTH}\b|{PART})
        | {DAY}(?:\s(?:morning|afternoon|evening|night))? | yesterday | tomorrow | tonight
        | (?:about\s)?{COUNTED}\s{SPAN}\s(?:ago|later|from\snow) | in\s{COUNTED}\s{SPAN}
        | for\s(?:the\s(?:past|last)\s|over\s|about\s)?{COUNTED}\s{SPAN} | since\s(?:{MONTH}|\d{4})
        | (?:at\s)?\d{1,2}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.)(?!\w) | (?:at\s)?\d{1,2}:\d\d(?:\sUhr)?(?![\w:])
        | (?:in|by)\s(?:19|20)\d\d(?!\w|[.,]\d|\s?%) | \d{1,2}月\d{1,2}[日号] | \d{4}年(?:\d{1,2}月)?
    )

[UNIT]
(?:%|percent|°\s?[CF]|[kmgt]i?b|[kmgt]bit/s|ms|km|cm|mm|kg|mg|g|lbs?|oz|ml|l|hz|ghz|mhz|kw|w|v|mph|km/h
|inch(?:es)?|f(?:oo|ee)t|miles?|pounds?|cups?|tablespoons?|teaspoons?|tokens?|lines?|pages?|steps?|people|users?
|seconds?|minutes?|hours?|days?|weeks?|months?|years?(?:\sold)?)

# A number with its unit or currency.
[amount]
(?i)(?<![\w.,])(?<![A-Za-z]-)(?:
        [$€£¥₹]\s?\d[\d.,]*(?:\s?(?:k|m|bn|million|billion))?(?:\s?[-–]\s?[$€£]?\d[\d.,]*)?
        | \d[\d.,]*\s?(?:[$€£¥₹元円원]|(?:dollars|euros|pounds|usd|eur|gbp|yen)\b)
        | \d[\d.,]*(?:\s?(?:-|–|to|and)\s?\d[\d.,]*)?\s?-?{UNIT}(?!\w)
    )

[here_are]
(?i)^(?:here\s(?:are|is)|here['’]s|these\sare|the\sfollowing\sare|below\s(?:are|is))\s(?:some|a\sfew|several|the
|an?)?\s*(?:\w+\sof\s)?

[numbered]
(?i)^(?:step\s)?\d+[.:)]\s*

[file]
(?<![\w@/.-])(?:[\w.-]+/)*[\w-]+\.(?:py|js|tsx?|jsx|java|go|rs|c|cpp|h|cs|rb|php|sh|sql|html?|css|json|ya?ml
|toml|md|txt|csv|xlsx?|docx?|pdf|png|jpe?g|ipynb|db|log|env|ini|cfg|conf|lock)\b

[host]
(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])

[error]
\b[A-Z]\w*(?:Error|Exception|Warning)\b(?::\s[^\n`.]{1,50})?

[link]
https?://(?:www\.)?([^\s/?#<>\")\]]{3,60})

[version]
\b([A-Z][\w.+#]{1,30})\s(?:version\s)?v?(\d+(?:\.\d+){1,3})\b

[defined]
(?m)^[ \t]{0,8}(?:async\s)?(?:def|class|function|fn|func|struct|interface)\s+(\w{2,40})

[at]
(?i)^(?:at|on|in|by|for|about|the)\s(?:the\s(?=\d|past|last))?

