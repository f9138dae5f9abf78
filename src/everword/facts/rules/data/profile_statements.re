# What a statement of a profile says: its words, and whether it gives an attribute its one value.
[word]
    [^\W_]+(?:['’][^\W_]+)*|[^\w\s.,;:!?\"'“”‘’()…-]
[attribute]
    ^(?P<what>(?:\S.{0,80}?['’]s|The|the)\s(?:[^\W\d_][\w-]*\s){0,3}[^\W\d_][\w-]*)\s(?:is|was)\s(?P<value>\S.*)$
[means_one]
    \b(?:name|nickname|birthday|age|number|address|email|code|password|size|height|weight|colou?r|title|username|handle
    |time\s?zone|type|status|car|bike|laptop|team|deadline|budget|real\s\w+|native\s\w+)$|['’]s\sfavou?rite\s
