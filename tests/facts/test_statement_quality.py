"""What makes a statement right: whose it is, when it was, that it lasts, and that it names what it is about."""

from __future__ import annotations

from datetime import date

import pytest

from everword.facts.english.finder import read_facts

TODAY = date(2024, 9, 11)  # a Wednesday


def values(text: str) -> list[str]:
    return [fact.value for fact in read_facts(text, TODAY)]


def days(text: str) -> list[tuple[str, date | None]]:
    return [(fact.value, fact.since) for fact in read_facts(text, TODAY)]


class TestTime:
    @pytest.mark.parametrize(
        ("text", "value", "since"),
        [
            ("I went rowing with my cousins two weekends ago.", "went rowing with their cousins", date(2024, 8, 31)),
            ("I scrubbed my boat on Monday, September 2nd.", "scrubbed their boat", date(2024, 9, 2)),
            (
                "I attended the Sunday concert at the pier on August 4th.",
                "attended the Sunday concert at the pier",
                date(2024, 8, 4),
            ),
            (
                "I hurt my back last week while lifting an anchor.",
                "hurt their back while lifting an anchor",
                date(2024, 9, 2),
            ),
            (
                "I had a talk with a net maker two weeks ago on a Saturday morning.",
                "had a talk with a net maker on a Saturday morning",
                date(2024, 8, 28),
            ),
        ],
    )
    def test_the_day_that_is_meant(self, text: str, value: str, since: date) -> None:
        assert days(text) == [(value, since)]

    def test_a_name_with_a_weekday_in_it_is_no_day(self) -> None:
        assert days("I bought a compass on Black Friday.") == [("bought a compass on Black Friday", None)]
        assert days("I purchased a rug, Sunday Harbour mugs and a lamp.") == [
            ("purchased a rug, Sunday Harbour mugs and a lamp", None)
        ]

    def test_a_day_ahead_is_not_when_it_was_done(self) -> None:
        assert days("I signed up for a diving course next Saturday.") == [
            ("signed up for a diving course on 14 September 2024", date(2024, 9, 14))
        ]
        assert values("I booked a cabin for next month.") == ["booked a cabin for October 2024"]

    def test_this_month_is_told_with_its_name(self) -> None:
        assert values("I'm going to a sailing fair this month.") == ["is going to a sailing fair in September 2024"]

    def test_a_time_that_goes_stale_is_not_told(self) -> None:
        assert values("I've got a sail to mend tomorrow and a race next Friday.") == []

    def test_the_time_of_an_inner_clause_is_not_that_of_the_statement(self) -> None:
        assert values("I sorted my charts, including the old Frisian ones I bought last week.") == []

    def test_a_day_before_the_second_subject_is_of_the_second_statement(self) -> None:
        assert days("I've been exploring a new canal every Sunday, and last weekend I found a tiny lock in Delft.") == [
            ("has been exploring a new canal every Sunday", None),
            ("found a tiny lock in Delft", date(2024, 9, 7)),
        ]

    def test_what_is_remembered_was_not_on_the_day_of_the_message(self) -> None:
        for text in ("I still remember when my first child was born.", "I was also in Malta and Crete."):
            assert [(fact.since, fact.is_undated) for fact in read_facts(text, TODAY)] == [(None, True)]

    def test_how_long_ago_somebody_stopped_is_nothing_they_avoid(self) -> None:
        assert days("I quit smoking two years ago.") == [("quit smoking", date(2022, 1, 1))]


class TestPerson:
    def test_a_verb_without_a_subject_has_that_of_the_clause_before(self) -> None:
        assert values("The little one is doing great - learning knots and sail making.") == []
        assert values("I'm well - learning knots from a sailor.") == ["is learning knots from a sailor"]

    def test_me_and_somebody_are_the_subject(self) -> None:
        assert values("Me and my best friend built a raft.") == ["built a raft with their best friend"]

    def test_i_after_a_name_is_the_speaker_if_a_verb_follows(self) -> None:
        assert values("I polished the old Sextant I got from my uncle.") == [
            "polished the old Sextant they got from their uncle"
        ]


class TestWording:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (
                "Weaving is a huge part of my life, not just a hobby.",
                "weaving is a huge part of their life, not just a hobby",
            ),
            ("I only ended up wearing two of the life jackets.", "only ended up wearing two of the life jackets"),
            ("I use to work for the coast guard.", "used to work for the coast guard"),
            ("I read sea novels.", "reads sea novels"),
            ("I read a novel about whales.", "read a novel about whales"),
            ("I'm still volunteering at a lifeboat station.", "is still volunteering at a lifeboat station"),
            ("I've always had a love for lighthouses.", "has always had a love for lighthouses"),
        ],
    )
    def test_nothing_is_lost_or_changed(self, text: str, value: str) -> None:
        assert values(text) == [value]


