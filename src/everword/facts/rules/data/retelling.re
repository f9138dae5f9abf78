# What somebody says of themselves, told in the third person without a name: "I lost my keys" is "lost their keys".
[adverbs]
    (?i)(?:(?!so\s(?:much|many)\b)(?:{EMPTY_ADVERBS}
    |(?!{VERBS_IN_LY ADVERBS_OF_HABIT}\b)\w{3,}ly)\s+)+
[kept_adverbs]
    (?i)(?:{ADVERBS_OF_HABIT}\s+)+
[word]
    (?i)[a-z][a-z'-]*(?=\s|$|[,.!])
[future]
    (?i)(?:(?:am|are)\s(?:{EMPTY_ADVERBS}\s)*(?:going\sto|gonna|about\sto)|gonna|will)\s+
[not_word]
    (?i)(?P<do>{HELPERS})\s+(?:not|never)\s+
[emphasis]
    (?i)do\s(?={COMMON_VERBS}\s|tend\sto\s)
# "I read comics": nothing says that it is over
[reads]
    (?!{AFTER_PAST_READ}\b)[a-z]
    (?!.*\b(?:yesterday|last|ago|once|when|today)\b)
[use_to]
    (?i)^use\sto\s
[second_verb]
    ((?:,|\b(?:and|but|then))\s(?:{ADVERBS_OF_HABIT}\s)?)((?!like\b){COMMON_VERBS})(?=[\s,])(?!\s(?:is|are|was)\b)
[be_after]
    (?i)\b(?:i|we)\s+((?:\w+ly|still|just|also|always|never)\s+)?(am|was)\b
# A number in a name: "Mustang I".
[pronoun]
    (?P<numeral>\b[A-Z][\w-]+\sI\b(?!\s(?:am|was|have|will|{COMMON_VERBS PAST_FORMS}|\w+ed)\b))
    |\b(?:I|i|[Ww]e|[Mm]y|MY|[Oo]ur|[Mm]e|ME|us|[Mm]yself|[Oo]urselves|[Mm]ine|[Oo]urs)\b(?!['’.-]\w)
[space]
    \s+(?:([,.;:!?])(?=\s|$))?
