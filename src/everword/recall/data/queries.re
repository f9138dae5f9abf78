# What a query asks for besides its words, and what a text says besides its subject.
[BEFORE]
(?<![\w'’-])
[AFTER]
(?![\w'’-])
[NOT_PLURAL]
(?!is\b|was\b|does\b|has\b|this\b|his\b)
[advice]
(?i)\b(?:can|could|would|will|do)\ you\ (?:please\ )?(?:help\ me\ )?(?:suggest|recommend|advise)\b
|\b(?:give|share|offer|have)(?:\ me)?\ (?:some|any|a\ few)\ (?:\w+\ )?(?:tips|ideas|advice|suggestions|recommendations)\b
|\b(?:any|some)\ (?:\w+\ ){0,2}(?:tips|advice|suggestions?|recommendations?|ideas)\b
|\b(?:what|how|which|where)\ (?:\w+\ )?(?:should|can)\ (?:i|we)\b
|\bwhat\ are\ some\ (?:\w+\ )?(?:ways|ideas|options)\b|\bdo\ you\ (?:think|have\ any)\b
|\bhelp\ me\ (?:choose|decide|design|find|organi[sz]e|pick|plan|set|write)\b
[recount]
(?i)\bsummar(?:y|i[sz]e)\b|\b(?:recap|overview)\ of\b|\bthe\ order\ (?:in\ which|that|of)\b|\bin\ what\ order\b
|\bwalk\ me\ through\ (?:the|what|how|everything)\b|\blist\ (?:the\ order|all\ the|everything)\b
# An account of what happened or was said, and not of a book.
[events]
(?i)\b(?:what|everything|all)\b|\b(?:in\ which|so\ far|up\ to\ now)\b|\b(?:our|we|my|I)\b
[own_telling]
(?i)\bi\ (?:\w+\ )?(?:brought|mentioned|raised|said|told|asked|talked|described|discussed)\b
# "How do I …?" and "Can I …?" ask for instructions, "I need …" and "I'd like …" for help: not about the speaker's life.
[request_form]
(?i)\b(?:how|why)\ (?:do|does|can|could|should|would|must|might)\ (?:i|we|you)\b
|\b(?:can|could|should|may|might|shall|must|would|will)\ (?:i|we)\b
|\b(?:i|we)(?:\ just|\ really|\ only)?\ (?:need|want|wish|would|will|can|can['’]t|cannot|could|should|may|might)\b
|\bi['’](?:d|ll)\ (?:like|love|prefer|want|need)\b
[own_life]
\b(?i:my|mine|myself|our|ours|ourselves)\b|\b(?i:did|have|had|has|was|were|am)\ (?:[Ii]|we)\b
|\b(?i:how\ (?:many|much|often|long|old|far)|what|which|who|whom|whose|where|when)\b[^.?!]{0,80}?\ do\ [Ii]\b
|\bI(?:['’](?:ve|d|m))?\ [a-z]|\bi['’](?:ve|d|m)\b
|\bi\ (?:am|was|have|had|did|got|went|said|told|asked|bought|made|like|love|live|work)\b
|\b(?i:we)\ (?:were|had|did|met|went|said|talked|spoke|discussed|decided|agreed|planned|chose)\b
|\b(?i:remember|remind|earlier|previous|previously|last\ time)\b
|\b(?i:you)(?:\ \w+)?\ (?:told|said|mentioned|recommended|suggested|gave|wrote|made|listed|provided|described)\b
[first_person]
\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b|\bi(?:'m|'ve|'d|'ll)?\b
# "You", and what was done for the speaker, by language.
[second_person_en]
(?i)\b(?:you|your|yours)\b
[second_person_de]
(?i){BEFORE}(?:du|dir|dich|dein(?:e[mnrs]?)?|euch|hast|(?-i:Sie|Ihnen)){AFTER}
[second_person_fr]
(?i){BEFORE}(?:tu|te|toi|t['’]\w+|ton|tes|(?:\w['’])?\w+-(?:tu|vous)|vous|votre|vos){AFTER}
[second_person_es]
(?i){BEFORE}(?:tú|te|ti|tu|tus|usted|has|debes|\w+(?:aste|iste)){AFTER}
[second_person_it]
(?i){BEFORE}(?:tu|ti|te|tuo|tua|tuoi|tue|hai|\w+(?:asti|esti|isti)){AFTER}
[second_person_pt]
(?i){BEFORE}(?:você|vc|te|ti|teu|tua|(?:recomend|indic|suger|acons|aconselh)(?:ou|iu)|\w+(?:aste|este|iste)){AFTER}
[second_person_ru]
(?i){BEFORE}(?:ты|тебе|тебя|тобой|твой|твоя|твоё|твои|вы|вас|вам|(?:по)?(?:совет|рекоменд)ова\w+|предложи\w+){AFTER}
[second_person_tr]
(?i){BEFORE}(?:sen|sana|seni|senin|siz|size|\w+[dt][ıiuü]n(?:[ıiuü]z)?){AFTER}
[second_person_ar]
{BEFORE}(?:أنت|انت|إنت|إنتي|انتي|\w{2,}(?:تلي|تني|تيلي|تيني)){AFTER}
[second_person_hi]
{BEFORE}(?:तुम|तुमने|तू|तूने|आप|आपने|तुम्हारा|तुम्हारी|आपका|आपकी){AFTER}
[second_person_zh]
你|您
[second_person_ja]
あなた|君|てくれ|おすすめ|お勧め|勧め|提案
[second_person_ko]
(?:^|\ )(?:너|네가|니가|당신)|추천|[줬준]
[several]
(?i)\bhow\ (?:many|often)\b|\bboth\b|\bin\ common\b|\b(?:all|each|list)\ (?:the|of)\b|\bwhat\ (?:has|have|does|do)\b
|^(?:in\ |on\ |to\ )?(?:what|which|whose)(?:\ (?:kinds?|types?|sorts?)\ of|\ are|\ were|\ different|\ other|\ new)*
(?:\ {NOT_PLURAL}\w+){0,2}?\ {NOT_PLURAL}\w+[^\Ws]s\b(?!')
# What belongs to the speaker, by language.
[own_life_de]
(?i){BEFORE}(?:mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|(?<!kann\ )(?<!soll\ )(?<!muss\ )(?<!wie\ )ich|mich|wir|uns|du\ (?:mir|gesagt|empfohlen)){AFTER}
[own_life_fr]
(?i){BEFORE}(?:mon|ma|mes|notre|nos|nous|moi|me|je|\w+-je|j['’]\w+|m['’]\w+){AFTER}
[own_life_es]
(?i){BEFORE}(?:mi|mis|mío|mía|míos|mías|nuestr[oa]s?|me|mí|nos|yo|he|había|tengo|estuve|estoy|fui|voy|soy|hice|hago|puedo|debo|quiero|(?!(?:qué|porqué|café|bebé|comité)\b)\w{2,}é|\w{2,}[bcdjlmnrtv]í(?<!así)|\w{2,}[aei]mos|\w{3,}[aei]r(?:me|nos)|\w+(?:aste|iste)|mamá|papá|abuel[oa]){AFTER}
[own_life_it]
(?i){BEFORE}(?:mio|mia|miei|mie|nostr[oaie]|mi|me|io|noi|ci|ho|avevo|sono|ero|sto|faccio|devo|posso|voglio|vado|\w{2,}iamo|\w{2,}[aei]rò|\w{3,}[aei]r[mc]i|mamma|papà|babbo|nonn[ao]|hai\ (?:detto|consigliato)|\w+(?:asti|esti|isti)){AFTER}
[own_life_pt]
(?i){BEFORE}(?:meus?|minhas?|noss[oa]s?|eu|me|mim|comigo|nós|tenho|fui|fiz|faço|estou|estava|tinha|vou|sou|posso|devo|quero|\w{3,}ei|\w{2,}[aei]mos|a\ gente|mamãe|papai|você\ (?:disse|recomendou|sugeriu)){AFTER}
[own_life_nl]
(?i){BEFORE}(?:mijn|ons|onze|(?:heb|had|was|ben)\ ik|ik\ (?:heb|had|was|ben)){AFTER}
[own_life_sv]
(?i){BEFORE}(?:min|mitt|mina|vår|vårt|våra|(?:har|hade|var)\ jag|jag\ (?:har|hade|var)){AFTER}
[own_life_pl]
(?i){BEFORE}(?:mój|moja|moje|moi|moich|mojego|mojej|moją|nasz\w*){AFTER}
[own_life_ru]
(?i){BEFORE}(?:мой|моя|мо[её]|мои|мою|моего|моей|моих|моём|наш\w*|я|мне|меня|мам[аеуы]|пап[аеуы]|бабушк\w|дедушк\w|мной|моему|моим|моими|мы|нас|нам|ты\ (?:говорил|советовал)\w*){AFTER}
[own_life_uk]
(?i){BEFORE}(?:мій|моя|моє|мої|мою|мого|моєї|моїх|наш\w*|у\ мене){AFTER}
[own_life_tr]
(?i){BEFORE}(?:benim|bizim|ben|biz|(?!(?:akşam|tamam|program|problem|sistem|isim|önem|yaşam)[a-zıöüşçğ]{0,3}{AFTER})\w{2,}[aeıiuü]m(?:[ıiuü]z)?(?:[ıiuü]n|a|e|[ıiuü]|d[ae]n?|l[ae])?|\w{2,}[dt][ıiuü]k|\w{2,}m[ıiuü]şt[ıiuü]n){AFTER}
[own_life_id]
(?i){BEFORE}(?:saya|aku|kami){AFTER}
[own_life_ar]
{BEFORE}(?:أنا|انا|عندي|عندنا|معايا|ليا|كنت|احنا|إحنا|(?!يعني)\w{2,}(?:تي|ني|تلي)|\w{3,}نا|ماما|بابا){AFTER}
[own_life_hi]
{BEFORE}(?:मैं|मैंने|मुझे|मुझसे|मेरा|मेरी|मेरे|हम|हमने|हमें|हमारा|हमारी|हमारे|\S+[ूु][ँं](?:गा|गी)?|पापा|मम्मी|माँ|पिताजी|नानी|दादी|भैया|दीदी){AFTER}
[own_life_unspaced]
(?<![给帮教诉为])我|你[^，。？]{0,6}(?:推荐|建议|说|告诉)[^，。？]{0,2}[过了]|私|僕|俺|うち|わたし|っけ|(?:でし|まし|だっ)た[かの]|(?<![\u4e00-\u9fff])[父母姉兄妹弟夫妻](?![\u4e00-\u9fff])|お(?:父|母|姉|兄|じい|ばあ)(?:さん|ちゃん)?|엄마|아빠|언니|오빠|누나|할머니|할아버지|나의|내|나는|난\ |제가|우리|[했였었]지|더라
# Words that point to what was said before, by language; none that is an article, too, or means no thing ("es gibt").
[pointer_en]
(?i){BEFORE}(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|those|these|ones?(?!\s(?:of|day|time))|former|latter|same
|this(?!\s(?:morning|afternoon|evening|week|weekend|month|year|spring|summer|autumn|fall|winter)\b)
|there(?!\s(?:is|are|was|were|any|a)\b)(?<!is\ there)(?<!are\ there)
|(?<=about\s)that|(?<=like\s)that|(?<=of\s)that|(?<=is\s)that|(?<=was\s)that|(?<=does\s)that|(?<=do\s)that|that(?=\W*$)){AFTER}
# Something of the speaker's up to the end of its sentence: what points to something in the next one means that.
[introduces_en]
(?i)\b(?:my|our)\ [^\W\d_]{3}[^.!?\n]{0,200}[.!?\n]
[pointer_de]
(?i){BEFORE}(?:er|ihn|ihm|ihnen|dessen|deren|dies|diese[rsmn]?|dort|damit|davon|dazu|dafür|darüber){AFTER}
[pointer_fr]
(?i){BEFORE}(?:il|elle|ils|elles|lui|leur|leurs|ça|cela|ceci|celui|celle|ceux){AFTER}
[pointer_es]
(?i){BEFORE}(?:él|ella|ellos|ellas|eso|esto|aquello|ese|esa|este|esta|allí|ahí|su|sus){AFTER}
[pointer_it]
(?i){BEFORE}(?:lui|lei|loro|ciò|quello|quella|questo|questa|suo|sua){AFTER}
[pointer_pt]
(?i){BEFORE}(?:ele|ela|eles|elas|isso|isto|aquilo|esse|essa|este|esta|lá|seu|sua|dele|dela){AFTER}
[pointer_nl]
(?i){BEFORE}(?:hij|zij|ze|hem|haar|hun|dit|deze|daar|ervan|ermee){AFTER}
[pointer_sv]
(?i){BEFORE}(?:han|hon|dem|dess|deras|hans|hennes|där|denna|detta){AFTER}
[pointer_pl]
(?i){BEFORE}(?:on|ona|ono|oni|one|jego|jej|ich|go|ją|to|ten|ta|tam|tego){AFTER}
[pointer_ru]
(?i){BEFORE}(?:он|она|оно|они|его|её|ее|их|ему|ей|им|это|этот|эта|эти|там|него|неё|них){AFTER}
[pointer_uk]
(?i){BEFORE}(?:він|вона|воно|вони|його|її|їх|йому|їй|це|цей|ця|ці|там){AFTER}
[pointer_tr]
(?i){BEFORE}(?:o|onu|onun|ona|onlar|onları|bu|bunu|bunun|şu|orada){AFTER}
[pointer_id]
(?i){BEFORE}(?:dia|ia|mereka|itu|ini|nya|sana){AFTER}
[pointer_unspaced]
它|他|她|這|这|那|其|それ|これ|あれ|そこ|彼|彼女|그것|그거|거기|이것|저것|그는|그녀
[continues]
(?i)^(?:and|but|or|so|also|what\ about|how\ about|why|why\ not|which\ ones?|how\ so|how\ come
|und|aber|warum|wieso|et|mais|pourquoi|y|pero|por\ qué|e|ma|perché|mas|por\ quê|en|maar|waarom|а|и|но|почему)\b
# A number or a day; a name within a sentence.
[particular]
\d[\d.,:]*
|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|yesterday|today|tomorrow|ago|(?:day|week|month|year)s?)\b
[name]
(?<=[a-z,;:]\ )[A-Z][a-z]+
[preference]
(?i)\bi(?:['’](?:m|ve|d)|\ am|\ have)?(?:\ \w+){0,2}?\ (?:prefer|enjoy|love|like|hate|dislike|avoid|favou?r|interested\ in)\b
|\bi['’]?(?:m|\ am)\ (?:\w+\ )?a\ (?:big\ |huge\ )?fan\b|\bmy\ favou?rite\b|\brather\ than\b
|\bi\ (?:(?:don['’]t|do\ not)\ (?:like|want|eat|drink)|can['’]t\ stand)\b
[instruction]
(?i)(?:^|[.!?\n]\s*)(?:and\ |also\ |please\ |so\ )*(?:always|never)
(?!\ mind|\ say\ never|\ been|\ had|\ was|\ have)(?:,?\ please)?\ [a-z]
|\b(?:always|never)\b[^.!?\n]*\bwhen(?:ever)?\ i\ ask\b|\bwhen(?:ever)?\ i\ ask\b[^.!?\n]*\b(?:always|never)\b
