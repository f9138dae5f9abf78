"""Writes the blocking twin of a memory, `memory/blocking.py`, from the declared operations.

Run it after you have added or changed an operation: `python scripts/blocking.py`. A test compares the file with what
this writes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "everword"
TARGET = PACKAGE / "memory" / "blocking.py"
LEFT_OUT = ("_", "open", "close")  # what `OwnLoop` does
HEAD = '''"""The same memory for programs without an event loop: every method waits for the asynchronous one.

A separate thread runs the loop, so that views follow the log while the program does other things. This file is written
by `scripts/blocking.py` from the operations, which are declared by `@operation` on their methods.
"""

# fmt: off
# ruff: noqa: I001
from __future__ import annotations
'''
MEMORY = '''class BlockingMemory(OwnLoop):
    """A memory, open from the moment it is made. Safe to use from many threads at once."""
'''
CONVERSATION = '''class BlockingConversation:
    """One thread of messages."""

    def __init__(self, inner: ConversationFace, private: LoopThread) -> None:
        self._inner = inner
        self._private = private
        self.space = inner.space
        self.id = inner.id
        self.user = inner.user

    def __repr__(self) -> str:
        return repr(self._inner)
'''
DOCUMENTS = '''class BlockingDocuments:
    """The documents of one space: what programs keep under keys of their own."""

    def __init__(self, inner: DocumentsFace, private: LoopThread) -> None:
        self._inner = inner
        self._private = private
        self.space = inner.space
'''
SUBJECTS = ("search_and_maintenance", "facts", "people", "questions", "changes")
TWINS = (  # the head of each class, and the modules whose first class declares its operations
    (MEMORY, ("memory", *(f"operations/{subject}" for subject in SUBJECTS))),
    (CONVERSATION, ("operations/conversation", "operations/conversation_topics")),
    (DOCUMENTS, ("operations/documents",)),
)
TYPES = """
if TYPE_CHECKING:
    from everword.memory.operations.conversation import ConversationFace
    from everword.memory.operations.documents import DocumentsFace
"""
OWN_IMPORTS = {"everword.memory.private_loop": {"LoopThread", "OwnLoop"}, "typing": {"TYPE_CHECKING", "TypeVar"}}


def blocking_module() -> str:
    """The text of the module."""
    classes: list[str] = []
    imports = {module: set(names) for module, names in OWN_IMPORTS.items()}
    used = set[str]().union(*OWN_IMPORTS.values())
    for head, modules in TWINS:
        methods: list[str] = []
        for module in modules:
            source = (PACKAGE / "memory" / f"{module}.py").read_text(encoding="utf-8")
            tree = ast.parse(source)
            face = next(node for node in tree.body if isinstance(node, ast.ClassDef) and [*methods_of(node)])
            for method in methods_of(face):
                methods.append(twin_method(method, source))
                used |= names_in_signature(method)
            for home, names in imported_names(tree):
                imports.setdefault(home, set()).update(names)
        classes.append("\n".join((head, *methods)))
    return HEAD + "\n" + import_lines(imports, used) + TYPES + '\n\nT = TypeVar("T")\n\n\n' + "\n\n".join(classes)


def names_in_signature(method: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names of types and defaults; an iterator of the blocking twin is another."""
    parts = [method.args, *([method.returns] if method.returns else [])]
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    return {name.replace("AsyncIterator", "Iterator") for name in names if not name.endswith("Face")}


def methods_of(face: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in face.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(LEFT_OUT):
            yield node


def twin_method(method: ast.FunctionDef | ast.AsyncFunctionDef, source: str) -> str:
    docstring = ast.get_source_segment(source, method.body[0])
    answer = ast.unparse(method.returns) if method.returns else "None"
    head, tail = "self._private.wait(", "))"
    if answer.startswith("AsyncIterator"):
        head = "self._private.iterate_pages(" if method.name == "export" else "self._private.iterate_items("
    elif answer.endswith("Face"):
        head, tail = f"{blocking_name(answer)}(", "), self._private)"
    head = ("" if answer == "None" else "return ") + f"{head}self._inner.{method.name}("
    answer = blocking_name(answer).replace("AsyncIterator", "Iterator")
    signature = fill_call(f"    def {method.name}(", parameters(method.args), f") -> {answer}:")
    body = fill_call(f"        {head}", passed_arguments(method.args), tail)
    return f"{signature}\n        {docstring}\n{body}\n"


def parameters(arguments: ast.arguments) -> list[str]:
    """The parameters of a signature, each as it is written."""
    text = ast.unparse(arguments).replace("'", '"')
    parts = re.split(r", (?![^\[(]*[\])])", text)
    return [re.sub(r"(: [^=]+[^ ])=", r"\1 = ", part) for part in parts]


def blocking_name(answer: str) -> str:
    return re.sub(r"(\w+)Face$", r"Blocking\1", answer)


def passed_arguments(arguments: ast.arguments) -> list[str]:
    positional = [argument.arg for argument in arguments.args[1:]]
    rest = [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    return [*positional, *rest, *(f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs)]


def fill_call(head: str, arguments: list[str], tail: str) -> str:
    """A signature or a call on one line, or with its arguments on lines of their own."""
    line = f"{head}{', '.join(arguments)}{tail}"
    if len(line) <= 120:
        return line
    indent = " " * (len(head) - len(head.lstrip()))
    lines = [f"{indent}   "]
    for argument in arguments:
        if len(f"{lines[-1]} {argument},") > 120:
            lines.append(f"{indent}   ")
        lines[-1] += f" {argument},"
    return "\n".join((head, *lines, f"{indent}{tail}"))


def imported_names(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("everword.memory."):
            names = {alias.name for alias in node.names}
            yield node.module, names | ({"Iterator"} if node.module == "collections.abc" else set())


def import_lines(imports: dict[str, set[str]], used: set[str]) -> str:
    """The imports in order, without names that are not used."""
    sections: tuple[list[str], list[str]] = ([], [])
    for module in sorted(imports):
        names = sorted(imports[module] & used, key=lambda name: (not name.isupper(), name))
        if names and module != "__future__":
            line = fill_call(f"from {module} import (", names, ")")
            line = line if "\n" in line else line.replace("(", "").replace(")", "")
            sections[module.startswith("everword")].append(line)
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def main() -> None:
    TARGET.write_text(blocking_module(), encoding="utf-8")
    print(f"wrote {TARGET}", file=sys.stderr)


if __name__ == "__main__":
    main()
