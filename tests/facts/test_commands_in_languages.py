"""Commands in twelve languages, by the wordings of their packs (G14): what is one, what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from everword import Memory
from everword.facts.rules.commands import may_be_command, parse_command

COMMANDS = {
    "de": {
        "remember": ["Merk dir bitte, dass ich keine Milch trinke.", "Kannst du dir merken, dass mein Rad blau ist?"],
        "forget": ["Vergiss meine alte Adresse.", "Bitte vergiss, dass ich rauche", "Lösch alles über meinen Umzug"],
        "ask": ["Was weißt du über mich?", "was weisst du ueber meine schwester", "Weißt du noch, wann Papa kommt?"],
        "none": [
            "Vergiss es.",
            "vergiss es, ich war zu spät dran",
            "Ich kann mich nicht erinnern.",
            "Vergiss nicht, Brot zu kaufen!",
            "Weißt du noch, als",
        ],
    },
    "es": {
        "remember": [
            "Recuerda que soy alérgica al polen",
            "apunta: el código es 77",
            "no olvides que odio el cilantro",
        ],
        "forget": ["Olvida lo de mi jefe, por favor", "borra mi teléfono de tu memoria"],
        "ask": ["¿Qué sabes de mí?", "que recuerdas de mi perro", "¿Te acuerdas de cuánto pagué por el coche?"],
        "none": ["Olvídalo.", "¿Te acuerdas de aquella canción?", "No me acuerdo de nada", "Recuerda comprar leche"],
    },
    "fr": {
        "remember": ["Souviens-toi que je suis végétarien", "note que mon train est à 8 h stp"],
        "forget": ["Oublie mon ancien numéro.", "Pouvez-vous oublier que j'habite à Lyon ?"],
        "ask": ["Qu'est-ce que tu sais sur moi ?", "rappelle-moi où j'ai garé la voiture"],
        "none": ["Laisse tomber, oublie.", "Tu te souviens de ce film ?", "N'oublie pas d'acheter du pain"],
    },
    "pt": {
        "remember": ["Lembra que eu não como carne", "anota aí: a reunião é às 9"],
        "forget": ["Esquece o meu endereço", "apaga tudo o que sabes sobre mim"],
        "ask": ["O que você sabe sobre mim?", "cê lembra quanto custou o sofá?"],
        "none": ["Esquece.", "Esqueci a carteira em casa", "Lembra daquela música?"],
    },
    "it": {
        "remember": ["Ricordati che sono celiaca", "tieni a mente che lavoro di notte"],
        "forget": [
            "Dimentica il mio vecchio indirizzo",
            "cancella pure l'appartamento di via Roma, non mi serve più",
            "Puoi cancellare quello che sai di me?",
        ],
        "ask": ["Cosa sai di me?", "ti ricordi quanto ho pagato la bici?"],
        "none": ["Ho dimenticato le chiavi", "Ti ricordi quel film?", "Non dimenticare di comprare il latte"],
    },
    "ru": {
        "remember": ["Запомни, что я не ем мясо", "имей в виду: у меня аллергия на кошек"],
        "forget": ["Забудь мой адрес", "Про Байкал можешь удалить", "Удалите, пожалуйста, мой номер"],
        "ask": ["Что ты знаешь обо мне?", "Напомни, сколько стоил ремонт"],
        "none": [
            "Забудь, неважно",
            "забудь, я уже дома",
            "Я опять забыл ключи",
            "Не забудь купить молоко",
            "Помнишь тот фильм?",
        ],
    },
    "tr": {
        "remember": ["Vejetaryen olduğumu unutma", "şunu not al: kapı kodu 4417"],
        "forget": ["Eski adresimi unut", "evli olduğumu unutur musun?"],
        "ask": [
            "Hakkımda ne biliyorsun?",
            "Defne hakkında ne söylediğimi hatırlıyor musun?",
            "Kirayı ne zaman ödedim, hatırlıyor musun?",
        ],
        "none": ["Boş ver, unut gitsin", "Yine anahtarı unuttum", "Süt almayı unutma"],
    },
    "ar": {
        "remember": ["تذكر أنني نباتي", "سجل عندك: موعدي يوم الأحد"],
        "forget": ["انس عنواني القديم", "انسَ أنّ عندي حساسية", "امسح كل ما تعرفه عني"],
        "ask": ["ماذا تعرف عني؟", "فاكر ميعاد الدكتور؟"],
        "none": ["انس الأمر، لا يهم", "نسيت المفاتيح", "لا تنسى تشتري حليب", "مش فاكر"],
    },
    "hi": {
        "remember": ["याद रखना कि मैं शाकाहारी हूँ", "yaad rakhna ki mujhe mungfali se allergy hai"],
        "forget": ["मेरा पुराना पता भूल जाओ", "mera number delete kar do"],
        "ask": ["मेरे बारे में क्या जानते हो?", "mere baare mein kya pata hai?"],
        "none": ["मैं चाबी भूल गया", "mujhe kuch yaad nahi", "दूध लेना मत भूलना"],
    },
    "zh": {
        "remember": ["请记住我对花生过敏", "帮我记一下：停车位在B3"],
        "forget": ["忘掉我的旧地址", "请把我的电话号码删掉"],
        "ask": ["你知道我的什么事？", "关于我你知道些什么？", "我上次买的车多少钱来着？"],
        "none": ["算了，忘了吧", "我又忘带钥匙了", "你还记得那首歌吗？", "记得多喝水"],
    },
    "ja": {
        "remember": ["私は卵アレルギーだと覚えておいて", "覚えておいてください：駐車場は3番です"],
        "forget": ["私の前の住所は忘れてください", "仕事の話は忘れて"],
        "ask": ["私について何を知っていますか？", "弟のこと、覚えてる？", "歯医者の予約いつだっけ？"],
        "none": ["鍵を忘れた", "あの映画覚えてる？", "牛乳買うの忘れないでね"],
    },
    "ko": {
        "remember": ["내가 채식주의자라는 거 기억해 줘", "메모해 줘: 주차 자리는 12번"],
        "forget": ["내 옛날 주소는 잊어 줘", "원룸 얘기는 이제 지워도 돼", "제 전화번호를 지워 주세요"],
        "ask": ["나에 대해 뭘 알고 있어?", "치과 예약이 언제인지 기억나?"],
        "none": ["됐어, 잊어버려", "비밀번호 까먹었어", "우유 사는 거 잊지 마", "그 노래 기억나?"],
    },
}
EACH = [(language, kind, text) for language, kinds in COMMANDS.items() for kind in kinds for text in kinds[kind]]


@pytest.mark.parametrize(("language", "kind", "text"), EACH)
@pytest.mark.checklist("G14")
def test_each_is_what_it_says(language: str, kind: str, text: str) -> None:
    command = parse_command(text, ["Memo"], for_bot=True)
    assert command.kind == kind
    assert command.kind == "none" or (command.language == language and may_be_command(text))
    assert parse_command(text, ["Memo"]).kind == "none"


@pytest.mark.parametrize("text", ["delete the file", "note: I am late", "save the document, please", "remove my tests"])
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert parse_command(text, ["Memo"], for_bot=True).kind == "none"


def test_a_wording_keeps_the_letters_of_the_text() -> None:
    assert parse_command("Запомни: ёж Лёва живёт у меня", [], for_bot=True).text == "ёж Лёва живёт у меня"
    assert parse_command("Merk dir, dass Zoë morgen kommt", [], for_bot=True).text == "Zoë morgen kommt"
    assert parse_command("Recuerda esto.", [], for_bot=True).refers_back


@pytest.mark.checklist("G14")
def test_what_may_as_well_be_for_a_model_needs_something_that_is_known(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), chat_model="", memory_model="") as memory:
        chat = memory.conversation("c", user="ana")
        assert chat.command("Was weißt du über Quantenphysik?", addressed=True) is None
        chat.command("Merk dir, dass mein Kater Mogli heißt", addressed=True)
        answer = chat.command("Was weißt du über Mogli?", addressed=True)
        assert answer is not None
        assert "Mogli" in answer.text
        assert chat.command("Vergiss den Urlaub in Rom", addressed=True) is None
        forgotten = chat.command("Vergiss meinen Kater", addressed=True)
        assert forgotten is not None
        assert forgotten.forgotten is not None
        assert forgotten.forgotten.statements


ANSWERS = {
    "de": ("Merk dir, dass ich Kiwis hasse", "Ich merke mir:", "Was weißt du über mich?", "Das weiß ich über dich:"),
    "es": ("Recuerda que odio los kiwis", "Recordaré:", "¿Qué sabes de mí?", "Lo que sé de ti:"),
    "fr": ("Retiens que je déteste les kiwis", "Je retiens :", "Que sais-tu sur moi ?", "Ce que je sais de toi :"),
    "pt": ("Lembra que eu odeio kiwi", "Vou lembrar:", "O que você sabe sobre mim?", "O que sei sobre você:"),
    "it": ("Ricorda che odio i kiwi", "Ricorderò:", "Cosa sai di me?", "Quello che so di te:"),
    "ru": ("Запомни, что я ненавижу киви", "Запоминаю:", "Что ты знаешь обо мне?", "Что я знаю о тебе:"),
    "tr": ("Kiviyi sevmediğimi unutma", "Aklımda tutacağım:", "Hakkımda ne biliyorsun?", "Senin hakkında bildiklerim:"),
    "ar": ("تذكر أنني أكره الكيوي", "سأتذكر:", "ماذا تعرف عني؟", "ما أعرفه عنك:"),
    "hi": ("याद रखना कि मुझे कीवी पसंद नहीं", "मैं याद रखूँगा:", "मेरे बारे में क्या जानते हो?", "आपके बारे में मुझे यह पता है:"),
    "zh": ("请记住我讨厌猕猴桃", "我会记住：", "关于我你知道些什么？", "我知道的关于你的事："),
    "ja": (
        "私はキウイが嫌いだと覚えておいて",
        "覚えておきます：",
        "私について何を知っていますか？",
        "あなたについて知っていること：",
    ),
    "ko": ("내가 키위를 싫어한다는 거 기억해 줘", "기억할게요:", "나에 대해 뭘 알고 있어?", "당신에 대해 아는 것:"),
}


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.checklist("G16")
def test_a_command_is_answered_in_its_language(language: str, tmp_path: Path) -> None:
    remember, kept, ask, known = ANSWERS[language]
    with Memory(str(tmp_path / "m.db"), chat_model="", memory_model="") as memory:
        chat = memory.conversation("c", user="ana")
        first_answer = chat.command(remember, addressed=True)
        assert first_answer is not None
        assert first_answer.text.startswith(kept)
        assert " said" not in first_answer.text
        answer = chat.command(ask, addressed=True)
        assert answer is not None
        lines = answer.text.split("\n")
        assert lines[0] == known
        assert lines[1] != "Remembered"
        assert len(lines) > 2


def test_a_date_with_a_full_stop_is_kept_whole() -> None:
    command = parse_command("Merk dir, dass meine Mutter am 8. Juni Geburtstag hat", (), for_bot=True)
    assert command.text == "meine Mutter am 8. Juni Geburtstag hat"
