"""Function words of each language, and nothing else: they carry the grammar and not the matter.

They are left out of the index, and they tell the language of a text. A word that somebody could search for
("home", "work", "name", "like") is never here, even where it is frequent: a lost word cannot be found again,
a frequent one is merely cheap. Words are written as they are split for the index: no apostrophes, lower case.
"""

from __future__ import annotations

from functools import cache

_WORDS = {
    "en": """
        a about above across after against all along also although am among an and another any anybody anyone
        anything are arent around as at be because been before being below between both but by can cannot cant
        could couldnt did didnt do does doesnt doing done dont down during each either else ever every
        everybody everyone everything few for from further had hadnt has hasnt have havent having he her here
        hers herself him himself his how however i if im in into is isnt it its itself ive just let many may
        me might mine more most much must my myself neither no nobody none nor not nothing of off on once only
        onto or other others ought our ours ourselves out over own per quite rather really same shall she
        should shouldnt since so some somebody someone something such than that thats the their theirs them
        themselves then there these they theyre this those though through to too toward towards under unless
        until up upon us very via was wasnt we were werent what whatever whats when whenever where wherever
        whether which whichever while who whoever whom whose why will with within without wont would wouldnt
        yet you your youre yours yourself yourselves
    """,
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf
        aus bei beim bin bis bist da dabei dadurch dafür dagegen daher damit dann daran darauf daraus darf
        darin das dass davon dazu daß dein deine deinem deinen deiner dem den denen denn der deren des dessen
        dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
        eines einige einigen er es etwas euch euer eure für gegen gewesen hab habe haben hast hat hatte hatten
        hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem
        jeden jeder jedes jene jetzt kann kannst kein keine keinem keinen keiner können könnte man manche mein
        meine meinem meinen meiner meines mich mir mit muss musst müssen nach nicht nichts noch nun nur ob
        oder ohne schon sehr sein seine seinem seinen seiner seines seit selbst sich sie sind so solche soll
        sollte sondern sonst um und uns unser unsere unserem unseren unserer unter viel vom von vor wann war
        waren warst warum was weder weil welche welchem welchen welcher welches wenn wer werde werden wie
        wieder will wir wird wirst wo wollen wurde wurden während würde würden zu zum zur zwar zwischen über
    """,
    "fr": """
        afin ai ait alors après as assez au aucun aucune auquel aura aurait aussi autre autres aux auxquels
        avaient avais avait avant avec avez avoir avons ayant beaucoup bien car ce ceci cela celle celles
        celui cependant ces cet cette ceux chaque chez comme comment contre dans de depuis derrière des
        dessous dessus devant doit donc dont du duquel durant dès elle elles en encore entre es est et eu eux
        faut fut ici il ils je jusque la laquelle le lequel les lesquels leur leurs lors lorsque lui là ma
        mais malgré me mes mien moi moins mon même mêmes ne ni non nos notre nous on ont or ou où par parce
        parmi pas pendant peu peut peux plus plutôt pour pourquoi pourtant puis puisque quand que quel quelle
        quelles quelque quelques quels qui quoi sa sans se selon sera serait ses si sien soi soit sommes son
        sont sous suis sur ta tandis tant te tel telle tes toi ton toujours tous tout toute toutes trop très
        tu un une va vais vers voici voilà vos votre vous y à étaient étais était étant étions été êtes être
    """,
    "es": """
        a adonde ahora al algo alguien alguna algunas alguno algunos algún allí ante antes aquel aquella
        aquellas aquello aquellos aquí así aun aunque aún bajo bien cada casi como con contra cual cuales
        cualquier cuando cuanto cuál cuáles cuándo cuánto cómo de del desde donde durante dónde e el ella
        ellas ello ellos en entonces entre era erais eran eras eres es esa esas ese eso esos esta estaba
        estaban estado estar estas este esto estos estoy estuvo está están estás fue fueron fui ha haber había
        habían hace hacia han has hasta hay he hemos hubo la las le les lo los me mi mientras mis mismo mucha
        muchas mucho muchos muy más mí mía mío nada nadie ni ninguna ningún no nos nosotras nosotros nuestra
        nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque pues que quien quienes
        quién qué se sea según ser será si sido siempre sin sino sobre sois solo somos son soy su sus suyo sí
        sólo también tampoco tan tanto te tener tengo tenía ti tiene tienen tienes toda todas todavía todo
        todos tu tus tuya tuyo tú un una unas uno unos usted ustedes va vosotros voy vuestra vuestro y ya yo
        él
    """,
    "it": """
        a abbiamo ad adesso agli ai al alcuna alcune alcuni alcuno alla alle allo allora altra altre altri
        altro anche ancora avere avete aveva avevano avevo bene che chi ci cioè col come con contro cosa così
        cui da dagli dai dal dalla dalle dallo degli dei del dell della delle dello dentro di dopo dove e ecco
        ed era erano eravamo eri ero essa esse essere essi esso fa fra fu già gli ha hai hanno ho i il in
        infatti io la le lei li lo loro lui ma mai me mentre mi mia mie miei mio molta molte molti molto ne
        negli nei nel nella nelle nello nessun nessuna nessuno niente no noi non nostra nostre nostri nostro
        nulla o od ogni oppure ora per perché però più poco poi proprio qua qualche qualcosa quale quali
        quando quanta quanti quanto quei quel quella quelle quelli quello questa queste questi questo qui
        quindi sarà se sei sempre senza si sia siamo siano siete solo sono sopra sotto sta stata state stati
        stato stesso su sua sue sugli sui sul sulla sulle sullo suo suoi tanto te ti tra tu tua tue tuo tuoi
        tutta tutte tutti tutto un una uno vi voi vostra vostri vostro è
    """,
    "pt": """
        a agora ainda algo algum alguma algumas alguns alguém ali ante antes ao aos apenas após aquela aquelas
        aquele aqueles aquilo as assim atrás até bem cada com como contra contudo cujo da daquele das de dela
        delas dele deles depois desde dessa desse desta deste do dos durante e ela elas ele eles em embora
        enquanto entre era eram essa essas esse esses esta estamos estar estas estava estavam este estes
        estive estou está estão eu foi fomos for foram fosse fui há isso isto já lhe lhes lá mais mas me mesmo
        meu meus mim minha minhas muita muitas muito muitos na nada nas nem nenhum nenhuma nessa nesse nesta
        neste ninguém no nos nossa nossas nosso nossos num numa não nós o onde os ou outra outras outro outros
        para pela pelas pelo pelos per perante pois por porque portanto porém pouco pra quais qual quando
        quanto que quem quê se seja sem sempre sendo ser será seu seus si sido sob sobre somos sou sua suas
        são só também tanto te tem temos tenho ter teu teus ti tinha tive toda todas todo todos tu tua tuas
        tudo têm um uma umas uns vai vem você vocês vos vou à às é és
    """,
    "nl": """
        aan al alle alleen alles als altijd andere ben bent bij daar daarom dan dat de den der deze die dit
        doch doen door dus een eens en er erg ervan ge geen geweest haar had hadden heb hebben hebt heeft hem
        hen het hier hij hoe hun ik in is ja je jij jou jouw juist jullie kan kon kunnen maar me meer men met
        mij mijn mocht moet moeten na naar niet niets nog nu of om omdat ons onze ook op over reeds sinds te
        tegen toch toen tot tussen u uit uw van vanaf veel voor waar waarom wanneer want waren was wat we weer
        wel welk welke werd werden wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zoals zonder zou
        zouden zulke
    """,
    "sv": """
        all alla allt alltid allting att av bara blev bli blir de dem den denna deras dess dessa det detta dig
        din dina ditt du där då efter eftersom ej eller en er era ert ett finns från för före genom ha hade
        han hans har henne hennes hon honom hur här i icke in inga ingen ingenting inget innan inte ja jag ju
        kan kanske kunde man med mellan men mer mig min mina mitt mot mycket måste ni nog nu när någon något
        några och också om oss på samma sedan sig sin sina sitt ska skall skulle som så sådan sådana till
        under upp ut utan vad var vara varför varit varje vars vem vi vid vilka vilken vilket vill vår våra
        vårt än ännu är åt över
    """,
    "da": """
        ad af aldrig alle allerede alt altid anden andet andre at bare blev blive bliver da de dem den denne
        der deres det dette dig din dine dit dog du efter eller en end er et fordi fra før ham han hans har
        havde have hende hendes her hos hun hvad hver hvilken hvilket hvis hvor hvordan hvorfor hvornår i igen
        ikke imod ind ingen ingenting intet ja jeg jer jeres jo kan kun kunne lidt man mange med meget mellem
        men mens mere mig min mine mit mod må måske ned nogen noget nogle nok nu når og også om op os over på
        sammen selv sig sin sine sit skal skulle som så sådan thi til ud uden under var ved vi vil ville vor
        vores være været
    """,
    "no": """
        alle alltid andre annen annet at av bare begge ble blei bli blir blitt både da de deg dem den denne
        der dere deres det dette din dine dit ditt du eg eller en enn er et ett etter for fordi fra før
        gjennom ha hadde han hans har hennes her hos hun hva hvem hver hvilke hvilken hvis hvor hvordan
        hvorfor i ikke ikkje ingen ingenting inn innen ja jeg kan kun kunne litt man mange med meg meget
        mellom men mens mer min mine mitt mot mye må måtte ned nei noe noen nok nå når og også om opp oss over
        på samme seg selv sin sine sitt skal skulle slik som så til ut uten var vart ved vi vil ville vår våre
        vårt være vært
    """,
    "fi": """
        ehkä ei eivät eli emme en enemmän ennen entä eräs et ette että he heidän heidät heille heitä hyvin hän
        häneen hänelle hänellä hänen hänestä hänet häntä ihan ilman itse ja jo johon joka jokin joko jolla
        jonka jos joskus jossa josta jota jotain joten jotka kai kaikki kanssa kautta ken kenen kerran
        keskellä koska koskaan kuin kuinka kuitenkin kuka kun kunnes luona me meidän meille meissä meitä mihin
        miksi mikä mikään millainen milloin millä minkä minua minulla minulle minun minussa minut minä missä
        mistä mitkä mitä mitään mukaan mutta muu muut myös ne nehän niiden niin niistä niitä nuo nyt näiden
        näin nämä oikein ole olemme olen olet olette oli olimme olin olisi olit olivat olla olleet ollut on
        ovat paljon pitää se sekä sen siihen siinä siis siitä silloin sillä sinua sinulla sinulle sinun sinut
        sinä sitten sitä tai te teidän teille teitä tuo tuon tuossa tämä tämän tänne tässä tästä tätä täällä
        vaan vaikka vain vielä voi voin yhä yli
    """,
    "hu": """
        a abban ahhoz ahogy ahol aki akik akkor alá amely amelyek ami amikor amit annak arra arról az azok
        azon azonban azt azután azzal azért be belül benne csak de dehogy ebben egy egyes egyetlen egyik egyéb
        együtt ehhez ekkor el ellen elég előtt emilyen engem ennek erre ez ezek ezen ezt ezzel ezért fel felé
        ha hanem hiszen hogy hogyan hol honnan hova hát igen ilyen is ismét itt jól kell kellett ki kicsoda
        kik kívül le legalább legyen lehet lenne lesz lett maga magát meg mellett melyik mert mi mikor milyen
        minden mindig mint mintha mit mivel miért most már más még mögött nagyon ne nekem neki nem nincs
        nélkül olyan ott pedig persze rá saját se sem semmi sok sokkal szemben szerint szinte számára te tehát
        ti tovább több túl ugyan után utána vagy vagyok vajon valaki valami van vannak vele vissza viszont
        volna volt voltak voltam általában át én így össze úgy ő ők őket
    """,
    "ro": """
        a abia acea aceasta această aceea acei aceia acel acela acele acelea acest acesta aceste acestea
        aceşti acești acolo acum ai aia aici al ale alea alt alta altceva alte altul altă am apoi ar are asta
        astea astfel asupra atunci atât au avea avem aveţi aveți aş aș ba bine ca care ce cea ceea cei cel
        cele ceva chiar cine cineva cu cum cumva când cât câte câți că căci cărei căror cărui către da dacă
        dar de deci deja deoarece despre deşi deși din dintr dintre după ea ei el ele era eram este eu eşti
        ești fi fie fiecare fiind foarte fără i iar la le li lor lui lângă mai mea mei mele meu mi mie mine
        mult multă mulţi mulți mă ne nici nimeni nimic nişte niște noastră noi nostru nouă noştri noștri nu o
        ori oricare orice pe pentru peste poate prea prin până sa sale sau se sunt sunteţi sunteți să săi său
        ta tale te toate toată tot totuşi totuși toţi toți tu tuturor tău un una unde unei unele unii unor
        unui unul va vi voastră voi vom vor vostru vouă vreo vreun vă îi îl îmi împotriva în înainte încât
        încă într între îţi își îți şi ţi și ție
    """,
    "tr": """
        acaba ama ancak artık asla aslında az bana bazı bazıları belki ben benden beni benim beri bile bir
        biraz biri birkaç birçok birşey biz bizden bize bizi bizim bu buna bunda bundan bunlar bunları
        bunların bunu bunun burada böyle böylece bütün da daha dahi de değil diye diğer dolayı dolayısıyla en
        eğer gibi göre hala hangi hatta hem hep hepsi her hiç hiçbir ile ise için işte kadar karşı kendi
        kendine kendini ki kim kimden kime kimi kimse mi mu mü mı nasıl ne neden nedenle nerede nereye niye
        niçin o olan olarak oldu olduğu olduğunu olmadı olmak olması olsa olur ona ondan onlar onlara onlardan
        onları onların onu onun orada oysa pek rağmen sadece sanki sen senden seni senin siz sizden size sizi
        sizin sonra tarafından tüm var vardı ve veya ya yani yerine yine yok yoksa zaten çok çünkü öyle şey
        şimdi şu şuna şunu şöyle
    """,
    "pl": """
        a aby ale ani aż bardzo bez bo bowiem by być był była było były będzie będą będę chce choć ci cię co
        czego czy czyli dla dlaczego dlatego do gdy gdyby gdyż gdzie go i ich ile im inna inne inny innych iż
        ja jak jaka jaki jakie jako je jednak jego jej jemu jest jestem jesteś jeszcze jeśli jeżeli już ją
        kiedy kim kto która które którego której który których którym którzy ku lecz lub ma mają mam mi mnie
        mną moi moja moje może można mu my mój na nad nam nami nas nasz nasza nasze natomiast nic nich nie
        niego niej nim nimi nią niż no o obok od około on ona one oni ono oraz po pod podczas ponieważ poza
        przecież przed przede przez przy również sam sama się skąd sobie swoje swój są ta tak taka taki takie
        także tam te tego tej ten teraz też to tobie tobą tu tutaj twoja twoje twój ty tych tylko tym u w wam
        wami was we wiele więc wszyscy wszystkie wszystko wy z za zawsze ze żaden żadna żadne że żeby
    """,
    "cs": """
        a aby ale ani ano asi až bez bude budeme budou budu by byl byla byli bylo byly být co což další do ho
        i jak jakmile jako je jeho jej jejich její jen jenž ještě ji jim jiné již jsem jsi jsme jsou jste já
        jí k kam každý kde kdo kdy když ke kolik kterou která které který kteří ku mají mezi mi mne mně moc
        moje my má málo mám mít mě můj může na nad naše ne nebo není než nic nich no nám námi nás náš ním něco
        někdo o od ode on ona oni ono pak po pod podle pokud pouze pro proto protože proč před přede přes při
        s se si své svůj sám ta tady tak také takže tam tedy ten tento teď to tobě tohle toho tohoto tom tomto
        tomu tu tuto tvůj ty této tím u už v vaše ve vy vám vámi vás váš více však všechno všichni z za zda
        zde ze či že
    """,
    "ca": """
        a abans així això al algun alguna alguns als amb aquell aquella aquells aquest aquesta aquestes
        aquests aquí ara bé cada com contra de del dels des dins doncs durant el ell ella elles ells els em en
        encara ens entre era eren es esta estan estava està et fa fins fou ha han has havia he hem hi ho i jo
        la les li lo los ma mai malgrat mateix me mentre meu meva mi molt molta molts més ni no nosaltres
        nostra nostre o on pel pels per perquè però poc quan que qui quin quina quins què sa se sense ser seu
        seus seva si sobre solament sols som sota sí sóc són ta tal també tan tant te tenir teu teva tot tota
        tothom tots un una unes uns us va vaig van vosaltres vostra vostre és
    """,
    "id": """
        ada adalah agar akan aku anda antara apa apakah atau bagaimana bagi bahwa banyak beberapa belum bisa
        bukan dalam dan dapat dari dengan di dia ia ini itu jadi jangan jika juga kalau kalian kami kamu kapan
        karena ke kenapa kepada ketika kita lagi lain lalu lebih maka mana masih mengapa mereka namun nya oleh
        pada para pernah pun saat saja sambil sampai sangat saya sebagai sebelum sebuah secara sedang sehingga
        sejak selalu semua seperti serta sesuatu setelah setiap siapa suatu sudah tapi telah tentang tersebut
        tetapi tidak untuk yaitu yang
    """,
    "ru": """
        а без более больше бы был была были было быть в вам вами вас ваш ваша ваше ваши ведь весь во вот все
        всего всей всем всех всё вы где да даже для до его ее ей ему если есть еще ещё её же за здесь и из или
        им ими их к как какая какие какой когда которая которого которое которой которые который которых кто
        куда ли либо лишь между меня мне мной мог могу моего моей может можно мои мой моя моё мы на над надо
        нам нами нас наш наша наши не него нее ней нет неё ни них но ну о об обо однако он она они оно от
        очень перед по под после потом потому почти при про раз с сам сама сами само своего своей свои свой
        своя себе себя сейчас со так такая также такие такой там твои твой твоя тебе тебя тем теперь то того
        тоже той только том тому тот тою ту тут ты у уже хотя чего чем через что чтоб чтобы чье чья эта эти
        этим этих это этого этой этом этому этот эту я
    """,
    "uk": """
        а або адже але б без би був була були було бути в вам вами вас ваш ваша ваше ваші вже ви вона вони
        воно все всі всіх від він де для до дуже з за зі й його йому коли котрий крім куди ледве лише мене
        мені ми може можна моя моє мої між мій на навіть над нам нами нас наш наша наше наші не нею неї ним
        них ні о об один однак ось от перед по при про під після сам сама самі своя своє свої свій себе собі
        та так така такий також такі там твоя твої твій те тебе теж тепер ти то тобі тоді той тому тут тільки
        у усі хоча хто хіба це цей цього цьому цю ця ці чи чим чия чого чому ще що щоб щось я як яка яке який
        якщо які є і із їй їм їх її
    """,
    "el": """
        ένα έναν ένας ένες έτσι έχει έχεις έχουμε έχουν έχω ή ήμουν ήταν αλλά αν αντί από αυτά αυτές αυτή
        αυτήν αυτοί αυτού αυτό αυτόν αυτός για γιατί δε δεν είμαι είμαστε είναι είσαι είστε είχα είχε εγώ εδώ
        εκεί εμένα εμείς ενώ επειδή εσένα εσείς εσύ η θα κάθε κάτι και καμία κανένας κατά κι μέχρι μία μα μας
        με μετά μη μην μια μου μόνο να ναι ο οι πάνω πάρα παρά πια πιο ποια ποιο ποιος πολύ που πού πριν προς
        πως πώς σαν σας σε σου στα στη στην στις στο στον στους τα τη την της τι τις το τον του τους των τόσο
        τώρα υπό χωρίς ως όλα όλη όλο όλοι όμως όπου όπως όταν ότι όχι
    """,
    "ar": """
        أم أما أن أنا أنت أنتم أنتِ أو أي أيضا أين إذا إلا إلى إن الآن التي الذي الذين اللذان اللواتي بعد بعض
        بل به بها بين تحت تلك ثم حتى حول حيث خلال دون ذلك على عليه عليها عن عند عندما غير فقط فوق في فيه فيها
        قبل قد كان كانت كانوا كل كم كما كنت كيف لأن لا لدي لديك لقد لكن لم لماذا لن له لها لهم لي ليس ليست ما
        ماذا متى مثل مع مما من منذ منه منها نحن نعم هذا هذه هل هم هما هن هنا هناك هو هي و وكان ولا ولم وهو وهي
        يا يكون
    """,
    "fa": """
        آن آنها آیا ا ات از است اش ام اما اند او اگر ای اید ایم این اینجا اینکه با باید بر برای به بود بودم
        بودند بی تا تر ترین تمام تو خود خیلی دارد دارم دارند در دیگر را روی شد شده شما شود ما من مگر می نه نیز
        نیست ها های هایی هر هست هستم هستند هم همه همین هنوز هیچ و وقتی ولی چرا چند چه چون چیست کجا کدام کرد
        کرده کسی کن کنم کنند کنید که کی یا یک
    """,
    "hi": """
        अगर अपना अपनी अपने अब आप आपका आपकी आपके इन इस इसका इसकी इसके इसने इसमें इसी इसे उन उनका उनकी उनके उनको
        उन्हें उस उसका उसकी उसके उसने उसमें उसे एक एवं ऐसा ऐसे और कई कब कभी कर करके कहाँ कहां का कि किया किस
        किसी की कुछ के को कोई कौन क्या क्यों गई गए गया जब जहाँ जा जिस जिसे जैसा जैसे जो तक तथा तब तो था थी थे
        दिया द्वारा न नहीं ना ने पर फिर बहुत भी मगर मुझे में मेरा मेरी मेरे मैं मैंने यदि यह यहाँ यही या ये
        रहा रही रहे लिए लेकिन व वह वहाँ वाला वाली वाले वे सब साथ से सो हम हमारा हमारी हमारे हमें ही हुआ हुई
        हुए हूँ हूं है हैं हो होता होती होते होना
    """,
}

LANGUAGES: tuple[str, ...] = tuple(_WORDS)


@cache
def function_words(language: str) -> frozenset[str]:
    """The function words of a language; none for a language that is not in `LANGUAGES`."""
    return frozenset(_WORDS.get(language, "").split())
