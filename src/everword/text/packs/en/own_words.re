[sign_of_foreign_text]
(?i)[:：<“«„「\"/]|\sago\b|forwarded|original|weitergeleitete|ursprüngliche|[\[(](?:verse|chorus|pre-chorus|bridge
|refrain|hook|outro)

[OWN_TEXTS]
(?:answers|e-?mail|mail|(?:cover\s|motivation\s)?letter|bio|biography|cv|r[eé]sum[eé]|(?:dating\s)?profile|essay
|post|diary|journal|statement|introduction|intro|text|week|day|schedule|timetable|routine|plan)

[NOT_OF_OTHERS]
(?!['’]s\b|\s(?:from|by|thread|history|with|about\s(?!me\b|myself\b)|(?:for|as)\s(?:my|an?|our|his|her
|someone)\b))

[claims]
(?i)\b(?:(?:it|this|that)(?:['’]s|\sis)\s(?:all\s)?(?:about\sme|mine)|true\s(?:of|about|for)\sme|this\sabout\sme
|(?:everything|all|every\sword)\s(?:in\sit|in\sthere|of\sit|below|here)\sis\strue)\b|\b(?:this|here|below|these
|the\sfollowing)(?:['’]s|\sis|\sare)\smy\s(?:own\s|new\s)?{OWN_TEXTS}\b{NOT_OF_OTHERS}|\b(?:my\sown\s{OWN_TEXTS}
|(?:an?|the|this)\s{OWN_TEXTS}\s(?:that\s)?i(?:['’]ve)?\s(?:just\s)?(?:wrote|written))\b{NOT_OF_OTHERS}
|\bi(?:['’]ve)?\s(?:just\s)?(?:wrote|written)\s(?:this|it|the\sfollowing)(?:\s{OWN_TEXTS})?(?!\s(?:poem|song
|story|script|scene|prompt|dialogue))\b{NOT_OF_OTHERS}

[others_wrote]
(?i)\b(?:he|she|they|somebody|someone|(?:my|our|the|an?|his|her|their)\s[\w-]+|(?-i:[A-Z][a-zß-üA-Z]+))\s(?:\w+ly\s
|just\s|has\s|had\s)?(?:wrote|written|writes|sent|sends|posted|texted|e-?mailed|messaged|said|says|claims)\b
|\w['’]s\s(?:own\s)?(?:e-?mail|mail|letter|bio|cv|r[eé]sum[eé]|profile|essay|post|diary|journal|text|answers)\b
|\b(?:e-?mail|mail|message|letter|bio|cv|r[eé]sum[eé]|profile|essay|post|text)s?\s(?:\w+\s){0,4}?(?:from|by)\b
|\b(?:got|received|found|saw)\s(?:this|these|it)\b|\b(?:character|persona|novel|fiction(?:al)?|pretend
|imagine)\b

[forwarded]
(?i)\s*+(?:[-_*=]{2,}\s*+)(?:original|forwarded|weitergeleitete|ursprüngliche)\s\w+|\s*begin\sforwarded\smessage\b

[subject]
(?i)\s*+(?:re|fwd?|aw|wg|automatic\sreply|out\sof\soffice)\s?:\s\S

[chapter]
(?i)[\W_]*(?:chapter|prologue|epilogue)(?:\s(?:\d{1,3}|[ivxlc]{1,6}|[a-z]{3,9}))?(?:\s?[:.–—-]\s?.{1,60})?

[prompt]
(?i)[\W_]*(?:ignore\s(?:all\s)?(?:the\s|your\s)?(?:previous|prior)\sinstructions|(?:you\sare|you['’]re
|act\sas)\san?\s(?:[\w-]+\s){0,3}?(?:assistant|chat\s?bot|bot|ai|language\smodel|agent)\b(?!\s?!)
|you\sare\s(?-i:[A-Z]\w+),\san?\s|(?:never|do\snot|don['’]t)\s(?:reveal|share|mention)\s(?:these|this
|your)\s(?:system\s)?(?:instructions|prompt)(?:[.!]|$|\sto\b))

[on_wrote]
(?i)\s*+(?:on|am|le|el)\b.{5,160}\b(?:wrote|schrieb|a\sécrit|escribió)\b.{0,60}:\s*$

[header]
(?i)\s*+\**(from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|datum|gesendet|de|à|objet|envoyé|para|asunto
|enviado|da|oggetto|inviato)\**\s*:\**\s*(\S.*)

[mail]
(?i)subject|cc|bcc|sent|reply-to|betreff|gesendet|objet|envoyé|asunto|enviado|oggetto|inviato

[salutation]
(?i)\s*+(?:dear\s(?!.{0,20}\b(?:assistant|bot|ai|chatgpt|gpt|claude|copilot|gemini|everword)\b)[^\n]{1,60}[,:]
|(?:hello|hi|hey|welcome)(?:\s(?:to\s)?(?:dear|all|my|our|lovely))*\s(?:readers|subscribers|customers|residents
|tenants|parents)\s?[,:!]|to\swhom\sit\smay\sconcern\W?)\s*$

[TELLER]
(?:he|she|they|somebody|someone|which|who|it|(?:my|our|the|a|an|his|her|their|this|that
|one\sof)\s(?:[\w'’-]+\s){0,3}?[\w'’-]+|[A-Z][\w'’-]+)

[TELLS]
(?:wrote|writes|said|says|sent|sends|posted|texted|e-?mailed|messaged|replied|answered|tweeted|commented|shared
|handed|submitted|left\s(?:me\s|us\s)?(?:this|a|the)\s(?:note|message|voicemail)|told\s\w+|read|reads|goes
|begins|began|continues|continued|explains|explained|adds|added)

[TEXTS]
(?:e-?mails?|mails?|messages?|letters?|posts?|tweets?|articles?|reviews?|lyrics|song|poem|quotes?|quotation
|transcripts?|chat\s?(?:log|history)s?|group\schat|threads?|bio|biography|ad|adverts?|advertisement|listing
|posting|contract|clause|excerpt|passage|paragraph|snippet|script|dialogue|monologue|scene|caption|subtitles
|texts?|testimon(?:y|ial)|cv|r[eé]sum[eé]|speech|interview|blog|log|profile|diary|journal|memoirs?|book|novel
|statement|report|essay|leaflet|brochure|chapter)

[introduces]
(?i)(?<![\w'’]){TELLER}\s(?:(?:just|also|then|once|has|had|have|recently
|[\w'’-]+ly)\s){0,2}{TELLS}\b[^.!?:\n]{0,40}:|^\W{0,6}(?:[\w'’-]+\s){0,3}?{TEXTS}(?:\s(?:from|by|of|on
|in)\b[^.!?:\n]{0,60})?\s?:|['’]s\s(?:[\w'’-]+\s){0,2}?(?:{TEXTS}|answers?|reply|response|words
|story)\b[^.!?:\n]{0,60}:|\b(?:this|these|the|that|his|her|their|an?|following|from
|below)\s(?:[\w'’-]+\s){0,3}?{TEXTS}\b[^.!?:\n]{0,60}:|\b(?:look\sat|read|see|check(?:\sout)?|got|received|found
|saw|came\sacross)\s(?:this|these|that|the\sfollowing)(?:\s\w+){0,3}?\s?:\s*$

[mine]
(?i)\b(?:i|i['’]ve|we)\s(?:\w+\s){0,2}\w*$|\b(?:about\sme|myself|my\sown)\b|\bmy\s(?:(?:own|new|old|work|personal
|first|last)\s)?{TEXTS}\b

[known]
(?i)[\W_]*(?:what\sis\sknown\b.{0,40}|known\sfacts\b.{0,40}|(?:user|person(?:al)?)['’]?s?\s(?:profile|facts
|memor(?:y|ies))|memor(?:y|ies)|remembered|retrieved\smemory|facts\sabout\s(?:the\suser|you))[\W_]*

[quoted]
\s*+(?:\"[^\"]++\"|“[^“”]++”|'(?>(?:[^']|(?<=\w)'(?=\w))+)'(?!\w))(?P<after>(?>(?:[^\"“”']|(?<=\w)'(?=\w))*))$

[of_mine]
(?i)\b(?:my|our|me|us)\b

[TIME]
\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?

[MONTH]
(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?

[WEEKDAY]
(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\s

[NAMED_DATE]
(?:{WEEKDAY})?(?:{MONTH}\s\d{1,2}|\d{1,2}\s{MONTH})(?:,?\s\d{4})?

[DATE]
\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?

[AGO]
(?:\d{1,3}|an?)\s?(?:s|sec|m|min|h|hr|hour|minute|d|day|w|wk|week|mo|month|y|yr|year)s?\.?\sago

[WHEN]
(?:(?:(?:{DATE}|{NAMED_DATE}|today|yesterday)[,\s]*(?:at\s)?)?{TIME}|{AGO})

[NICK]
<[@+%~&]?[\w\[\]{}|^`\\-]{1,30}>

[spoken]
(?i)\s*+(?:\[?{WHEN}\]?[\s–—-]*(?:{NICK}\s|[^\s:][^:\n]{0,40}:(?:\s|$))|{NICK}\s\S)

[head]
(?i)\s*+[^\s:\[][^:\n\[]{0,40}?(?:\s{2,}+|\t|\s[–—|·•»]\s|,?\s\[){WHEN}\]?\s*(?:\(edited\))?\s*$
|\s*+[^@\n]{0,40}(?<!\S)(?:@|u/)[\w.-]{2,30}\s(?:[–—|·•]\s)?(?:{WHEN}|{NAMED_DATE}
|\d{1,2}[smhdwy])\s*(?:\(edited\))?\s*$|\s*+\[{WHEN}\]\s*[^\s:][^:\n]{0,40}$|\s*+\[?{WHEN}\]?[^:\n]{1,60}:\s*$
|\s*+(?:[-*+•]\s|\d{1,3}[.)]\s)?@[\w.]{2,30}\s[–—|·•]\s

[short_head]
(?i)\s*+(?:[^\s:]{1,24}\s){0,4}\(?{WHEN}\)?\s*$

[stamped]
\s*+\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d|\s*[A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d\s\S+\s

[labelled]
\s*+(?:[-*•]\s)?(?:[*_]{1,2})?(?P<label>[^\W\d_][\w.'’-]{0,24}(?:\s[\w.'’-]{1,24}){0,2}?)\s?\d{0,2}(?:\s?\([^()\n]{1,30}\))?(?:[*_]{1,2})?\s?[:：](?:[*_]{1,2})?\s+(?P<speech>\S.*)

[first_person]
(?i)\b(?:i|i['’]?m|i['’]ve|my|me|we|our|ich|wir|mein\w*|je|j['’]\w+|nous|yo|soy|nosotros|io|sono|noi|eu|sou|ik|wij
|mijn|jag|jeg|я|мы|мо[йяи])\b|^(?:always|never)\b|[我私僕]

[asked]
(?i)q|question

[answered]
(?i)a|answer

[key]
(?P<indent>\s*)(?P<item>-\s)?[\w.-]{1,30}:(?:\s(?P<value>.*))?$

[COUNTED]
[\d.,]+[km]?\+?\s(?:upvotes?|points?|comments?|repl(?:y|ies)|retweets?|reposts?|likes?|views?|answers?|shares?
|followers?)

[of_a_page]
(?i)\s*+(?:{COUNTED}(?:\s{COUNTED})*|(?:posted|submitted)\sby\s\S.*|r/\w{2,30}|(?:joined
|member\ssince)\s?:\s?\w.{0,20}|(?:posts|reputation|karma)\s?:\s?[\d.,]+|(?:senior|junior|registered
|verified)\s(?:member|purchase|buyer)|show\s(?:\d+\s)?(?:more\s)?replies|(?:asked|modified|viewed|posted|updated
|published|last\sedited)\s.{1,30}\s(?:ago|times)|sort(?:ed)?\sby:.{1,30}|reviewed\s(?:in|on)\s.{4,60}
|rated\s.{1,30}\bstars?|.{0,20}[★☆⭐]{3,}.{0,80}|.{1,20}\sfound\sthis\shelpful|was\sthis\s.{0,10}helpful\b.{0,40}
|(?:prep|cook|total)(?:aration|ing)?\stime\s?:.{1,100}|\d+\s(?:km|miles?|mi)\saway|active\s(?:now|today)
|(?:(?:view|open|read)\s(?:\w+\s){0,3}in\s(?:your\s|the\s|a\s)?browser|(?:to\s)?unsubscribe)\b[^?]{0,80}
|[^?]{0,60}[|·•]\s?unsubscribe\W*|you(?:['’]re|\sare|\shave)?\s(?:receiv(?:ed|ing)|getting
|got)\sthis\s(?:e-?mail|mail|message|newsletter|letter)\b.{0,120}|(?:©|\(c\)
|copyright)\s.{0,4}\d{4}\b.{0,100})\s*

[closing]
[\s–—-]*+[A-Z][a-zß]+(?:\s[A-Za-zß]+\.?){0,2}(?:,|(?<=[Rr]egards))(?:\setc\.,)?\s*

[title]
[A-Z][\w'’-]*(?:\s(?:[A-Z][\w'’-]*|a|an|the|of|and|in|on|for|to|with|&)){2,7}

[of_a_person]
[A-Z][\w.'’-]*(?:\s[A-Z][\w.'’-]*){0,2}(?:,\s\d{2})?(?:(?<=\d)|\s[–—]\s[A-Z][^.!?:\n]{1,40})

# small letters would be prose whose lines were broken
[runs_on]
[,;–—]\n|[^.!?:]\n(?:And|But|Or|Nor|Of|In|On|With|Where|That|Who|Which|Like|As|For|To|Till|Until|From|By|Through
|Beneath|Upon|When|While|Because|Into|Than)\s

[part_of_song]
(?i)\s*+[\[(](?:verse|chorus|pre-chorus|bridge|refrain|hook|outro)\b[^\])]{0,30}[\])]

[rime]
[aeiouy]+[^aeiouy\W]*$|[aeiouy][^aeiouy\W]e$

[published]
(?i)\bwe\sare\s(?:currently\s)?(?:looking\sfor|hiring|seeking)\b|\bwe['’]re\s(?:hiring|seeking)\b|\bapply\s(?:now
|today|by|here)\b|\bequal\sopportunity\b|\bjoin\sour\steam\b|\bideal\scandidate\b|\bhereby\b|\bthis\sagreement\b
|\([mfdwx](?:/[mfdwx]){1,2}\)|\bthe\sundersigned\b|\bterms\sand\sconditions\b|\ball\srights\sreserved\b

