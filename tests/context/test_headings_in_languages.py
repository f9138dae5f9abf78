"""The headings of a context are in the language of the chat; its fences stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from everword.library import Memory
from everword.summaries.prompts import MergeInputs, offline_merge
from everword.text.wordings import heading, packs_with, phrase, wordings

SAID = {
    "de": ("Ich heiße Anna und wohne in Bremen", "Wo wohne ich eigentlich?", "Person\n", "Gespräch "),
    "es": ("Me llamo Ana y vivo en Sevilla", "¿En qué ciudad vivo yo?", "Identidad\n", "conversación "),
    "zh": ("我叫小林，我住在成都", "我住在哪个城市？", "身份\n", "对话 "),
}


@pytest.mark.checklist("G14")
@pytest.mark.parametrize("language", SAID)
def test_headings_are_in_the_language_of_the_chat(tmp_path: Path, language: str) -> None:
    text, question, profile, conversation = SAID[language]
    with Memory(str(tmp_path / "a.db")) as memory:
        memory.conversation("old", user="ann").add("user", text)
        memory.settle()
        context = memory.conversation("new", user="ann").context(question)
        sent = "\n".join(message["content"] for message in context.messages)
        assert profile in sent
        assert conversation in sent
        assert "Identity\n" not in sent
        assert "=== WHAT IS KNOWN ===" in sent
        english = memory.conversation("new", user="ann").context("Where do I live?")
        assert "Identity\n" in "\n".join(message["content"] for message in english.messages)


@pytest.mark.checklist("G14")
def test_a_merged_digest_says_today_in_the_language_of_its_texts() -> None:
    inputs = MergeInputs("Anna", "wohnt in Bremen", "Anna hat heute die Küche gestrichen.", "")
    assert "Heute: Anna hat" in offline_merge(inputs).text


@pytest.mark.parametrize("language", sorted({*packs_with("phrases")} - {"en"}))
def test_each_pack_has_all_phrases_and_headings(language: str) -> None:
    english = wordings("en", "phrases").table("phrases")
    assert wordings(language, "phrases").table("phrases").keys() == english.keys()
    assert {"Today", "In the last days", "Identity", "About"} <= wordings(language, "phrases").table("headings").keys()
    assert phrase(language, "in_conversation", name="{x}").endswith("{x}")
    assert heading(language, "Today") != "Today"
