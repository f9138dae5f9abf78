"""Anthropic's memory tool on a memory: the same words as its own implementation, over its own types and runner."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import AsyncMemory, Memory
from everword.adapters.anthropic import MemoryTool, async_memory_tool, memory_tool
from everword.documents.anthropic_memory_tool import FileCommandRefused, run_file_command

PATHS = st.sampled_from(
    [
        "/memories",
        "/memories/",
        "/memories/a.txt",
        "/memories/b.md",
        "/memories/sub",
        "/memories/sub/a.txt",
        "/memories/sub/deep/c.txt",
        "/memories/sub/deep/deeper/d.txt",
        "/memories/.hidden",
        "/memories/sub/../a.txt",
        "/memories/../etc/passwd",
        "/etc/passwd",
    ]
)
TEXTS = st.sampled_from(["", "one\ntwo\nthree\n", "one", "one\none\n", "ü\r\nlast", "x" * 1500])
COMMANDS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {
            "command": st.just("view"),
            "path": PATHS,
            "view_range": st.sampled_from([None, [1, 2], [2, -1], [0, 1], [3, 99]]),
        }
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": PATHS,
            "old_str": st.sampled_from(["one", "two", "ü"]),
            "new_str": st.sampled_from(["", "1\n1", "one"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("insert"),
            "path": PATHS,
            "insert_line": st.integers(-1, 4),
            "insert_text": st.sampled_from(["new", "new\n", "a\nb\n\n", ""]),
        }
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)
FOLDER = re.compile(r"(hidden items:\n)[\d.]+[BKMG]\t|^[\d.]+[BKMG]\t(?=.*/$)", re.MULTILINE)


def said(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> tuple[bool, str]:
    """What a tool answers; the size of a folder, which depends on the disk, left out."""
    try:
        return True, FOLDER.sub(r"\1", str(tool.call(command)))
    except ToolError as error:
        return False, str(error)
    except OSError:
        return False, "the disk refused"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(str(tmp_path_factory.mktemp("store") / "memory.db"), followers=False) as memory:
        yield memory


@settings(max_examples=sample(60), deadline=None)
@given(commands=st.lists(COMMANDS, min_size=3, max_size=14))
def test_every_command_is_answered_as_anthropics_own_tool_answers_it(
    shared: Memory, commands: list[dict[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = memory_tool(shared), BetaLocalFilesystemMemoryTool(folder)
        ours.clear_all_memory()
        for command in commands:
            mine, other = said(ours, command), said(theirs, command)
            if other == (False, "the disk refused"):  # a file used as a folder, a folder moved into itself
                assert not mine[0], command
                return  # theirs may have made folders before it was refused
            assert mine == other, command
            if not other[0] and command["command"] == "rename":
                return  # and here it has made them


def test_the_files_are_kept_for_each_user_and_found_again(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        alex, sam = MemoryTool(memory, user="alex"), MemoryTool(memory, user="sam")
        alex.call({"command": "create", "path": "/memories/notes/likes.md", "file_text": "Alex likes otters.\n"})
        assert "likes.md" not in sam.call({"command": "view", "path": "/memories"})
        assert alex.call({"command": "view", "path": "/memories/notes/likes.md"}) == (
            "Here's the content of /memories/notes/likes.md with line numbers:\n     1\tAlex likes otters.\n     2\t"
        )
        found = memory.documents().search(query="otters", limit=1)
        assert (found[0].user, found[0].key) == ("alex", "/memories/notes/likes.md")
    with Memory(store_url, followers=False) as memory:
        alex = MemoryTool(memory, user="alex")
        assert alex.result("toolu_1", {"command": "view", "path": "/memories"}) == {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
            "19B\t/memories\n19B\t/memories/notes/\n19B\t/memories/notes/likes.md",
        }
        memory.erase(user="alex")
        gone = alex.result("toolu_2", {"command": "view", "path": "/memories/notes/likes.md"})
        assert gone["is_error"] is True
        assert "does not exist. Please provide a valid path." in gone["content"]


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../secret",
        "/memories/a/../../secret",
        "/memories/%2e%2e/secret",
        "/memories/..%2Fsecret",
        "/memories/..\\secret",
        "/memoriesecret",
        "memories/a",
        "",
        "/",
        "/memories/nul\x00",
        "/memories/line\nbreak",
        "/memories/" + "x" * 300,
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_by_every_command(path: str) -> None:
    whole = {"path": path, "old_path": path, "new_path": "/memories/b", "file_text": "x", "old_str": "a"}
    for command in ("view", "create", "str_replace", "insert", "delete", "rename"):
        with pytest.raises(FileCommandRefused):
            run_file_command({"/memories/a": "a"}, {"command": command, "new_str": "b", "insert_line": 0, **whole})
    with pytest.raises(FileCommandRefused):
        run_file_command({"/memories/a": "a"}, {"command": "rename", "old_path": "/memories/a", "new_path": path})


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"command": "erase", "path": "/memories/a"},
        {"command": "view"},
        {"command": "view", "path": 7},
        {"command": "view", "path": "/memories/a", "view_range": ["1", 2]},
        {"command": "create", "path": "/memories/new"},
        {"command": "create", "path": "/memories/new", "file_text": "x" * (1 << 20)},
        {"command": "create", "path": "/memories/a/b", "file_text": "a file is no folder"},
        {"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": "x"},
        {"command": "str_replace", "path": "/memories/a", "old_str": "", "new_str": "x"},
        {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/f/g"},
    ],
)
def test_what_a_model_gets_wrong_is_refused_with_what_to_do(command: dict[str, Any]) -> None:
    with pytest.raises(FileCommandRefused, match=r"\w"):
        run_file_command({"/memories/a": "a", "/memories/f": None}, command)


@pytest.mark.parametrize("sign", ["\n", '"', "\\", "\x01", "ü", "日"])
def test_a_file_of_any_signs_is_kept_or_refused_in_words(shared: Memory, sign: str) -> None:
    """As JSON, some take six times their room."""
    tool = MemoryTool(shared, user="of signs")
    tool.clear()
    text = sign * ((512 << 10) // len(sign.encode()) - 1) + "x"
    answer = tool.result("t", {"command": "create", "path": "/memories/f", "file_text": text})
    if "is_error" in answer:
        assert answer["content"].startswith("File /memories/f would be larger than")
        half = {"command": "create", "path": "/memories/f", "file_text": text[: len(text) // 6]}
        assert "is_error" not in tool.result("t", half)
    more = {"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": text}
    assert tool.result("t", more)["is_error"]


def test_a_folder_of_thousands_is_shown_in_one_walk() -> None:
    """Counted, not timed: looked at once for each of them, as many looks would be a million times a million."""
    looked = 0

    class Path(str):
        __slots__ = ()

        def startswith(self, *given: Any) -> bool:
            nonlocal looked
            looked += 1
            return super().startswith(*given)

    files: dict[str, str | None] = {Path(f"/memories/d{n % 10}/f{n}"): "x" for n in range(1_000)}
    files |= {Path(f"/memories/d{n}"): None for n in range(10)}
    _, shown = run_file_command(files, {"command": "view", "path": "/memories"})
    assert len(shown.splitlines()) == 1_012
    assert "100B\t/memories/d3/" in shown
    assert looked < 10 * len(files)


def test_many_edits_at_once_lose_nothing(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory, ThreadPoolExecutor(8) as threads:
        tool = MemoryTool(memory, user="alex")
        tool.call({"command": "create", "path": "/memories/log", "file_text": ""})

        def note(number: int) -> str:
            line = {"insert_line": 0, "insert_text": f"line {number}"}
            return tool.call({"command": "insert", "path": "/memories/log", **line})

        list(threads.map(note, range(20)))
        seen = tool.call({"command": "view", "path": "/memories/log"})
        assert all(f"line {number}\n" in seen for number in range(20))


def test_the_asynchronous_tool_works_with_an_asynchronous_memory(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            tool = async_memory_tool(memory, user="alex")
            assert tool.to_dict() == MemoryTool.param
            created = await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
            assert created == "File created successfully at: /memories/a"
            with pytest.raises(ToolError, match="already exists"):
                await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
            plain = MemoryTool(memory, user="alex")
            refused = await plain.aresult("t", {"command": "delete", "path": "/memories"})
            assert refused["content"] == "Cannot delete the /memories directory itself"
            assert await tool.clear_all_memory() == "All memory cleared"
            assert await plain.acall({"command": "view", "path": "/memories"}) == (
                "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
                "0B\t/memories"
            )

    asyncio.run(use())


def test_anthropics_own_runner_uses_it(tmp_path: Path) -> None:
    """Its client, its runner and its types; the model is a script behind the client's transport."""
    asked: list[dict[str, Any]] = []
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/likes.md", "file_text": "otters\n"},
        {"command": "view", "path": "/memories/nothing"},
    ]

    def reply(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        number = len(asked) - 1
        if number < len(commands):
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": commands[number]}
            return httpx2.Response(200, json=message([block], "tool_use"))
        return httpx2.Response(200, json=message([{"type": "text", "text": "Noted."}], "end_turn"))

    def message(content: list[Any], reason: str) -> dict[str, Any]:
        usage = {"input_tokens": 1, "output_tokens": 1}
        whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
        return {**whole, "content": content, "stop_reason": reason, "stop_sequence": None}

    http = httpx2.Client(transport=httpx2.MockTransport(reply))
    with (
        Memory(str(tmp_path / "m.db"), followers=False) as memory,
        Anthropic(api_key="none", http_client=http) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Remember that I like otters."}],
            tools=[memory_tool(memory, user="alex")],
        )
        final = runner.until_done()
        assert final.content[0].type == "text"
        assert asked[0]["tools"] == [MemoryTool.param]
        answers = [asked[n]["messages"][-1]["content"][0] for n in (1, 2, 3)]
        assert answers[1]["content"] == "File created successfully at: /memories/likes.md"
        assert answers[2] == MemoryTool(memory, user="alex").result("toolu_2", commands[2]) | {"is_error": True}
        assert "likes.md" in MemoryTool(memory, user="alex").call(commands[0])
