"""`everword bench tokens`: a chat through the real engine, every token accounted for, and the point where it pays."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_driver import everword, failed, succeeded
from click.testing import CliRunner

from everword.cli.bench import ticks
from everword.context.reply_markers import InlineTiers, instructions, render_inline
from everword.models.tokens import TiktokenTokenizer
from everword.summaries.rules import shortened_messages
from quality.main import program as benchmarks

count = TiktokenTokenizer().count

TOPICS = ("the boiler", "the roof", "the garden wall", "the kitchen floor", "the north windows", "the cellar door")
CRAFTS = ("plumber", "roofer", "mason", "joiner", "glazier")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def asked(n: int) -> str:
    topic, craft = TOPICS[n % len(TOPICS)], CRAFTS[n % len(CRAFTS)]
    return (
        f"Next is {topic}. The {craft} offered to do it for {840 + 37 * n} euros, starting on the {n % 27 + 1}th, but "
        f"my sister thinks that is too dear. What would you look at before I say yes, and what should the contract say?"
    )


def answered(n: int) -> str:
    """About 300 tokens: as long as an assistant usually answers."""
    topic, craft = TOPICS[n % len(TOPICS)], CRAFTS[n % len(CRAFTS)]
    return "\n".join(
        [
            f"Before you say yes about {topic}, look at three things: the price, the material and who is liable.",
            f"1. Price: {840 + 37 * n} euros is {'high' if n % 2 else 'fair'} for two days of work. Ask the {craft} "
            f"for a second offer that lists hours and material apart, and compare it with one other firm nearby.",
            f"2. Material: ask for the maker and the type in writing. For {topic} I would take the better grade, which "
            f"costs about {60 + n} euros more and lasts {8 + n % 5} years longer, so it pays for itself.",
            "3. Liability: the firm has to be insured for damage to the house. Ask for a copy of the policy and check "
            "that it covers water and fire, since those are what goes wrong most often in old buildings.",
            f"In the contract I would want the date of the start, the date it is finished, a fixed price, ten percent "
            f"held back until {topic} has passed the first winter, and a guarantee of {2 + n % 4} years.",
            "Do not pay more than a third in advance. If the firm insists on more, that is a reason to go elsewhere, "
            "however kind they are. Your sister is right to be careful; a second offer costs you nothing but a call.",
        ]
    )


def chat(path: Path, exchanges: int, said: Any = (asked, answered), name: str = "house") -> Path:
    lines = [
        {"conversation": name, "user": "ines", "role": role, "content": write(n)}
        for n in range(exchanges)
        for role, write in zip(("user", "assistant"), said, strict=True)
    ]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def measured(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(succeeded("bench", "tokens", "--json", *arguments))
    return found


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A chat of twenty exchanges, and beside it the last three messages of each moment."""
    return measured("--data", chat(tmp_path_factory.mktemp("twenty") / "house.jsonl", 20), "--window", 3)


@pytest.mark.checklist("A11")
def test_a_chat_of_ordinary_messages_pays_by_turn_15(twenty: dict[str, Any]) -> None:
    """A11: with tier making counted in, less is spent than on the full history from turn 15 on, a turn being the user's
    message and its reply, as in the source; and every token is accounted for."""
    found, steps = twenty, twenty["steps"]
    assert [step["exchange"] for step in steps] == list(range(1, 21))
    assert [step["turn"] for step in steps] == list(range(1, 40, 2))
    spent = {way: list(accumulate(step[way] for step in steps)) for way in ("full", "sliding", "ours")}
    assert found["totals"] == {way: sums[-1] for way, sums in spent.items()}
    below = [mine < theirs for mine, theirs in zip(spent["ours"], spent["full"], strict=True)]
    crossing = found["crossing"]["exchange"]
    assert crossing <= 15
    assert found["crossing"]["turn"] == 2 * crossing - 1
    assert all(below[crossing - 1 :])
    assert not below[crossing - 2]
    assert found["ratio"] == pytest.approx(spent["ours"][-1] / spent["full"][-1])


@pytest.mark.checklist("A11")
def test_nothing_is_left_out_of_the_account(twenty: dict[str, Any]) -> None:
    """A11: the prompt with its instructions, the reply, and the tiers the model writes, against a count by hand."""
    said: list[int] = []
    for n, step in enumerate(twenty["steps"][:4]):
        question, answer = asked(n), answered(n)
        said.append(count(question) + 4)
        assert step["full"] == 3 + sum(said) + count(answer)
        assert step["sliding"] == 3 + sum(said[-3:]) + count(answer)
        assert step["ours"] == step["prompt"] + step["reply"] + step["beside"] + step["memory"]
        assert step["reply"] == count(answer)
        assert step["prompt"] >= 3 + sum(said) + 4 + count(instructions(asking=False)), "all of it is verbatim so far"
        of_user, of_reply = (
            shortened_messages.write_tiers(question, count),
            shortened_messages.write_tiers(answer, count),
        )
        block = render_inline(InlineTiers(of_user.tier1, of_user.tier2, of_reply.tier1, of_reply.tier2))
        assert step["beside"] == count(f"{answer}\n{block}") - count(answer) > 100
        assert (step["memory"], step["calls"]) == (0, 1)
        said.append(count(answer) + 4)


