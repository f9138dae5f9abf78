# How the person who asked ended a thread, in English.
[worked]
    (?i)(?<!\bnot\s)(?<!n['’]t\s)(?<!\bnt\s)\b(?:(?:that|it|this|all|now|everything)\b[^.!?]{0,30}\b(?:works?|worked|working|fixed|solved|did\sit|did\sthe\strick)
    |works?\s(?:now|fine|great|perfectly|like|too)|got\sit\b|(?:fixed|solved|sorted)\b|(?:did|does)\sthe\strick|success|worked(?=\slike|\sgreat|\sfine|\sperfectly|\W*$|[!,.])|up\sand\srunning|problem\sgone)
[failed]
    (?i)\b(?:(?:does|did|do|is|was|has|have|had|wo|ca|could|would)(?:n['’]?t|\snot)\b[^.!?]{0,40}\b(?:work|help|change|start|boot|load|install|mount|find|play)\w*
    |no\s(?:luck|go|difference|change)|still\s(?:no|not|the\ssame|same|get|does|doesn|won|can|nothing|says|having|broken)\b|same\s(?:error|problem|thing|result)|nothing\shappen|gave\sup|giving\sup|not\sworking|to\sno\savail)
[thanked]
    (?i)\b(?:thanks?|thx|thnx|tnx|thankyou|ty|tyvm|cheers|appreciate)\b
# A call for anybody who can help says nothing of what is wanted.
[calls]
    (?i)^\W*(?:(?:hi|hello|hey|ok|so|please|pls|plz|guys|all|everyone|folks)\W+)*(?:(?:can|could|would|will)\s(?:any\s?(?:one|body)|some\s?(?:one|body)|you\sguys|u\sguys|ne\s?1|any\s?1)
    \s(?:please\s|pls\s|plz\s)?(?:help|assist|answer|give)(?:\s(?:me|us))?(?:\s(?:out|with\s(?:this|that|it)|a\shand|please|pls|plz))*|any\s?(?:one|body|1)?\s?(?:help|ideas?|here|there|around|awake|alive|suggestions?|body|one|know)(?:\s(?:me|out|please|pls))*
    |(?:i\s)?(?:need|have)\s(?:some\s|a\s|quick\s|little\s)*(?:help|question|problem)(?:\splease)?|help(?:\sme)?(?:\splease)?|(?:may|can)\si\sask\b.{0,30})\W*$
# What makes an outcome no outcome: "if it works, fine".
[supposes]
    (?i)\b(?:if|whether|hope|hopefully|until|when|should|would|may|might|supposed|make\ssure|wonder)\b
# An answer that has none.
[shrugs]
    (?i)\b(?:i|am|['’]m)\s(?:do\snot|don['’]?t|dont|never|not|have\sno|haven['’]?t)\s(?:know|used?|sure|idea|tried|clue|really|seen)\b|\bno\sidea\b
# What is said to a program of the channel.
[commands]
    ^\s*[!/][\w.]
[of_oneself]
    (?i)\b(?:i|i['’](?:m|ve|ll|d)|im|ive|we|my)\b