class TestWhatPasses:
    @pytest.mark.parametrize(
        "text",
        [
            "I'm focusing on the positive.",
            "I'm taking the time to reflect and find some balance.",
            "I've been meaning to clean my cabin.",
            "I'm concerned about the rudder of my old boat.",
            "I'm still deciding between the two sails.",
            "I'm loving the humour of the skipper.",
            "I just got home from church.",
            "I was a bit rusty at first.",
            "I'll pick up some rope from the store today.",
            "My boat has been running great.",
        ],
    )
    def test_what_passes_is_no_fact(self, text: str) -> None:
        assert values(text) == []

    def test_what_is_done_every_day_is_told_only_for_itself(self) -> None:
        assert values("I paint harbour scenes after I brush my teeth.") == ["paints harbour scenes"]


class TestNothingNamed:
    @pytest.mark.parametrize(
        "text",
        [
            "I've been rowing longer.",
            "I've got some other stuff with a long history.",
            "I did some research.",
            "I tried to stay calm and asked for help.",
            "We had some really nice family time.",
            "I've been thinking of experimenting with it.",
            "I've been interested in this topic since May.",
            "I've always wanted to visit.",
            "The heron symbolizes patience and pride, like my own.",
            "I became interested in it at sea.",
            "I hope to work in the future.",
            "I'm determined to improve.",
            "I've been reading as usual.",
            "I'm excited to share my maps and motivate rowers.",
            "I'm going to keep chasing my dreams.",
        ],
    )
    def test_what_names_nothing_is_no_fact(self, text: str) -> None:
        assert values(text) == []

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("I baked a rye loaf for her.", "baked a rye loaf"),
            ("I went to that harbour meeting.", "went to a harbour meeting"),
            ("I came across this old lighthouse near Brest.", "came across an old lighthouse near Brest"),
            ("We found these rusty anchors.", "found some rusty anchors"),
            ("My dream is to build a warm home for these gulls.", "their dream is to build a warm home"),
            ("I carved a spoon to remind myself.", "carved a spoon"),
        ],
    )
    def test_what_points_away_is_left_out_or_made_new(self, text: str, value: str) -> None:
        assert values(text) == [value]


class TestWhatIsRead:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("I'm hoping to get into marine law.", "is hoping to get into marine law"),
            ("I hope to sail around Iceland.", "hopes to sail around Iceland"),
            ("It's been my dream to own a lighthouse.", "their dream is to own a lighthouse"),
            ("It's important to me to mend old nets.", "mending old nets is important to them"),
            ("I'm so excited to tell you I joined a rowing club.", "joined a rowing club"),
            ("Blue calms me.", "Blue calms them"),
            ("Sailing with friends makes me happy.", "sailing with friends makes them happy"),
            ("I had to say goodbye to Bosun.", "had to say goodbye to Bosun"),
            ("We froze when my son broke his oar.", "their son broke his oar"),
            ("My wife is expecting our second child.", "their wife is expecting their second child"),
            ("I wanna start a choir.", "wants to start a choir"),
            ("I'd love to open a guesthouse by the sea.", "wants to open a guesthouse by the sea"),
            ("I'm still looking into ferry jobs.", "is still looking into ferry jobs"),
            ("I'm part of a choir.", "is part of a choir"),
            ("I feel drawn to serving my harbour town.", "feels drawn to serving their harbour town"),
            (
                "When I was younger, my family and I sailed to Malta.",
                "sailed to Malta with their family when they were younger",
            ),
        ],
    )
    def test_hopes_values_and_turning_points_are_read(self, text: str, value: str) -> None:
        assert value in values(text)

    def test_who_graduated_needs_no_object(self) -> None:
        assert days("I graduated last week!") == [("graduated", date(2024, 9, 2))]

    def test_a_plan_with_a_day_is_read_beside_a_question(self) -> None:
        assert days("We're thinking about camping at the lake next month. Any plans?") == [
            ("is thinking about camping at the lake", date(2024, 10, 1))
        ]
        assert values("I hope to buy a ketch. Which one is cheap?") == []

    def test_an_animal_is_named_in_the_next_sentence(self) -> None:
        assert "Pickle (puppy)" in values("I got a puppy last week! Her name's Pickle.")
        assert "Ada (sister)" not in values("I have a sister. Her name is Ada.")

    def test_a_greeting_is_no_answer(self) -> None:
        assert read_facts("Hi! I row.", TODAY, question="What is your favourite colour?") == []
