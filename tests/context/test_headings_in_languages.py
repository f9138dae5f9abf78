"""The headings of a context are in the language of the chat; its fences stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from everword.library import Memory
from everword.summaries.prompts import MergeInputs, offline_merge
from everword.text.language_packs import heading, key_label, packs_with, phrase, wordings

SAID = {
    "de": (
        "Ich heiße Anna und wohne in Bremen",
        "Wo wohne ich eigentlich?",
        "Person\n",
        "Wohnort: Bremen",
        "Gespräch ",
    ),
    "es": (
        "Me llamo Ana y vivo en Sevilla",
        "¿En qué ciudad vivo yo?",
        "Identidad\n",
        "residencia: Sevilla",
        "conversación ",
    ),
    "zh": ("我叫小林，我住在成都", "我住在哪个城市？", "身份\n", "住址: 成都", "对话 "),
}


@pytest.mark.parametrize("language", SAID)
@pytest.mark.checklist("G14", "G16")
def test_headings_are_in_the_language_of_the_chat(tmp_path: Path, language: str) -> None:
    text, question, profile, fact, conversation = SAID[language]
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        memory.conversation("old", user="ann").add("user", text)
        memory.settle()
        context = memory.conversation("new", user="ann").context(question)
        sent = "\n".join(message["content"] for message in context.messages)
        assert profile in sent
        assert fact in sent
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
    headings = {"Today", "In the last days", "In short", "People", "Identity", "About"}
    assert headings <= wordings(language, "phrases").table("headings").keys()
    assert {"name", "job", "pets", "dislikes"} <= wordings(language, "phrases").table("keys").keys()
    assert {key_label(language, kin) for kin in ("mother", "boss", "friend")}.isdisjoint({"mother", "boss", "friend"})
    assert key_label(language, "favourite colour") == "favourite colour"
    assert phrase(language, "in_conversation", name="{x}").endswith("{x}")
    assert heading(language, "Today") != "Today"


@pytest.mark.parametrize(
    ("texts", "question", "line"),
    [
        (("Ich arbeite seit 2019 bei Siemens.",), "Was weißt du über mich?", "- Arbeitgeber: Siemens (seit 2019)"),
        (("我叫小林，我在成都做平面设计。", "我4月7号去新公司报到"), "你知道我什么？", "- 职业: 成都做平面设计"),
        (("Je bosse chez Michelin depuis 2014.",), "Que sais-tu de moi ?", "- employeur: Michelin (depuis 2014)"),
    ],
)
@pytest.mark.checklist("G16")
def test_what_is_known_is_told_with_keys_and_days_in_the_language(
    tmp_path: Path, texts: tuple[str, ...], question: str, line: str
) -> None:
    with Memory(str(tmp_path / "a.db"), chat_model="", memory_model="", followers=False) as memory:
        chat = memory.conversation("c", user="ann")
        for text in texts:
            chat.add("user", text)
        memory.settle()
        answer = chat.command(question, addressed=True)
        assert answer is not None
        assert line in answer.text.splitlines()
