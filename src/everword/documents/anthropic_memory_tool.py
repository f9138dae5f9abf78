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

from everword.errors import EverwordError, InvalidInput
from everword.log.checks_and_seals import MAX_METADATA, canonical_json, check_id, check_text

ROOT = "/memories"
WIDTH = 6  # of a line's number
MAX_LINES = 999_999
MAX_FILE = 512 << 10  # bytes
LEVELS = 2  # of folders that a view shows
ENCODED = ("%2e%2e", "%2f", "%5c", "..\\", "\\..")  # only a path that tries to lead out has these

Files = Mapping[str, str | None]
Changes = dict[str, str | bool | None]  # a text, None for a folder, False for a removal


class FileCommandRefused(EverwordError):
    """A command that could not be run; the message is for the model."""


def run_file_command(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
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
        raise FileCommandRefused(f"Unknown command: {name}. Use one of: {', '.join(commands)}")
    return commands[name](files, command)


def view(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_argument(command, "path")
    path = resolve_path(command, "path")
    if not path_exists(files, path):
        raise FileCommandRefused(f"The path {raw_path} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        byte_counts = count_bytes(files, path)
        rows = [
            f"{format_size(byte_counts[path])}\t{raw_path}",
            *(f"{format_size(byte_counts[child])}\t{raw_path}/{name}" for child, name in folder_entries(files, path)),
        ]
        title = f"Here're the files and directories up to {LEVELS} levels deep in {raw_path}, excluding hidden items:"
        return {}, "\n".join([title, *rows])
    lines = str(files[path]).split("\n")
    if len(lines) > MAX_LINES:
        raise FileCommandRefused(f"File {raw_path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    last = len(lines)
    view_range = command.get("view_range")
    if view_range:
        if (
            not isinstance(view_range, list | tuple)
            or len(view_range) != 2
            or not all(isinstance(n, int) for n in view_range)
        ):
            raise FileCommandRefused(
                f"Invalid `view_range` parameter: {view_range}. It should be two line numbers: [start, end]."
            )
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else view_range[1]
    shown_lines = number_lines(lines, first, last)
    return {}, f"Here's the content of {raw_path} with line numbers:\n" + "\n".join(shown_lines)


def create(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_argument(command, "path")
    path = resolve_path(command, "path")
    text = text_argument(command, "file_text")
    if path_exists(files, path):
        raise FileCommandRefused(f"File {raw_path} already exists")
    return {
        **missing_folders(files, path, raw_path),
        path: check_size(raw_path, text),
    }, f"File created successfully at: {raw_path}"


def str_replace(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path, path, content = find_file(files, command)
    old = text_argument(command, "old_str")
    new = text_argument(command, "new_str")
    offsets = list(occurrences(content, old))
    if not offsets:
        raise FileCommandRefused(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {raw_path}."
        )
    if content.count(old) > 1:
        numbers = ", ".join(str(content[:offset].count("\n") + 1) for offset in offsets)
        raise FileCommandRefused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    new_content = content.replace(old, new)
    line_number = content[: offsets[0]].count("\n") + 1
    lines = new_content.split("\n")
    title = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return {path: check_size(raw_path, new_content)}, "\n".join(
        [title, *number_lines(lines, max(1, line_number - 2), min(len(lines), line_number + 2))]
    )


def insert(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path, path, content = find_file(files, command)
    lines = content.split("\n")
    line_number = command.get("insert_line")
    if lines[-1] == "":
        lines.pop()
    if not isinstance(line_number, int) or isinstance(line_number, bool) or not 0 <= line_number <= len(lines):
        raise FileCommandRefused(
            f"Invalid `insert_line` parameter: {line_number}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line_number, text_argument(command, "insert_text").rstrip("\n"))
    new_content = "\n".join(lines)
    new_content += "" if new_content.endswith("\n") else "\n"
    return {path: check_size(raw_path, new_content)}, f"The file {raw_path} has been edited."


def delete(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_path = text_argument(command, "path")
    path = resolve_path(command, "path")
    if path == ROOT:
        raise FileCommandRefused("Cannot delete the /memories directory itself")
    if not path_exists(files, path):
        raise FileCommandRefused(f"The path {raw_path} does not exist")
    return dict.fromkeys(paths_under(files, path), False), f"Successfully deleted {raw_path}"


def rename(files: Files, command: Mapping[str, Any]) -> tuple[Changes, str]:
    raw_old_path = text_argument(command, "old_path")
    raw_new_path = text_argument(command, "new_path")
    old = resolve_path(command, "old_path")
    new = resolve_path(command, "new_path")
    if old == ROOT:
        raise FileCommandRefused("Cannot rename the /memories directory itself")
    if path_exists(files, new):
        raise FileCommandRefused(f"The destination {raw_new_path} already exists")
    if not path_exists(files, old):
        raise FileCommandRefused(f"The path {raw_old_path} does not exist")
    if new.startswith(old + "/"):
        raise FileCommandRefused(f"Cannot move {raw_old_path} into itself")
    changes: Changes = missing_folders(files, new, raw_new_path)
    for path in paths_under(files, old):
        changes[path] = False
        changes[check_path(new + path[len(old) :])] = files[path]
    return changes, f"Successfully renamed {raw_old_path} to {raw_new_path}"


# -- paths


def resolve_path(command: Mapping[str, Any], field: str) -> str:
    """The normalised path of a command; refused if it would lead out of `/memories`."""
    raw_path = text_argument(command, field)
    if raw_path != ROOT and not raw_path.startswith(ROOT + "/"):
        raise FileCommandRefused(f"Path must start with {ROOT}, got: {raw_path}")
    names: list[str] = []
    for name in raw_path[len(ROOT) :].split("/"):
        if name == ".." and not names:
            raise FileCommandRefused(f"Path {raw_path} would escape {ROOT} directory")
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if any(sign in raw_path.lower() for sign in ENCODED):
        raise FileCommandRefused(f"Path {raw_path} would escape {ROOT} directory")
    return check_path(posixpath.join(ROOT, *names))


def check_path(path: str) -> str:
    try:
        return check_id("path", path)
    except InvalidInput as error:
        raise FileCommandRefused(f"Invalid path: {path!r} {error.reason}") from None


def path_exists(files: Files, path: str) -> bool:
    return path == ROOT or path in files


def is_folder(files: Files, path: str) -> bool:
    return path == ROOT or (path in files and files[path] is None)


def missing_folders(files: Files, path: str, raw_path: str) -> Changes:
    """The parent folders of a path that do not exist yet."""
    missing: Changes = {}
    parent = posixpath.dirname(path)
    while parent != ROOT:
        if parent in files and files[parent] is not None:
            raise FileCommandRefused(f"Cannot create {raw_path}: {parent} is a file, not a directory")
        if parent not in files:
            missing[parent] = None
        parent = posixpath.dirname(parent)
    return missing


def paths_under(files: Files, path: str) -> list[str]:
    """A path and everything in it."""
    return [candidate for candidate in files if candidate == path or candidate.startswith(path + "/")]


# -- texts


def text_argument(command: Mapping[str, Any], field: str) -> str:
    value = command.get(field)
    if not isinstance(value, str):
        raise FileCommandRefused(f"The parameter `{field}` is missing or is not text; give it as text and try again.")
    try:
        return check_text(field, value)
    except InvalidInput as error:
        raise FileCommandRefused(f"The parameter `{field}` {error.reason}") from None


def find_file(files: Files, command: Mapping[str, Any]) -> tuple[str, str, str]:
    """The path as given, the normalised path, and the content of the file."""
    raw_path = text_argument(command, "path")
    path = resolve_path(command, "path")
    if not path_exists(files, path):
        raise FileCommandRefused(f"The path {raw_path} does not exist. Please provide a valid path.")
    if is_folder(files, path):
        raise FileCommandRefused(f"The path {raw_path} is not a file.")
    return raw_path, path, str(files[path])


def check_size(raw_path: str, text: str) -> str:
    """The text, checked to be short enough, also as JSON: a line break takes two bytes there."""
    if len(text.encode()) > MAX_FILE or len(canonical_json({"text": text}).encode()) > MAX_METADATA:
        raise FileCommandRefused(
            f"File {raw_path} would be larger than {MAX_FILE >> 10} KiB; shorten the text, or use several files."
        )
    return text


def occurrences(content: str, old: str) -> Iterator[int]:
    if not old:
        return
    offset = content.find(old)
    while offset != -1:
        yield offset
        offset = content.find(old, offset + 1)


def number_lines(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines[first - 1 : max(last, 0)], first)]


def folder_entries(files: Files, path: str) -> Iterator[tuple[str, str]]:
    """The entries that a view of a folder shows, as path and shown name: two levels, without hidden ones."""
    for child in sorted(paths_under(files, path), key=lambda name: name.split("/")):
        names = child[len(path) + 1 :].split("/")
        if child == path or len(names) > LEVELS or any(name.startswith(".") for name in names):
            continue
        yield child, "/".join(names) + ("/" if is_folder(files, child) else "")


def count_bytes(files: Files, path: str) -> Counter[str]:
    """The bytes of a folder and of each path in it; a folder has the bytes of everything in it."""
    byte_counts = Counter[str]()
    for child in paths_under(files, path):
        count = len((files[child] or "").encode())
        ancestor = child
        while ancestor != path:
            byte_counts[ancestor] += count
            ancestor = posixpath.dirname(ancestor)
        byte_counts[path] += count
    return byte_counts


def format_size(count: int) -> str:
    unit = min((count.bit_length() - 1) // 10, 3) if count else 0
    amount = count / 1024**unit
    return f"{int(amount)}{'BKMG'[unit]}" if amount == int(amount) else f"{amount:.1f}{'BKMG'[unit]}"
