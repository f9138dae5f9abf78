"""Which sentences refer to something outside them, and which can be understood alone (F1)."""

from __future__ import annotations

import pytest

from everword.text.references import read_references
from everword.text.sentences import Sentence
from everword.text.standalone import SourcedSentence, Support, english_supports, stands_alone

USER = ("user", "Alex")
OTHER = ("user", "Sam")
ASSISTANT = ("assistant", "")


def supports(*said: tuple[tuple[str, str], str]) -> list[Support]:
    """The supports of sentences; each speaker's run of sentences is a message."""
    numbers: list[int] = []
    for place, (speaker, _) in enumerate(said):
        changes = place > 0 and said[place - 1][0] != speaker
        numbers.append((numbers[-1] if numbers else 0) + changes)
    return english_supports(
        [
            SourcedSentence(number, speaker, Sentence(text))
            for number, (speaker, text) in zip(numbers, said, strict=True)
        ]
    )


@pytest.mark.parametrize(
    "text",
    [
        # A pronoun before which nothing is named that it could stand for.
        "It leaks.",
        "They forgave me in the end.",
        "I was ashamed the next morning, but luckily they forgave me.",
        "An aunt knitted it for my wedding.",
        "It's a great way to spend a rainy day.",
        "It was easy to prepare.",
        "It has made me think about my own boat.",
        "Tell my brother what you thought of it.",
        "We should make a point of it next spring.",
        "Let's make a point to visit it in spring.",
        "It's a 1968 guitar from a flea market.",
        # What is named is of another kind or number: people, plurals, a time, what happens on the way.
        "I spoke with my family about it.",
        "I can't lift heavy crates, but I'm doing gentle stretches to keep it loose.",
        "Rowers can enter their dog's tricks, like they had trained it for them.",
        "Twice a month; it keeps my boat dry.",
        "My uncle went for a ride, and he let his parrot sit on it.",
        "Drought in our valley was the reason behind it.",
        "It took courage and money, but I opened a bakery in Leeds.",
        "It's a bit of a worry since I need it for my work in Ghent.",
        "It was built for a small harbour and shows time passing on my street.",
        "It's going to be a feast and a chance to add to our album.",
        "It turned out salty!",
        "Never saw this coming.",
        "I took mine to a workshop in Ghent last month.",
        "Rest for 30 seconds, and repeat for 15 minutes.",
        "It's supposed to arrive next Wednesday, and my porch is ready.",
        "I think I'll go with Option 2.",
        "The app learns your baking habits in Leeds.",
        "Both harbours are busy, noisy and full of gulls.",
        "Aim for 20-30 minutes, twice a week.",
        "I like the sound of that tomato soup with basil.",
        "The sailor in the drawing stands for my uncle.",
        "Gonna be a fine evening in Ghent.",
        "Provide dark corners and old pots to help them feel safe.",
        "The Grey Heron is a good one.",
        "By doing so, bakers in Leeds keep their flour dry.",
        "Bake for 20 minutes, then slice the bread.",
        "I won't sell.",
        "These moments remind me of my school.",
        # A demonstrative.
        "Where did you buy that?",
        "I painted this lamp myself in Ghent.",
        "Those long evenings make the winter bright.",
        "The rowing club has that effect on new members.",
        # "the" before which nothing is named, unless the words say which one is meant.
        "The colours blend nicely.",
        "I got the idea from a walk with my sister.",
        "We tried the recipe twice in August.",
        # A comparison with what was said.
        "I started rowing here in May.",
        "Growing up there must have been peaceful.",
        "Give me 4 more.",
        "I haven't had one in years.",
        "Same with us, we row on Sundays.",
        "My uncle wants another for his barn.",
        "We are collecting some to sell at my school.",
        "Must have been a long drive to Porto.",
        "Been playing it with my cousins since May.",
        "My favourite was when the mast broke.",
        "Lighthouses also warn small boats in fog.",
        # A beginning or an end that hangs on another sentence.
        "Because of the storm.",
        "Instead we hired a van in Leeds.",
        "I do - a parrot.",
        "Maybe some day you will!",
        "I'd really love to!",
        "I cleaned my shed, speaking of.",
        "I'm planning a few.",
    ],
)
def test_a_sentence_points_outside_it(text: str) -> None:
    assert not read_references(text).is_closed
    assert not stands_alone(Sentence(text), "en")