@pytest.mark.checklist("A11")
def test_tiers_made_apart_are_counted_with_their_prompts(twenty: dict[str, Any]) -> None:
    """A11, A8: if a second call makes the tiers, its prompt and its answer are spent as well."""
    apart = measured("--data", chat(Path("house.jsonl"), 3), "--tiers", "apart")
    for one, other in zip(twenty["steps"][:3], apart["steps"], strict=True):
        assert other["beside"] == 0
        assert other["memory"] > one["beside"] + count(asked(0)) + count(answered(0))


@pytest.mark.checklist("A11")
def test_a_model_that_asks_for_more_pays_for_the_further_call() -> None:
    found = measured("--data", chat(Path("house.jsonl"), 10), "--ask-every", 3, "--budget", "compact")
    calls = [step["calls"] for step in found["steps"]]
    assert set(calls) == {1, 2}
    at = calls.index(2)
    assert found["steps"][at]["prompt"] > 1.7 * found["steps"][at - 1]["prompt"]


@pytest.mark.checklist("A12")
def test_short_messages_cost_no_tiers_and_a_short_chat_does_not_pay() -> None:
    """A12: nothing is generated for messages too short to gain from it; the command says so if there is no crossing."""
    data = chat(Path("short.jsonl"), 3, (lambda n: f"Is {n} enough?", lambda n: f"Yes, {n} will do."))
    found = measured("--data", data)
    assert [step["beside"] + step["memory"] for step in found["steps"]] == [0] * 3
    assert found["crossing"] is None
    assert "Not below the full history" in succeeded("bench", "tokens", "--data", data)


@pytest.mark.checklist("A11")
def test_it_shows_a_table_a_chart_and_draws_a_picture() -> None:
    text = succeeded("bench", "tokens", "--turns", 24, "--out", "curve.svg")
    assert "Replayed: questions about Python's standard library" in text
    assert "24 messages in 12 exchanges" in text
    rows = [line.split() for line in text.splitlines() if line[:4].strip().isdigit()]
    assert [row[:2] for row in rows] == [["5", "3"], ["9", "5"], ["15", "8"], ["19", "10"], ["23", "12"]]
    assert all(int(row[2].replace(",", "")) > 0 for row in rows)
    assert "# everword" in text
    assert "In all: full history" in text
    assert "below the full history" in text.lower()
    picture = ElementTree.parse("curve.svg").getroot()
    assert len(picture.findall("{*}polyline")) == 3
    words = [element.text for element in picture.findall("{*}text")]
    assert {"full history", "last 20 messages", "everword", "turn (message)", "tokens"} <= set(words)


def test_the_longest_conversation_is_replayed_or_the_one_named() -> None:
    data = chat(chat(Path("two.jsonl"), 2), 1, name="other")
    assert measured("--data", data)["replayed"] == "house of two.jsonl"
    assert len(measured("--data", data, "--conversation", "other")["steps"]) == 1
    assert len(measured("--data", data, "--turns", 3)["steps"]) == 1
    assert "there is no 'third'" in failed("bench", "tokens", "--data", data, "--conversation", "third")


def test_a_published_set_is_read_and_people_take_turns() -> None:
    """Of two people the first to speak stands for the user; what one says in several messages is one message."""
    said = [("Ann", "Hello Ben."), ("Ben", "Hello."), ("Ben", "How are you?"), ("Ann", "Fine, thank you.")]
    turns = [{"speaker": who, "dia_id": f"D1:{n}", "text": text} for n, (who, text) in enumerate(said, 1)]
    record = {"conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}, "qa": []}
    Path("set.json").write_text(json.dumps([record]), encoding="utf-8")
    result = CliRunner().invoke(benchmarks, ["tokens", "--data", "set.json", "--json"])
    assert result.exit_code == 0, result.output
    (step,) = json.loads(result.stdout)["steps"]
    assert step["reply"] == count("Hello.\nHow are you?")


def test_what_cannot_be_replayed_is_said_in_a_line() -> None:
    Path("alone.jsonl").write_text('{"conversation": "c", "role": "user", "content": "Anybody?"}\n', encoding="utf-8")
    assert "contains no answered message" in failed("bench", "tokens", "--data", "alone.jsonl")
    assert "missing.jsonl" in failed("bench", "tokens", "--data", "missing.jsonl")
    Path("odd.json").write_text("[1, 2]", encoding="utf-8")
    assert "odd.json" in failed("bench", "tokens", "--data", "odd.json")
    assert "--data" in failed("bench", "tokens", "--conversation", "c")
    assert "are too many" in failed("bench", "tokens", "--turns", 100_000)
    assert everword("bench", "tokens", "--budget", "huge").exit_code == 2
    assert everword("bench", "tokens", "--turns", 1).exit_code == 2


def test_ticks_are_round_and_few() -> None:
    assert ticks(100) == [0, 20, 40, 60, 80, 100]
    for most in (1, 7, 39, 255_565, 10_387_885):
        found = ticks(most)
        assert 4 <= len(found) <= 9
        assert found[-1] <= most
