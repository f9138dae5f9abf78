"""Published sets of long conversations with questions, read into one shape.

A haystack is what one person's memory would hold: sessions of turns. A question names the turns that answer it,
its evidence. LoCoMo's file holds one haystack a conversation; LongMemEval's gives each question its own sessions,
which are pooled here into one haystack, so that each question is searched among those of all. The files have
flaws; what is repaired or left out is said in the notes, so that a figure can be compared with another's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from everword.errors import InvalidInput
from quality.beam import is_beam, load_beam
from quality.shapes import (
    AFTER_THE_LAST,
    BETWEEN_TURNS,
    Dataset,
    Haystack,
    Question,
    Session,
    Turn,
    after_the_last,
)

__all__ = ["AFTER_THE_LAST", "Dataset", "Haystack", "Question", "Session", "Turn", "choose", "load", "sample", "select"]

Part = Literal["tune", "report", "all"]

LOCOMO, LONGMEMEVAL = "LoCoMo", "LongMemEval"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def load(path: str | Path) -> Dataset:
    """Read a file in LoCoMo's or LongMemEval's published format, as its content tells, or a folder of BEAM's."""
    if is_beam(Path(path)):
        return load_beam(Path(path))
    records = _records(Path(path))
    keys = set(records[0])
    if {"conversation", "qa"} <= keys:
        return _locomo(records)
    if {"haystack_sessions", "question"} <= keys:
        return _longmemeval(records)
    raise InvalidInput(
        "data",
        f"{path} is neither LoCoMo's format (`conversation` and `qa` in each entry) nor LongMemEval's "
        f"(`question` and `haystack_sessions`); its first entry has: {', '.join(sorted(map(str, keys))) or 'nothing'}",
    )


def select(dataset: Dataset, part: Part) -> Dataset:
    """One part of a set: to tune on, or to report. The same of each file, whatever else is in it.

    LoCoMo is parted by conversation, since its questions share their turns; LongMemEval by question.
    """
    if part == "all":
        return dataset
    if dataset.name == LOCOMO:
        kept = tuple(haystack for haystack in dataset.haystacks if _part_of(haystack.name) == part)
    else:
        kept = tuple(
            replace(haystack, questions=tuple(q for q in haystack.questions if _part_of(q.id) == part))
            for haystack in dataset.haystacks
        )
    return replace(dataset, haystacks=kept)


def sample(dataset: Dataset, count: int) -> Dataset:
    """That many questions of a set, drawn by their ids: the same every time. A haystack without one is left out."""
    drawn = sorted((sha256(q.id.encode()).digest(), q.id) for haystack in dataset.haystacks for q in haystack.questions)
    kept = {id for _, id in drawn[:count]}
    chosen = [
        replace(haystack, questions=tuple(q for q in haystack.questions if q.id in kept))
        for haystack in dataset.haystacks
    ]
    return replace(dataset, haystacks=tuple(haystack for haystack in chosen if haystack.questions))


def choose(file: str | Path, part: str, limit: int | None = None) -> Dataset:
    """The questions of a file that a command asks for: of one part, and at most so many; there has to be one."""
    dataset = select(load(file), "tune" if part == "tune" else "report" if part == "report" else "all")
    dataset = dataset if limit is None else sample(dataset, limit)
    if not dataset.questions:
        raise InvalidInput("part", f"{file} has no question in the part {part!r}; use another, or all")
    return dataset


def _part_of(id: str) -> Part:
    return "tune" if sha256(f"part:{id}".encode()).digest()[-1] % 2 else "report"