@pytest.mark.parametrize(
    "text",
    [
        "I sold my boat because it leaked.",
        "My sister says she rows on Sundays.",
        "My cousins said they would come on Friday.",
        "It's hard to row against the wind.",
        "It took two hours to paint my hull.",
        "It's been three weeks since my surgery.",
        "I'm rowing to an island this weekend.",
        "Some boats need paint in winter.",
        "Anyone can rent a boat at the pier in Mora.",
        "Those with a licence can borrow a kayak.",
        "I row faster than my brother does.",
        "There are two bakeries in Turku.",
        "The deadline for the grant is 4 May.",
        "The Baltic Sea freezes in cold winters.",
        "The first lesson starts at 9:00.",
        "I think that my landlord sold the house.",
        "We visited Bergen and loved the food there.",
        "I bought a tent and the zip broke on Monday.",
        "Both my aunt and my uncle are nurses.",
        "Can you recommend a quiet hotel in Porto?",
        "What is the best month to visit Lapland?",
        "It took me three weeks to paint my shed.",
        "It has been five years since my sister left Ghent.",
        "I bought a kayak in Turku and sold it in May.",
        "Let's paint our fence next Saturday.",
        "I like Option 2, a cabin near Turku.",
        "The boat my uncle built leaks in winter.",
        "We have kept bees since we moved to Ghent.",
        "I'd love to row across the Baltic in June.",
    ],
)
def test_a_sentence_stands_alone(text: str) -> None:
    assert read_references(text).is_closed
    assert stands_alone(Sentence(text), "en")


@pytest.mark.parametrize(
    "text",
    [
        "Kudos for helping kids learn.",
        "Good luck with your driving test on Friday!",
        "I hope you enjoy your trip to Bergen.",
        "You're going to be amazed!",
        "You've got guts.",
        "Your patience with small children is inspiring.",
        "I'm so proud of how you handled your exam.",
        "I'll take your advice, Sam!",
        "It's so sweet to see your love for your garden.",
        "Keep pushing and following your dreams!",
        "Here's a photo of my new kayak.",
        "We were fine, thanks.",
        "How did your exam in chemistry go?",
        "What's been up since we last talked?",
        "Bonus points for both liking old films and plays.",
        "Let's find our own happiness on the water.",
        "Let's meet soon and see how your new oven bakes!",
        "I'd love to hear about the harbour festival.",
        "We should row together sometime.",
        "I'm sorry about the storm in Turku.",
        "I'm sure the harbour of Turku is lovely.",
        "Surely you caught a lot of trout in Norway!",
        "Baking for your whole street must be tiring!",
        "I'll keep you posted on my bakery.",
        "People like you make the harbour festival special.",
        "It's been a while since we last talked.",
        "I can imagine that the harbour felt calm!",
    ],
)
def test_what_is_only_said_to_the_other_person_tells_nothing(text: str) -> None:
    assert not stands_alone(Sentence(text), "en")


def test_a_pronoun_may_stand_after_a_sentence_that_names_what_it_stands_for() -> None:
    assert supports((USER, "My aunt came on Sunday."), (USER, "She brought a pie."))[1].needs == 0
    assert not supports((USER, "My boat leaks in winter."), (USER, "She brought a pie."))[1].stands
    assert supports((USER, "I bought two oars."), (USER, "They are made of ash."))[1].needs == 0
    assert not supports((USER, "I bought an oar."), (USER, "They are made of ash."))[1].stands
    assert not supports((USER, "I bought two oars."), (OTHER, "They are made of ash."))[1].stands


