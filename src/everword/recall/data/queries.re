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
(?i){BEFORE}(?:mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|(?<!kann\ )(?<!soll\ )(?<!muss\ )(?<!wie\ )ich|mich|wir|uns|du\ (?:mir|gesagt|empfohlen)
|mama|mutti|mutter|papa|vati|vater|oma|opa|schwiegermutter|schwiegervater|hast\ du|hattest\ du
|(?:der|die|das|dem|den|beim|vom|zum)\ (?:kind(?:er)?|klein(?:en?|er)|sohn|tochter|mann|bruder|schwester|hund|katze|kater|chefin|chef|vermieter(?:in)?|nachbar(?:in)?|tier(?:arzt|ärztin)|neu(?:en?|er|es)\ (?:wohnung|stelle|job|auto|haus|arbeit))){AFTER}
[own_life_fr]
(?i){BEFORE}(?:mon|ma|mes|notre|nos|nous|moi|me|je|\w+-je|j['’]\w+|m['’]\w+
|maman|papa|mamie|papi|tu\ (?:m['’]|me\ |lui\ |nous\ |l['’])?(?:as|avais)
|(?:l['’]|la\ |le\ |les\ |au\ |aux\ |du\ |des\ )(?:enfants?|petit(?:e|s|es)?|gamins?|bébé|fille|fils|mari|frère|sœur|soeur|chien(?:ne)?|chat(?:te)?|patron(?:ne)?|chef(?:fe)?|proprio|propriétaire|voisine?|véto|vétérinaire|nouvel\ appart(?:ement)?|nouvelle\ (?:maison|voiture)|nouveau\ (?:travail|boulot|poste))){AFTER}
[own_life_es]
(?i){BEFORE}(?:mi|mis|mío|mía|míos|mías|nuestr[oa]s?|me|mí|nos|yo|he|había|tengo|estuve|estoy|fui|voy|soy|hice|hago|puedo|debo|quiero|(?!(?:qué|porqué|café|bebé|comité)\b)\w{2,}é|\w{2,}[bcdjlmnrtv]í(?<!así)|\w{2,}[aei]mos|\w{3,}[aei]r(?:me|nos)|\w+(?:aste|iste)|mamá|papá|abuel[oa]
|vivo|trabajo|pago|gano|cobro|soporto|odio|uso|bebo|llevo|empiezo|salgo|vengo|conozco|prefiero|contigo|conmigo
|(?:el|la|los|las|al|del)\ (?:niñ[oa]s?|peques?|beb[eé]|hij[oa]s?|marido|mujer|madre|padre|herman[oa]|perr[oa]|gat[oa]|jef[ea]|caser[oa]|vecin[oa]|veterinari[oa]|piso\ nuevo|nuevo\ (?:piso|trabajo|coche)|nueva\ casa)){AFTER}
[own_life_it]
(?i){BEFORE}(?:mio|mia|miei|mie|nostr[oaie]|mi|me|io|noi|ci|ho|avevo|sono|ero|sto|faccio|devo|posso|voglio|vado|\w{2,}iamo|\w{2,}[aei]rò|\w{3,}[aei]r[mc]i|mamma|papà|babbo|nonn[ao]|hai\ (?:detto|consigliato)|\w+(?:asti|esti|isti)
|(?!però)\w{2,}rò|vivo|abito|lavoro|pago|guadagno|sopporto|odio|uso|prendo|inizio|comincio|parto|salgo|vengo|torno|conosco|preferisco|bevo|mangio|avevi|avresti
|(?:il\ |la\ |lo\ |i\ |le\ |al\ |alla\ |del\ |della\ |l['’])(?:bamb?in[oaie]|bimb[oaie]|piccol[oa]|figli[oa]|marito|moglie|fratello|sorella|mamma|madre|padre|cane|cagn(?:olin|ett)[oa]|gatt[oa]|cap[oa]|padron[ea]\ di\ casa|vicin[oa]\ di\ casa|veterinari[oa]|cas[ae]\ nuov[ae]|nuov[oa]\ (?:casa|lavoro|macchina))){AFTER}
[own_life_pt]
(?i){BEFORE}(?:meus?|minhas?|noss[oa]s?|eu|me|mim|comigo|nós|tenho|fui|fiz|faço|estou|estava|tinha|vou|sou|posso|devo|quero|\w{3,}ei|\w{2,}[aei]mos|a\ gente|mamãe|papai|você\ (?:disse|recomendou|sugeriu)
|moro|trabalho|pago|ganho|uso|bebo|como\ eu|gosto|odeio|suporto|começo|saio|venho|conheço|prefiro|vou|mãe|pai|vó|vô|vovó|vovô|sogr[oa]
|(?:o|a|os|as|ao|do|da|dos|das|pro|pra)\ (?:crianças?|filh[oa]s?|beb[êe]|marido|esposa|mulher|irmão|irmã|cachorr[oa]|gat[oa]|chef[ea]|patr(?:ão|oa)|vizinh[oa]|veterinári[oa]|dentista|(?:nov[oa]\ )(?:casa|apartamento|emprego|trabalho|carro))){AFTER}
[own_life_nl]
(?i){BEFORE}(?:mijn|ons|onze|(?:heb|had|was|ben)\ ik|ik\ (?:heb|had|was|ben)){AFTER}
[own_life_sv]
(?i){BEFORE}(?:min|mitt|mina|vår|vårt|våra|(?:har|hade|var)\ jag|jag\ (?:har|hade|var)){AFTER}
[own_life_pl]
(?i){BEFORE}(?:mój|moja|moje|moi|moich|mojego|mojej|moją|nasz\w*){AFTER}
[own_life_ru]
(?i){BEFORE}(?:мой|моя|мо[её]|мои|мою|моего|моей|моих|моём|наш\w*|я|мне|меня|мам[аеуы]|пап[аеуы]|бабушк\w|дедушк\w|мной|моему|моим|моими|мы|нас|нам|ты\ (?:говорил|советовал)\w*
|мать|матери|отец|отц[ауе]|свекров\w+|свёкр\w*|т[её]щ\w+|тест[ьяю]|реб[её]н(?:ок|ка|ку)|сын[ау]?|дочк[аеиу]|дочери?|доч[ьк]|муж[ау]?|жен[аеыу]|кот[ау]?|кошк[аеу]|соба[кч]\w+|начальни[кц]\w*|(?:\w{2,}(?:аю|яю)(?<!чаю)(?<!краю)|живу|плачу|люблю|хожу|езжу|пью|ем|беру|учу|учусь|боюсь|терплю|ношу|зову|могу|хочу|еду|лечу|переезжаем)|ты\ \w+ла?){AFTER}
[own_life_uk]
(?i){BEFORE}(?:мій|моя|моє|мої|мою|мого|моєї|моїх|наш\w*|у\ мене){AFTER}
[own_life_tr]
(?i){BEFORE}(?:benim|bizim|ben|biz|(?!(?:akşam|tamam|program|problem|sistem|isim|önem|yaşam)[a-zıöüşçğ]{0,3}{AFTER})\w{2,}[aeıiuü]m(?:[ıiuü]z)?(?:[ıiuü]n|a|e|[ıiuü]|d[ae]n?|l[ae])?|\w{2,}[dt][ıiuü]k|\w{2,}m[ıiuü]şt[ıiuü]n
|annem|babam|anne|baba|kedi(?:nin|ye|yi)?|köpe(?:k|ğin|ği|ğe)|çocu(?:k|ğun|ğu|ğa)|patron|müdür|ev\ sahibi|\w{2,}(?:[ıiuü]yor|[ae]ca[ğg]|[ae]ce[ğg])(?:[ıiuü]m|[ıiuü]z)|\w{3,}mışım){AFTER}
[own_life_id]
(?i){BEFORE}(?:saya|aku|kami){AFTER}
[own_life_ar]
{BEFORE}(?:أنا|انا|عندي|عندنا|معايا|ليا|كنت|احنا|إحنا|(?!يعني)\w{2,}(?:تي|ني|تلي)|\w{3,}نا|ماما|بابا
|(?:أ|ا)(?:مي|بويا|خويا|ختي|خي|بني|هلي)|أبي|(?:زوج|مرات|جوز|ولد|ابن|بنت|صاحب|صديق|مدير|عرب|سيار|شق|بيت|شغل|عمل|راتب|مرتب|ماما|قط|كلب|عيل|دكتور)(?:ي|تي|نا|تنا)|لنا|عندي|معي|معانا|عليا|عليّ|بدي|بدنا|كنا
|(?:ب|ه|ها|رح\ ?|راح\ |سأ|ما?ب)(?:حب|فضل|كره|شتغل|عمل|روح|سافر|ستلم|بدأ|بتدي|نقل|عزل|دفع|قبض|شوف|سكن|درس|خاف|لعب|شرب|ستعمل|ستخدم|قابل|تجوز|تزوج)\w*|(?:هن|من|بن|سن|رح\ ن)(?:سافر|عزل|نقل|روح|عمل|قابل|سكن|شتري|تجوز|تزوج|بدأ)\w*
|ال(?:بنت|بنوتة|ولد|عيال|أولاد|بيبي|قطة|كلب|بيطرية?|مدام|مدير|عيل)(?:\ (?:الصغيرة?))?){AFTER}
[own_life_hi]
{BEFORE}(?:मैं|मैंने|मुझे|मुझसे|मेरा|मेरी|मेरे|हम|हमने|हमें|हमारा|हमारी|हमारे|\S+[ूु][ँं](?:गा|गी)?|पापा|मम्मी|माँ|पिताजी|नानी|दादी|भैया|दीदी
|तुमने|आपने|तूने|मम्मा|मां|बाबूजी|चाचा|चाची|मामा|मामी|बुआ|मौसी|दादा|नाना|भाभी|जीजाजी?|सास|ससुर|बेटा|बेटे|बेटी|बच्चे|बच्चों|पति|पत्नी|कुत्ते|बिल्ली|बॉस|मकान\ ?मालिक|\S+(?:ता|ती|ते)\ (?:हूँ|हूं)|\S+\ रह[ाीे]\ (?:हूँ|हूं)){AFTER}
[own_life_unspaced]
(?<![给帮教诉为])我|你[^，。？]{0,6}(?:推荐|建议|说|告诉)[^，。？]{0,2}[过了]|私|僕|俺|うち|わたし|っけ|(?:でし|まし|だっ)た[かの]|(?<![\u4e00-\u9fff])[父母姉兄妹弟夫妻](?![\u4e00-\u9fff])|お(?:父|母|姉|兄|じい|ばあ)(?:さん|ちゃん)?|엄마|아빠|언니|오빠|누나|할머니|할아버지|나의|내|나는|난\ |제가|우리|[했였었]지|더라
|咱|你[^，。？]{0,4}(?:说过|提过)|(?:老公|老婆|男朋友|女朋友|男友|女友|儿子|女儿|宝宝|爸|妈|爷爷|奶奶|外公|外婆|姥姥|房东|老板娘?|上司|领导)(?!们)
|(?:旦那|夫|妻|彼氏|彼女|息子|娘|母|父|姉|兄|弟|妹|祖母|祖父|上司|大家さん|うちの)(?=[のがはをにと])|てくれた|って言って|(?:남편|아내|남친|여친|아들|딸|애기|동생|남동생|여동생|어머니|아버지|시어머니|장모님|집주인|상사|팀장님?)(?=[이가은는을를의한께랑와과님]|\s|$)|추천해\ ?[줬준]|알려\ ?[줬준]|말해\ ?[줬준]|[했갔왔샀됐봤았었]더라|기로\ ?했
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
