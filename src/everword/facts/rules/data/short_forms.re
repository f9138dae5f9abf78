# Short forms, named by what they stand for, in the order in which they are written out.
[OTHERS]
    \b(?P<who>he|she|they)['’]
[I am]
    (?i)\bi['’]m\b|\bim\b(?=\s)
[I have]
    (?i)\bi['’]ve\b|\bive\b(?=\s)
[I will]
    (?i)\bi['’]ll\b
[I would]
    (?i)\bi['’]d\b(?=\s(?:rather|like|love|prefer|want|be|\w+ly)\b)
[I had]
    (?i)\bi['’]d\b
[we are]
    (?i)\bwe['’]re\b
[we have]
    (?i)\bwe['’]ve\b
[we will]
    (?i)\bwe['’]ll\b
[WHO has got]
    (?i){OTHERS}s\sgot\b
[WHO is]
    (?i){OTHERS}(?:s|re)\b
[WHO has]
    (?i){OTHERS}ve\b
[WHO will]
    (?i){OTHERS}ll\b
