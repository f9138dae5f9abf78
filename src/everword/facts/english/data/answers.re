# An answer that is no sentence by itself, as the sentence it stands for: "Any allergies?" "Yes, peanuts."
[no]
    (?i)(?:{ANSWERS_NO})\b[\s,.!–—-]*
[yes]
    (?i)(?:{ANSWERS_YES})\b[\s,.!:–—-]*
[lead]
    (?i)(?:{BEFORE_ANSWER})\b[\s,:–—-]*
[sentence]
    (?i)(?:i|i['’]\w+|we|we['’]\w+|my|our|you|it|he|she|they)\b
[polite]
    (?i)(?:{NO_VALUES})\b
[name]
    [A-Z][a-z]+
[vague]
    (?i)\b(?:{VAGUE_OBJECTS})\b
