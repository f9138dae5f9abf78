"""Whether a message is only small talk: a greeting, thanks, a nod, a laugh. Then there is nothing to search for.

Every word must be known as small talk, and there must be few of them. With one other word, one number or one name the
message has content. So an error costs a search that finds nothing, never a search that was needed.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from recollect.text.lazy_patterns import lazy_pattern

MAX_WORDS = 8
MAX_CHARACTERS = 120

# Said alone they are small talk. Several in a row still are: "ok thanks, good night".
_PHRASES = """
    hi; hii; hey; heya; hiya; hello; helo; yo; howdy; greetings; sup; wassup; hi there; hey there; hello there
    good morning; good afternoon; good evening; good night; goodnight; good day; morning; gm; gn; night night
    bye; bye bye; goodbye; good bye; see you; see ya; see you later; see you soon; see you tomorrow; later; cya
    take care; have a good one; have a nice day; have a good day; have a great day; have a good night; farewell
    talk to you later; talk soon; ttyl; until next time; nice to meet you; pleased to meet you; welcome; welcome back
    thanks; thank you; thankyou; thank u; thx; thnx; tnx; ty; tysm; cheers; much appreciated; appreciate it
    i appreciate it; thanks a lot; thanks a million; many thanks; thanks again; thank you so much; thanks so much
    thank you very much; that helps; that helped; you're welcome; youre welcome; yw; no problem; np; no worries
    my pleasure; anytime; don't mention it; sorry; my bad; oops; pardon; excuse me; i'm sorry; im sorry; no thanks
    ok; okay; okey; okie; k; kk; oki; alright; all right; right; sure; sure thing; of course; fine; fair enough
    got it; gotcha; understood; i see; i understand; makes sense; that makes sense; noted; roger; will do; done
    yes; yeah; yea; yep; yup; ya; no; nope; nah; maybe; indeed; exactly; agreed; true; absolutely; definitely
    certainly; great; good; nice; nice one; cool; awesome; amazing; perfect; excellent; wonderful; lovely; brilliant
    fantastic; super; sweet; neat; wow; yay; woohoo; hooray; congrats; congratulations; well done; good job; great job
    good luck; good work; sounds good; sounds great; looks good; looks great; lgtm; that's great; thats great
    that's awesome; that's good; that's cool; that's nice; that's perfect; that's amazing; so cool; so nice; love it
    i love it; lol; lmao; rofl; xd; haha; hehe; hah; heh; ha; omg; hmm; hm; mhm; uh huh; ah; aha; oh; ooh; uh; um
    how are you; how are you doing; how are things; how's it going; hows it going; how do you do; how r u; hru
    what's up; whats up; are you there; you there; anyone there; i'm good; im good; i'm fine; im fine
    i'm doing well; not bad; same here; you too; same to you; happy birthday; merry christmas; happy new year
    please; pls; plz; test; testing; ping; idk; brb; nvm; never mind; nevermind; enjoy; bless you

    hola; buenas; buenos días; buenos dias; buenas tardes; buenas noches; adiós; adios; hasta luego; hasta mañana
    hasta pronto; nos vemos; chao; chau; gracias; muchas gracias; mil gracias; de nada; vale; sí; si; claro; perfecto
    genial; bueno; muy bien; bien; qué tal; que tal; cómo estás; como estas; lo siento; perdón; perdona; por favor
    entendido; de acuerdo; guay; estupendo; excelente; un saludo; saludos; jaja; jeje; igualmente

    hallo; hallihallo; moin; moin moin; servus; grüezi; grüß gott; gruss gott; guten morgen; guten tag; guten abend
    gute nacht; tschüss; tschüß; tschuss; ciao; auf wiedersehen; bis später; bis bald; bis morgen; bis dann; danke
    danke schön; dankeschön; danke dir; danke sehr; vielen dank; besten dank; herzlichen dank; bitte; bitte schön
    gern geschehen; gerne; ja; jo; nein; nö; klar; alles klar; genau; stimmt; gut; sehr gut; super; toll; prima; passt
    wie geht's; wie gehts; wie geht es dir; mir geht's gut; verstanden; tut mir leid; entschuldigung; schönen tag
    schönen tag noch; schönes wochenende; viel glück; viel spaß; lg; mfg; liebe grüße; viele grüße

    bonjour; bonsoir; salut; coucou; bonne nuit; bonne journée; bonne soirée; au revoir; à bientôt; à plus; à demain
    merci; merci beaucoup; merci bien; mille mercis; de rien; je vous en prie; je t'en prie; s'il te plaît
    s'il vous plaît; svp; stp; oui; ouais; non; d'accord; dacc; ça marche; parfait; super; génial; bien; très bien
    ça va; comment ça va; comment vas-tu; comment allez-vous; désolé; désolée; pardon; compris; bien sûr; bravo; mdr
    enchanté; enchantée; voilà; cool

    buongiorno; buonasera; buona sera; buonanotte; buona notte; buona giornata; salve; arrivederci; a presto; a dopo
    a domani; grazie; grazie mille; mille grazie; tante grazie; molte grazie; prego; per favore; sì; no; va bene
    d'accordo; certo; perfetto; ottimo; bene; molto bene; bello; come va; come stai; tutto bene; scusa; scusi
    mi dispiace; capito; figurati; bravo; brava

    olá; ola; oi; e aí; bom dia; boa tarde; boa noite; tchau; até logo; até amanhã; até mais; obrigado; obrigada
    muito obrigado; muito obrigada; valeu; de nada; por favor; sim; não; nao; claro; tá bom; ta bom; beleza; perfeito
    ótimo; legal; tudo bem; tudo bom; como vai; desculpa; desculpe; entendi; combinado; kkkk; rsrs; abraço; abraços

    hoi; hé; goedemorgen; goedemiddag; goedenavond; goedenacht; welterusten; dag; doei; tot ziens; tot straks
    tot later; tot morgen; bedankt; dank je; dank je wel; dankjewel; dank u; dank u wel; hartelijk dank
    graag gedaan; alsjeblieft; alstublieft; ja; nee; oké; prima; goed; mooi; leuk; hoe gaat het; sorry; begrepen

    hej; hejsan; tjena; god morgon; god kväll; god natt; hej då; vi ses; tack; tack så mycket; tusen tack; varsågod
    ja; nej; bra; okej; visst; hur mår du; förlåt; god morgen; god aften; tak; mange tak; selv tak; hei; takk
    tusen takk; ha det; god kveld; moi; moikka; hei hei; hyvää huomenta; hyvää päivää; hyvää yötä; kiitos
    paljon kiitoksia; kiitti; joo; kyllä; selvä; näkemiin

    cześć; czesc; siema; dzień dobry; dzien dobry; dobry wieczór; dobranoc; do widzenia; na razie; dzięki; dzieki
    dziękuję; dziekuje; dziękuję bardzo; proszę; tak; nie; dobrze; jasne; super; spoko; przepraszam; pa; ahoj
    dobrý den; dobré ráno; dobrou noc; děkuji; díky; diky; prosím; ano; ne; dobře; nashledanou; na shledanou
    szia; sziasztok; jó reggelt; jó napot; jó estét; köszönöm; köszi; igen; nem; rendben; viszlát
    bună; bună ziua; bună dimineața; noapte bună; salut; mulțumesc; multumesc; mersi; da; nu; bine; la revedere

    merhaba; selam; günaydın; iyi günler; iyi akşamlar; iyi geceler; teşekkürler; teşekkür ederim; tesekkurler; sağ ol
    sağol; rica ederim; evet; hayır; tamam; tabii; peki; harika; güle güle; görüşürüz; nasılsın; lütfen
    halo; hai; selamat pagi; selamat siang; selamat sore; selamat malam; terima kasih; makasih; sama sama; ya; tidak
    oke; baik; sampai jumpa; apa kabar

    привет; здравствуйте; здравствуй; доброе утро; добрый день; добрый вечер; доброй ночи; спокойной ночи; пока
    до свидания; до встречи; до завтра; спасибо; большое спасибо; спасибо большое; пожалуйста; не за что; да; нет
    ок; окей; хорошо; ладно; понятно; понял; поняла; ясно; отлично; супер; круто; класс; конечно; ага; угу; ого
    как дела; извини; извините; лол; хаха; привіт; добрий день; доброго ранку; дякую; щиро дякую; будь ласка; так
    ні; добре; бувай; до побачення

    γεια; γεια σου; γεια σας; καλημέρα; καλησπέρα; καληνύχτα; ευχαριστώ; ευχαριστώ πολύ; παρακαλώ; ναι; όχι; εντάξει
    مرحبا; أهلا; اهلا; السلام عليكم; وعليكم السلام; صباح الخير; مساء الخير; شكرا; شكرا جزيلا; عفوا; نعم; لا; تمام
    حسنا; مع السلامة; سلام; صبح بخیر; شب بخیر; ممنون; مرسی; متشکرم; خداحافظ; بله; نه; باشه
    שלום; היי; בוקר טוב; ערב טוב; לילה טוב; תודה; תודה רבה; בבקשה; כן; לא; בסדר; סבבה; להתראות
    नमस्ते; नमस्कार; शुभ प्रभात; शुभ रात्रि; धन्यवाद; शुक्रिया; बहुत धन्यवाद; हाँ; हां; नहीं; ठीक है; अच्छा
    안녕; 안녕하세요; 안녕히 가세요; 안녕히 계세요; 감사합니다; 고마워; 고마워요; 고맙습니다; 네; 예; 아니요; 아니; 응
    좋아요; 좋아; 알겠습니다; 알겠어요; 잘자; 잘 자; 죄송합니다; 미안; ㅋㅋ; ㅎㅎ; ㅇㅇ; ㅇㅋ
    你好; 您好; 嗨; 哈喽; 早; 早安; 早上好; 下午好; 晚上好; 晚安; 再见; 拜拜; 谢谢; 謝謝; 谢谢你; 谢谢您; 多谢; 感谢
    非常感谢; 不客气; 不用谢; 没事; 没关系; 好; 好的; 好吧; 行; 可以; 是; 是的; 对; 不; 不是; 嗯; 嗯嗯; 哦; 明白; 明白了
    知道了; 了解; 太好了; 哈哈; 呵呵; 对不起; 抱歉; 你好吗; 辛苦了; 加油; 的; 啊; 呀; 吧; 啦; 了; 哇
    こんにちは; こんばんは; おはよう; おはようございます; おやすみ; おやすみなさい; さようなら; またね; じゃあね
    ありがとう; ありがとうございます; ありがとうございました; どうも; どういたしまして; はい; うん; いいえ; いや; そう
    そうですね; そうですか; 了解; 了解です; 了解しました; わかりました; なるほど; すみません; ごめん; ごめんなさい
    よろしく; よろしくお願いします; お疲れ様; お疲れ様です; いいね; すごい; やった; 草; 笑; ね; よ; 元気ですか
    สวัสดี; สวัสดีครับ; สวัสดีค่ะ; ขอบคุณ; ขอบคุณครับ; ขอบคุณค่ะ; ขอบคุณมาก; ใช่; ไม่; ครับ; ค่ะ; คะ; โอเค; ลาก่อน
    xin chào; chào; chào bạn; cảm ơn; cám ơn; cảm ơn bạn; cảm ơn nhiều; vâng; dạ; không; được; tạm biệt; ừ
