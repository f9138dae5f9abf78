"""What `python -m benchmarks topics` reads, how it measures, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from recall_sets import written

from everword.errors import InvalidInput
from everword.models.embedding.local import StaticEmbedder
from everword.topics.rules.topics import TopicRule
from quality.dialogues import Dialogue, Line, among_people, load
from quality.main import program
from quality.segmentation import by_chance, in_windows, score, tiling, window
from quality.topics import OURS, RANDOM, TILING, assigned, evaluate

ROOF = ("The roofer found three broken tiles.", "Are new tiles for the roof expensive?", "The tiles cost forty euros.")
CELLO = ("Do you play any instrument?", "I play the cello in a quartet.", "A cello quartet needs a good viola.")
BREAD = ("What is your favourite bread?", "Sourdough bread with rye flour.", "Rye flour bread keeps for days.")
TEXTS = (*ROOF, *CELLO, *BREAD)
SHIFTS = (0, 0, 0, 1, 0, 0, 1, 0, 0)


def dialogue(*shifts: int) -> Dialogue:
    return Dialogue("one", tuple(Line(f"text {n}", "user", bool(shift)) for n, shift in enumerate(shifts)))


def tiage(texts: tuple[str, ...] = TEXTS, shifts: tuple[int, ...] = SHIFTS) -> list[list[str]]:
    return [[text, "-1" if not n else str(shift)] for n, (text, shift) in enumerate(zip(texts, shifts, strict=True))]


def turns(role: str = "agent") -> list[dict[str, Any]]:
    """SuperDialseg's: the label stands where a subject ends."""
    ends = (*SHIFTS[1:], 0)
    return [
        {"role": "user" if n % 2 == 0 else role, "utterance": text, "segmentation_label": end, "topic_id": n // 3}
        for n, (text, end) in enumerate(zip(TEXTS, ends, strict=True))
    ]


# -- the files


@pytest.mark.parametrize(
    "content",
    [
        {"7": tiage()},
        {"dial_data": {"superdialseg-v2": [{"dial_id": "7", "turns": turns("user")}]}},
        [{"dial_id": 7, "turns": [{k: v for k, v in t.items() if k != "segmentation_label"} for t in turns("user")]}],
        [{"dial_id": 7, "utterances": list(TEXTS), "segments": [3, 3, 3], "set": "test"}],
        {"dial_id": 7, "utterances": list(TEXTS), "segments": [3, 3, 3]},
        [{"id": 7, "utterances": list(TEXTS), "segmentation_labels": [*SHIFTS[1:], 0]}],
    ],
    ids=["tiage", "superdialseg", "topic ids", "segments", "one object", "labels"],
)
def test_every_format_says_the_same(tmp_path: Path, content: Any) -> None:
    marked = load(written(tmp_path / "set.json", content))
    (one,) = marked.dialogues
    assert one.name == "7"
    assert [line.text for line in one.lines] == list(TEXTS)
    assert list(map(int, one.shifts)) == list(SHIFTS)
    assert (marked.messages, marked.shifts, marked.assistants) == (9, 2, False)


def test_lines_of_json_and_text_with_partings_are_read(tmp_path: Path) -> None:
    record = {"dial_id": 7, "utterances": list(TEXTS), "segments": [3, 3, 3]}
    rows = tmp_path / "set.jsonl"
    rows.write_text(f"{json.dumps(record)}\n\n{json.dumps({**record, 'dial_id': 8})}\n", encoding="utf-8")
    assert [one.name for one in load(rows).dialogues] == ["7", "8"]
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.txt").write_text("\ufeff" + "\n=====\n".join("\n".join(p) for p in (ROOF, CELLO, BREAD)))
    assert [list(map(int, one.shifts)) for one in load(folder / "a.txt").dialogues] == [list(SHIFTS)]
    assert [one.name for one in load(folder).dialogues] == ["a", "b"]


def test_an_agent_is_an_assistant_unless_told_otherwise(tmp_path: Path) -> None:
    marked = load(written(tmp_path / "set.json", [{"dial_id": 1, "turns": turns()}]))
    assert marked.assistants
    assert [line.role for line in marked.dialogues[0].lines][:2] == ["user", "assistant"]
    assert not among_people(marked).assistants


def test_dialogues_without_a_place_to_shift_are_left_out_and_said(tmp_path: Path) -> None:
    marked = load(written(tmp_path / "set.json", {"1": tiage(), "2": [["Alone.", "-1"]], "3": []}))
    assert [one.name for one in marked.dialogues] == ["1"]
    assert marked.notes == ("left out, fewer than two messages: 2",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("3", "no list of dialogues"),
        ("[]", "no list of dialogues"),
        ("[3]", "no object"),
        ('[{"question": "?"}]', "neither `turns` nor `utterances`"),
        ('{"a": [["text", "2"]]}', "no list of [text, -1 | 0 | 1]"),
        ('{"a": [["text", "0"], ["more", "0"]]}', "marks no shift"),
        ('[{"turns": [{"text": "?"}]}]', "no `utterance`"),
        ('[{"turns": [{"utterance": "?"}]}]', "no `segmentation_label`"),
        ('[{"utterances": ["a", "b"], "segments": [1, 2]}]', "add up to 3"),
        ('[{"utterances": ["a", "b"], "segments": ["1"]}]', "no `segments`"),
        ('[{"utterances": ["a", 3], "segments": [1, 1]}]', "not all text"),
    ],
)
def test_what_is_none_of_the_formats_is_refused_with_the_reason(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "set.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match="data") as error:
        load(path)
    assert said in str(error.value)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name, said in (("nowhere.json", "cannot read"), ("bytes", "not text in UTF-8"), (".", "no file that ends in")):
        with pytest.raises(InvalidInput) as error:
            load(tmp_path / name)
        assert said in str(error.value)


# -- the measures, worked out by hand


def test_the_window_is_half_a_segment() -> None:
    assert window([False] * 16) == 8
    assert window([False, True] * 8) == 2
    assert window([False, False]) == 1
    assert in_windows([False, True, False, True], 2).tolist() == [1, 1]


def test_a_perfect_answer_a_near_miss_and_none() -> None:
    true = dialogue(0, 0, 0, 0, 1, 0, 0, 0)
    perfect = score([true], [true.shifts])
    assert (perfect.pk, perfect.window_diff, perfect.f1, perfect.precision, perfect.recall) == (0, 0, 1, 1, 1)
    # Windows of 2: the shift before message 4 is in those that begin at 2 and 3, one before 5 in those at 3 and 4.
    late = score([true], [dialogue(0, 0, 0, 0, 0, 1, 0, 0).shifts])
    assert [late.pk, late.window_diff, late.f1] == pytest.approx([2 / 6, 2 / 6, 0])
    nothing = score([true], [[False] * 8])
    assert [nothing.pk, nothing.f1, nothing.precision, nothing.recall] == pytest.approx([2 / 6, 0, 0, 0])


def test_window_diff_counts_what_pk_does_not_see() -> None:
    true = dialogue(0, 0, 0, 1, 0, 0)
    twice = score([true], [dialogue(0, 0, 1, 1, 0, 0).shifts])
    assert twice.window_diff > twice.pk
    assert [twice.precision, twice.recall, twice.f1] == pytest.approx([0.5, 1, 2 / 3])


def test_a_mark_on_the_first_message_is_ignored() -> None:
    true = dialogue(0, 0, 1, 0)
    assert score([true], [[True, False, True, False]]) == score([true], [true.shifts])


def test_chance_finds_its_rate_and_is_the_same_every_time() -> None:
    dialogues = [dialogue(0, 0, 1, 0, 0, 0, 1, 0, 0, 0) for _ in range(20)]
    drawn = by_chance(dialogues)
    assert drawn == by_chance(dialogues)
    assert drawn.f1 == pytest.approx(2 / 9, abs=0.02)


def test_text_tiling_finds_the_dip() -> None:
    one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    vectors = np.array([one, one, one, other, other, other], dtype=np.float32)
    assert tiling(vectors, 0.5) == [False, False, False, True, False, False]
    assert not any(tiling(np.array([one] * 6, dtype=np.float32), -0.5))
    assert not any(tiling(np.zeros((4, 2), dtype=np.float32), -0.5))
    assert tiling(vectors[2:4], 0.0) == [False, False]


# -- the product


def test_topics_change_where_the_subject_does() -> None:
    vectors = StaticEmbedder().embed_now(TEXTS)
    lines = tuple(Line(text, "user", bool(shift)) for text, shift in zip(TEXTS, SHIFTS, strict=True))
    found = assigned(Dialogue("one", lines), vectors, TopicRule(similarity=0.5))
    assert found[0] is False
    assert [found[3], found[6]] == [True, True]
    assert sum(found) <= 3


def test_an_assistants_reply_never_changes_the_topic() -> None:
    lines = tuple(Line(text, "assistant" if n % 2 else "user", False) for n, text in enumerate(TEXTS))
    found = assigned(Dialogue("one", lines), StaticEmbedder().embed_now(TEXTS), TopicRule(similarity=0.5))
    assert not any(found[1::2])


def test_ours_and_the_others_are_measured_on_the_same_dialogues(tmp_path: Path) -> None:
    done: list[int] = []
    marked = load(written(tmp_path / "set.json", {str(n): tiage() for n in range(3)}))
    found = evaluate(marked, done=done.append)
    assert done == [1, 2, 3]
    assert (found.dialogues, found.messages, found.shifts) == (3, 27, 6)
    assert list(found.methods)[:3] == [OURS, RANDOM, TILING]
    assert found.methods[OURS].f1 > found.methods[RANDOM].f1


# -- the command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, ["topics", *map(str, arguments)])


def test_it_prints_a_table_a_file_and_says_who_is_better(tmp_path: Path) -> None:
    path = written(tmp_path / "set.json", {"1": tiage(), "2": tiage()})
    result = run("--data", path, "--data", path)
    assert result.exit_code == 0, result.output
    for word in ("2 dialogues (people), 18 messages, 4 shifts", OURS, RANDOM, TILING, "WindowDiff", "F1"):
        assert result.output.count(word) >= 2
    assert "than chance and TextTiling in all of Pk, WindowDiff and F1" in result.output


def test_it_prints_json(tmp_path: Path) -> None:
    path = written(tmp_path / "set.json", [{"dial_id": 1, "turns": turns()}])
    found = json.loads(run("--data", path, "--json").output)
    assert (found["file"], found["assistants"], found["shifts"]) == ("set.json", True, 2)
    assert set(found["methods"][OURS]) == {"pk", "window_diff", "f1", "precision", "recall"}
    assert json.loads(run("--data", path, "--json", "--people").output)["assistants"] is False


def test_a_file_of_another_kind_is_an_error_in_one_line(tmp_path: Path) -> None:
    result = run("--data", written(tmp_path / "set.json", [{"question": "?"}]))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
