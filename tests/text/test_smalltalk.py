"""Small talk (B10): what needs no search, and what does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.text.filler import is_small_talk

SMALL = """
    hi | Hi! | hello there | hey | good morning | Good night! | thanks! | Thank you so much for your help! | thx | ok |
    ok 👍 | okay, thanks | lol | LOL | haha | hahahahaha | hehe | yes | no | yep | sure | cool | great, thanks a lot |
    got it | sounds good | bye | see you later | how are you? | what's up? | What’s up | you're welcome | hiiii |
    thaaanks | sooo cool | wow | hmm | Ok thanks, good night everyone | 👍 | 🎉🎉🎉 | ... | !!! | xD | you too | sorry |
    never mind |
    gracias | ¡Muchas gracias! | hola | buenos días | vale | de nada | jajaja |
    danke | Danke schön! | vielen Dank | guten Morgen | Moin | tschüss | alles klar |
    merci | merci beaucoup | bonjour | salut | à bientôt | d'accord | c'est super |
    grazie mille | ciao | buongiorno | va bene | obrigado | bom dia | tudo bem? | kkkkk |
    dank je wel | goedemorgen | doei | tack så mycket | hej | takk | kiitos | hei |
    dziękuję | cześć | dzień dobry | děkuji | ahoj | köszönöm | mulțumesc |
    merhaba | teşekkürler | tamam | terima kasih | selamat pagi |
    привет | спасибо большое | доброе утро | ахахаха | дякую | ευχαριστώ πολύ | καλημέρα |
    مرحبا | شكرا جزيلا | السلام عليكم | סבבה | תודה רבה | नमस्ते | धन्यवाद |
    你好 | 谢谢 | 谢谢你！ | 好的，谢谢 | 哈哈哈 | 早上好 |
    こんにちは | ありがとうございます | おはようございます！ | 了解です |
    안녕하세요 | 감사합니다 | ㅋㅋㅋㅋ | 네, 감사합니다 | สวัสดีครับ | ขอบคุณมาก | xin chào | cảm ơn bạn
"""
MATTER = """
    hi, what's my name? | thanks Alex | thanks, now book the flight | ok 5 | no, use postgres | yes, the second one |
    what? | why? | name | help | the help | good book | thanks for the pizza in Rome | hello world program | hi 2024 |
    good morning Vietnam | great expectations | ok google | how are you feeling about Rust? | cool jazz | later today |
    test the server | done with the report | sure, delete it | sorry about the Berlin trip | what's up with the build? |
    no problem with Docker | you | it | there | 42 | 1 | ok ok 3 | gracias por el libro rojo | danke für das Rezept |
    wie heiße ich? | bonjour, quel est mon nom ? | merci pour la recette | ciao Paolo |
    какая погода? | привет, как меня зовут? |
    你好，我叫什么名字？ | 我叫小明 | 谢谢你的帮助和建议 | ありがとう、私の名前は？ | 猫 |
    고양이 좋아해요 | شكرا على الكتاب | नमस्ते मेरा नाम क्या है |
    ขอบคุณ ผมชื่ออะไร | HELLO.py | http://hi.com | hi@there.org | no_thanks.txt
"""


def listed(table: str) -> list[str]:
    return [phrase.strip() for phrase in table.replace("\n", " ").split("|") if phrase.strip()]


@pytest.mark.parametrize("text", listed(SMALL))
@pytest.mark.checklist("B10")
def test_greetings_thanks_and_nods_are_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize("text", listed(MATTER))
@pytest.mark.checklist("B10")
def test_anything_with_content_is_not(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.checklist("B10")
def test_a_blank_message_has_nothing_to_search_for() -> None:
    assert is_small_talk("")
    assert is_small_talk(" \n")


WORDS = st.sampled_from([*listed(SMALL), "and", "so", "very much", "you", "for now"])


@given(st.lists(WORDS, min_size=12, max_size=40).map(" ".join))
@settings(max_examples=sample(60))
@pytest.mark.checklist("B10")
def test_never_with_twelve_words_or_more(text: str) -> None:
    assert len(text.split()) >= 12
    assert not is_small_talk(text)


@given(st.text(st.characters(exclude_categories=()), max_size=150))
@settings(max_examples=sample(60))
@pytest.mark.checklist("B10")
def test_any_text_is_judged(text: str) -> None:
    assert is_small_talk(text) in (True, False)


@given(
    st.sampled_from(listed(SMALL)),
    st.sampled_from(["Zanzibar", "7", "2024", "docker", "invoice", "Łódź", "猫の写真", "मौसम"]),
)
@settings(max_examples=sample(60))
@pytest.mark.checklist("B10")
def test_one_word_of_matter_is_enough(talk: str, matter: str) -> None:
    assert not is_small_talk(f"{talk} {matter}")
    assert not is_small_talk(f"{matter}, {talk}")
