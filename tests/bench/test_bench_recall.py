"""What `python -m benchmarks recall` reads, how it measures, and what it prints."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from itertools import chain
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from recall_sets import locomo_question, locomo_record, locomo_turn, longmemeval_records, written

from everword.errors import InvalidInput
from everword.models.embedding.local import StaticEmbedder
from quality import measures
from quality.baselines import METHODS, Baselines, Signals, TextIndex, as_indexed, embedded
from quality.datasets import Turn, load, sample, select
from quality.main import program
from quality.recall import OURS, OURS_AND_SUMMARIES, evaluate

# -- the files


def test_a_locomo_conversation_is_one_haystack_with_its_captions_speakers_and_times(tmp_path: Path) -> None:
    dataset = load(written(tmp_path / "set.json", [locomo_record("conv-a"), locomo_record("conv-b")]))
    assert (dataset.name, [haystack.name for haystack in dataset.haystacks]) == ("LoCoMo", ["conv-a", "conv-b"])
    haystack = dataset.haystacks[0]
    assert haystack.continuous
    assert [(session.id, len(session.turns)) for session in haystack.sessions] == [("session_1", 4), ("session_2", 2)]
    picture = haystack.turns[2]
    assert picture == Turn(
        "D1:3",
        "Ines",
        "user",
        "Biscuit. Look! [a photo of a thin dog on a sofa]",
        datetime(2031, 5, 8, 13, 56, 2, tzinfo=UTC),
    )
    assert haystack.sessions[1].time == datetime(2031, 6, 2, 0, 5, tzinfo=UTC)
    assert all(question.asked_at > max(turn.time for turn in haystack.turns) for question in haystack.questions)


def test_flawed_evidence_is_repaired_or_left_out_and_said(tmp_path: Path) -> None:
    dataset = load(written(tmp_path / "set.json", [locomo_record()]))
    asked = {question.id: question for question in dataset.haystacks[0].questions}
    assert {id: question.evidence for id, question in asked.items()} == {
        "conv-a/1": ("D1:1",),
        "conv-a/2": ("D1:3",),
        "conv-a/3": ("D1:4", "D2:1"),
        "conv-a/4": ("D2:2",),
    }
    assert asked["conv-a/3"].sessions == ("session_1", "session_2")
    assert [question.category for question in asked.values()] == ["single-hop", "multi-hop", "multi-hop", "adversarial"]
    assert [asked[f"conv-a/{i}"].answer for i in (3, 4)] == ["7", "Tomas"]
    assert dataset.notes == (
        "conv-a, question 3: evidence 'D1:4; D2:01' read as D1:4, D2:1",
        "conv-a, question 4: evidence 'D:2:2' read as D2:2",
        "conv-a, question 4: evidence D9:9 left out, there is no such turn",
        "conv-a, question 5: left out, no evidence",
    )


def test_longmemevals_sessions_are_pooled_and_its_unanswerable_questions_counted(tmp_path: Path) -> None:
    dataset = load(written(tmp_path / "set.json", longmemeval_records()))
    (haystack,) = dataset.haystacks
    assert dataset.name == "LongMemEval"
    assert not haystack.continuous
    assert sorted(session.id for session in haystack.sessions) == ["s1", "s2", "s2#2"]
    assert {question.id: (question.evidence, question.sessions) for question in haystack.questions} == {
        "q1": (("s1:1",), ("s1",)),
        "q2": (("s2:2",), ("s2",)),
        "q3": (("s2#2:1",), ("s2#2",)),
    }
    assert haystack.questions[0].asked_at == datetime(2031, 6, 10, 23, 7, tzinfo=UTC)
    assert haystack.questions[2].category == "multi-session"
    assert set(dataset.notes) == {
        "sessions shared by questions under different dates, pooled once under the first: 1",
        "sessions shared by questions, pooled once: 1",
        "sessions with the id of another, kept under a new one: 1",
        "questions left out, without an answer in the sessions (abstention): 1",
    }


def broken(change: Any) -> list[dict[str, Any]]:
    record = locomo_record()
    change(record)
    return [record]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"1": [["hello", "-1"]]}, "not a list of objects"),
        ([], "not a list of objects"),
        ([{"messages": []}], "neither LoCoMo's format"),
        (broken(lambda r: r.update(conversation={})), "no `session_N` with turns"),
        (broken(lambda r: r["conversation"].pop("session_1_date_time")), "`session_1_date_time` is missing"),
        (broken(lambda r: r["conversation"].update(session_1_date_time="May 2031")), "is not a date"),
        (broken(lambda r: r["conversation"]["session_1"][1].pop("text")), "`text` is missing"),
        (broken(lambda r: r["conversation"]["session_1"].append("hello")), "something else than objects"),
        (broken(lambda r: r["conversation"]["session_2"].append(locomo_turn("D1:1", "Ines", "Hm"))), "is there twice"),
        (broken(lambda r: r.update(qa={})), "`qa` is dict"),
        ([locomo_record(), locomo_record()], "is there twice"),
        ([{**longmemeval_records()[0], "haystack_dates": []}], "1 session ids, 0 dates, 1 sessions"),
        ([{**longmemeval_records()[0], "haystack_sessions": [None]}], "not a list of turns"),
        ([{**longmemeval_records()[0], "question_date": "soon"}], "is not a date"),
        ([{**longmemeval_records()[0], "haystack_sessions": [[{"role": "cat", "content": "meow"}]]}], "neither user"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_place_and_the_reason(
    tmp_path: Path, content: Any, reason: str
) -> None:
    with pytest.raises(InvalidInput, match="data: ") as refused:
        load(written(tmp_path / "set.json", content))
    assert reason in str(refused.value)


def test_a_truncated_a_binary_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "set.json", [locomo_record()])
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(InvalidInput, match="only a part of it was downloaded"):
        load(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="is not JSON"):
        load(file)
    with pytest.raises(InvalidInput, match="cannot read"):
        load(tmp_path / "nothing.json")


def test_the_parts_are_disjoint_complete_and_the_same_in_every_file(tmp_path: Path) -> None:
    names = [f"conv-{i}" for i in range(20)]
    whole = load(written(tmp_path / "whole.json", [locomo_record(name) for name in names]))
    parts = {part: {haystack.name for haystack in select(whole, part).haystacks} for part in ("tune", "report", "all")}
    assert parts["tune"] | parts["report"] == set(names) == parts["all"]
    assert parts["tune"]
    assert parts["report"]
    assert not parts["tune"] & parts["report"]
    some = load(written(tmp_path / "some.json", [locomo_record(name) for name in names[:7]]))
    assert {haystack.name for haystack in select(some, "tune").haystacks} == parts["tune"] & set(names[:7])

    records = [{**longmemeval_records()[0], "question_id": f"q{i}"} for i in range(40)]
    pooled = load(written(tmp_path / "pooled.json", records))
    tune, report = select(pooled, "tune"), select(pooled, "report")
    assert tune.haystacks[0].sessions == report.haystacks[0].sessions == pooled.haystacks[0].sessions
    assert tune.questions + report.questions == 40
    assert min(tune.questions, report.questions) > 5


def test_a_sample_is_the_same_every_time(tmp_path: Path) -> None:
    whole = load(written(tmp_path / "set.json", [locomo_record(f"conv-{i}") for i in range(5)]))
    few = sample(whole, 3)
    assert few.questions == 3
    assert few == sample(whole, 3)
    assert all(haystack.questions for haystack in few.haystacks)
    more = {question.id for haystack in sample(whole, 8).haystacks for question in haystack.questions}
    assert {question.id for haystack in few.haystacks for question in haystack.questions} < more
    assert sample(whole, 1_000) == whole


# -- the measures


def test_the_three_recalls_differ_as_their_names_say() -> None:
    ranked = ["a", "x", "b", "y", "z", "c"]
    values = measures.of_turns(ranked, ["a", "c"])
    assert {name: values[name] for name in ("recall@5", "all@5", "any@5")} == {
        "recall@5": 0.5,
        "all@5": 0.0,
        "any@5": 1.0,
    }
    assert values["recall@10"] == values["all@10"] == 1.0
    assert values["ndcg@10"] == pytest.approx((1 + 1 / log2(7)) / (1 + 1 / log2(3)))


def test_measures_at_their_ends() -> None:
    assert set(measures.of_turns([], ["a"]).values()) == {0.0}
    assert set(measures.of_turns(["a"], ["a"]).values()) == {1.0}
    many = [f"m{i}" for i in range(30)]
    values = measures.of_turns(many, many)
    assert (values["recall@20"], values["all@20"], values["any@5"]) == (20 / 30, 0.0, 1.0)
    assert values["ndcg@10"] == pytest.approx(1.0)
    assert measures.recall(["a", "a", "b"], ["a", "b"], 2) == 0.5


def test_a_session_is_ranked_by_its_best_turn() -> None:
    home = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    ranked = measures.by_session(["b1", "a2", "a1", "c1"], home)
    assert ranked == ["b", "a", "c"]
    values = measures.of_sessions(ranked, ["b", "d"])
    assert (values["session recall@5"], values["session all@5"], values["session any@5"]) == (0.5, 0.0, 1.0)


def test_a_mean_is_over_the_questions_that_have_the_measure() -> None:
    assert measures.mean([{"x": 1.0, "y": 0.0}, {"x": 0.0}, {"x": 0.5}]) == {"x": 0.5, "y": 0.0}
    assert measures.mean([]) == {}


# -- the simple methods


def turn(id: str, speaker: str, text: str) -> Turn:
    return Turn(id, speaker, "user", text, datetime(2031, 1, 1, tzinfo=UTC))


def test_bm25_finds_other_forms_of_a_word_and_prefers_the_rare_one() -> None:
    index = TextIndex(["We were painting the fence", "the fence and the gate", "a fence, a paintbrush", "nothing else"])
    scores = index.scores("Who painted a fence?")
    assert scores.argmax() == 0
    assert scores[3] == 0
    # By hand: 3 of 4 texts have the word, which occurs once in a text of average length.
    assert TextIndex(["oak", "oak", "oak", "elm"]).scores("oak")[0] == pytest.approx(np.log1p(1.5 / 3.5))
    assert not index.scores("zebra").any()


def test_fusions_on_numbers_made_by_hand() -> None:
    signals = Signals(np.array([4.0, 0.0, 2.0, 0.0]), np.array([0.1, 0.9, 0.3, 0.1]), ["s", "s", "s", "t"])
    scores = {name: method(signals).tolist() for name, method in METHODS.items()}
    assert scores["BM25, stemmed"] == [4.0, 0.0, 2.0, 0.0]
    assert scores["vectors"] == [0.1, 0.9, 0.3, 0.1]
    assert scores["rank fusion"] == pytest.approx([1 / 61 + 1 / 63, 1 / 61, 1 / 62 + 1 / 62, 1 / 64])
    text, cosine = np.array([2.5, -1.5, 0.5, -1.5]), np.array([-0.25, 0.55, -0.05, -0.25])
    assert scores["sum of z-scores"] == pytest.approx(text / signals.text.std() + cosine / signals.cosine.std())
    near = np.array([4.0, 3.0, 2.0, 0.0])  # the fourth is of another session: its neighbour's score is not its own
    standing = (near - near.mean()) / near.std()
    assert scores["the same with neighbours"] == pytest.approx(standing + cosine / signals.cosine.std())


def test_all_methods_rank_every_turn_and_equals_in_order() -> None:
    turns = [turn("1", "Ines", "the cello"), turn("2", "Tomas", "the piano"), turn("3", "Ines", "a marmalade cake")]
    embedder = StaticEmbedder()
    vectors = asyncio.run(embedded(embedder, [as_indexed(one) for one in turns]))
    baselines = Baselines(turns, ["s", "s", "t"], vectors)
    query = "Who plays the piano, Tomas?"
    ranked = baselines.rank(query, asyncio.run(embedder.embed([query]))[0])
    assert list(ranked) == list(METHODS)
    assert all(sorted(ids) == ["1", "2", "3"] and ids[0] == "2" for ids in ranked.values())
    assert baselines.rank("???", np.zeros(embedder.width, np.float32))["sum of z-scores"] == ["1", "2", "3"]


def test_the_speaker_is_indexed_where_it_is_a_person() -> None:
    assert as_indexed(turn("1", "Ines", "hello")) == "Ines: hello"
    assert as_indexed(turn("1", "user", "hello")) == "hello"


# -- the evaluation


def test_the_engine_is_measured_in_the_time_of_the_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The talk is of 2031, which a log of today would refuse. A model is configured badly, and is not asked."""
    monkeypatch.setenv("EVERWORD_CHAT_MODEL", "some-model")
    monkeypatch.setenv("EVERWORD_STORE", str(tmp_path / "mine.db"))
    seen: list[tuple[str, int]] = []
    found = evaluate(load(written(tmp_path / "set.json", [locomo_record()])), progress=lambda *step: seen.append(step))
    assert (found.questions, found.turns, found.sessions, len(found.searches)) == (4, 6, 2, 4)
    assert [scope.name for scope in found.scopes] == ["all turns"]
    ours = found.scopes[0].table()[OURS]
    assert ours["recall@10"] == ours["all@10"] == ours["session any@5"] == 1.0
    assert found.scopes[0].categories == {"adversarial": 1, "multi-hop": 2, "single-hop": 1}
    assert list(found.coverage.table()) == [OURS, OURS_AND_SUMMARIES, "plain lines of all turns"]
    assert all(row["8000"] == 1.0 for row in found.coverage.table().values())
    assert sum(done for _, done in seen) == 4
    assert not (tmp_path / "mine.db").exists()


