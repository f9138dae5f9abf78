"""What messages and topics are about, by their words, and how topics are named."""

from __future__ import annotations

import json

import pytest

from everword.model import Role
from everword.topics.rules.words import (
    MAX_PHRASES_KEPT,
    MAX_STEMS,
    NO_WORDS,
    TITLE,
    Rarity,
    TopicWords,
    is_due,
    key_title,
    opening_title,
    read_words,
    shared_words,
)

BEES = [
    "I bought a second bee hive for the orchard.",
    "How do I move the bee hive without angry bees?",
    "The queen of the new bee hive lays well.",
]
ROOF = ["The roofer found three broken tiles.", "New tiles for the roof are two hundred euros."]


def talked(*texts: str, role: Role = "user") -> TopicWords:
    words = NO_WORDS
    for text in texts:
        words = words.with_message(read_words(text, role))
    return words


@pytest.mark.parametrize(
    "text",
    [
        "Hey Dana! Long time no see! What's up?",
        "Thanks so much, Dana!",
        "So proud of you! Congrats!",
        "That's awesome, can't wait!",
        "See you later, bye Dana!",
        "ok",
        "12.50",
        "",
    ],
)
@pytest.mark.checklist("E1")
def test_pleasantries_have_no_words(text: str) -> None:
    """E1: greetings, thanks and good-byes open nothing and name nothing."""
    assert read_words(text).is_empty
    assert not read_words(text).is_telling


def test_words_with_content_are_read_and_names_are_kept_as_written() -> None:
    words = read_words("Hey Dana! I finally booked the night train to Lisbon with Tomasz.")
    assert {"train", "lisbon", "tomasz"} <= words.stems
    assert "Lisbon" in words.phrases
    assert not words.stems & {"dana", "hey"}


def test_a_short_question_of_general_words_tells_nothing() -> None:
    assert not read_words("What challenges did you face?").is_telling
    assert read_words("What glaze did you use?").is_telling


def test_a_topic_keeps_few_words_and_the_frequent_ones_stay() -> None:
    words = talked(*BEES, *(f"The word{n} and the other{n} of it." for n in range(100)))
    assert len(words.stems) <= MAX_STEMS
    assert len(words.phrases) <= MAX_PHRASES_KEPT
    assert words.stems["bee"] == 3
    assert TopicWords.from_object(words.to_object()) == words
    assert TopicWords.from_object({}) == NO_WORDS


def test_words_come_back_from_a_store_in_their_order() -> None:
    words = talked(*ROOF, *BEES)
    stored = json.loads(json.dumps(words.to_object(), sort_keys=True))
    again = TopicWords.from_object(stored)
    assert list(again.stems.items()) == list(words.stems.items())
    assert list(again.phrases.items()) == list(words.phrases.items())
    assert list(again.phrases) != sorted(again.phrases)
    del stored["order"]  # as it was stored before
    assert TopicWords.from_object(stored) == words


def test_rare_words_count_more() -> None:
    bees = talked(*BEES)
    roof = talked(*ROOF)
    rarity = Rarity([bees.stems, roof.stems, talked("The orchard has new tiles.").stems])
    assert rarity.of("hive") > rarity.of("tile")
    message = {root: rarity.of(root) for root in read_words("Is the bee hive safe?").stems}
    assert shared_words(message, bees) > 0.5 > shared_words(message, roof) == 0


@pytest.mark.checklist("E1")
def test_key_phrases_name_a_topic_against_the_others() -> None:
    """From the third message on; two to five words."""
    title = key_title(talked(*BEES), [talked(*ROOF), talked("The orchard needs a fence.")])
    assert "bee hive" in title
    assert 2 <= len(title.replace(",", "").split()) <= 5
    assert "tiles" in key_title(talked(*ROOF), [talked(*BEES)])
    assert key_title(NO_WORDS, []) == ""


@pytest.mark.checklist("E1")
def test_the_opening_title_has_80_characters_and_begins_with_what_is_said() -> None:
    assert opening_title("Hey Dana! Good to see you! I sold the old boat.") == "I sold the old boat."
    assert opening_title("👋") == "👋"
    assert len(opening_title("The boat " * 40)) <= TITLE
    assert opening_title("Hi!") == "Hi!", "nothing else was said"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "I sold the old boat. My uncle and his three sons built it in the yard behind our house.",
            "I sold the old boat.",
        ),
        (
            "I passed the interview at the bakery last Friday, and my sister wants to celebrate it with a picnic.",
            "I passed the interview at the bakery last Friday",
        ),
        (
            "Do you know whether the ferry from Turku to Stockholm still leaves from the old harbour near the castle?",
            "Do you know whether the ferry from Turku to Stockholm still leaves",
        ),
    ],
)
def test_no_opening_title_is_cut_in_a_sentence_that_has_an_end_or_in_a_word(text: str, title: str) -> None:
    assert opening_title(text) == title


