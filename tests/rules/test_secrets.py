"""Secrets in a text are found, and a placeholder stands in their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.secrets import SecretMark
from recollect.rules.secrets import find_secrets, mask_text, placeholder_of

DATA = Path(__file__).parent / "data"
CORPORA = ("secrets.jsonl", "secrets_fresh.jsonl")
FOUND = 0.98  # of the secrets, at least
ALARMS = 0.02  # of the look-alikes, at most


def read(name: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """The texts of a corpus, and where their secrets stand: those are kept in pieces, so that no file holds a key."""
    lines = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        text = ""
        spans = []
        for part in json.loads(line)["text"]:
            piece = part if isinstance(part, str) else "".join(part)
            if piece is not part:
                spans.append((len(text), len(text) + len(piece)))
            text += piece
        lines.append((text, spans))
    return lines


TEXTS = [text for name in CORPORA for text, _ in read(name)]
EXAMPLES = {
    "API key": "use " + "sk-" + "proj-a8Kd93kfLs02mXc7Qe5Rt1Yz6Bn4Vw for it",
    "token": "my token is " + "ghp" + "_a8Kd93kfLs02mXc7Qe5Rt1Yz6Bn4Vw0Pq2Lm",
    "password": "the wifi password is bluebird77",
    "database password": "postgres://app:" + "kirschbaum-77@db.example.com/prod",
    "private key": "-----BEGIN PRIVATE"
    + " KEY-----\n"
    + "MIIa8Kd93kfLs02mXc7Qe5Rt1Yz6Bn4Vw\n" * 3
    + "-----END PRIVATE KEY-----",
    "webhook address": "https://hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/a8Kd93kfLs02mXc7Qe5Rt1Yz",
    "card number": "my card is 4111 1111 1111 1111",
    "card security code": "cvv 318",
    "IBAN": "IBAN DE89 3704 0044 0532 0130 00",
    "PIN": "the PIN is 4711",
    "one-time code": "your verification code is 482913",
    "recovery code": "backup codes: 8f3a-77b2 91cc-0d4e",
    "recovery phrase": "abandon " * 11 + "about",
    "social security number": "my SSN is 219-09-9999",
}


def test_a_placeholder_names_the_kind_and_leaves_the_words_around_it() -> None:
    text = "my password is hunter2, and my PIN 4711."
    marks = (SecretMark("password", 15, 22), SecretMark("PIN", 35, 39))
    assert find_secrets(text) == marks
    assert mask_text(text, marks) == "my password is [secret: password], and my PIN [secret: PIN]."


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_kind_is_found(kind: str) -> None:
    assert kind in {mark.kind for mark in find_secrets(EXAMPLES[kind])}


@pytest.mark.parametrize("name", CORPORA)
def test_nearly_every_secret_is_found_to_the_character(name: str) -> None:
    secrets = [(text, spans) for text, spans in read(name) if spans]
    missed = [text for text, spans in secrets if [(mark.start, mark.end) for mark in find_secrets(text)] != spans]
    assert len(missed) <= (1 - FOUND) * len(secrets), missed


@pytest.mark.parametrize("name", CORPORA)
def test_hardly_any_look_alike_is_taken_for_a_secret(name: str) -> None:
    lookalikes = [text for text, spans in read(name) if not spans]
    marked = [text for text in lookalikes if find_secrets(text)]
    assert len(marked) <= ALARMS * len(lookalikes), marked


def test_the_corpora_are_as_large_as_promised() -> None:
    sizes = [
        (sum(bool(spans) for _, spans in read(name)), sum(not spans for _, spans in read(name))) for name in CORPORA
    ]
    assert sizes[0] >= (200, 400)
    assert sizes[1] >= (100, 200)


pieces = st.lists(
    st.one_of(
        st.sampled_from(TEXTS),
        st.sampled_from(
            ["password", " is ", ": ", "=", "PIN ", "hunter2", "4711", '"', "'", "token ", "key", " / ", "\n", "[", "İ"]
        ),
        st.text(max_size=12),
    ),
    max_size=6,
).map("".join)


@given(pieces)
def test_marks_are_in_order_and_what_is_outside_them_stays(text: str) -> None:
    marks = find_secrets(text)
    ends = [0, *(mark.end for mark in marks)]
    assert all(end <= mark.start < mark.end <= len(text) for end, mark in zip(ends, marks, strict=False))
    masked = mask_text(text, marks)
    kept = [text[end : mark.start] for end, mark in zip(ends, marks, strict=False)] + [text[ends[-1] :]]
    assert masked == "".join(
        part + placeholder
        for part, placeholder in zip(kept, [*(placeholder_of(mark.kind) for mark in marks), ""], strict=True)
    )


@pytest.mark.parametrize("name", CORPORA)
def test_a_masked_text_has_no_secret(name: str) -> None:
    for text, _ in read(name):
        masked = mask_text(text, find_secrets(text))
        assert find_secrets(masked) == (), masked


def test_what_is_already_a_placeholder_is_left() -> None:
    for kind in EXAMPLES:
        assert find_secrets(f"my password is {placeholder_of(kind)} and the key: {placeholder_of(kind)}") == ()
