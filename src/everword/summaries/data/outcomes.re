# How the person who asked ended a thread, in English.
[worked]
    (?i)(?<!\bnot\s)(?<!n['’]t\s)(?<!\bnt\s)\b(?:(?:that|it|this|now|everything(?=\snow))\b[^.!?]{0,30}\b(?:works?|worked|working|fixed|solved|did\sit|did\sthe\strick)
    |works?\s(?:now|fine|great|perfectly|like|too)|got\sit\s(?:working|to\swork|going|running|fixed|sorted|installed)\b|(?:fixed|solved|sorted)\b|(?:did|does)\sthe\strick|success|worked(?=\slike|\sgreat|\sfine|\sperfectly|\W*$|[!,.])|up\sand\srunning|problem\sgone)
[failed]
    (?i)\b(?:(?:it|that|this|these|they|which|both|neither|command|\w+ing)\s(?:still\s|just\s|also\s)?|^\W*(?:no|nope|hmm?|still|but|well|sorry|ok)?\W*(?:still\s)?)(?:(?:does|did|do|is|was|has|have|wo|ca|could|would)(?:n['’]?t|\snot)|cannot|can\snot)\s(?:(?!be\b)\w+\s){0,3}?(?:work|help|change|start|boot|load|install|mount|find|play|show|connect)\w*
    |\bno\s(?:luck|go|difference|change)\b|\bstill\s(?:no|not|the\ssame|same|get|getting|does|doesn|won|can['’]?t|nothing|says|having|broken)\b|\bsame\s(?:error|problem|results?)|^\W*(?:still\s)?(?:the\s)?same\sthing\W*$|\bnothing\shappen|\bgave\sup|\bgiving\sup|\bnot\sworking|\bto\sno\savail
[thanked]
    (?i)\b(?:thanks?|thx|thnx|tnx|thankyou|ty|tyvm|cheers|appreciate)\b
# A call for anybody who can help says nothing of what is wanted.
[calls]
    (?i)^\W*(?:(?:hi|hello|hey|ok|so|please|pls|plz|guys|all|everyone|folks)\W+)*(?:(?:can|could|would|will)\s(?:any\s?(?:one|body)|some\s?(?:one|body)|you\sguys|u\sguys|ne\s?1|any\s?1)
    \s(?:please\s|pls\s|plz\s)?(?:help|assist|answer|give)(?:\s(?:me|us))?(?:\s(?:out|with\s(?:this|that|it)|a\shand|please|pls|plz))*|any\s?(?:one|body|1)?\s?(?:help|ideas?|here|there|around|awake|alive|suggestions?|body|one|know)(?:\s(?:me|out|please|pls))*
    |(?:i\s)?(?:need|have)\s(?:some\s|a\s|quick\s|little\s)*(?:help|question|problem)(?:\splease)?|help(?:\sme)?(?:\splease)?|(?:may|can)\si\sask\b.{0,30})\W*$
# What makes an outcome no outcome: "if it works, fine".
[supposes]
    (?i)\b(?:if|whether|hope|hopefully|until|when|should|would|may|might|supposed|make\ssure|needs?|wants?|wonder|said|used\sto|before|yesterday|earlier|always|never\shad|usually)\b
# An answer that has none.
[shrugs]
    (?i)\b(?:i|am|['’]m)\s(?:do\snot|don['’]?t|dont|never|not|have\sno|haven['’]?t)\s(?:know|used?|sure|idea|tried|clue|really|seen)\b|\bno\s(?:idea|clue)\b|\byou\ssaid\b|\bsorry\b|\bdunno\b|\bwish\si\sknew\b
# What is said to a program of the channel.
[commands]
    ^\s*[!/][\w.]|^\s*<|^\s*\[?\d\d?:\d\d(?::\d\d)?\]?\s*<
[of_oneself]
    (?i)\b(?:i|i['’](?:m|ve|ll|d)|im|ive|we|my)\b
# What somebody wants, or what does not work.
[needs]
    (?i)\b(?:ca(?:n['’]?t|nnot)|can\snot|unable|(?:does|did|wo|is|wo)n['’]?t|(?:does|did|will|is)\snot|not\s(?:working|found|able)|fail(?:s|ed|ing|ure)?|errors?|problems?|troubles?|issues?|stuck|broken?|crash(?:es|ed|ing)?|freez(?:es|ing)|froze
    |(?:am|['’]m|im)\strying|(?:have|['’]ve)\s(?:been\strying|tried)|tr(?:y|ying)\sto|(?:i|we)\s(?:\w+\s)?(?:want|need|wish|would\slike)|['’]d\slike|looking\sfor|wonder(?:ing)?|how\s(?:do|to|can|does)|keeps?\s\w+ing|missing|lost|help)\b
# A reply that says what to do or where it is.
[advises]
    (?i)^\W*(?:(?:ok|okay|well|then|just|so|maybe|or|yes|yeah|no|nope|first|also|and|now|simply|please|probably|if\sso|you\s(?:can|could|need\sto|should|have\sto|must|might\s(?:want|try|need)(?:\sto)?|may\swant\sto))\W+){0,3}(?:try|use|run|install|edit|type|check|open|click|go|add|remove|download|reboot|restart|look|read|see|set|put|make|get|start|stop|change|select|choose|enable|disable|boot|copy|delete|upgrade|update|reinstall|mount|search|follow|do|press|plug|configure|compile|add)\b
    |\b(?:you\s(?:can|could|need|should|have\sto|must|might\s(?:want|try|need))|sudo|apt-get|aptitude|why\s(?:not|don['’]?t)|what\sabout|how\sabout)\b|https?://|(?:^|\s)/(?:etc|usr|var|home|dev|boot|proc|media|mnt)\b
# What takes back that something worked.
[turns]
    (?i)\b(?:but|except|though|although|however)\b
# A question that belongs to somebody else's.
[asks_back]
    (?i)^\W*(?:(?:ok|okay|so|and|but|well|oh|or|yeah|yes|hmm?|ah)\W+)*(?:(?:did|do|have|are|were|can|could|what|which|why|where|how)\s(?:\w+\s){0,2}?(?:you|u|ya|ur|your)\b|what\s(?:does|do)\s(?:it|that)\b|really\b|why\snot\b|how\scome\b|like\swhat\b)
# A question about what somebody else has or does,
[of_other]
    (?i)\b(?:you|u|ya|your|ur|yours)\b
# and not of oneself or to all.
[of_asker]
    (?i)\b(?:i|me|my|mine|im|ive|we|us|our|any\s?(?:one|body|1)|some\s?(?:one|body|1)|every(?:one|body)|all|guys|people|folks|recommend|suggest)\b
# A program of the channel is asked by a sign.
[calls_program]
    (?:^|\s)![a-z]\w+
