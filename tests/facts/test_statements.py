"""Statements that are read without a model: what people did, do and plan, in the third person, with their day."""

from __future__ import annotations

from datetime import date

import pytest

from everword.facts.english.finder import find_facts, read_facts
from everword.facts.rules.person_shift import retell_pronouns

TODAY = date(2024, 9, 11)  # a Wednesday


def told(text: str) -> list[tuple[str, str, date | None]]:
    return [(fact.category, fact.value, fact.since) for fact in read_facts(text, TODAY)]


@pytest.mark.parametrize(
    ("text", "category", "value", "since"),
    [
        ("I finished my first novel last Friday!", "event", "finished their first novel", date(2024, 9, 6)),
        ("Last week, we hiked around the reservoir.", "event", "hiked around the reservoir", date(2024, 9, 2)),
        ("Yesterday I sold my old canoe.", "event", "sold their old canoe", date(2024, 9, 10)),
        ("Just got back from a sailing course.", "event", "got back from a sailing course", None),
        ("My cousins and I built a raft.", "event", "built a raft with their cousins", None),
        ("I'm opening a bakery next month.", "plan", "is opening a bakery", date(2024, 10, 1)),
        ("Gonna repaint the boat shed.", "plan", "is going to repaint the boat shed", None),
        ("I bought a loom three weeks ago.", "possession", "bought a loom", date(2024, 8, 21)),
        ("I got promoted at the shipyard, my boss told me.", "work", "got promoted at the shipyard", None),
        ("My brother crashed his scooter.", "relationship", "their brother crashed his scooter", None),
        ("I sprained my ankle on Monday.", "health", "sprained their ankle", date(2024, 9, 9)),
        ("I've been keeping bees since 2019.", "other", "has been keeping bees", date(2019, 1, 1)),
        ("I usually swim before breakfast.", "other", "usually swims before breakfast", None),
        ("Weaving helps me forget my worries.", "other", "weaving helps them forget their worries", None),
        ("I carved this spoon for my niece.", "event", "carved a spoon for their niece", None),
        ("I'm setting aside some me-time each evening.", "other", "is setting aside some me-time each evening", None),
        ("I retook the sailing exam last Friday.", "event", "retook the sailing exam", date(2024, 9, 6)),
        ("I mended sails in Genoa a few years ago.", "event", "mended sails in Genoa a few years ago", None),
        ("I got a call from the shipyard.", "event", "got a call from the shipyard", None),
        ("We rented a kayak last month, on August 20.", "event", "rented a kayak", date(2024, 8, 20)),
        ("I attended Harbour College from 2010 to 2014.", "event", "attended Harbour College", date(2010, 1, 1)),
        (
            "I've started my pottery lessons on Monday evenings.",
            "other",
            "has started their pottery lessons on Monday evenings",
            None,
        ),
        ("I've been training for my Saturday regatta.", "other", "has been training for their Saturday regatta", None),
        (
            "I do tend to spend more on holidays like Easter.",
            "other",
            "tends to spend more on holidays like Easter",
            None,
        ),
        (
            "We usually try soups, like a chowder or a bisque.",
            "other",
            "usually tries soups, like a chowder or a bisque",
            None,
        ),
        ("I'm learning how to weave baskets now.", "other", "is learning how to weave baskets", None),
        ("I've been looking into work on a ferry.", "plan", "has been looking into work on a ferry", None),
        ("During Lent, we usually eat herring.", "other", "usually eats herring during Lent", None),
        ("I've found that rowing or a swim helps.", "other", "has found rowing or a swim helps", None),
        ("Weaving is my go-to when I'm sad.", "other", "weaving is their go-to when they are sad", None),
        ("We went rowing and had a ton of fun.", "event", "went rowing", None),
        (
            "My crew and my old charts keep me going.",
            "other",
            "their crew and their old charts keep them going",
            None,
        ),
        ("I like to mend nets.", "preference", "mending nets", None),
        ("I love novels about whales and lighthouses.", "preference", "novels about whales and lighthouses", None),
    ],
)
def test_a_statement_is_told_in_the_third_person(text: str, category: str, value: str, since: date | None) -> None:
    assert told(text) == [(category, value, since)]


