"""The bot's commands as Discord's slash commands: each with its options, of which Discord offers the values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from discord import Interaction, app_commands

from recollect.bots.texts import COMMANDS

LONGEST_ABOUT = 100  # characters of a description
LONGEST_CHOICE = 100  # characters of a value that is offered
MOST_CHOICES = 25

Run = Callable[[Interaction, str, str], None]
Complete = Callable[[Interaction, str], Awaitable[list[str]]]
Command = app_commands.Command[Any, Any, Any]
WITH_OPTIONS = ("summary", "whatdoyouknow", "remember", "forget", "search", "digest", "export", "erase")


def build_commands(run: Run, complete_person: Complete, complete_statement: Complete) -> list[Command]:
    """All commands. `run` takes an interaction, the name of the command and its argument."""
    commands = [plain_command(run, name) for name in COMMANDS if name not in WITH_OPTIONS]
    commands += [text_command(run, name) for name in ("remember", "search")]
    commands += [everybody_command(run, name) for name in ("export", "erase")]
    commands += [
        summary_command(run),
        digest_command(run),
        person_command(run, complete_person),
        forget_command(run, complete_statement),
    ]
    return commands


def make_command(name: str, callback: Any) -> Command:
    about = COMMANDS[name].partition(":")[0]
    return app_commands.Command(name=name, description=about[:LONGEST_ABOUT], callback=callback)


def plain_command(run: Run, name: str) -> Command:
    async def callback(interaction: Interaction) -> None:
        run(interaction, name, "")

    return make_command(name, callback)


def text_command(run: Run, name: str) -> Command:
    @app_commands.describe(text="What to keep, or to look for")
    async def callback(interaction: Interaction, text: str) -> None:
        run(interaction, name, text)

    return make_command(name, callback)


def everybody_command(run: Run, name: str) -> Command:
    @app_commands.describe(everybody="Of everybody here, not only of you: for those who run the server")
    async def callback(interaction: Interaction, everybody: bool = False) -> None:
        run(interaction, name, "everybody" if everybody else "")

    return make_command(name, callback)


def summary_command(run: Run) -> Command:
    @app_commands.describe(storage="Where the memory is kept", threshold="After how many messages to summarise")
    async def callback(
        interaction: Interaction,
        storage: Literal["sqlite", "json"] | None = None,
        threshold: app_commands.Range[int, 1, 500] | None = None,
    ) -> None:
        run(interaction, "summary", f"{storage or ''} {threshold or ''}")

    return make_command("summary", callback)


def digest_command(run: Run) -> Command:
    @app_commands.describe(
        period="Of which days; or daily, weekly, off: when it is sent by itself",
        time="Of daily and weekly, as in 08:30",
        weekday="Of weekly",
    )
    async def callback(
        interaction: Interaction,
        period: Literal["today", "yesterday", "week", "daily", "weekly", "off"] = "today",
        time: str = "",
        weekday: Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"] = "mon",
    ) -> None:
        schedules = {"daily": f"daily {time}", "weekly": f"weekly {weekday} {time}"}
        run(interaction, "digest", schedules.get(period, period))

    return make_command("digest", callback)


def person_command(run: Run, complete: Complete) -> Command:
    @app_commands.describe(name="Somebody in this server; you, if it is left out")
    async def callback(interaction: Interaction, name: str = "") -> None:
        run(interaction, "whatdoyouknow", name)

    command = make_command("whatdoyouknow", callback)
    command.autocomplete("name")(offer_choices(complete))
    return command


def forget_command(run: Run, complete: Complete) -> Command:
    @app_commands.describe(text="What to take out")
    async def callback(interaction: Interaction, text: str) -> None:
        run(interaction, "forget", text)

    command = make_command("forget", callback)
    command.autocomplete("text")(offer_choices(complete))
    return command


def offer_choices(complete: Complete) -> Any:
    """What Discord asks while somebody writes the value of an option."""

    async def offer(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
        values = [value for value in await complete(interaction, current) if len(value) <= LONGEST_CHOICE]
        return [app_commands.Choice(name=value, value=value) for value in values[:MOST_CHOICES]]

    return offer
