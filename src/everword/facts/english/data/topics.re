# What a standing instruction is about.
[emojis]
    (?i)\bemojis?\b|\bsmileys?\b|\bemoticons?\b
[answer length]
    (?i)\b{ANSWERS}\b.*\b(?:{LENGTHS}|under\s\d+\s\w+)\b|^be\s(?:brief|concise|terse)\b
[units]
    (?i)\b(?:metric|imperial|celsius|fahrenheit)\b(?=.*\bunits?\b|\W*$|\ssystem)|\bunits\b
[tone]
    (?i)\b{TONES}\b(?=.*\b{AFTER_TONE}\b|\W*$)|\btone\b
[format]
    (?i)\b{FORMATS}\b
