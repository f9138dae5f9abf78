"""A memory for looking at the dashboard: some weeks of talk with a gardener, a channel of a bakery, a journal, and as
many guests as a test asks for."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, time, timedelta

from everword import Draft, Memory
from everword.ports import Request
from everword.testing import ScriptedLLM

SPACE = "default"
CHAT = "garden"
CHANNEL = "bakery"
LONG = "journal"
JOURNAL = 150  # messages of the journal
EACH = 60  # messages of a chat with a guest
QUESTION = "Which week did the spots come back, and what helped?"
ANSWER = "They came on a Monday and never came back: taking the pots under the roof helped, and dry leaves."
REPLY = 42  # the turn of that reply
START = datetime.combine(datetime.now(UTC).date() - timedelta(days=41), time(8), UTC)

# What was said in a chat with one person, and answered.
TALK = (
    ("My name is Marta and I live in Utrecht with two cats.", "Nice to meet you, Marta. What are the cats called?"),
    ("They are Pim and Saar. I work as a bookbinder.", "A bookbinder! Do you restore old books, too?"),
    ("Yes, mostly atlases. I'm allergic to hazelnuts, by the way.", "Noted: no hazelnuts in any recipe."),
    ("I want to grow tomatoes on the balcony. It faces west.", "West is fine. Cherry tomatoes do best in pots."),
    ("Which soil should I buy?", "A peat-free vegetable compost; 15 litres a pot, and a handful of slow fertiliser."),
    ("I bought six pots of Gardener's Delight today.", "Good choice. Water in the morning, and feed every week."),
    ("The leaves have brown spots since Monday.", "That may be early blight. Take off the lowest leaves, keep it dry."),
    ("I sprayed baking soda, a teaspoon in a litre.", "That helps a little. Air between the plants helps more."),
    ("My sister Ilse visits on 14 November, she is vegetarian.", "Then a lentil stew with your tomatoes?"),
    ("Please always answer in metric units.", "I will: grams, litres, degrees Celsius."),
    ("I moved the pots under the roof, no more spots.", "Well done. Keep the leaves dry and it stays away."),
    ("I've moved to Leiden, the new balcony faces south.", "South means more sun, and twice as much water in July."),
    ("The atlas for the museum is due on 3 December.", "Shall I remind you when the glue has to be dry?"),
    ("The glue needs two days under weight.", "Then press it by 30 November, and a day stays in reserve."),
    ("I prefer wheat paste to animal glue.", "It is reversible, which museums like."),
    ("Can you plan a week of dinners without hazelnuts?", "Monday lentil stew, Tuesday risotto, Wednesday soup …"),
    ("What did I say about the spots on the leaves?", "They came on a Monday; you moved the pots."),
    ("I started a bread course on Tuesdays.", "Which bread comes first?"),
    ("Sourdough, my starter is called Gijs.", "Feed Gijs at 24 °C, and he will be ready in six hours."),
    ("The crumb is dense and the crust too pale.", "Let it prove an hour longer, and bake at 240 °C with steam."),
)  # fmt: skip
CHANNEL_TALK = (
    ("noor", "Noor", "The oven in the back is at 180 and does not go higher."),
    ("sam", "Sam", "I'll call the technician, he has been here in May."),
    ("noor", "Noor", "We need 40 rye loaves for the market on Saturday."),
    ("sam", "Sam", "Then I come at four. I prefer the early shift anyway."),
    ("lee", "Lee", "The flour comes on Thursday, 12 sacks, I'm on holiday from Friday."),
    ("noor", "Noor", "Technician says the thermostat is broken, 90 euros, he mends it tomorrow."),
    ("sam", "Sam", "The rye starter is fed, three kilos of it."),
    ("lee", "Lee", "Who waters the basil while I'm away?"),
    ("noor", "Noor", "I do. And I moved here from Ghent, so I know basil."),
    ("sam", "Sam", "Market was good: all 40 loaves gone by eleven."),
)
# What a model for memory work finds in a chat of its own: one fact that was said, and two that were not.
NOTEBOOK = "notebook"
NOTED = "I bought a tortoise at the harbour fair, and she sleeps in the attic."
FOUND = (
    ("possession", "pet", "a tortoise"),
    ("identity", "location", "Atlantis"),
    ("relationship", "sister", "Persephone"),
)
PLEASANTRIES = (
    "Good morning!", "Thanks so much!", "How are you?", "You're welcome.", "See you tomorrow.", "Okay.", "Hello again!",
    "Sounds good.", "Have a nice day!",
)  # fmt: skip
WORDS = (
    "rain", "lamp", "harbour", "copper", "violin", "almond", "winter", "paper", "bridge", "orange", "window", "letter",
    "market", "garden", "ticket", "carpet", "island", "kettle", "marble", "pencil", "ribbon", "saddle", "tunnel",
)  # fmt: skip


def exchange(at: datetime, pair: tuple[str, str]) -> list[Draft]:
    return [Draft("user", pair[0], time=at), Draft("assistant", pair[1], time=at + timedelta(seconds=20))]


def chat_drafts() -> list[Draft]:
    days = [START + timedelta(days=2 * number, minutes=17 * number) for number in range(len(TALK))]
    return [draft for day, pair in zip(days, TALK, strict=True) for draft in exchange(day, pair)]


def channel_drafts() -> list[Draft]:
    moments = (START + timedelta(days=38 + number // 4, minutes=11 * number) for number in range(len(CHANNEL_TALK)))
    return [
        Draft("user", text, author=author, time=moment, metadata={"name": name})
        for moment, (author, name, text) in zip(moments, CHANNEL_TALK, strict=True)
    ]


def small_talk(count: int, seed: int = 4) -> list[Draft]:
    """That many short lines, in turn by the person and by the assistant."""
    chance = random.Random(seed)
    lines = (
        f"Today a {chance.choice(WORDS)} and a {chance.choice(WORDS)} by the {chance.choice(WORDS)}."
        for _ in range(count)
    )
    return [
        Draft("user" if number % 2 == 0 else "assistant", text, time=START + timedelta(minutes=7 * number))
        for number, text in enumerate(lines)
    ]


def guest_talk(guest: int) -> list[Draft]:
    """A guest says nothing but pleasantries, which views read in no time."""
    texts = (PLEASANTRIES[(guest + number) % len(PLEASANTRIES)] for number in range(EACH))
    return [
        Draft("user" if number % 2 == 0 else "assistant", text, time=START + timedelta(minutes=7 * number + guest))
        for number, text in enumerate(texts)
    ]


def find_facts(request: Request) -> str:
    """What the model for memory work answers: the same facts, in the last line that it was shown."""
    numbers = [line.partition(". ")[0] for line in request.messages[-1]["content"].splitlines()]
    about = {"about": "user", "status": "now", "since": "", "until": "", "confidence": 0.9, "importance": 0.6}
    line = max((int(number) for number in numbers if number.isdecimal()), default=1)
    facts = [dict(category=category, key=key, value=value, line=line, **about) for category, key, value in FOUND]
    return json.dumps({"facts": facts})


def fill_store(store: str, messages: int = 200) -> None:
    """Fill a store with the talks, a journal, and short chats with guests, so many messages in all. Every view has read
    all of it when this returns. The last messages of the chat are a reply of a model, which looked for something
    first."""
    with Memory(store, telemetry="off", followers=False) as memory:
        rest = max(messages - len(TALK) * 2 - len(CHANNEL_TALK) - JOURNAL, 0)
        for guest in range(rest // EACH):
            memory.conversation(f"guest-{guest:03}", user=f"guest-{guest:03}").extend(guest_talk(guest))
        memory.conversation(CHANNEL).extend(channel_drafts())
        memory.conversation(LONG, user="bram").extend(small_talk(JOURNAL))
        memory.conversation(CHAT, user="marta").extend(chat_drafts())
        memory.settle(120)
        memory.remember("Marta collects old bookplates", user="marta")
    with Memory(store, telemetry="off", followers=False, memory=ScriptedLLM(default=find_facts)) as memory:
        memory.conversation(NOTEBOOK, user="marta").add("user", NOTED, time=START + timedelta(days=40))
        memory.settle(120)
    model = ScriptedLLM(["[SEARCH_EPISODIC: brown spots]", ANSWER], name="local-12b")
    with Memory(store, telemetry="off", followers=False, chat=model) as memory:
        memory.conversation(CHAT, user="marta").reply(QUESTION)
    with Memory(store, telemetry="off", followers=False) as memory:
        memory.settle(120)
