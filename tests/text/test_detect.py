"""The language of a text, by script, function words and letters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.text.detect import (
    BY_SCRIPT,
    DEFAULT,
    LANGUAGES,
    SAMPLE,
    UNKNOWN,
    check_languages,
    detect,
    detect_within,
    detect_written,
    function_words,
    is_clear,
    script_of,
)
from everword.text.doc import reading_in
from everword.text.language_packs import language_of_chat

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Where did we eat last time?"),
        ("en", "Take care, bye!"),
        ("en", "I love La La Land"),
        ("de", "Wo haben wir letztes Mal gegessen?"),
        ("de", "Ich wohne in Berlin"),
        ("fr", "J'habite à Lyon depuis deux ans"),
        ("fr", "Je ne sais pas"),
        ("es", "¿Cómo se llama mi hermana?"),
        ("es", "Mi perro se llama Rex"),
        ("it", "Dove abbiamo mangiato l'ultima volta?"),
        ("pt", "Onde comemos da última vez?"),
        ("pt", "Não sei"),
        ("nl", "Ik woon in Amsterdam en mijn hond heet Rex"),
        ("sv", "Jag vet inte vad min syster heter"),
        ("da", "Jeg ved ikke hvad min søster hedder"),
        ("no", "Jeg vet ikke hva det er, men jeg bor i Oslo nå"),
        ("fi", "Missä me söimme viime kerralla?"),
        ("hu", "Hogy hívják a nővéremet?"),
        ("ro", "Cum o cheamă pe sora mea?"),
        ("tr", "Geçen sefer nerede yemek yedik?"),
        ("pl", "Gdzie jedliśmy ostatnim razem?"),
        ("cs", "Kde jsme jedli naposledy?"),
        ("ca", "El meu gos es diu Rex"),
        ("id", "Saya tidak tahu di mana kita makan"),
        ("ru", "Где мы ели в прошлый раз?"),
        ("uk", "Де ми їли минулого разу?"),
        ("el", "Ο σκύλος μου λέγεται Ρεξ"),
        ("ar", "أين أكلنا آخر مرة؟"),
        ("fa", "اسم سگ من رکس است"),
        ("hi", "मैं दिल्ली में रहता हूँ"),
        ("ta", "நான் சென்னையில் வசிக்கிறேன்"),
        ("hy", "Ես ապրում եմ Երևանում"),
        ("he", "אני גר בתל אביב"),
        ("zh", "我住在北京"),
        ("zh", "我用Python和Docker开发"),
        ("ja", "犬の名前はレックスです"),
        ("ja", "東京大学病院は遠い"),
        ("ko", "저는 서울에 살아요"),
        ("th", "ฉันอยู่ที่กรุงเทพ"),
        ("lo", "ຂ້ອຍຢູ່ວຽງຈັນ"),
        ("km", "ខ្ញុំរស់នៅភ្នំពេញ"),
        ("my", "ကျွန်တော် ရန်ကုန်မှာ နေပါတယ်"),
        (UNKNOWN, "বাংলা ভাষা"),
    ],
)
def test_a_sentence_is_known_by_its_language(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", " \n", "42", "Rex", "???", "😀", "\x00", "\ud800", "getUserName max_size"])
def test_a_text_without_signs_counts_as_english(text: str) -> None:
    assert detect(text) == DEFAULT


def test_one_foreign_word_does_not_turn_a_long_english_text() -> None:
    assert detect("Our favourite restaurant serves schnitzel mit fries near the harbour") == "en"


def test_a_word_in_another_script_does_not_turn_the_text() -> None:
    assert detect("We learned that the Russian word for peace is мир yesterday") == "en"


def test_only_the_beginning_is_looked_at() -> None:
    beginning = "the dog and the cat are here with us " * 50
    assert len(beginning) > SAMPLE
    assert detect(beginning + "Где мы ели в прошлый раз? " * 500) == "en"


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_has_a_language_and_always_the_same(text: str) -> None:
    language = detect(text)
    assert language == detect(text)
    assert language == UNKNOWN or any(language in languages for languages in BY_SCRIPT.values())


@settings(deadline=None)
@given(st.characters(exclude_categories=()))
def test_every_character_has_a_script_or_none(character: str) -> None:
    assert script_of(character) in {"", *BY_SCRIPT}


@pytest.mark.parametrize("language", LANGUAGES)
def test_function_words_are_written_as_the_index_splits_words(language: str) -> None:
    words = function_words(language)
    assert len(words) > 50
    assert all(word == word.lower() and "'" not in word for word in words)


@pytest.mark.parametrize("word", ["home", "work", "computer", "name", "like", "time", "year", "one", "new"])
def test_a_word_somebody_could_search_for_is_no_function_word(word: str) -> None:
    assert word not in function_words("en")


def test_a_language_we_do_not_know_has_no_function_words() -> None:
    assert function_words("xx") == frozenset()


@pytest.mark.checklist("G14")
def test_romanised_hindi_and_arabic_are_told_and_short_texts_go_by_the_chat() -> None:
    assert detect_written("kal shaam ko milte hain yaar") == "hi"
    assert detect_written("ana kont 3andy maw3ed embare7") == "ar"
    assert detect_written("I will call you tomorrow") == "en"
    assert not is_clear("ok")
    assert language_of_chat("ok 3", ["ja, das ist gut", "hello there"]) == "de"
    assert language_of_chat("what about you?", ["ja, das ist gut"]) == "en"


def test_texts_are_in_the_languages_that_are_allowed_alone() -> None:
    allowed = check_languages(" DE, ja ")
    assert allowed == "de,en,ja"
    texts = {
        "ich wohne in Köln": "de",
        "vivo en Sevilla con mis hijos": "en",
        "昨日東京到着": "ja",
        "живу в Туле": "und",
    }
    with reading_in(allowed):
        assert {text: detect(text) for text in texts} == texts
    assert detect("昨日東京到着") == "zh"
    with pytest.raises(InvalidInput, match="'klingon' is not a known code; the codes are: ar, ca"):
        check_languages("de,klingon")


def test_a_text_of_a_conversation_is_in_its_language_unless_it_clearly_is_not() -> None:
    assert detect("Non sopporto il caldo") == "fr"
    assert detect_within("Non sopporto il caldo", "it") == "it"
    assert detect_within("ich wohne jetzt in Köln", "it") == "de"
    assert detect_within("мне 29", "it") == "ru"