"""

# They go with small talk and are none alone: "thanks so much for your help, everyone".
_BESIDE = """
    a lot; a bunch; a ton; all; again; and; as always; buddy; but; dear; dude; everybody; everyone; folks; friend
    friends; guys; man; mate; sir; ma'am; madam; team; my friend; really; so; so much; very; very much; much; too
    then; there; well; y'all; you; you all; u; for now; for that; for this; for it; for everything; for the help
    for your help; for all your help; for all the help; for your time; for letting me know; for the info; at all
    a todos; a todas; amigo; amiga; por tu ayuda; por la ayuda; por todo; sehr; dir; euch; alle zusammen; an alle
    für die hilfe; für deine hilfe; à tous; à toutes; pour tout; pour ton aide; pour votre aide; pour l'aide
    c'est; a tutti; per l'aiuto; di tutto; di cuore; pela ajuda; por tudo; gente; pessoal; voor je hulp; allemaal
"""

_APOSTROPHE = lazy_pattern("[’‘ʼ`´]")
_NUMBER = lazy_pattern("[0-9]")
_WORD = lazy_pattern(r"[^\W_]+(?:['-][^\W_]+)*")
_MARK = lazy_pattern("[\u0300-\u036f\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]")
_LAUGH = lazy_pattern(
    r"(?:[hj][aei]){2,}h?|a?(?:ha){2,}h?|l+o+l+|(?:lo){2,}l|k{3,}|w{3,}|(?:rs){2,}|x+d+|z{3,}|h+m+|m+h*m+|a+h+|o+h+"
    r"|а?(?:ха){2,}х?|(?:хе){2,}|哈{2,}|呵{2,}|ㅋ{2,}|ㅎ{2,}|笑+|草+|ه{3,}|5{3,}"
)
_LONGEST = 4  # words of one phrase
_DRAWN = lazy_pattern(r"(.)\1{2,}")  # "hiiii", "sooo"
_UNSPACED = lazy_pattern("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def is_small_talk(text: str) -> bool:
    """Whether a text is only small talk. Emoji and punctuation alone are, and so is a blank text."""
    return len(text) <= MAX_CHARACTERS and _is_small_talk(text)


@lru_cache(maxsize=8_192)  # every view asks this of a message, one after the other
def _is_small_talk(text: str) -> bool:
    if text.isascii():
        text = text.casefold().replace("`", "'")
        first_word = _WORD.search(text)
        if first_word is not None and not _may_begin(first_word[0]):  # as most texts do not
            return False
        if len(text.split()) > MAX_WORDS + 2 or _NUMBER.search(text):
            return False
    else:
        text = _APOSTROPHE.sub("'", unicodedata.normalize("NFKC", text).casefold())
        if len(text.split()) > MAX_WORDS + 2 or any(c.isnumeric() and not _UNSPACED.match(c) for c in text):
            return False
    words = _words(text)
    if len(words) > MAX_WORDS:
        return False
    return not words or _is_covered(words)


def _words(text: str) -> list[str]:
    # Vowel signs belong to their word; as letters to the pattern they would need a table of their own.
    if not text.isascii() and _MARK.search(text):
        bare = "".join(" " if unicodedata.category(c)[0] in "PSZC" and c not in "'-" else c for c in text)
        return bare.split()
    return _WORD.findall(text)


def _is_covered(words: list[str]) -> bool:
    """Whether phrases and the words that go with them cover all words, with at least one phrase."""
    phrases = _phrases(_PHRASES)
    beside = _phrases(_BESIDE)
    is_drawn = _DRAWN.search(" ".join(words)) is not None
    at = 0
    has_phrase = False
    while at < len(words):
        if not _may_begin(words[at]):
            return False
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + length])
            forms = _forms(phrase) if is_drawn else (phrase,)
            is_phrase = not phrases.isdisjoint(forms) or (length == 1 and _is_sound(words[at]))
            if is_phrase or not beside.isdisjoint(forms):
                has_phrase = has_phrase or is_phrase
                at += length
                break
        else:
            return False
    return has_phrase


@lru_cache(maxsize=8_192)
def _may_begin(word: str) -> bool:
    """Whether a phrase, or a word that goes with one, may begin with this word."""
    return word in _first_words() or _DRAWN.search(word) is not None or _is_sound(word)


@cache
def _first_words() -> frozenset[str]:
    return frozenset(phrase.partition(" ")[0] for table in (_PHRASES, _BESIDE) for phrase in _phrases(table))


def _forms(phrase: str) -> set[str]:
    """The spellings to compare: as written, and with repeated letters reduced to one or two."""
    if not _DRAWN.search(phrase):
        return {phrase}
    return {phrase, _DRAWN.sub(r"\1", phrase), _DRAWN.sub(r"\1\1", phrase)}


@lru_cache(maxsize=8_192)
def _is_sound(word: str) -> bool:
    return bool(_LAUGH.fullmatch(word)) or bool(_UNSPACED.match(word) and _is_run(word))


def _is_run(word: str) -> bool:
    """Whether a run in a script without spaces consists of phrases."""
    phrases = _phrases(_PHRASES)
    reachable = {0}
    for start in range(len(word)):
        if start in reachable:
            reachable |= {end for end in range(start + 1, len(word) + 1) if word[start:end] in phrases}
    return len(word) in reachable


@cache
def _phrases(table: str) -> frozenset[str]:
    entries = table.replace("\n", ";").split(";")
    return frozenset(unicodedata.normalize("NFKC", phrase.strip().casefold()) for phrase in entries if phrase.strip())
