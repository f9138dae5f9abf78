"""Talking with a model at the command line, and looking at what it would be sent."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded, talk
from hypothesis import given
from hypothesis import strategies as st
from llm_server import PATIENCE, Exchange, Service, Step, fails, says, serving, stays_open, streams
from prepared_programs import PreparedProgram

from everword import AsyncMemory, Settings
from everword.cli.chat import PrintableStream
from everword.cli.options import CONTROL, printable
from everword.model import Budget, Item, Receipt, Section
from everword.testing import ScriptedLLM
from everword.wiring import LOCAL, chat_models, memory_models

KEY = "sk-verysecret"
LONG = (
    "My name is Alex, I run a small bakery in Lyon with three people, I am allergic to peanuts, and in March I travel "
    "to Kyoto for eleven days to see the old town."
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def model(service: Service) -> dict[str, str]:
    """The environment in which that server is the chat model; memory work is left to the built-in writers."""
    return {
        "EVERWORD_CHAT_URL": service.url,
        "EVERWORD_CHAT_MODEL": "small",
        "EVERWORD_CHAT_KEY": KEY,
        "EVERWORD_FOLLOWERS": "false",
    }


def kept(conversation: str = "chat") -> list[dict[str, Any]]:
    return json_lines(succeeded("history", conversation, "--json"))


# -- turns


def test_lines_of_a_pipe_are_answered_in_turn() -> None:
    with serving(streams("Hello ", "Alex."), streams("You are ", "Alex.")) as service:
        said = succeeded("chat", input="I am Alex.\n\nWho am I?", env=model(service))
    assert said == "Hello Alex.\nYou are Alex.\n"
    assert [(m["role"], m["author"], m["content"]) for m in kept()] == [
        ("user", "me", "I am Alex."),
        ("assistant", "assistant", "Hello Alex."),
        ("user", "me", "Who am I?"),
        ("assistant", "assistant", "You are Alex."),
    ]
    assert {"role": "user", "content": "I am Alex."} in service.requests[1]["messages"]


def test_system_text_and_budget_reach_the_model() -> None:
    with serving(streams("Yes.")) as service:
        succeeded("chat", "--system", "Be brief.", "--budget", "compact", input="Really?\n", env=model(service))
        over = everword("chat", "--budget", "8", input="Really?\n", env=model(service))
        assert "a budget of 8 is too small for both" in over.stderr
        assert over.exit_code == 1
        for wrong in ("0", "-5", "much", "1e3", "²"):
            refused = everword("chat", "--budget", wrong, env=model(service))
            assert refused.exit_code == 2
            assert "write a number of tokens, or compact" in refused.stderr
    assert "Be brief." in service.requests[0]["messages"][0]["content"]


def test_without_a_model_it_says_how_to_configure_one_before_anything_is_made(tmp_path: Path) -> None:
    for arguments in (["chat"], ["chat", "demo", "--budget", "compact"]):
        error = failed(*arguments, input="Hello\n")
        assert "EVERWORD_CHAT_URL" in error
        assert "everword chat --local" in error
    assert list(tmp_path.iterdir()) == []


def test_what_a_local_model_lacks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install 'everword[local]'" in failed("chat", "--local", input="Hello\n")
    assert "pip install 'everword[local]'" in failed("chat", input="", env={"EVERWORD_CHAT_MODEL": "local"})
    assert list(tmp_path.iterdir()) == []


def test_a_turn_that_fails_is_one_line_and_the_chat_goes_on() -> None:
    with serving(fails(401), streams("Better.")) as service:
        result = everword("chat", input="First\nSecond\n", env=model(service))
    assert result.exit_code == 1
    assert result.stdout == "Better.\n"
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: small at ")
    assert "refused the key" in line
    assert KEY not in result.output
    assert [m["content"] for m in kept()] == ["First", "Second", "Better."]


def test_a_line_that_is_not_text_is_refused_alone() -> None:
    with serving(streams("Fine.")) as service:
        result = everword("chat", input=b"\xff\xfe broken\nwhole \xf0\x9f\x9a\xb2\n", env=model(service))
    assert (result.exit_code, result.stdout) == (1, "Fine.\n")
    assert "not sent" in result.stderr
    assert [m["content"] for m in kept()] == ["whole 🚲", "Fine."]


def test_whose_chat_it_is(tmp_path: Path) -> None:
    imported(talk(tmp_path / "talk.jsonl"))
    with serving(streams("Yes.")) as service:
        assert "does not belong to user 'noor'" in failed("chat", "--user", "noor", input="Hi\n", env=model(service))
        succeeded("chat", input="Anything new?\n", env=model(service))
        succeeded("chat", "fresh", "--user", "noor", input="Anything new?\n", env=model(service))
    assert [m["author"] for m in kept()][-2:] == ["alex", "assistant"]
    assert [m["author"] for m in kept("fresh")] == ["noor", "assistant"]
    assert len(service.requests) == 2


def test_in_a_channel_one_speaks_under_ones_own_name() -> None:
    said = '{"role": "user", "content": "Hi all", "conversation": "room", "user": null, "author": "noor"}\n'
    succeeded("import", "-", input=said)
    with serving(streams("Yes.")) as service:
        succeeded("chat", "room", "--user", "alex", input="Anything new?\n", env=model(service))
    assert [m["author"] for m in kept("room")] == ["noor", "alex", "assistant"]


# -- what a reply may not do


@given(st.text(alphabet="ab\r\n\t\x00\x1b[0m\x7f\x9b\u2028é🚲", max_size=30), st.lists(st.integers(0, 30), max_size=8))
def test_a_reply_is_shown_the_same_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    shown = PrintableStream()
    seen = "".join(shown.feed(text[a:b]) for a, b in pairwise(places)) + shown.finish()
    assert seen == printable(text)
    assert not CONTROL.search(seen)


def test_a_reply_cannot_command_the_terminal() -> None:
    hostile = ("red \x1b", "[31m", "\x1b]0;title\x07", "line\r", "\nback\r", "over \x9b2J [bold]not markup[/bold]")
    with serving(streams(*hostile)) as service:
        out = succeeded("chat", input="Say it\n/history\n", env=model(service))
    assert not CONTROL.search(out)
    assert "line\nback\ufffdover \ufffd2J [bold]not markup[/bold]\n" in out


def test_markers_are_not_shown() -> None:
    with serving(
        streams("[REQUEST_", "TIER:3:m1]"), streams("Here it is.\n<ever", "word>\nU1: a = b\n</everword>")
    ) as s:
        assert succeeded("chat", input="What was it?\n", env=model(s)) == "Here it is.\n"


# -- commands


def test_commands_are_obeyed_and_never_sent() -> None:
    lines = f"/help\n{LONG}\n/context\n/facts\n/history 1\n/nonsense now\n/quit\nnever said\n"
    with serving(streams("Noted.")) as service:
        result = everword("chat", input=lines, env=model(service))
    assert len(service.requests) == 1
    assert [m["content"] for m in kept()] == [LONG, "Noted."]
    assert result.stderr == "error: there is no command /nonsense, and nothing was sent; /help lists the commands\n"
    out = result.stdout
    assert out.index("/history [N]") < out.index("Noted.") < out.index("of 30,000 tokens (o200k_base)")
    assert "the whole conversation costs no more" in out
    assert "The last reply: small, 1 round, 11 tokens in, 7 out." in out
    assert "not yet read for facts" in out


def test_facts_of_a_chat_are_shown_once_they_are_read() -> None:
    with serving(streams("Noted.")) as service:
        succeeded("chat", input=LONG, env=model(service))
        succeeded("worker", "--once", env={"EVERWORD_CHAT_MODEL": ""})
        out = succeeded("chat", input="/facts\n", env=model(service))
    assert out.startswith("Identity\n- name: Alex\n")
    assert "- allergies: peanuts\n" in out


def test_a_wrong_argument_of_a_command_is_one_line() -> None:
    with serving(streams("Yes.")) as service:
        result = everword("chat", input="/history many\n/history 0\n", env=model(service))
    assert len(result.stderr.splitlines()) == 2
    assert "takes a number of messages, not 'many'" in result.stderr


def test_what_begins_with_a_slash_can_be_said_after_a_blank() -> None:
    with serving(streams("A folder.")) as service:
        succeeded("chat", input=" /etc is what?\n", env=model(service))
    assert kept()[0]["content"] == "/etc is what?"


# -- Ctrl-C


def read_until(screen: int, what: bytes) -> bytes:
    seen = b""
    while what not in seen:
        assert select.select([screen], [], [], PATIENCE)[0], f"{what!r} did not come; seen: {seen!r}"
        try:
            seen += os.read(screen, 4096)
        except OSError as error:  # the program has ended
            raise AssertionError(f"{what!r} did not come; seen: {seen!r}") from error
    return seen


@contextmanager
def chatting(folder: Path, env: dict[str, str], **streams: int) -> Iterator[subprocess.Popen[bytes]]:
    """`everword chat` as a program of its own, which does not outlive the test."""
    command = [sys.executable, "-m", "everword", "chat"]
    with PreparedProgram(command, cwd=folder, env={**os.environ, **env}, bufsize=0, **streams) as running:  # type: ignore[call-overload]
        try:
            yield running
        finally:
            running.kill()


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def pressed_until_it_ends(running: subprocess.Popen[Any]) -> int:
    """Ctrl-C at the prompt. In the instant in which the prompt has been written and is not yet read from, the line
    editor does not notice it: then it is pressed once more, as a person would."""
    for _ in range(int(PATIENCE)):
        running.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return running.wait(1)
    raise AssertionError("it does not end")


def test_ctrl_c_cuts_a_reply_off_and_ends_the_chat_at_the_prompt(tmp_path: Path) -> None:
    screen, end = os.openpty()
    with (
        serving(stays_open("One", " two"), streams("Whole.")) as service,
        chatting(tmp_path, model(service) | {"TERM": "dumb"}, stdin=end, stdout=end, stderr=end) as running,
    ):
        os.close(end)
        greeting = read_until(screen, b"> ")
        assert b"a new conversation" in greeting
        os.write(screen, b"Count, please.\n")
        read_until(screen, b"One two")
        running.send_signal(signal.SIGINT)
        assert b"(cut off; what you saw of it is kept)" in read_until(screen, b"> ")
        assert service.hung_up.wait(PATIENCE)
        os.write(screen, b"Again, please.\n")
        read_until(screen, b"Whole.\r\n> ")
        assert pressed_until_it_ends(running) == 0
    os.close(screen)
    messages = kept()
    assert [m["content"] for m in messages] == ["Count, please.", "One two", "Again, please.", "Whole."]
    assert [m.get("metadata", {}).get("everword", {}).get("partial") for m in messages] == [None, True, None, None]


def test_ctrl_c_in_a_pipe_ends_it_and_the_log_is_true(tmp_path: Path) -> None:
    with serving(stays_open("One", " two")) as service, chatting(tmp_path, model(service), **PIPES) as running:
        assert running.stdin is not None
        running.stdin.write(b"Count, please.\n")
        assert running.stdout is not None
        seen = b""
        while seen != b"One two":
            seen += running.stdout.read(1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (130, b"\n", b"")
    assert [m["content"] for m in kept()] == ["Count, please.", "One two"]


def test_what_goes_wrong_in_the_background_does_not_break_into_the_talk(tmp_path: Path) -> None:
    told = Event()

    def refuses(exchange: Exchange) -> None:
        fails(400, "no luck")(exchange)
        told.set()

    with serving(streams("Noted.")) as service, serving(refuses) as other:
        memory = {"EVERWORD_MEMORY_URL": other.url, "EVERWORD_MEMORY_MODEL": "m", "EVERWORD_FOLLOWERS": "true"}
        memory["EVERWORD_BATCH_SECONDS"] = "0"
        with chatting(tmp_path, model(service) | memory, **PIPES) as running:
            assert running.stdin is not None
            running.stdin.write(LONG.encode() + b"\n")
            assert told.wait(PATIENCE)
            out, err = running.communicate(b"And now?\n", timeout=PATIENCE)
    assert (running.returncode, out, err) == (0, b"Noted.\nNoted.\n", b"")


# -- context


@pytest.fixture
def _imported(tmp_path: Path) -> None:
    imported(talk(tmp_path / "talk.jsonl"))


BROKEN = {"EVERWORD_CHAT_MODEL": "unreachable@http://127.0.0.1:9/v1"}


@pytest.mark.usefixtures("_imported")
def test_context_shows_what_would_be_sent_without_a_model() -> None:
    out = succeeded("context", "chat", "Which database was it?", "--system", "Be brief.", env=BROKEN)
    first, last = out.index("[system]\n"), out.index("[user]\nWhich database was it?\n")
    assert first < out.index("Be brief.") < out.index("[assistant]\nSQLite: one file, no server.") < last
    bare = succeeded("context", "chat")
    assert "[user]\n三月十二日から自転車を借ります。\n" in bare
    assert not bare.rstrip().endswith("[user]")


@pytest.mark.checklist("D5")
def test_context_explains_itself() -> None:
    """D5: what was left out is on the receipt, with its reason."""
    said = [{"conversation": "chat", "user": "alex", "role": "user", "content": f"{n}. {LONG}"} for n in range(12)]
    succeeded("import", "-", input="".join(json.dumps(message) + "\n" for message in said))
    out = succeeded("context", "chat", "Which database was it?", "--explain", "--budget", "340")
    head, _, columns, *rows = out.splitlines()
    assert head.endswith("of 340 tokens (o200k_base)")
    assert columns.split() == ["section", "in/out", "id", "tier", "tokens", "reason"]
    assert any(row.split()[0] == "out" for row in rows)
    assert all(row == row.rstrip() for row in rows)


@pytest.mark.usefixtures("_imported")
def test_context_as_json_is_for_programs() -> None:
    found = json.loads(succeeded("context", "chat", "Which database?", "--json", "--budget", "compact"))
    assert found["messages"][-1] == {"role": "user", "content": "Which database?"}
    assert found["receipt"]["budget"]["total"] == 8_000
    assert found["receipt"]["tokens"] <= 8_000


@pytest.mark.usefixtures("_imported")
def test_context_of_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "does not belong to user 'noor'" in failed("context", "chat", "x", "--user", "noor")
    assert "there is no store missing.db" in failed("context", "chat", "x", "--store", "missing.db")
    assert not (tmp_path / "missing.db").exists()


def test_context_says_when_the_index_is_behind_and_changes_nothing(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "talk.jsonl"), "--no-settle")
    before = succeeded("stats")
    result = everword("context", "chat", "Which database?")
    assert result.exit_code == 0
    assert "the index is 5 messages behind" in result.stderr
    assert succeeded("stats") == before


# -- the receipt as a table


def receipt(*ids: str) -> Receipt:
    items = tuple(Item(id, 10, "in the window", 1) for id in ids)
    left = (Item("m9", 88, "does not fit the budget: others are more relevant", 2),)
    return Receipt("o200k_base", Budget(), 413, (Section("system", 300), Section("retrieved", 110, items, left)))


def test_a_receipt_reads_as_a_table() -> None:
    assert receipt("m3").explain() == (
        "413 of 30,000 tokens (o200k_base)\n"
        "\n"
        "section    in/out  id  tier  tokens  reason\n"
        "system                          300  of 2,000\n"
        "retrieved                       110  of 6,000; 1 in, 1 left out\n"
        "           in      m3     1      10  in the window\n"
        "           out     m9     2      88  does not fit the budget: others are more relevant\n"
        "joints                            3  between the parts, and to open the reply"
    )


def test_a_receipt_keeps_to_a_width() -> None:
    for width in (1, 60, 80):
        lines = receipt("m3", "日本" * 40, "x" * 300).explain(width).splitlines()[1:]
        assert max(map(len, lines)) <= max(width, 60)
        assert sum(line.count("x") for line in lines) == 300
        assert sum(line.count("日") for line in lines) == 40


def test_an_id_on_a_receipt_is_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = receipt("[red]m1[/red] :smile:", "\x1b[2J\nm2\r\x9b", "\u202em3\u2028").explain()
    assert "[red]m1[/red] :smile:" in text
    assert "\ufffd[2J\ufffdm2\ufffd\ufffd" in text
    assert all(c.isprintable() or c == "\n" for c in text)
    assert len(text.splitlines()) == 10


# -- models and views, as other commands see them


def test_the_local_model_replies_and_leaves_memory_work_to_the_writers() -> None:
    pytest.importorskip("xllamacpp")
    settings = Settings(chat_model=f"{LOCAL}, big@http://localhost:1/v1")
    assert [one.name for one in chat_models(settings)] == ["SmolLM2-135M", "big at http://localhost:1/v1"]
    assert [one.name for one in memory_models(settings)] == ["big at http://localhost:1/v1"]
    assert [one.name for one in memory_models(Settings(chat_model=LOCAL))] == ["no model"]
    assert [one.name for one in memory_models(Settings(chat_model="", memory_model=LOCAL))] == ["SmolLM2-135M"]


def doctor(service: Service, *arguments: str) -> dict[str, str]:
    result = everword("doctor", *arguments, env=model(service))
    assert KEY not in result.output
    return {line.split()[1]: " ".join(line.split()) for line in result.stdout.splitlines()}


def test_doctor_names_the_models_and_asks_them_only_when_told_to() -> None:
    answer: Step = says("Yes.\x1b[31m")
    with serving(answer, answer, fails(401)) as service:
        assert doctor(service)["chat"].startswith("ok chat small at http://127.0.0.1:")
        assert service.requests == []
        asked = doctor(service, "--ask")
        assert "answered “Yes.\ufffd[31m”" in asked["chat"]
        assert asked["memory"].startswith("ok")
        assert doctor(service, "--ask")["chat"].startswith("fail chat small at")
    assert "no model" in succeeded("doctor")
    unfit = everword("doctor", env={"EVERWORD_CHAT_MODEL": "nameless"})
    assert "chat_url: is empty" in unfit.stdout
    assert unfit.exit_code == 1


async def read_by_rules() -> None:
    async with AsyncMemory("everword.db", memory=ScriptedLLM(), followers=False) as memory:
        await memory.runtime.followers["first_facts"].step()


@pytest.mark.checklist("G4")
def test_doctor_and_stats_say_what_waits_for_the_model_and_until_when(tmp_path: Path) -> None:
    with serving() as service:
        succeeded("import", talk(tmp_path / "talk.jsonl"), "--no-settle")
        waits = "when a conversation has 40 new messages or has been quiet for 180 seconds"
        waits += ", and its person 60 messages in all"
        assert doctor(service)["facts"] == (
            f"ok facts 5 messages wait; the model does them {waits}, or now with `everword worker --once`"
        )
        asyncio.run(read_by_rules())
        assert doctor(service)["facts"].startswith("ok facts 5 messages are read by rules; the model does them when")
        assert doctor(service)["tiers"].startswith("ok tiers 5 messages wait; the model does them when")
        assert doctor(service)["index"].startswith("warn index 5 messages behind")
        told = " ".join(succeeded("stats", env=model(service)).split())
        assert f"view facts 5 messages behind; the model does them {waits}" in told
        assert doctor(service)["facts"].startswith("ok")
        assert service.requests == []
    assert "warn facts" in succeeded("doctor")  # without a model nothing waits


@pytest.mark.checklist("G4")
def test_doctor_warns_of_what_the_model_should_have_done_by_now() -> None:
    place = {"conversation": "chat", "user": "alex", "role": "user"}
    lines = [json.dumps({**place, "content": f"Bread number {number}"}) + "\n" for number in range(60)]
    with serving() as service:
        succeeded("import", "-", "--no-settle", input="".join(lines[:-1]))
        assert doctor(service)["tiers"].startswith("ok tiers 59 messages wait; the model does them when")
        succeeded("import", "-", "--no-settle", input=lines[-1])
        assert doctor(service)["tiers"].startswith("warn tiers 60 messages behind: `everword worker` brings it up")
        assert service.requests == []


def views() -> dict[str, int]:
    return {view["view"]: view["behind"] for view in json.loads(succeeded("stats", "--json"))["views"]}


def test_every_view_is_brought_up_and_can_be_rebuilt(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "talk.jsonl"), "--no-settle")
    assert {"index", "tiers", "window"} <= set(views())
    behind = {view for view, count in views().items() if count}
    assert behind >= {"index", "tiers"}
    warned = succeeded("doctor").splitlines()
    assert {line.split()[1] for line in warned if line.startswith("warn")} == behind
    assert succeeded("worker", "--once") == "caught up: 5 messages brought in\n"
    assert set(views().values()) == {0}
    for view in views():
        assert succeeded("rebuild", view) == f"{view}: 5 messages brought in\n"
        assert set(views().values()) == {0}
    assert f"must be one of {', '.join(views())}" in failed("rebuild", "inbox")
