"""G14: facts in eight languages without a model, by the patterns of their packs; and what is no fact in any of them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from engine_doubles import settle_facts, settle_views

from everword import InvalidInput, Memory
from everword.facts.pack_facts import PACK_LANGUAGES, FactPack, read_pack_facts
from everword.testing import FrozenClock

LANGUAGES = ("de", "es", "fr", "it", "ja", "pt", "ru", "zh")

TOLD = {
    "de": {
        "Hallo, ich bin Jonas, 29, aus Bremen und arbeite als Tischler": ("Jonas", "29", "Bremen", "Tischler"),
        "ich wohne seit drei Jahren in Köln-Ehrenfeld": ("Köln-Ehrenfeld",),
        "Ich bin übrigens gegen Nüsse allergisch.": ("Nüsse",),
        "meine Schwester Lena zieht im Mai nach Leipzig": (
            "Lena (Schwester)",
            "die Schwester Lena zieht im Mai nach Leipzig",
        ),
        "nächste Woche fliege ich mit meiner Freundin nach Lissabon": ("fliegt mit der Freundin nach Lissabon",),
        "Ab 1. März fange ich bei der Sparkasse an.": ("fängt ab 1. März bei der Sparkasse an",),
        "antworte mir bitte immer kurz": ("antworte mir bitte immer kurz",),
        "Servus, i bin die Vroni und wohn in Passau": ("Vroni", "Passau"),
        "am Montag hab ich einen Termin beim Orthopäden": ("hat einen Termin beim Orthopäden",),
        "wir haben zwei Katzen, Momo und Kasimir, die klauen alles": ("Momo und Kasimir (Katzen)",),
        "ich trinke keinen Alkohol mehr": ("Alkohol",),
    },
    "es": {
        "hola, me llamo Carla y vivo en Sevilla desde 2019": ("Carla", "Sevilla"),
        "La semana pasada me confirmaron que soy celíaca": ("celíaca",),
        "Mi hermano Tomás trabaja de camarero en Cádiz": (
            "Tomás (hermano)",
            "su hermano Tomás trabaja de camarero en Cádiz",
        ),
        "ayer vendí la moto por 900 euros": ("vendió la moto por 900 euros",),
        "Tengo un perro que se llama Lolo": ("Lolo (perro)",),
        "por favor, no me pongas emojis": ("no me pongas emojis",),
        "Che, soy Bruno y vivo en Mendoza": ("Bruno", "Mendoza"),
        "el jueves que viene tengo una entrevista en el banco": ("tiene una entrevista en el banco",),
        "tengo dos gatos, Mishi y Pelusa": ("Mishi y Pelusa (gatos)",),
        "te cuento: mi mujer se llama Rocío y tenemos dos hijas, Alba y Jimena": ("Alba y Jimena", "Rocío (mujer)"),
    },
    "fr": {
        "salut, moi c'est Léa, 27 ans, de Nantes": ("Léa", "27", "Nantes"),
        "je suis allergique aux fruits de mer": ("fruits de mer",),
        "On a adopté un chat hier, il s'appelle Pixel": ("Pixel (chat)", "a adopté un chat"),
        "ma sœur Inès se marie le 12 juin à Bordeaux": ("Inès (sœur)", "sa sœur Inès se marie le 12 juin à Bordeaux"),
        "je déteste les champignons": ("les champignons",),
        "demain on a un rendez-vous chez le notaire": ("a un rendez-vous chez le notaire",),
        "je viens d'acheter un piano droit": ("vient d'acheter un piano droit",),
        "je prends ma retraite dans cinq ans": ("prend sa retraite",),
    },
    "it": {
        "ciao, sono Chiara, 31 anni, di Bari": ("Chiara", "31", "Bari"),
        "faccio la maestra in una scuola elementare": ("la maestra in una scuola elementare",),
        "mia madre si è rotta il femore martedì": ("sua madre si è rotta il femore",),
        "mi sono iscritta a un corso di ceramica": ("si è iscritta a un corso di ceramica",),
        "non mangio maiale": ("maiale",),
        "abbiamo due figli: Ugo e Marta": ("Ugo e Marta",),
        "abbiamo preso un cane dal canile, si chiama Zorro": ("Zorro (cane)",),
    },
    "ja": {
        "はじめまして、佐藤と申します。28歳で、横浜に住んでいます": ("佐藤", "28", "横浜"),
        "ピーナッツアレルギーです": ("ピーナッツ",),
        "妹の美咲は来月結婚します": ("美咲 (妹)", "妹の美咲は結婚します"),
        "10年前からギターを習っています": ("10年前からギターを習っています",),
        "絵文字は使わないでください": ("絵文字は使わないでください",),
        "私パクチーだけは無理": ("パクチー",),
    },
    "pt": {
        "oi, meu nome é Bruna e moro em Recife": ("Bruna", "Recife"),
        "sou alérgica a camarão": ("camarão",),
        "Minha irmã Paula casou em março": ("Paula (irmã)", "sua irmã Paula casou em março"),
        "ontem comprei uma bicicleta usada": ("comprou uma bicicleta usada",),
        "eu adoro moqueca": ("moqueca",),
        "adotei um gato preto, ele se chama Bartô": ("Bartô (gato)",),
    },
    "ru": {
        "привет, я Катя, мне 26, живу в Казани": ("Катя", "26", "Казани"),
        "у меня аллергия на орехи": ("орехи",),
        "мой муж Дима работает дальнобойщиком": ("Дима (муж)", "муж Дима работает дальнобойщиком"),
        "летом едем на Алтай с друзьями": ("летом едет на Алтай с друзьями",),
        "отвечай мне всегда коротко": ("отвечай мне всегда коротко",),
        "мама живёт в Кунгуре, ей 62 года, завела себе козу": ("мама живёт в Кунгуре",),
    },
    "zh": {
        "你好，我叫陈静，今年28岁，在杭州做会计": ("陈静", "28", "会计"),
        "我对花生过敏": ("花生",),
        "我老公叫李伟，是高中老师": ("李伟 (老公)", "老公是高中老师"),
        "上周我们领养了一只橘猫，叫豆豆": ("豆豆 (橘猫)", "领养了一只橘猫"),
        "别给我发表情": ("别给我发表情",),
        "我對蝦過敏，從小就不吃海鮮": ("蝦", "海鮮"),
        "我妹妹叫雅婷，在臺南當護理師": ("雅婷 (妹妹)", "妹妹在臺南當護理師"),
        "三年前我从上海搬到杭州的": ("杭州",),
    },
}
"""Messages and all the values that they state."""

FIRST = {
    "de": "das klingt doch schon ganz gut, was meinst du dazu und wie machen wir weiter?",
    "es": "¿y eso cómo se hace, me lo puedes explicar un poco mejor para que lo entienda?",
    "fr": "et ça se fait comment, tu peux m'expliquer un peu mieux pour que je comprenne ?",
    "it": "e questo come si fa, me lo puoi spiegare un po' meglio così lo capisco anche io?",
    "ja": "それはどうやるんですか？もう少し説明してください",
    "pt": "e isso como é que se faz, você pode me explicar um pouco melhor para eu entender?",
    "ru": "а как это делается, можешь объяснить немного подробнее, чтобы было понятно?",
    "zh": "这个要怎么弄？能不能再解释一下？",
}
"""What tells the language of a chat and states nothing: some messages are too short for it."""

NOTHING = {
    "de": (
        "heute Abend gehe ich mit Jana schwimmen",
        "wir wohnen im vierten Stock",
        "Bin ich gegen Nüsse allergisch?",
        "Wenn ich in Berlin wohnen würde, hätte ich keinen Garten",
        "Meine Freundin sagt, dass ich zu viel arbeite",
        "ich bin müde",
        "das Kind nebenan ist vier und mag keine Erdbeeren",
        "Übersetze bitte: Ich wohne in Rom und habe einen Hund",
        "Stell dir vor, ich bin Pilot und heiße Tom",
        "Ich wohne in einem Schloss und heiße Graf Koks 🙄",
        "Er schrieb: „Ich wohne in Rom und ich bin allergisch gegen Nüsse.“",
    ),
    "es": (
        "mañana me voy a correr un rato al parque",
        "vivimos en un tercero sin ascensor",
        "vendí la mesa vieja por 20 euros",
        "«Tengo una vaca» cantaba mi abuela",
        "¿Soy alérgica a las nueces?",
        "Si viviera en Madrid, iría en metro",
        "mi madre dice que trabajo mucho",
        "estoy cansada y tengo hambre",
        "Traduce: vivo en Roma y tengo un perro",
        "me gustaría tener un perro",
        "imagina que soy piloto y me llamo Tomás",
    ),
    "fr": (
        "demain je vais nager à la piscine",
        "on a vendu la vieille table",
        "« Je suis malade » est une belle chanson",
        "Est-ce que je suis allergique aux noix ?",
        "Si j'habitais à Paris, je prendrais le métro",
        "il dit que je travaille trop",
        "je suis fatiguée",
        "Traduis : j'habite à Rome et j'ai un chien",
        "je voudrais un chien",
        "j'ai une question",
    ),
    "it": (
        "domani vado a correre al parco",
        "ho comprato un paio di scarpe",
        "«Ho un cane» cantava lui",
        "Sono allergica alle noci?",
        "Se vivessi a Roma, prenderei la metro",
        "dice che lavoro troppo",
        "sono stanca",
        "Traduci: abito a Roma e ho un cane",
        "vorrei un cane",
        "ho una domanda",
    ),
    "ja": (
        "明日は友達と買い物に行く",
        "私はナッツアレルギーですか？",
        "もし東京に住んでいたら、電車に乗ります",
        "彼は私が働きすぎだと言っています",
        "疲れた",
        "訳して：私はローマに住んでいて犬を飼っています",
        "犬を飼いたい",
        "質問があります",
    ),
    "pt": (
        "amanhã vou nadar na piscina do clube",
        "comprei um par de sapatos",
        "sou alérgica a nozes?",
        "se eu morasse em Lisboa, iria de metrô",
        "minha mãe disse que eu trabalho demais",
        "estou cansada",
        "Traduza: moro em Roma e tenho um cachorro",
        "queria ter um cachorro",
        "tenho uma dúvida",
    ),
    "ru": (
        "завтра пойду гулять в парк",
        "купила новые сапоги",
        "У меня аллергия на орехи?",
        "Если бы я жила в Москве, ездила бы на метро",
        "он сказал, что я много работаю",
        "я устала",
        "Переведи: я живу в Риме и у меня есть собака",
        "хочу собаку",
        "я расстроена, 20 минут уже сижу",
        "представь, что я пилот и меня зовут Том",
    ),
    "zh": (
        "明天晚上我去看电影",
        "我买了一双鞋",
        "我对花生过敏吗？",
        "如果我住在北京，我就坐地铁",
        "他说我工作太多",
        "我累了",
        "翻译：我住在罗马，我有一只狗",
        "我想养狗",
        "我有个问题",
        "如果我住在臺北，我就養貓",
        "我對花生過敏嗎？",
    ),
}
"""Messages that sound like those above and state nothing."""


@pytest.mark.checklist("G14")
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_people_say_of_themselves_is_kept_in_their_words(language: str, tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), clock=FrozenClock(), followers=False) as memory:
        for number, (text, values) in enumerate(TOLD[language].items()):
            user = f"user-{number}"
            chat = memory.conversation(f"chat of {user}", user=user)
            chat.add("user", FIRST[language])
            chat.add("user", text)
            settle_views(memory, "facts")
            assert sorted(fact.value for fact in memory.facts(user=user)) == sorted(values), text


@pytest.mark.checklist("G14")
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_sounds_like_a_fact_is_none(language: str, tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), clock=FrozenClock(), followers=False) as memory:
        chat = memory.conversation("chat", user="ana")
        for text in NOTHING[language]:
            chat.add("user", text)
        for text in TOLD[language]:
            chat.add("assistant", text)
        settle_views(memory, "facts")
        assert [(fact.key, fact.value) for fact in memory.facts(user="ana")] == []


@pytest.mark.checklist("G14")
def test_a_newer_value_ends_an_older_one_whatever_the_language(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), clock=FrozenClock(), followers=False) as memory:
        chat = memory.conversation("chat", user="ana")
        chat.add("user", "ich wohne seit drei Jahren in Bremen und arbeite als Tischlerin")
        chat.add("user", "Hace un mes me mudé a Sevilla, que hace mucho más calor")
        settle_facts(memory)
        keys = {fact.key: fact.value for fact in memory.facts(user="ana")}
        assert keys == {"location": "Sevilla", "job": "Tischlerin"}
        assert any("job: Tischlerin" in line for line in str(memory.profile(user="ana")).splitlines())


@pytest.mark.checklist("G14")
@pytest.mark.parametrize(
    ("text", "category", "days"),
    [
        ("nächste Woche fliege ich mit meiner Freundin nach Lissabon", "plan", (date(2026, 1, 5), date(2026, 1, 11))),
        ("notre fils Corentin a eu son bac en juin", "relationship", (date(2025, 6, 1), None)),
        ("hemos comprado una autocaravana, una Fiat del 2009", "event", (None, None)),
        ("ayer vendí la moto por 900 euros, que ya no la usaba", "event", (date(2025, 12, 31), None)),
        ("летом 2025 года я ездила на Алтай с друзьями", "event", (date(2025, 6, 1), date(2025, 8, 31))),
        ("我下周一去新公司上班", "plan", (date(2026, 1, 5), None)),
        ("ich lerne seit drei Jahren Gitarre bei einem Nachbarn", "other", (date(2023, 1, 1), None)),
    ],
)
def test_what_happened_or_is_planned_has_the_day_that_was_told(
    text: str, category: str, days: tuple[date | None, date | None], tmp_path: Path
) -> None:
    with Memory(str(tmp_path / "memory.db"), clock=FrozenClock(), followers=False) as memory:
        memory.conversation("chat", user="ana").add("user", text)
        settle_views(memory, "facts")
        fact = next(fact for fact in memory.facts(user="ana") if fact.category == category)
        told = fact.valid_from if fact.valid_from != fact.said_at else None
        assert (told and told.date(), fact.valid_to and fact.valid_to.date()) == days


def test_a_language_without_patterns_tells_nothing() -> None:
    assert read_pack_facts("Ik heet Anna en ik woon in Utrecht", "nl") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pattern_of_a_pack_can_be_read(language: str) -> None:
    pack = FactPack(language)
    assert set(LANGUAGES) == PACK_LANGUAGES
    assert len(pack.patterns) + len(pack.mentions) > 40
    assert {category for category, _ in pack.verbs.values()} <= {
        "event", "place", "work", "health", "possession", "other", "plan",
    }  # fmt: skip


def test_rules_of_languages_that_are_not_allowed_are_not_used(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False, languages="de") as memory:
        chat = memory.conversation("chat", user="ana")
        chat.add("user", "Hola, me llamo Carla y vivo en Sevilla")
        chat.add("user", "ich wohne in Köln")
        settle_views(memory, "facts")
        assert [fact.value for fact in memory.facts(user="ana")] == ["Köln"]
    with pytest.raises(InvalidInput, match="'xx' is not a known code"):
        Memory(str(tmp_path / "memory.db"), languages="xx")


@pytest.mark.parametrize(
    ("language", "text", "values"),
    [
        ("ja", "私は人混みが好きではありません", ["人混み"]),
        ("ja", "私は彼女の歌が大好きです", []),
        ("ja", "女の子も車が好きですよね。", []),
        ("zh", "我的家人搬到了上海", []),
        ("zh", "我和父亲在田间一起工作", ["在田间一起工作"]),
        ("zh", "哦，我受不了了", []),
        ("fr", "je ne peux pas venir demain", []),
        ("fr", "j'adore ma grand-mère", ["sa grand-mère"]),
        ("it", "vivo a Lecce e lavoro da casa", ["Lecce"]),
        ("es", "me operaron de la rodilla", ["fue operado de la rodilla"]),
        ("es", "Odio las de zombis", []),
        ("es", "no como carne desde 2022", ["carne"]),
        (
            "pt",
            "o nosso filho Vasco tem 4 anos e é alérgico a ovo",
            ["Vasco (filho)", "o seu filho Vasco tem 4 anos e é alérgico a ovo"],
        ),
        ("ru", "привет) меня зовут Денис", ["Денис"]),
        ("ru", "не ем рыбу вообще", ["рыбу"]),
    ],
)
@pytest.mark.checklist("G14")
def test_what_is_denied_cut_off_or_of_somebody_else_is_not_told_of_the_speaker(
    language: str, text: str, values: list[str]
) -> None:
    assert [fact.value for fact in read_pack_facts(text, language)] == values
