[openers]
(?i)^(?:
        (?: well|so|and|but|also|however|anyway|anyways|actually|basically|honestly|frankly|additionally|furthermore
          | moreover|besides|plus|finally|lastly|overall|ultimately|oh|ah|hmm|hm|wow|hey|hi|hello|yeah|yep|sure
          | certainly|absolutely|definitely|of\ course|great|okay|ok|alright|right|now|then|first|firstly|secondly
          | thanks|thank\ you|lol|haha|by\ the\ way|btw|on\ (?:a\ different|another|a\ side)\ note|in\ addition
          | in\ (?:conclusion|summary|short|fact|general)|to\ (?:be\ honest|sum\ up|summarize|start|begin)
          | as\ (?:i\ said|mentioned|you\ know|always|a\ result)|for\ (?:example|instance)|that\ (?:said|being\ said)
          | speaking\ of\ which|you\ know|i\ mean|note\ that|également|außerdem|übrigens|además|entonces|pues
          | inoltre|allora|além\ disso|então )
        (?:\s*[,:–—!-]+\s*|\s+(?=(?:i|we|my|our|the|it|you)\b))
      | like,\s+
      | (?: well|so|and|but|oh )\s+(?=(?:by\ the\ way|btw|also|actually|honestly|yes|yeah|anyway)\b)
      | (?: (?:and\ )?thank(?:s|\ you)(?:\ so\ much)?\ for\ \w+ing )\s*[,!–—-]+\s*
      | (?: please\ (?:note|remember|keep\ in\ mind)\ that|keep\ in\ mind\ that
          | it(?:['’]s|\ is)\ (?:important|worth\ (?:noting|mentioning)|essential)
            (?:\ to\ (?:note|remember|mention))?\ that
          | i\ (?:just\ )?wanted\ to\ (?:say|mention|let\ you\ know)(?:\ that)?
          | i['’]d\ be\ happy\ to\ help(?:\ you)?(?:\ with)?|i\ was\ (?:just\ )?wondering(?:\ if)?
          | as\ an\ ai(?:\ language\ model)?,? )\s+
    )

[preface]
(?i)^(?: (?:can|could|would)\syou\s(?:please\s|also\s)?(?:help\sme\s(?:to\s|with\s)?|tell\sme\s|give\sme\s)?
        | do\syou\s(?:have|know|think)\s(?:of\s)?(?:any\s|some\s|that\s)?(?:other\s|good\s)?
        | i(?:['’]d|\swould)\s(?:like|love)\sto\s | i['’]m\s(?:also\s)?(?:looking\sfor|trying\sto)\s(?:some\s)?
    )(?=\S)

[called]
^(?i:hey|hi|hello|thanks|thank\ you|thx|wow|yeah|yep|sure|dear|cheers|nice|cool|congrats|oh|aww
|woah)[ ,]+[A-Z]\w+[,!.]+\s*

[aside]
(?:(?<!\s)\s+)?[(（\[](?:[^()（）\[\]]|[(（\[][^()（）\[\]]{0,100}[)）\]]){0,300}[)）\]]|(?<=,)\s(?:of\ course
|for\ example|for\ instance|however|I\ think),

[softeners]
\s(?:really|very|just|actually|basically|definitely|literally|honestly|simply|quite|kind\sof|sort\sof|pretty
|super|totally)(?=\s[a-z])

[note]
^\[(?:code|log|data):\ [^\]]*\]$

[PRAISE]
(?:great|good|amazing|awesome|fantastic|wonderful|excellent|incredible|cool|nice|lovely|perfect|welcome|right
|fun|interesting|wise|fabulous|brilliant|thoughtful)

[PRAISED]
(?:to\ hear|idea|question|choice|start|goal|decision|plan|step|news|point|job|thinking|one)

[filler]
(?i)^(?:
        (?:i\ )?(?:really\ )?hope\ (?:this|that|it|these|you).{0,60}
      | (?:please\ )?(?:let\ me\ know|feel\ free|don['’]t\ hesitate).{0,120}
      | (?:if\ you\ (?:have|need|want)|should\ you).{0,60}(?:questions?|help|assistance|know|ask).{0,60}
      | (?:is|was)\ there\ anything\ else.{0,60}
      | (?:what\ an?|that['’]?s|that\ is|that\ sounds|sounds|this\ is|it\ sounds\ like|it['’]s|it\ was|you['’]re)
        \s(?:\w+\s){0,3}{PRAISE}(?:\s{PRAISED}){0,2}
      | {PRAISE}\ {PRAISED}
      | (?:i['’]d|i\ would|i['’]m)\ (?:be\ )?(?:happy|glad|delighted|here)\ to\ (?:help|assist|hear)(?:\s\w+){0,4}
      | (?:have|enjoy)\ (?:a|your|the)\ .{0,50}
      | (?:happy|good\ luck|best\ of\ luck|safe\ travels|enjoy)(?:\s\w+){0,4}
      | (?:i|we)\ (?:really\ )?appreciate\ (?:it|that|your\ (?:help|support|patience)).{0,20}
      | (?:i\ )?(?:apologi[sz]e|sorry)\ for\ (?:the|any|my)\ \w+.{0,20}
      | thanks?(?:\ you)?\ (?:so\ much\ )?for\ .{0,50}
      | how\ (?:are|have)\ you(?:\ been)?(?:\s\w+){0,3} | (?:i['’]m|i\ am)\ (?:so\ )?glad\ (?:to\ hear|you).{0,30}
      | (?:it['’]s|it\ is|so)\ (?:so\ |really\ )?(?:good|great|nice|lovely)\ to\ (?:hear|talk|see|know|chat).{0,40}
      | i\ (?:completely\ |totally\ |fully\ )?(?:understand|get\ it)(?:\s\w+){0,4} | don['’]t\ worry.{0,40}
      | congrat(?:s|ulations)(?:\s\w+){0,5} | (?:and\ )?(?:what|how)\ about\ (?:you|yours|yourself)
      | can['’]t\ wait(?:\s\w+){0,4} | (?:it\ )?means\ a\ lot.{0,20} | keep\ (?:it\ up|up\ the\ good\ work)
    )[\s.!?]*$

