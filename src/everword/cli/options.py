"""Options that all commands share: where the memory is, how dates are parsed, and how the program fails.

An error that everword raises on purpose is one line on standard error and exit status 1, never a traceback. A closed
pipe (`| head`) and Ctrl-C are not errors. `--store` and `--space` may stand before or after the command's name; the
one after it counts.
"""

from __future__ import annotations

import errno
import io
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import click

from everword.errors import EverwordError, MissingExtra
from everword.masking import mask_credentials, print_masked_trace

if TYPE_CHECKING:
    from everword.model import Budget

STORE = "everword.store"
SPACE = "everword.space"
INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C
LINES = re.compile(r"\s*\n\s*")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text without control characters: stored text must not control the terminal."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def warn(text: str) -> None:
    click.echo(f"warning: {printable(mask_credentials(text))}", err=True)


def report_remains(lines: Iterable[str]) -> None:
    """Warn about removed data that is still in the store's files, and what to do; then the exit status is 1."""
    remains = list(lines)
    for line in remains:
        warn(line)
    if remains:
        raise click.exceptions.Exit(1)


class OneLineError(click.ClickException):
    """An error that is printed as one line."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {LINES.sub(' ', printable(mask_credentials(self.message)))}", err=True, file=file)


def mask_message(error: click.ClickException) -> None:
    """Take credentials out of an error of the parser, which repeats what was typed."""
    vars(error)["message"] = mask_credentials(error.message)


class Program(click.Group):
    """The group of all commands, in the order in which they are added. Those in `places` are imported when they are
    looked up; each place is a module and a name in it: `package.module:name`."""

    def __init__(self, *args: Any, places: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._places, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            similar = get_close_matches(args[0], self.list_commands(ctx), 2)
            if similar:
                vars(error)["message"] = f"{error.message} Did you mean {' or '.join(similar)}?"
            raise

    def main(self, *args: Any, **kwargs: Any) -> Any:
        # A terminal that cannot show a character shows its number.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.ClickException as error:
            mask_message(error)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe must raise here, and not while the interpreter ends
            return result
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except click.ClickException as error:
            mask_message(error)
            raise
        except EverwordError as error:
            self._print_trace(ctx)
            raise OneLineError(str(error)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            self._print_trace(ctx)
            raise OneLineError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from None

    @staticmethod
    def _print_trace(ctx: click.Context) -> None:
        if ctx.params.get("debug"):
            print_masked_trace(*sys.exc_info())


def _save_option(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.meta[f"everword.{param.name}"] = value


def _place_option(name: str, metavar: str, about: str) -> click.Option:
    return click.Option([f"--{name}"], metavar=metavar, callback=_save_option, expose_value=False, help=about)


PLACE: list[click.Parameter] = [
    _place_option(
        "store",
        "URL",
        "The store: a SQLite file, json:FILE or a postgresql:// address.  [default: the setting `store`]",
    ),
    _place_option("space", "NAME", "The space to use: a separate memory in the store.  [default: the setting `space`]"),
]


class StoreCommand(click.Command):
    """A command on a store: takes --store and --space after its name as well."""

    def __init__(self, name: str | None, **options: Any) -> None:
        super().__init__(name, **options | {"params": [*options.get("params", ()), *PLACE]})


def global_option(key: str) -> str | None:
    """The value of `STORE` or `SPACE` on the command line, if there is one."""
    value: str | None = click.get_current_context().meta.get(key)
    return value


def require_libraries(extra: str, purpose: str, *libraries: str) -> None:
    """Raise MissingExtra if libraries are not installed that a purpose needs."""
    from importlib.util import find_spec

    if any(find_spec(library) is None for library in libraries):
        raise MissingExtra(extra, purpose)


def json_option(about: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option("--json", "as_json", is_flag=True, help=about)


def parse_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Parse a time in ISO 8601; without a zone it is UTC, without a time it is midnight."""
    if value is None:
        return None
    try:
        parsed_time = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a date: write 2023-05-01, 2023-05-01T18:30 or 2023-05-01T18:30+02:00", ctx, param
        ) from None
    return parsed_time if parsed_time.tzinfo else parsed_time.replace(tzinfo=UTC)


def parse_budget(ctx: click.Context, param: click.Parameter, value: str | None) -> Budget | None:
    """Parse a budget from the command line: a number of tokens, `compact`, or `default`."""
    from everword.model import Budget

    if value is None:
        return None
    if value.casefold() == "default":
        return Budget()
    if value.casefold() == "compact":
        return Budget.compact()
    if not (value.isascii() and value.isdigit() and int(value)):
        raise click.BadParameter(f"{value!r} is no budget: write a number of tokens, or compact", ctx, param)
    return Budget(total=int(value))


def person_option(about: str, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option `--user` of a command that works on what is kept: it takes any of a person's names."""
    return click.option("--user", metavar="PERSON", help=f"{about} (id or name).", **options)


ONE_USER = person_option("Use only the memory of PERSON")
ONE_CONVERSATION = click.option("--conversation", metavar="ID", help="Use only the conversation with this ID.")
JSON_LINES = json_option("Print JSON Lines.")
JSON_OBJECT = json_option("Print JSON.")
JSON_ASKED = json_option("Print JSON. --json needs --yes or --dry-run.")
YES = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