def test_over_user_turns_only_their_evidence_counts(tmp_path: Path) -> None:
    found = evaluate(load(written(tmp_path / "set.json", longmemeval_records())))
    user, everyone = found.scopes
    assert (user.name, everyone.name) == ("user turns", "all turns")
    by_question = {result.question: result.methods for result in user.results}
    # The answer to q2 was the assistant's: among user turns its session can be found, the turn cannot.
    assert "recall@5" not in by_question["q2"][OURS]
    assert by_question["q2"][OURS]["session any@5"] == 1.0
    assert all("recall@5" in result.methods[OURS] for result in everyone.results)
    assert everyone.table()[OURS]["recall@10"] == 1.0


def test_a_context_too_small_for_all_holds_a_part_of_the_evidence(tmp_path: Path) -> None:
    record = locomo_record()
    filler = " ".join(f"word{i}" for i in range(450))
    said = record["conversation"]["session_1"]
    said[:] = [locomo_turn(f"D1:{i}", "Ines", f"The cello piece number {i}: {filler}") for i in range(1, 5)]
    record["qa"] = [locomo_question("Which cello pieces are there?", [f"D1:{i}" for i in range(1, 5)])]
    found = evaluate(load(written(tmp_path / "set.json", [record])))
    for method, row in found.coverage.table().items():
        sizes = [row[size] for size in ("1000", "2000", "4000", "8000")]
        assert sizes == sorted(sizes)
        if method != OURS_AND_SUMMARIES:  # as excerpts, all of them fit
            assert row["1000"] < 1.0
            assert row["all 1000"] == 0.0


