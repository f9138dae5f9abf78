"""Anthropic's memory tool: its files are documents of a person, or of nobody, and its commands change them.

Each command is one transaction, so two that come at once lose nothing. It works without the `anthropic` package, on the
input of a `tool_use` block; with it, `memory_tool` and `async_memory_tool` are tools for its own tool runner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from everword.adapters.blocking_or_async import AnyMemory, run_async, run_blocking
from everword.documents import FILES
from everword.documents.anthropic_memory_tool import Changes, FileCommandRefused, run_file_command
from everword.errors import MissingExtra
from everword.log.checks_and_seals import check_id
from everword.memory.memory import MemoryFace
from everword.model import Change, Document

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

PARAM = {"type": "memory_20250818", "name": "memory"}
COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


class MemoryTool:
    """The files under `/memories` of a user, or of the whole space if none is given."""

    param = PARAM

    def __init__(self, memory: AnyMemory, *, user: str | None = None, space: str | None = None) -> None:
        self._memory = memory
        self._user = user
        self._space = space
        self._namespace = (FILES,) if user is None else (FILES, check_id("user", user))

    def call(self, command: Mapping[str, Any]) -> str:
        """Carry out a command and return its answer; raises `Refused`, whose text is for the model."""
        return run_blocking(self._memory, partial(self._run_command, command))

    async def acall(self, command: Mapping[str, Any]) -> str:
        """The same with an `AsyncMemory`."""
        return await run_async(self._memory, partial(self._run_command, command))

    def result(self, tool_use_id: str, command: Mapping[str, Any]) -> dict[str, Any]:
        """The `tool_result` block that answers a `tool_use` block."""
        try:
            return result_block(tool_use_id, self.call(command))
        except FileCommandRefused as refusal:
            return result_block(tool_use_id, str(refusal), is_error=True)

    async def aresult(self, tool_use_id: str, command: Mapping[str, Any]) -> dict[str, Any]:
        """The same with an `AsyncMemory`."""
        try:
            return result_block(tool_use_id, await self.acall(command))
        except FileCommandRefused as refusal:
            return result_block(tool_use_id, str(refusal), is_error=True)

    def clear(self) -> None:
        """Remove every file."""
        run_blocking(self._memory, self._remove_files)

    async def aclear(self) -> None:
        """The same with an `AsyncMemory`."""
        await run_async(self._memory, self._remove_files)

    async def _run_command(self, command: Mapping[str, Any], memory: MemoryFace) -> str:
        def decide(documents: dict[str, Document]) -> tuple[list[Change], str]:
            files = {path: document.value.get("text") for path, document in documents.items()}
            changes, answer = run_file_command(files, command)
            return self._document_changes(changes), answer

        return await memory.documents(space=self._space).edit(self._namespace, decide)

    async def _remove_files(self, memory: MemoryFace) -> None:
        def decide(documents: dict[str, Document]) -> tuple[Sequence[Change], None]:
            return [Change(self._namespace, path, None) for path in documents], None

        await memory.documents(space=self._space).edit(self._namespace, decide)

    def _document_changes(self, changes: Changes) -> list[Change]:
        def document_value(text: str | bool | None) -> dict[str, Any] | None:
            return None if text is False else {"folder": True} if text is None else {"text": text}

        return [
            Change(self._namespace, path, document_value(text), self._user, () if text is None else None)
            for path, text in changes.items()
        ]


def result_block(tool_use_id: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
    return result | ({"is_error": True} if is_error else {})


def memory_tool(memory: AnyMemory, *, user: str | None = None, space: str | None = None) -> BetaAbstractMemoryTool:
    """A tool for `client.beta.messages.tool_runner(tools=[…])`, with a `Memory`."""
    base, error_class = runner_classes(asynchronous=False)
    tool = MemoryTool(memory, user=user, space=space)

    def run_command(_: Any, command: Any) -> str:
        try:
            return tool.call(command.model_dump())
        except FileCommandRefused as refusal:
            raise error_class(str(refusal)) from None

    def clear(_: Any) -> str:
        tool.clear()
        return "All memory cleared"

    methods = {**dict.fromkeys(COMMANDS, run_command), "clear_all_memory": clear}
    tool_class: Any = type("EverwordMemoryTool", (base,), methods)
    runner_tool: BetaAbstractMemoryTool = tool_class()
    return runner_tool


def async_memory_tool(
    memory: AnyMemory, *, user: str | None = None, space: str | None = None
) -> BetaAsyncAbstractMemoryTool:
    """The same for the asynchronous client, with a `Memory` or an `AsyncMemory`."""
    base, error_class = runner_classes(asynchronous=True)
    tool = MemoryTool(memory, user=user, space=space)

    async def run_command(_: Any, command: Any) -> str:
        try:
            return await tool.acall(command.model_dump())
        except FileCommandRefused as refusal:
            raise error_class(str(refusal)) from None

    async def clear(_: Any) -> str:
        await tool.aclear()
        return "All memory cleared"

    methods = {**dict.fromkeys(COMMANDS, run_command), "clear_all_memory": clear}
    tool_class: Any = type("EverwordMemoryTool", (base,), methods)
    runner_tool: BetaAsyncAbstractMemoryTool = tool_class()
    return runner_tool


def runner_classes(*, asynchronous: bool) -> tuple[type[Any], type[Exception]]:
    try:
        from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    except ImportError:
        raise MissingExtra("anthropic", "the memory tool for Anthropic's tool runner") from None
    return (BetaAsyncAbstractMemoryTool if asynchronous else BetaAbstractMemoryTool), ToolError
