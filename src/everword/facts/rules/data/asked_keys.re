# What is asked to be forgotten as a question, by the key that answers it: "where I live".
[WHO]
    (?:i|he|she|they|\S+)
[location]
    (?i)where\s{WHO}\s(?:lives?|am\sliving|is\sliving)
[employer]
    (?i)where\s{WHO}\s(?:works?|is\sworking|am\sworking)
[origin]
    (?i)where\s{WHO}\s(?:am|is|are|comes?)\sfrom
[age]
    (?i)how\sold\b
[birthday]
    (?i)when\s{WHO}\s(?:was|were)\sborn
[name]
    (?i)(?:who\si\sam|what\s(?:i\sam|i['’]m|he\sis|she\sis)\scalled)
[job]
    (?i)what\s(?:i|he|she|they)\sdo(?:es)?(?:\sfor\sa\sliving)?$
