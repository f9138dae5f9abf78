"""WordPiece cuts as the reference tokenizer does; the expected tokens here were made by it."""

from __future__ import annotations

import pytest

from everword.models.embedding.local import DATA, WordPiece

LINES = (DATA / "vocab.txt").read_text(encoding="utf-8")
TOKENS = LINES.rstrip("\n").split("\n")
WORDPIECE = WordPiece.from_lines(LINES)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World! It's 5pm…", "hello , world ! it ' s 5 ##pm …"),
        ("Crème Brûlée İstanbul", "cr ##eme br ##ule ##e istanbul"),
        ("unaffable embeddings", "una ##ffa ##ble em ##bed ##ding ##s"),
        ("我爱北京abc", "我 [UNK] 北 京 abc"),
        ("ΟΔΟΣ Σίσυφος", "ο ##δ ##ο ##σ σ ##ι ##σ ##υ ##φ ##ος"),
        ("สวัสดีครับ", "[UNK]"),
        ("مرحبا", "م ##ر ##ح ##ب ##ا"),
        ("Привет мир", "п ##р ##и ##в ##е ##т м ##и ##р"),
        ("한국어", "ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅮ ##ᆨ ##ᄋ ##ᅥ"),
        ("a\x0bb\x1cc\x85d\u2028e", "abc ##d e"),
        ("zero\u200bwidth so\u00adft", "zero ##wi ##dt ##h soft"),
        ("\x00\ufffdhi", "hi"),
        ("👍 ok", "[UNK] ok"),
        ("e-mail: a_b@c.de", "e - mail : a _ b @ c . de"),
        ("$5.00 ±3", "$ 5 . 00 ± ##3"),
        ("tab\tnew\nline\r\n", "tab new line"),
        ("²½ﬁ", "² ##½ ##ﬁ"),
        ("don’t", "don ’ t"),
        ("x" * 5, "xx ##xx ##x"),
        ("x" * 101, "[UNK]"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_cuts_as_the_reference_does(text: str, tokens: str) -> None:
    assert [TOKENS[id] for id in WORDPIECE.ids(text)] == tokens.split()


def test_a_text_cannot_forge_a_special_token() -> None:
    special = {TOKENS.index(token) for token in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")}
    assert not special & set(WORDPIECE.ids("[CLS] [SEP] [PAD] [MASK]"))


def test_what_is_remembered_is_what_was_cut() -> None:
    text = "Remembered, remembered; (REMEMBERED) naïve naïve."
    assert WORDPIECE.ids(text) == WORDPIECE.ids(text) == WordPiece.from_lines(LINES).ids(text)


@pytest.mark.parametrize("text", ["word, " * 20_000, "!?" * 50_000, "我" * 100_000, "a,b" * 30_000])
def test_batches_are_bounded_and_lose_nothing(text: str) -> None:
    batches = list(WORDPIECE.batches(text, size=1000))
    assert max(map(len, batches)) < 1100
    assert [id for batch in batches for id in batch] == WORDPIECE.ids(text)


def test_a_half_surrogate_pair_is_dropped() -> None:
    assert WORDPIECE.ids("hi\ud83d there") == WORDPIECE.ids("hi there")
