"""The commands of Anthropic's memory tool, as a pure function: files in, changes and an answer out.

The files are texts by path under `/memories`; a folder is a path without a text. There is no file system behind them,
so no path can lead out of them; a path that tries is refused anyway, since its author meant something else. Answers
and refusals are worded as in the tool's own implementation, because models know those words.
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
ENCODED = ("%2e%2e", "%2f", "%5c", "..\\", "\\..")  # only a path that tries to lead out has these

Files = Mapping[str, str | None]
Changes = dict[str, str | bool | None]  # a text, None for a folder, False for a removal


class Refused(RecollectError):
    """A command that could not be run; the message is for the model."""


def carried_out(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    """What a command changes, and its answer; raises FileCommandRefused."""
    commands: dict[str, Callable[[Files, Mapping[str, Any]], tuple[Changes, str]]] = {
        "view": view,
        "create": create,
        "str_replace": str_replace,
        "insert": insert,
        "delete": delete,
        "rename": rename,
    }
    name = command.get("command")
    if name not in commands:
        raise Refused(f"Unknown command: {name}. Use one of: {', '.join(commands)}")
    return commands[name](files, command)


def view(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_of(command, "path")
    path = place(command, "path")
    if not is_there(files, path):
        raise Refused(f"The path {raw_path} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        byte_counts = sizes(files, path)
        rows = [
            f"{size(byte_counts[path])}\t{raw_path}",
            *(f"{size(byte_counts[child])}\t{raw_path}/{name}" for child, name in inside(files, path)),
        ]
        title = f"Here're the files and directories up to {LEVELS} levels deep in {raw_path}, excluding hidden items:"
        return {}, "\n".join([title, *rows])
    lines = str(files[path]).split("\n")
    if len(lines) > MAX_LINES:
        raise Refused(f"File {raw_path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    last = len(lines)
    view_range = command.get("view_range")
    if view_range:
        if (
            not isinstance(view_range, list | tuple)
            or len(view_range) != 2
            or not all(isinstance(n, int) for n in view_range)
        ):
            raise Refused(f"Invalid `view_range` parameter: {view_range}. It should be two line numbers: [start, end].")
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else view_range[1]
    shown_lines = numbered(lines, first, last)
    return {}, f"Here's the content of {raw_path} with line numbers:\n" + "\n".join(shown_lines)


def create(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_of(command, "path")
    path = place(command, "path")
    text = text_of(command, "file_text")
    if is_there(files, path):
        raise Refused(f"File {raw_path} already exists")
    return {
        **folders_of(files, path, raw_path),
        path: sized(raw_path, text),
    }, f"File created successfully at: {raw_path}"


def str_replace(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path, path, content = existing(files, command)
    old = text_of(command, "old_str")
    new = text_of(command, "new_str")
    offsets = list(places(content, old))
    if not offsets:
        raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {raw_path}.")
    if content.count(old) > 1:
        numbers = ", ".join(str(content[:offset].count("\n") + 1) for offset in offsets)
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    new_content = content.replace(old, new)
    line_number = content[: offsets[0]].count("\n") + 1
    lines = new_content.split("\n")
    title = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return {path: sized(raw_path, new_content)}, "\n".join(
        [title, *numbered(lines, max(1, line_number - 2), min(len(lines), line_number + 2))]
    )


def insert(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path, path, content = existing(files, command)
    lines = content.split("\n")
    line_number = command.get("insert_line")
    if lines[-1] == "":
        lines.pop()
    if not isinstance(line_number, int) or isinstance(line_number, bool) or not 0 <= line_number <= len(lines):
        raise Refused(
            f"Invalid `insert_line` parameter: {line_number}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line_number, text_of(command, "insert_text").rstrip("\n"))
    new_content = "\n".join(lines)
    new_content += "" if new_content.endswith("\n") else "\n"
    return {path: sized(raw_path, new_content)}, f"The file {raw_path} has been edited."


def delete(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_of(command, "path")
    path = place(command, "path")
    if path == ROOT:
        raise Refused("Cannot delete the /memories directory itself")
    if not is_there(files, path):
        raise Refused(f"The path {raw_path} does not exist")
    return dict.fromkeys(all_of(files, path), False), f"Successfully deleted {raw_path}"


def rename(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_old_path = text_of(command, "old_path")
    raw_new_path = text_of(command, "new_path")
    old = place(command, "old_path")
    new = place(command, "new_path")
    if old == ROOT:
        raise Refused("Cannot rename the /memories directory itself")
    if is_there(files, new):
        raise Refused(f"The destination {raw_new_path} already exists")
    if not is_there(files, old):
        raise Refused(f"The path {raw_old_path} does not exist")
    if new.startswith(old + "/"):
        raise Refused(f"Cannot move {raw_old_path} into itself")
    changes: Changes = folders_of(files, new, raw_new_path)
    for path in all_of(files, old):
        changes[path] = False
        changes[checked_path(new + path[len(old) :])] = files[path]
    return changes, f"Successfully renamed {raw_old_path} to {raw_new_path}"


# -- paths


def place(command: Mapping[str, Any], field: str) -> str:
    """The normalised path of a command; refused if it would lead out of `/memories`."""
    raw_path = text_of(command, field)
    if raw_path != ROOT and not raw_path.startswith(ROOT + "/"):
        raise Refused(f"Path must start with {ROOT}, got: {raw_path}")
    names: list[str] = []
    for name in raw_path[len(ROOT) :].split("/"):
        if name == ".." and not names:
            raise Refused(f"Path {raw_path} would escape {ROOT} directory")
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if any(sign in raw_path.lower() for sign in ENCODED):
        raise Refused(f"Path {raw_path} would escape {ROOT} directory")
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


def folders_of(files: Files, path: str, raw_path: str) -> Changes:
    """The parent folders of a path that do not exist yet."""
    missing: Changes = {}
    parent = posixpath.dirname(path)
    while parent != ROOT:
        if parent in files and files[parent] is not None:
            raise Refused(f"Cannot create {raw_path}: {parent} is a file, not a directory")
        if parent not in files:
            missing[parent] = None
        parent = posixpath.dirname(parent)
    return missing


def all_of(files: Files, path: str) -> list[str]:
    """A path and everything in it."""
    return [candidate for candidate in files if candidate == path or candidate.startswith(path + "/")]


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
    """The path as given, the normalised path, and the content of the file."""
    raw_path = text_of(command, "path")
    path = place(command, "path")
    if not is_there(files, path):
        raise Refused(f"The path {raw_path} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        raise Refused(f"The path {raw_path} is not a file.")
    return raw_path, path, str(files[path])


def sized(raw_path: str, text: str) -> str:
    """The text, checked to be short enough, also as JSON: a line break takes two bytes there."""
    if len(text.encode()) > MAX_FILE or len(canonical({"text": text}).encode()) > MAX_METADATA:
        raise Refused(
            f"File {raw_path} would take more than {MAX_FILE >> 10} KiB; keep less in it, or use several files."
        )
    return text


def places(content: str, old: str) -> Iterator[int]:
    if not old:
        return
    offset = content.find(old)
    while offset != -1:
        yield offset
        offset = content.find(old, offset + 1)


def numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines[first - 1 : max(last, 0)], first)]


def inside(files: Files, path: str) -> Iterator[tuple[str, str]]:
    """The entries that a view of a folder shows, as path and shown name: two levels, without hidden ones."""
    for child in sorted(all_of(files, path), key=lambda name: name.split("/")):
        names = child[len(path) + 1 :].split("/")
        if child == path or len(names) > LEVELS or any(name.startswith(".") for name in names):
            continue
        yield child, "/".join(names) + ("/" if is_folder(files, child) else "")


def sizes(files: Files, path: str) -> Counter[str]:
    """The bytes of a folder and of each path in it; a folder has the bytes of everything in it."""
    byte_counts = Counter[str]()
    for child in all_of(files, path):
        count = len((files[child] or "").encode())
        ancestor = child
        while ancestor != path:
            byte_counts[ancestor] += count
            ancestor = posixpath.dirname(ancestor)
        byte_counts[path] += count
    return byte_counts


def size(count: int) -> str:
    unit = min((count.bit_length() - 1) // 10, 3) if count else 0
    amount = count / 1024**unit
    return f"{int(amount)}{'BKMG'[unit]}" if amount == int(amount) else f"{amount:.1f}{'BKMG'[unit]}"