@pytest.mark.parametrize(
    ("said", "leftover"),
    [
        (("the roof fell in", "my roof needs a roofer"), "fell"),
        (("that trip shaped me", "the trip shaped my sister"), "shaped"),
        (("prefer Lisbon", "my aunt has a flat there"), "prefer"),
        (("he held the rope", "the rope broke at the pier"), "held"),
        (("shes vegan now", "she cooks lentil soup"), "shes"),
        (("we leave at 7am", "the ferry is late"), "7am"),
        (("fuuuuuck", "my exam was a disaster"), "fuuuuuck"),
        (("running for the bakery again", "the bakery again", "the ferry is late"), "again"),
        (("finding harbours is hard", "the roof leaks"), "finding"),
        (("my cravings are sugary", "the roof leaks"), "sugary"),
    ],
)
def test_no_title_has_a_verb_that_was_said_once_or_a_chat_spelling(said: tuple[str, ...], leftover: str) -> None:
    topic = NO_WORDS
    for text in said:
        topic = topic.with_message(read_words(text))
    assert leftover not in key_title(topic, ())


def test_a_topic_is_named_again_as_it_grows_not_with_every_message() -> None:
    due = [count for count in range(1, 100) if is_due(count)]
    assert due[0] == 3
    assert len(due) < 10


@pytest.mark.checklist("E1")
def test_a_title_says_what_and_not_how_it_is_or_what_is_done_with_it() -> None:
    choir = (
        "I am joining the choir of our street, though I am afraid of high notes.",
        "They are fine with joining a choir late. On Friday I was terribly nervous and afraid.",
        "The old choir sings on Friday, it is dangerous for the windows and nervous neighbours.",
    )
    title = key_title(talked(*choir), [talked(*BEES)])
    assert "choir" in title
    for word in ("joining", "afraid", "Friday", "dangerous"):
        assert word not in title


def test_an_opening_title_has_no_caption() -> None:
    assert opening_title("I joined a travel club! [a photo of a boat]") == "I joined a travel club!"
    assert opening_title("[a photo of a boat]") == "[a photo of a boat]"


@pytest.mark.checklist("E1")
def test_a_title_names_things_and_no_filler_units_or_verbs() -> None:
    topic = NO_WORDS
    for text in ("how was the interview btw", "they asked me about my thesis for like 40 min", "my aunt owns it"):
        topic = topic.with_message(read_words(text))
    title = key_title(topic, [topic])
    assert "interview" in title
    assert not {"btw", "min", "owns"} & set(title.replace(",", "").split())


@pytest.mark.parametrize(
    ("messages", "wanted", "unwanted"),
    [
        (
            ("We watched Lord of the Rings again.", "Lord of the Rings is three hours long.", "The Lord of the Rings!"),
            ("Lord of the Rings",),
            ("hours",),
        ),
        (
            (
                "My aunt's wedding will be in June.",
                "The dress for my aunt's wedding is blue.",
                "I respect her taste a lot.",
            ),
            ("aunt's wedding",),
            ("June", "respect", "taste"),
        ),
        (
            ("Wow, Tomasz, a kayak?", "Wow, Tomasz, that kayak has holes!", "No worries, Tomasz, the kayak floats."),
            ("kayak",),
            ("Tomasz",),
        ),
        (
            (
                "He keeps believing in the harbour.",
                "Believing in a harbour is fine.",
                "The harbour needs believing in.",
            ),
            ("harbour",),
            ("believing",),
        ),
    ],
)
@pytest.mark.checklist("E1")
def test_a_title_has_whole_names_and_no_months_verbs_or_people_who_are_called(
    messages: tuple[str, ...], wanted: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    title = key_title(talked(*messages), [talked(*ROOF)])
    assert all(phrase in title for phrase in wanted), title
    assert not any(word in title for word in unwanted), title


@pytest.mark.checklist("E1")
def test_what_is_talked_of_again_and_again_comes_before_what_was_mentioned_in_passing() -> None:
    title = key_title(talked(*BEES, "A serene alibi.", "The bee hive is full of honey."), [talked(*ROOF)])
    assert title.startswith("bee hive")
    assert "alibi" not in title


@pytest.mark.checklist("E1")
def test_an_opening_title_passes_over_a_judgement_and_ends_before_a_word_that_leads_on() -> None:
    assert opening_title("Ha! I love that song! I sold my drums to a neighbour.") == "I sold my drums to a neighbour."
    long = "I am trying to rebuild the gearbox of my grandfather's tractor to maintain its original character"
    assert opening_title(long) == "I am trying to rebuild the gearbox of my grandfather's tractor"


@pytest.mark.checklist("G14")
def test_days_and_degrees_are_no_subject_in_japanese() -> None:
    assert set(read_words("今日は最後の課題、ボルダリングに無理はない", "user").stems).isdisjoint(
        {"今日", "最後", "無理"}
    )


def test_a_phrase_of_four_words_has_a_title() -> None:
    assert key_title(talked(*["subah resignation de diya"] * 3), ())
