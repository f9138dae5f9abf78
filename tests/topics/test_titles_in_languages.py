"""Titles in twelve languages: they end where a word ends, and never in a mark of their script (G14)."""

from __future__ import annotations

import unicodedata

import pytest

from everword.text.filler import is_small_talk
from everword.text.word_weights import full_stop, whole_words
from everword.topics.rules.words import NO_WORDS, TITLE, key_title, opening_title, read_words

SENTENCES = {
    "de": "Wir haben gestern endlich den alten Kirschbaum im Garten meiner Großmutter gefällt, nun fehlt der Schatten.",
    "es": "Ayer por fin talamos el viejo cerezo del jardín de mi abuela, y ahora nos falta la sombra para las comidas.",
    "fr": "Hier nous avons enfin coupé le vieux cerisier du jardin de ma grand-mère, et il manque de l'ombre.",
    "pt": "Ontem finalmente cortamos a velha cerejeira do jardim da minha avó, e agora falta sombra para os almoços.",
    "it": "Ieri abbiamo finalmente tagliato il vecchio ciliegio nel giardino di mia nonna, e adesso manca l'ombra.",
    "ru": "Вчера мы наконец спилили старую вишню в саду моей бабушки, и теперь за обедом всем не хватает тени.",
    "tr": "Dün sonunda anneannemin bahçesindeki yaşlı kiraz ağacını kestik, şimdi de yemeklerde gölgesini arıyoruz.",
    "ar": "قطعنا أمس شجرة الكرز القديمة في حديقة جدتي، والآن نفتقد الظل أثناء الغداء، وجدتي حزينة عليها كثيرا.",
    "hi": "कल हमने आख़िरकार दादी के बगीचे का पुराना चेरी का पेड़ काट दिया, और अब दोपहर के खाने पर छाया नहीं मिलती।",
    "zh": "昨天我们终于把外婆院子里的老樱桃树砍了，现在吃午饭的时候没有树荫，外婆每天都坐在门口叹气，"
    "说以后再也没有樱桃酒可以喝了，我们打算明年去葡萄牙旅行的时候给她带一棵新的树苗回来种。",
    "ja": "昨日、祖母の庭の古い桜の木をやっと切りました。昼ごはんの時に日陰がなくて困っています。",
    "ko": "어제 드디어 할머니 마당에 있던 오래된 벚나무를 베었는데, 이제 점심 먹을 때 그늘이 없어서 다들 아쉬워해요.",
}
SMALL_TALK = {
    "de": "Hallo! Wie geht's? | ok danke | alles klar, bis morgen",
    "es": "¡Hola! ¿Qué tal? | vale, gracias | buenas noches",
    "fr": "Salut, ça va ? | d'accord merci | bonne soirée",
    "pt": "oi, tudo bem? | valeu | beleza, obrigado",
    "it": "ciao, come va? | va bene, grazie | a domani",
    "ru": "привет, как дела? | ок, спасибо | спокойной ночи",
    "tr": "merhaba, nasılsın? | tamam teşekkürler | iyi geceler",
    "ar": "مرحبا، كيف حالك؟ | شكرا جزيلا | تمام",
    "hi": "नमस्ते, कैसे हो? | ठीक है, धन्यवाद | शुभ रात्रि",
    "zh": "你好！ | 好的，谢谢 | 晚安",
    "ja": "こんにちは！ | 了解です、ありがとう | おやすみなさい",
    "ko": "안녕하세요! | 네, 감사합니다 | 잘 자요",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.checklist("G14")
def test_a_title_ends_with_a_whole_word(language: str) -> None:
    text = SENTENCES[language]
    title = opening_title(text)
    assert 0 < len(title) <= TITLE
    assert unicodedata.category(title[-1])[0] != "P"
    after = text[text.index(title) + len(title) :][:1]
    assert not after.isalnum(), "the word goes on"


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.checklist("G14")
def test_key_phrases_are_words_of_the_text(language: str) -> None:
    topic = NO_WORDS
    for sentence in (SENTENCES[language], SENTENCES[language]):
        topic = topic.with_message(read_words(sentence))
    title = key_title(topic, [topic])
    assert title
    assert not any(
        unicodedata.category(letter)[0] == "P" for letter in title.replace(", ", "").replace("'", "").replace("-", "")
    )


def test_no_word_is_cut_in_chinese_and_japanese() -> None:
    assert "葡萄牙" in "".join(whole_words("我们打算明年去葡萄牙旅行"))
    assert "过敏" in "".join(whole_words("她对花生过敏"))
    assert {"会社", "駅前"} <= {*whole_words("会社は駅前にあります")}
    assert "最近寒" not in whole_words("最近寒くて丸まったまま")


@pytest.mark.parametrize(("language", "texts"), SMALL_TALK.items())
@pytest.mark.checklist("G14")
def test_greetings_and_thanks_are_small_talk(language: str, texts: str) -> None:
    assert [text for text in texts.split(" | ") if not is_small_talk(text)] == []


def test_a_sentence_ends_in_the_mark_of_its_script() -> None:
    assert [full_stop(text) for text in ("done", "logo改了", "できた", "ठीक है", "تم", "готово")] == list(".。。।..")