# -- the command


def bench(*arguments: object) -> Result:
    return CliRunner().invoke(program, ["recall", *map(str, arguments)])


def test_the_command_prints_an_object_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    friends = written(tmp_path / "friends.json", [locomo_record()])
    helper = written(tmp_path / "helper.json", longmemeval_records())
    before = sorted(tmp_path.iterdir())
    result = bench("--data", friends, "--data", helper, "--json")
    assert result.exit_code == 0, result.output
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert (first["dataset"], second["dataset"]) == ("LoCoMo", "LongMemEval")
    assert (first["questions"], second["questions"], second["part"]) == (4, 3, "all")
    assert set(first["ranking"]["all turns"]["methods"]) == {OURS, *METHODS}
    assert first["ranking"]["all turns"]["methods"][OURS]["recall@10"] == 1.0
    assert first["ranking"]["all turns"]["categories"]["multi-hop"]["questions"] == 2
    assert set(second["ranking"]) == {"user turns", "all turns"}
    measured = set(chain(measures.TURN_MEASURES, measures.SESSION_MEASURES))
    assert set(second["ranking"]["all turns"]["methods"]["vectors"]) == measured
    assert set(second["coverage"]["methods"]) == {
        OURS,
        OURS_AND_SUMMARIES,
        "plain lines of user turns",
        "plain lines of all turns",
    }
    assert sorted(tmp_path.iterdir()) == before


def test_the_command_prints_tables(tmp_path: Path) -> None:
    result = bench("--data", written(tmp_path / "set.json", longmemeval_records()), "--limit-questions", 2)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any(line.startswith("evidence in a context") for line in lines)
    assert lines[0] == "LongMemEval (set.json, part: all): 2 questions, 1 haystack, 3 sessions, 5 turns"
    assert any(line.startswith("note: questions left out") for line in lines)
    assert "ranking all turns (2 questions with evidence there)" in lines
    row = next(line.split() for line in lines if line.startswith("everword  "))
    assert row[1:] == ["100.0"] * (len(row) - 1)


def test_the_command_fails_in_one_line(tmp_path: Path) -> None:
    other = written(tmp_path / "other.json", [{"messages": []}])
    result = bench("--data", other)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: data: ")
    assert result.stderr.count("\n") == 1
    one = written(tmp_path / "one.json", [locomo_record()])
    codes = sorted(bench("--data", one, "--part", part, "--rankings-only").exit_code for part in ("tune", "report"))
    assert codes == [0, 1]
