# Whether somebody only repeats what the assistant said, or what memory put before it.
[leans]
    (?i)\b(?:as|like|what|that|just\sas|exactly\sas)\syou(?:['’]ve|\shave)?\s(?:just\s|already\s|correctly\s)?(?:said
    |say|mentioned|wrote|noted|remember(?:ed)?|know|summari[sz]ed|listed
    |told\sme|recalled|put\sit|stated)\b|\byou(?:['’]ve|\shave)?\s(?:just\s|already\s|also\s)?(?:said|mentioned
    |told\sme|wrote|noted|remembered|listed|claimed)\b
    |\baccording\sto\s(?:you|your)\b|\byour\s(?:recap|summary|list|notes?|memory|profile|last\smessage|answer)\b
    |\byou(?:['’]re|\sare)\sright\b
    |\b(?:that['’]s|that\sis)\s(?:right|correct)\b
[word]
    \w+