# -- the file


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput("data", f"cannot read {path}: {error.strerror or error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("data", f"{path} is not JSON, or only a part of it was downloaded: {error}") from error
    except RecursionError as error:
        raise InvalidInput("data", f"{path} is nested too deeply to be one of the known sets") from error
    if not isinstance(content, list) or not content or not all(isinstance(entry, dict) for entry in content):
        raise InvalidInput("data", f"{path} is not a list of objects, as the known sets are")
    return content


def _field(entry: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: str) -> Any:
    value = entry.get(name)
    if not isinstance(value, kind):
        found = "missing" if name not in entry else f"{type(value).__name__}"
        raise InvalidInput("data", f"{where}: `{name}` is {found}; is the file complete and unchanged?")
    return value


def _objects(values: list[Any], where: str) -> list[dict[str, Any]]:
    if not all(isinstance(value, dict) for value in values):
        raise InvalidInput("data", f"{where}: a list of something else than objects; is the file unchanged?")
    return values


def _moment(text: str, pattern: str, where: str) -> datetime:
    try:
        return datetime.strptime(text, pattern).replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput("data", f"{where}: {text!r} is not a date as this set writes them") from error


def _counted(counts: Counter[str]) -> list[str]:
    return [f"{what}: {count}" for what, count in counts.items()]


# -- LoCoMo


def _locomo(records: list[dict[str, Any]]) -> Dataset:
    notes: list[str] = []
    haystacks = tuple(_locomo_haystack(record, i, notes) for i, record in enumerate(records, 1))
    _unique([haystack.name for haystack in haystacks], "conversations")
    return Dataset(LOCOMO, haystacks, tuple(notes))


def _locomo_haystack(record: Mapping[str, Any], number: int, notes: list[str]) -> Haystack:
    name = str(record.get("sample_id") or f"conversation-{number}")
    said = _field(record, "conversation", dict, name)
    numbers = sorted(int(key[8:]) for key in said if re.fullmatch(r"session_\d+", key))
    sessions = tuple(_locomo_session(said, n, name, notes) for n in numbers)
    turns = [turn for session in sessions for turn in session.turns]
    if not turns:
        raise InvalidInput("data", f"{name}: no `session_N` with turns; is the file complete?")
    _unique([turn.id for turn in turns], f"turns of {name}")
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    asked_at = after_the_last(turns)
    questions: list[Question] = []
    for i, entry in enumerate(_objects(_field(record, "qa", list, name), name), 1):
        where = f"{name}, question {i}"
        evidence = tuple(_locomo_evidence(_field(entry, "evidence", list, where), home, where, notes))
        if not evidence:
            notes.append(f"{where}: left out, no evidence")
            continue
        category = _field(entry, "category", int, where)
        questions.append(
            Question(
                f"{name}/{i}",
                str(_field(entry, "question", str, where)),
                str(entry.get("answer", entry.get("adversarial_answer", ""))),
                evidence,
                tuple(dict.fromkeys(home[id] for id in evidence)),
                _CATEGORIES.get(category, f"category {category}"),
                asked_at,
            )
        )
    return Haystack(name, sessions, tuple(questions), continuous=True)


def _locomo_session(said: Mapping[str, Any], number: int, name: str, notes: list[str]) -> Session:
    id = f"session_{number}"
    where = f"{name}, {id}"
    time = _moment(_field(said, f"{id}_date_time", str, where).strip(), "%I:%M %p on %d %B, %Y", where)
    turns = []
    for i, entry in enumerate(_objects(_field(said, id, list, where), where)):
        text, caption = _field(entry, "text", str, where).strip(), entry.get("blip_caption")
        text = f"{text} [{caption}]".strip() if caption else text
        turn = str(_field(entry, "dia_id", str, where))
        if not text:
            notes.append(f"{where}: turn {turn} left out, it is empty")
            continue
        turns.append(Turn(turn, _field(entry, "speaker", str, where), "user", text, time + i * BETWEEN_TURNS))
    return Session(id, time, tuple(turns))


def _locomo_evidence(given: list[Any], known: Mapping[str, str], where: str, notes: list[str]) -> Iterator[str]:
    """The turns a question's evidence means: several written as one are parted, misspelt ones are put right."""
    seen: set[str] = set()
    for text in map(str, given):
        found = [f"D{int(session)}:{int(turn)}" for session, turn in re.findall(r"D:?\s*(\d+)\s*:\s*(\d+)", text)]
        if found != [text]:
            notes.append(f"{where}: evidence {text!r} " + (f"read as {', '.join(found)}" if found else "left out"))
        for id in found:
            if id not in known:
                notes.append(f"{where}: evidence {id} left out, there is no such turn")
            elif id not in seen:
                seen.add(id)
                yield id


# -- LongMemEval


def _longmemeval(records: list[dict[str, Any]]) -> Dataset:
    pool: dict[str, Session] = {}
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    for i, record in enumerate(records, 1):
        id = str(_field(record, "question_id", str, f"question {i}"))
        renamed, evidence = _longmemeval_sessions(record, id, pool, counts)
        if id.endswith("_abs") or not evidence:
            counts["questions left out, without an answer in the sessions (abstention)"] += 1
            continue
        given = [str(session) for session in _field(record, "answer_session_ids", list, id)]
        homes = tuple(dict.fromkeys(renamed[session] for session in given if session in renamed))
        asked_at = _longmemeval_moment(_field(record, "question_date", str, id), id)
        questions.append(
            Question(
                id,
                str(_field(record, "question", str, id)),
                str(record.get("answer", "")),
                evidence,
                homes,
                str(_field(record, "question_type", str, id)),
                asked_at,
            )
        )
    _unique([question.id for question in questions], "questions")
    in_order = tuple(sorted(pool.values(), key=lambda session: (session.time, session.id)))
    return Dataset(LONGMEMEVAL, (Haystack("pooled", in_order, tuple(questions)),), tuple(_counted(counts)))


def _longmemeval_sessions(
    record: Mapping[str, Any], question: str, pool: dict[str, Session], counts: Counter[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Put a question's sessions into the pool. Under which names they are there, and the turns with the answer."""
    ids = [str(id) for id in _field(record, "haystack_session_ids", list, question)]
    dates, sessions = (
        _field(record, "haystack_dates", list, question),
        _field(record, "haystack_sessions", list, question),
    )
    if not len(ids) == len(dates) == len(sessions):
        raise InvalidInput("data", f"{question}: {len(ids)} session ids, {len(dates)} dates, {len(sessions)} sessions")
    renamed: dict[str, str] = {}
    evidence: list[str] = []
    for id, date, entries in zip(ids, dates, sessions, strict=True):
        where = f"{question}, session {id}"
        if not isinstance(entries, list):
            raise InvalidInput("data", f"{where}: not a list of turns; is the file unchanged?")
        session = _longmemeval_session(id, str(date), _objects(entries, where), where, counts)
        session = _pooled(session, pool, counts)
        renamed[id] = session.id
        answering = {i for i, entry in enumerate(entries, 1) if entry.get("has_answer")}
        evidence += [turn.id for turn in session.turns if int(turn.id.rpartition(":")[2]) in answering]
    return renamed, tuple(dict.fromkeys(evidence))


def _longmemeval_session(
    id: str, date: str, entries: list[dict[str, Any]], where: str, counts: Counter[str]
) -> Session:
    time = _longmemeval_moment(date, where)
    turns = []
    for i, entry in enumerate(entries, 1):
        role, text = _field(entry, "role", str, where), _field(entry, "content", str, where)
        if role not in ("user", "assistant"):
            raise InvalidInput("data", f"{where}: role {role!r} is neither user nor assistant")
        if not text.strip():
            counts["turns left out, being empty"] += 1
            continue
        turns.append(Turn(f"{id}:{i}", role, role, text, time + i * BETWEEN_TURNS))
    return Session(id, time, tuple(turns))


def _pooled(session: Session, pool: dict[str, Session], counts: Counter[str]) -> Session:
    """The session as the pool has it: once, if several questions share it; under another name, if it differs."""
    base, copy = session.id, 1
    while (known := pool.setdefault(session.id, session)) is not session:
        if [turn.text for turn in known.turns] == [turn.text for turn in session.turns]:
            what = (
                "shared by questions, pooled once"
                if known.time == session.time
                else ("shared by questions under different dates, pooled once under the first")
            )
            counts[f"sessions {what}"] += 1
            return known
        copy += 1
        id = f"{base}#{copy}"
        turns = tuple(replace(turn, id=f"{id}:{turn.id.rpartition(':')[2]}") for turn in session.turns)
        session = replace(session, id=id, turns=turns)
    if copy > 1:
        counts["sessions with the id of another, kept under a new one"] += 1
    return session


def _longmemeval_moment(text: str, where: str) -> datetime:
    return _moment(re.sub(r"\s*\([^)]*\)\s*", " ", text).strip(), "%Y/%m/%d %H:%M", where)


def _unique(ids: list[str], what: str) -> None:
    twice = [id for id, count in Counter(ids).items() if count > 1]
    if twice:
        raise InvalidInput("data", f"{what}: {twice[0]!r} is there twice; is the file unchanged?")
