"""The conversation of the demo: alex and an assistant, three times over five months, with the times it was said.

A line is a message; `>` is alex, `<` the assistant.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect.model import Draft

PAUSE = timedelta(seconds=47)  # between two messages

SESSIONS = {
    datetime(2024, 11, 12, 19, 4, tzinfo=UTC): """
> Hi! I'm Alex. I live in Leiden, take the orders of a small bakery and want them out of a spreadsheet.
< Nice to meet you, Alex. How many orders a day, and who needs to see them?
> About 120 on weekdays, 300 on Saturdays. Three of us behind the counter, plus Noor on deliveries.
< Then any database will be fast enough. The question is where it runs and who looks after it.
> Nobody looks after anything here. It should simply still be there tomorrow.
< Then start with SQLite: one file, no server, and a backup is a copy of that file.
> And if we open the second shop in spring? Two tills in two streets.
< That is the moment for PostgreSQL: several machines can write to it at once over the network.
> ok
< Keep the SQL plain until then, and moving from one to the other is an afternoon.
> Last time we lost a whole Saturday of orders because the laptop's disk was full. Never again.
< Then be told early: below 2 GB free, it sends you and Noor a message before anything breaks.
> I prefer Python for all of this, by the way. I can read it, and Noor can too.
< Python it is. I'll keep the examples to the standard library where I can.
""",
    datetime(2025, 1, 25, 20, 31, tzinfo=UTC): """
> Different topic: we close for two weeks in March and I want to see Japan. Eleven days, not rich.
< Good choice. March is cool and quiet until the cherry trees bloom. Cities, countryside, or both?
> Both. Kyoto for the old town, then somewhere by the sea where I can walk and hear nothing.
< Kyoto for five days, then the Noto coast: fishing villages, cliff paths, very few visitors.
> My knees are bad, so no mountains. And Biscuit stays with my sister, that dog hates trains.
< The coast path is flat. For Kyoto, rent a bicycle: the city is mostly level and the lanes are calm.
> The guesthouse wrote: 「三月十二日から五泊、お部屋をご用意できます。自転車も無料です。」 What is that?
< They can have a room ready for five nights from 12 March, and their bicycles are free of charge.
> Wonderful 🎉 🚲 I'll take it!
< Then answer: 「五泊でお願いします。」 It means: five nights, please.
> How much money should I put aside for each day, without the room?
< About 45 euros: 20 for meals, 10 for buses and local trains, 15 for temples, tea and small mistakes.
> I am allergic to peanuts. How do I say that in a restaurant?
< 「ピーナッツアレルギーがあります。」 Show it on your phone before you order; people take it seriously.
""",
    datetime(2025, 4, 6, 10, 12, tzinfo=UTC): """
> Back home, rested, and the second shop opens in three weeks. I need a soup for the lunch menu.
< Welcome back! What do you have plenty of, and how long may it take in the morning?
> Red lentils, carrots, yesterday's sourdough. Forty minutes at most, one pot, for thirty bowls.
< Sweat 2 kg carrots and 1 kg onions in oil, add 3 kg red lentils and 60 g cumin, pour on 9 l stock, simmer for \
twenty minutes, blend. Salt only at the end: the stock brings its own.
> My grandmother put lemon and mint on top. I can still smell her kitchen.
< Then do it her way: lemon juice off the heat, mint just before serving, the old bread as croutons.
> It sold out by one o'clock! People asked for the recipe 😋
< Put it on a card by the till, with your grandmother's name on it.
> Her name was Leila. Good idea.
< Leila's lentil soup, then. Shall we look at the second till next?
> Yes. Both shops must see the same orders at the same time now.
< Then it is time for the move we planned in November: the order table goes to PostgreSQL.
> By the way, I moved to Delft on 1 April: the flat above the new shop.
< Then you hear the ovens before the alarm. We set the table up on Monday.
""",
}


def drafts() -> list[Draft]:
    """Every message with its own time and the id a chat program would have given it."""
    return [
        Draft(
            "user" if line.startswith("> ") else "assistant",
            line[2:],
            time=start + number * PAUSE,
            platform_id=f"{start:%Y-%m-%d}/{number}",
        )
        for start, text in SESSIONS.items()
        for number, line in enumerate(text.strip().splitlines())
    ]
