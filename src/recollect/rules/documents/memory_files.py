"""The commands of Anthropic's memory tool, as a pure function: files in, changes and an answer out.

The files are texts by path under `/memories`; a folder is a path without a text. There is no file system behind them,
so no path can lead out of them; one that tries is refused all the same, since whoever wrote it meant something else.
What is answered, and how it is refused, is worded as the tool's own implementation words it, whose words models know.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import InvalidInput, RecollectError
from recollect.rules.log import MAX_METADATA, canonical, checked_id, checked_text

ROOT = "/memories"
WIDTH = 6  # of a line's number
MAX_LINES = 999_999
MAX_FILE = 512 << 10  # bytes
LEVELS = 2  # of folders that a view shows
ENCODED = ("%2e%2e", "%2f", "%5c", "..\\", "\\..")  # no name has these but one that means to lead elsewhere

Files = Mapping[str, str | None]
Changes = dict[str, str | bool | None]  # a text, None for a folder, False for what goes


class Refused(RecollectError):
    """A command that could not be carried out; the message is for the model."""


def carried_out(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    """What a command changes, and its answer; raises Refused."""
    known: dict[str, Callable[[Files, Mapping[str, Any]], tuple[Changes, str]]] = {
        "view": view,
        "create": create,
        "str_replace": str_replace,
        "insert": insert,
        "delete": delete,
        "rename": rename,
    }
    name = command.get("command")
    if name not in known:
        raise Refused(f"Unknown command: {name}. Use one of: {', '.join(known)}")
    return known[name](files, command)


def view(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, path = text_of(command, "path"), place(command, "path")
    if not is_there(files, path):
        raise Refused(f"The path {given} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        taken = sizes(files, path)
        rows = [
            f"{size(taken[path])}\t{given}",
            *(f"{size(taken[one])}\t{given}/{name}" for one, name in inside(files, path)),
        ]
        title = f"Here're the files and directories up to {LEVELS} levels deep in {given}, excluding hidden items:"
        return {}, "\n".join([title, *rows])
    lines = str(files[path]).split("\n")
    if len(lines) > MAX_LINES:
        raise Refused(f"File {given} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    asked = command.get("view_range")
    if asked:
        if not isinstance(asked, list | tuple) or len(asked) != 2 or not all(isinstance(n, int) for n in asked):
            raise Refused(f"Invalid `view_range` parameter: {asked}. It should be two line numbers: [start, end].")
        first, last = max(1, asked[0]), len(lines) if asked[1] == -1 else asked[1]
    shown = numbered(lines, first, last)
    return {}, f"Here's the content of {given} with line numbers:\n" + "\n".join(shown)


def create(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, path, text = text_of(command, "path"), place(command, "path"), text_of(command, "file_text")
    if is_there(files, path):
        raise Refused(f"File {given} already exists")
    return {**folders_of(files, path, given), path: sized(given, text)}, f"File created successfully at: {given}"


def str_replace(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, path, content = existing(files, command)
    old, new = text_of(command, "old_str"), text_of(command, "new_str")
    found = list(places(content, old))
    if not found:
        raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {given}.")
    if content.count(old) > 1:
        numbers = ", ".join(str(content[:at].count("\n") + 1) for at in found)
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    changed = content.replace(old, new)
    at = content[: found[0]].count("\n") + 1
    lines = changed.split("\n")
    title = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return {path: sized(given, changed)}, "\n".join([title, *numbered(lines, max(1, at - 2), min(len(lines), at + 2))])


def insert(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, path, content = existing(files, command)
    lines, at = content.split("\n"), command.get("insert_line")
    if lines[-1] == "":
        lines.pop()
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at <= len(lines):
        raise Refused(f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}].")
    lines.insert(at, text_of(command, "insert_text").rstrip("\n"))
    changed = "\n".join(lines)
    changed += "" if changed.endswith("\n") else "\n"
    return {path: sized(given, changed)}, f"The file {given} has been edited."


def delete(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, path = text_of(command, "path"), place(command, "path")
    if path == ROOT:
        raise Refused("Cannot delete the /memories directory itself")
    if not is_there(files, path):
        raise Refused(f"The path {given} does not exist")
    return dict.fromkeys(all_of(files, path), False), f"Successfully deleted {given}"


def rename(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    given, wanted = text_of(command, "old_path"), text_of(command, "new_path")
    old, new = place(command, "old_path"), place(command, "new_path")
    if old == ROOT:
        raise Refused("Cannot rename the /memories directory itself")
    if is_there(files, new):
        raise Refused(f"The destination {wanted} already exists")
    if not is_there(files, old):
        raise Refused(f"The path {given} does not exist")
    if new.startswith(old + "/"):
        raise Refused(f"Cannot move {given} into itself")
    moved: Changes = folders_of(files, new, wanted)
    for path in all_of(files, old):
        moved[path] = False
        moved[checked_path(new + path[len(old) :])] = files[path]
    return moved, f"Successfully renamed {given} to {wanted}"


# -- paths


def place(command: Mapping[str, Any], field: str) -> str:
    """The path a command means, in one spelling; refused if it would lead out of `/memories`."""
    given = text_of(command, field)
    if given != ROOT and not given.startswith(ROOT + "/"):
        raise Refused(f"Path must start with {ROOT}, got: {given}")
    names: list[str] = []
    for name in given[len(ROOT) :].split("/"):
        if name == ".." and not names:
            raise Refused(f"Path {given} would escape {ROOT} directory")
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if any(sign in given.lower() for sign in ENCODED):
        raise Refused(f"Path {given} would escape {ROOT} directory")
    return checked_path(posixpath.join(ROOT, *names))


def checked_path(path: str) -> str:
    try:
        return checked_id("path", path)
    except InvalidInput as error:
        raise Refused(f"Invalid path {path!r}: it {error.reason}") from None


def is_there(files: Files, path: str) -> bool:
    return path == ROOT or path in files


def is_folder(files: Files, path: str) -> bool:
    return path == ROOT or (path in files and files[path] is None)


def folders_of(files: Files, path: str, given: str) -> Changes:
    """The folders a path needs that are not there yet."""
    missing: Changes = {}
    above = posixpath.dirname(path)
    while above != ROOT:
        if above in files and files[above] is not None:
            raise Refused(f"Cannot create {given}: {above} is a file, not a directory")
        if above not in files:
            missing[above] = None
        above = posixpath.dirname(above)
    return missing


def all_of(files: Files, path: str) -> list[str]:
    """A path and everything in it."""
    return [one for one in files if one == path or one.startswith(path + "/")]


# -- texts


def text_of(command: Mapping[str, Any], field: str) -> str:
    value = command.get(field)
    if not isinstance(value, str):
        raise Refused(f"The parameter `{field}` is missing or is no text; give it and try again.")
    try:
        return checked_text(field, value)
    except InvalidInput as error:
        raise Refused(f"The parameter `{field}` {error.reason}") from None


def existing(files: Files, command: Mapping[str, Any]) -> tuple[str, str, str]:
    """The path as given and as meant, and what is in the file."""
    given, path = text_of(command, "path"), place(command, "path")
    if not is_there(files, path):
        raise Refused(f"The path {given} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        raise Refused(f"The path {given} is not a file.")
    return given, path, str(files[path])


def sized(given: str, text: str) -> str:
    """The text, if it is short enough, also as it is kept: a line break takes two bytes there."""
    if len(text.encode()) > MAX_FILE or len(canonical({"text": text}).encode()) > MAX_METADATA:
        raise Refused(f"File {given} would take more than {MAX_FILE >> 10} KiB; keep less in it, or use several files.")
    return text


def places(content: str, old: str) -> Iterator[int]:
    if not old:
        return
    at = content.find(old)
    while at != -1:
        yield at
        at = content.find(old, at + 1)


def numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines[first - 1 : max(last, 0)], first)]


def inside(files: Files, path: str) -> Iterator[tuple[str, str]]:
    """What a view of a folder shows: each path and its name there, of two levels, and nothing that is hidden."""
    for one in sorted(all_of(files, path), key=lambda name: name.split("/")):
        names = one[len(path) + 1 :].split("/")
        if one == path or len(names) > LEVELS or any(name.startswith(".") for name in names):
            continue
        yield one, "/".join(names) + ("/" if is_folder(files, one) else "")


def sizes(files: Files, path: str) -> Counter[str]:
    """Bytes of a folder and of each path in it; those of a folder are those of all in it."""
    found = Counter[str]()
    for one in all_of(files, path):
        count, at = len((files[one] or "").encode()), one
        while at != path:
            found[at] += count
            at = posixpath.dirname(at)
        found[path] += count
    return found


def size(count: int) -> str:
    unit = min((count.bit_length() - 1) // 10, 3) if count else 0
    amount = count / 1024**unit
    return f"{int(amount)}{'BKMG'[unit]}" if amount == int(amount) else f"{amount:.1f}{'BKMG'[unit]}"
