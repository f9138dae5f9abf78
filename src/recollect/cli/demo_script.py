"""The conversation of the demo: alex and an assistant, three evenings over five months, with the times they were said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect.model import Draft, Role

SESSIONS: tuple[tuple[datetime, tuple[tuple[Role, str], ...]], ...] = (
    (
        datetime(2024, 11, 12, 19, 4, tzinfo=UTC),
        (
            ("user", "Hi! I'm Alex. I run the orders for a small bakery and I want to get them out of a spreadsheet."),
            ("assistant", "Nice to meet you, Alex. How many orders a day, and who needs to see them?"),
            (
                "user",
                "About 120 on weekdays, 300 on Saturdays. Three of us behind the counter, plus Noor on deliveries.",
            ),
            (
                "assistant",
                "Then any database will be fast enough. The question is where it runs and who looks after it.",
            ),
            ("user", "Nobody looks after anything here. It should simply still be there tomorrow."),
            ("assistant", "Then start with SQLite: one file, no server, and a backup is a copy of that file."),
            ("user", "And if we open the second shop in spring? Two tills in two streets."),
            (
                "assistant",
                "That is the moment for PostgreSQL: several machines can write to it at once over the network.",
            ),
            ("user", "ok"),
            ("assistant", "Keep the SQL plain until then, and moving from one to the other is an afternoon."),
            ("user", "Last time we lost a whole Saturday of orders because the laptop's disk was full. Never again."),
            (
                "assistant",
                "Then alert yourself early: below 2 GB free, send Noor and you a message before anything breaks.",
            ),
            ("user", "I prefer Python for all of this, by the way. I can read it, and Noor can too."),
            ("assistant", "Python it is. I'll keep the examples to the standard library where I can."),
        ),
    ),
    (
        datetime(2025, 1, 25, 20, 31, tzinfo=UTC),
        (
            (
                "user",
                "Different topic: we are closing for two weeks in March and I want to see Japan. Eleven days, not rich.",
            ),
            (
                "assistant",
                "Good choice. March is cool and quiet until the cherry trees bloom. Cities, countryside, or both?",
            ),
            ("user", "Both. Kyoto for the old town, then somewhere by the sea where I can walk and hear nothing."),
            (
                "assistant",
                "Kyoto for five days, then the Noto coast: fishing villages, cliff paths, very few visitors.",
            ),
            (
                "user",
                "My knees are bad, so no mountains. And Biscuit stays with my sister, that dog cannot sit still on a train.",
            ),
            (
                "assistant",
                "The coast path is flat. For Kyoto, rent a bicycle: the city is mostly level and the lanes are calm.",
            ),
            (
                "user",
                "The guesthouse wrote back: 「三月十二日から五泊、お部屋をご用意できます。自転車も無料でお使いください。」 What does it say?",
            ),
            (
                "assistant",
                "They can have a room ready for five nights from 12 March, and you may use their bicycles free of charge.",
            ),
            ("user", "Wonderful 🎉 🚲 I'll take it!"),
            (
                "assistant",
                "Then answer: 「五泊でお願いします。楽しみにしています。」 It means: five nights, please; I am looking forward to it.",
            ),
            ("user", "How much money should I put aside for each day, without the room?"),
            (
                "assistant",
                "About 45 euros: 20 for meals, 10 for buses and local trains, 15 for temples, tea and small mistakes.",
            ),
            ("user", "I am allergic to peanuts. How do I say that in a restaurant?"),
            (
                "assistant",
                "「ピーナッツアレルギーがあります。」 Show it on your phone before you order; people take it seriously.",
            ),
        ),
    ),
    (
        datetime(2025, 4, 6, 10, 12, tzinfo=UTC),
        (
            ("user", "Back home, rested, and the second shop opens in three weeks. I need a soup for the lunch menu."),
            ("assistant", "Welcome back! What do you have plenty of, and how long may it take in the morning?"),
            ("user", "Red lentils, carrots, yesterday's sourdough. Forty minutes at most, one pot, for thirty bowls."),
            (
                "assistant",
                "Sweat 2 kg carrots and 1 kg onions, add 3 kg red lentils, cumin and 9 l stock, simmer 25 minutes, blend.",
            ),
            ("user", "My grandmother put lemon and mint on top. I can still smell her kitchen."),
            (
                "assistant",
                "Then do it her way: lemon juice off the heat, mint just before serving. Fry the old bread as croutons.",
            ),
            ("user", "It sold out by one o'clock! People asked for the recipe 😋"),
            ("assistant", "Put it on a card by the till, with your grandmother's name on it."),
            ("user", "Her name was Leila. Good idea."),
            ("assistant", "Leila's lentil soup, then. Shall we look at the second till next?"),
            ("user", "Yes. Both shops must see the same orders at the same time now."),
            ("assistant", "Then it is time for the move we planned in November: the order table goes to PostgreSQL."),
        ),
    ),
)
PAUSE = timedelta(seconds=47)


def drafts() -> list[Draft]:
    """Every message with its own time and the id a chat program would have given it."""
    return [
        Draft(role, content, time=begun + number * PAUSE, platform_id=f"demo-{session}-{number}")
        for session, (begun, said) in enumerate(SESSIONS, start=1)
        for number, (role, content) in enumerate(said, start=1)
    ]
