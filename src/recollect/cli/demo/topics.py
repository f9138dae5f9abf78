"""The step of the demo about topics: a conversation changes its topic; topics fade, and one comes back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.demo.stage import NOW, expect, open_memory, print_line, print_step
from recollect.cli.terminal.show import show_table, table

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.memory.sync import BlockingConversation

# Days ago, and what was said; `<` is the assistant.
TALK = (
    (9, "How do I cook a lentil soup with carrots and cumin for thirty bowls?"),
    (9, "< Fry onions and cumin, add 3 kg red lentils, 2 kg carrots and 9 l stock, simmer the soup, blend it."),
    (9, "How much salt does such a lentil soup need, with so many carrots in it?"),
    (9, "< Little: the stock brings its own. Taste the lentils first, then salt the soup."),
    (8, "The lentil soup sold out at one. Can I cook it with fewer carrots and more cumin tomorrow?"),
    (8, "< Yes: 1 kg carrots, 90 g cumin, and the same lentils and stock for the soup."),
    (6, "Would coconut milk suit the lentil soup, with cumin and carrots as before?"),
    (6, "< Yes, 2 l of it in the place of stock, stirred into the lentil soup at the end."),
    (5, "Is the lentil soup with cumin and carrots vegan now?"),
    (5, "< It is, if the stock is: lentils, carrots, onions and cumin are."),
    (5, "Write me a sign for the lentil soup then, carrots and cumin and all."),
    (5, "< “Lentil soup with carrots and cumin, vegan.”"),
    (5, "Fine, and what does one bowl of that lentil soup cost me, carrots, cumin and stock?"),
    (2, "Different topic: which night train goes from Utrecht to Vienna, and what is the fare in a sleeper?"),
    (2, "< The Nightjet leaves Utrecht at 19:30; a bed in a sleeper is 129 euros."),
    (0, "Another question: my landlord raises the rent of the flat by nine percent. May the landlord do that?"),
    (0, "< Hardly: the rent of a flat may rise by about five percent a year."),
)
TITLE = 44  # characters that are shown
BACK = "How many carrots and how much cumin went into the lentil soup for thirty bowls?"


def show_topics(out: Console, folder: Path) -> None:
    print_step(
        out, "TOPICS: what alex talks about", "A topic fades by its half-life: 1 to 30 days, as one comes back to it."
    )
    with open_memory(folder / "topics.db") as demo_memory:
        chat = demo_memory.conversation("chat", user="alex")
        for days, text in TALK:
            time = NOW - timedelta(days=days, minutes=30)
            if text.startswith("< "):
                chat.add_assistant_message(text[2:], time=time)
            else:
                chat.add_user_message(text, time=time)
        demo_memory.settle()
        print_topics(chat)
        soup = chat.topics()[-1]
        expect("soup" in soup.title and not soup.current, "the soup is not the oldest topic")
        packed_messages = soup.packed
        total = soup.messages
        expect(packed_messages == 9 and bool(soup.summary), f"{packed_messages} messages of the soup are packed")
        print_line(out, "alex asks", BACK)
        returned_topic = chat.add_user_message(BACK)
        history = [message.turn for message in chat.get_full_topic_history(returned_topic.id)]
        expect(returned_topic.id == soup.id and len(history) == total + 1, "the soup did not come back")
        expect(history == sorted(history) and not returned_topic.packed, "its messages are not back in order")
        packed_before = f"{packed_messages} of {total} messages were packed"
        print_line(
            out,
            "the soup",
            f"is back: {packed_before}, all {len(history)} are there again, at priority {returned_topic.priority:.2f}",
        )


def print_topics(chat: BlockingConversation) -> None:
    grid = table("topic", "kind", "half-life", "priority", "messages", right=("half-life", "priority", "messages"))
    for topic in chat.topics():
        days = f"{topic.half_life.days} day{'' if topic.half_life.days == 1 else 's'}"
        title = topic.title if len(topic.title) <= TITLE else f"{topic.title[:TITLE]}…"
        grid.add_row(title, topic.kind, days, f"{topic.priority:.2f}", f"{topic.messages}")
    show_table(grid)