def test_the_thing_needs_the_sentence_that_named_it() -> None:
    named = (USER, "I restored an old vanity for my sister.")
    between = (OTHER, "My train to Leeds leaves at 8:15.")
    assert supports(named, between, (USER, "I'll sell the vanity online in May."))[2] == Support(True, 0)
    assert not supports(between, (USER, "I'll sell the vanity online in May."))[1].stands
    far = [between, (USER, "My knee hurts after long runs."), between, (USER, "My cellar floods every spring.")]
    assert not supports(named, *far, between, (USER, "I'll sell the vanity online in May."))[-1].stands


def test_the_thing_must_be_named_in_the_same_number() -> None:
    """ "The boot" is not any of the boots that were named."""
    named = (ASSISTANT, "Hiking boots need wax every spring.")
    assert not supports(named, (ASSISTANT, "The boot has a padded collar."))[1].stands
    assert supports(named, (ASSISTANT, "Clean the boots with cold water."))[1] == Support(True, 0)


def test_an_answer_needs_a_question_that_can_be_understood() -> None:
    clear = supports((OTHER, "Which city do you live in?"), (USER, "In Lyon, near the river."))
    assert clear == [Support(False), Support(True, 0)]
    assert not supports((OTHER, "Is the sauce a secret?"), (USER, "Yes, my grandmother's."))[1].stands


@pytest.mark.parametrize(
    "text",
    [
        "I will be attending a workshop in Delft on 4 May.",
        "My goal is to reduce my hours to 40 a week.",
        "Led a team of 12 editors in Oslo.",
        "Successfully completed a film about herons.",
        "Award: Won the Harbour Prize in 2021 for a short film.",
        '"increased sales by 20%" or "reduced costs by 15%."',
        "Are there themes that several readers mention?",
    ],
)
def test_what_an_assistant_drafts_is_not_said_by_it(text: str) -> None:
    assert not supports((ASSISTANT, text))[0].stands


def test_a_person_may_leave_out_the_subject() -> None:
    assert supports((USER, "Finished a painting of my boat yesterday."))[0].stands


@pytest.mark.parametrize(
    "text",
    [
        "Prices vary with the season and the harbour.",
        "The right varnish depends on the wood of a boat.",
        "Sleep is crucial for rowers and bakers.",
        "A sharp knife is an excellent investment for bakers!",
        "Staying rested and warm on the boat!",
    ],
)
def test_what_an_assistant_says_of_anything_tells_nothing(text: str) -> None:
    assert not supports((ASSISTANT, text))[0].stands


def test_advice_with_a_number_stands_though_it_is_exclaimed() -> None:
    assert supports((ASSISTANT, "Varnish on wooden boats lasts 5 years in Turku!"))[0].stands


def test_the_title_of_an_item_does_not_name_what_its_description_begins_with() -> None:
    item = Sentence("Safer kitchens: The company may have moved its ovens to a larger hall.", "item")
    assert not english_supports([SourcedSentence(0, ASSISTANT, item)])[0].stands


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("Cost cuts or fewer staff", False),
        ("Plan repairs and new sails", False),
        ("Oak boats last for decades.", True),
        ("Wooden boats are varnished twice a year", True),
    ],
)
def test_a_bare_point_of_an_assistants_list_is_no_statement(text: str, stands: bool) -> None:
    assert english_supports([SourcedSentence(0, ASSISTANT, Sentence(text, "item"))])[0].stands == stands


def test_what_an_assistant_adds_to_an_item_comes_with_the_item() -> None:
    item = Sentence("Oak boats: It is what he wanted.", "item")
    other = Sentence("Pine boats: Buy a new mast after ten winters.", "item")
    added = Sentence("Paint 3 coats of varnish in May.", continues_item=True)
    found = english_supports([SourcedSentence(0, ASSISTANT, sentence) for sentence in (other, added)])
    assert found[1].needs == 0
    found = english_supports([SourcedSentence(0, ASSISTANT, sentence) for sentence in (item, added)])
    assert not found[1].stands, "the item itself is not understood"
    assert english_supports([SourcedSentence(0, ASSISTANT, Sentence(added.text))])[0].stands