@pytest.mark.parametrize(
    "text",
    [
        "I love it!",
        "We did that there.",
        "I like holding them.",
        "Never say never.",
        "I'm so happy for you.",
        "I can't wait to hear about it.",
        "I appreciate your help.",
        "I hope I win the raffle.",
        "I would move to Crete.",
        "If I win, I buy a yacht.",
        "I think the ferry is late.",
        "I'm tired today.",
        "I have a meeting at three.",
        "My train is late again.",
        "I'm debugging the parser right now.",
        "I want to know more about tides.",
        "I'm interested in learning more about tides.",
        "I'll ask around.",
        "We make a great team!",
        "I loved your painting of the harbour.",
        "He said I sold the farm.",
        "I had a great time.",
        "Did I sell the farm?",
        '"I sold the farm and moved to sea", she wrote.',
        "```\nI sold the farm\n```",
        "I've got a funny story for later.",
        "I had a huge sailing problem last week.",
        "I'm having some trouble with my rudder.",
        "I met the whole crew!",
        "I talked to my neighbour.",
        "I went on a tour.",
        "I'm working on something I always wanted.",
        "My plan involved reading and outguessing these rivals.",
        "I was so busy with the sails that I missed the lighthouse.",
        "Really made me think about the tides.",
        "I have been rowing more since then.",
        "I've read that's normal for a ketch.",
        "I've been noticing that the sails tear.",
        "I'm assuming a wind of six knots.",
        "I have a similar compass.",
        "I've been a bit upset with my rudder.",
        "I got the offer.",
        "I just got back from my morning walk.",
        "I lost my keys.",
        "We decided to move in together.",
        "I love making him proud.",
        "I've been thinking about my career.",
        "I'm going through some hard weeks now.",
        "I picked up new skills.",
        "We had lots of fun bonding and creating great memories.",
        "We raised a good amount.",
        "I love polishing the trophy and talking about boats.",
        "I got a great knot the first time.",
        "My aim was to show the calm of the harbour.",
        "My loyal dog Bosun came and lay down next to me.",
        "I was out walking along the quay.",
        "I got the idea from a walk with my dogs.",
        "I had some trouble figuring out the tides.",
        "We were teammates for four years.",
        "Weaving is my go-to.",
        "I had a tough week and a late ferry.",
        "I promised to be more careful with the rudder.",
        "Learning about the tides fascinates me.",
    ],
)
def test_talk_thoughts_moods_and_pointers_are_no_statements(text: str) -> None:
    assert read_facts(text, TODAY) == []


def test_a_fact_is_not_told_again_as_a_statement() -> None:
    for text in ("I moved to Lyon last year.", "I'm allergic to kiwi.", "I live in Bergen and I love sailing."):
        assert read_facts(text, TODAY) == find_facts(text, TODAY) != []


def test_this_weekend_lies_behind_what_was_done_and_ahead_of_a_plan() -> None:
    assert told("We tried curling this weekend.") == [("event", "tried curling", date(2024, 9, 7))]
    assert told("I'm hosting a quiz night this weekend.") == [("plan", "is hosting a quiz night", date(2024, 9, 14))]


def test_a_time_without_a_day_gives_no_date() -> None:
    assert [fact.since for fact in read_facts("I joined a choir last month.")] == [None]


def test_what_somebody_only_thinks_of_is_what_a_request_is_about() -> None:
    assert told("I'm thinking of keeping goats.") == [("plan", "is thinking of keeping goats", None)]
    assert told("I'm thinking of keeping goats. What do they eat?") == []


def test_a_long_clause_ends_where_a_thought_ends() -> None:
    facts = told(
        "I've been using short films to give my customers a look into the boatyard and into my workshop, and to ask for"
        " their opinion on new canoes, sails and paddles."
    )
    assert [value for _, value, _ in facts] == [
        "has been using short films to give their customers a look into the boatyard and into their workshop"
    ]


def test_what_happened_long_ago_was_not_on_the_day_it_was_told() -> None:
    facts = read_facts("When I was younger, we lived on a barge. We painted the barge green.", TODAY)
    assert [(fact.value, fact.is_undated) for fact in facts if fact.category == "event"] == [
        ("lived on a barge when they were younger", True),
        ("painted the barge green", True),
    ]
    facts = read_facts("I played the harp when I was a child.", TODAY)
    assert [(fact.value, fact.is_undated) for fact in facts] == [("played the harp when they were a child", True)]
    assert [fact.is_undated for fact in read_facts("We painted the barge green.", TODAY)] == [False]


def test_an_event_told_beside_another_day_was_not_on_the_day_of_the_message() -> None:
    facts = read_facts("Last week we sailed to Ghent. We mended a sail in the harbour.", TODAY)
    assert [(fact.value, fact.since, fact.is_undated) for fact in facts] == [
        ("sailed to Ghent", date(2024, 9, 2), False),
        ("mended a sail in the harbour", None, True),
    ]


def test_pronouns_are_told_of_them() -> None:
    assert retell_pronouns("I was there when my boat left me") == "they were there when their boat left them"
    assert retell_pronouns("bought a Vespa I for us") == "bought a Vespa I for them"
