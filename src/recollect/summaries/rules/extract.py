"""Summaries of messages without a model: the sentences with the most content, and who said them.

The result is a list of lines, each with its speaker, its turn and its time; `lines.render_lines` writes them as text.
`gist` chooses lines of messages, `condense` chooses among the lines of several extracts: who said what is never read
from a text. A summary is never over the limit, and never empty if there is a word and room for one. Only a bounded part
is read. What is chosen is decided in `sentence_choice`, what stands alone in `text.standalone`, what was
corrected in `text.corrections`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from recollect.model import ExtractLine
from recollect.summaries.rules import tiers
from recollect.summaries.rules.lines import (
    NAMELESS,
    Lines,
    SpokenLine,
    guard_words,
    render_lines,
    speaker_labels,
    speaker_of,
    whole_line,
)
from recollect.summaries.rules.sentence_choice import (
    Count,
    SummarySentence,
    choose_lines,
    cut_to_tokens,
    drop_torn_end,
    has_word,
)
from recollect.text import fences
from recollect.text.corrections import ComparedSentence, find_corrections
from recollect.text.detect import detect
from recollect.text.filler import is_filler
from recollect.text.sentences import Sentence, limit_text, sentences, split_sentences
from recollect.text.standalone import ALONE, SourcedSentence, find_supports, stands_alone

MAX_CHARACTERS = 48_000
"""Characters that are read in all; if there are more, the longest texts are cut first."""


def gist(lines: Sequence[SpokenLine], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """A summary of the messages in at most `limit` tokens."""
    texts = limit_texts([line.text for line in lines])
    speakers = dict.fromkeys([(line.role, line.author) for line in lines])
    labels = {*NAMELESS, *speaker_labels(ExtractLine(0, role, author, "") for role, author in speakers).values()}
    statements = list(_read_statements(lines, texts, labels))
    language = _language(statements)
    statements = _with_corrections(_with_supports(statements, language), language)
    if chosen_lines := choose_lines(_without_repetition(statements), language, limit, count):
        return chosen_lines
    whole_texts = [
        ExtractLine(line.turn, line.role, line.author, text, line.time) for line, text in zip(lines, texts, strict=True)
    ]
    return _first_excerpt([*_excerpt_lines(statements), *whole_texts], limit, count)


def _read_statements(
    lines: Sequence[SpokenLine], texts: Sequence[str], labels: Collection[str]
) -> Iterator[SummarySentence]:
    """The sentences with a word, each with the line it would be shown in: that gets its text when it is chosen."""
    for number, (line, text) in enumerate(zip(lines, texts, strict=True)):
        lines_by_kind: dict[str, ExtractLine] = {}
        for sentence in sentences(text):
            words = sentence.text
            if not has_word(tiers.drop_markers(words)):
                continue
            kind = sentence.kind
            if kind not in lines_by_kind:
                lines_by_kind[kind] = ExtractLine(line.turn, line.role, line.author, "", line.time, kind)
            guarded_words = guard_words(words, labels)
            if guarded_words != words:
                sentence = replace(sentence, text=guarded_words)
            yield SummarySentence(number, lines_by_kind[kind], sentence)


def condense(parts: Sequence[Lines], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """One extract of several, oldest first; something of each is kept if there is room for it."""
    texts = iter(limit_texts([line.text for part in parts for line in part]))
    statements: list[SummarySentence] = []
    for number, part in enumerate(parts):
        first = len(statements)
        for at, line in enumerate(part):
            text = next(texts)
            if line.kind == "text":
                text = first_sentences(text, max(limit // len(parts), 1), count)
            needs = first + at - line.leans if 0 < line.leans <= at else None
            sentence = Sentence(text, line.kind if line.kind in ("item", "heading", "note") else "prose")  # type: ignore[arg-type]
            stands = bool(has_word(text)) and line.kind != "heading" and not (line.role and is_filler(sentence))
            statements.append(SummarySentence(number, replace(line, text=text), sentence, stands, needs))
    language = _language(statements)
    if not any(statement.stands for statement in statements):
        statements = [statement.with_changes(stands=True) for statement in statements]
    statements = _with_standing(statements, language)
    statements = _with_corrections(statements, language)
    chosen_lines = choose_lines(_without_repetition(statements), language, limit, count, traces=True)
    return chosen_lines or _first_excerpt(_excerpt_lines(statements), limit, count)


def first_sentences(text: str, limit: int, count: Count) -> str:
    """The whole sentences at the beginning of a line that fit `limit` tokens; if the first is too long, its words."""
    if count(text) <= limit:
        return text
    prefix = ""
    for sentence in split_sentences(text):
        longer = f"{prefix} {sentence}".strip()
        if count(longer) > limit:
            break
        prefix = longer
    return prefix or cut_to_tokens(text, limit, count)


def limit_texts(texts: Sequence[str]) -> list[str]:
    """The texts without invisible characters, the longest cut in the middle until the total is bounded."""
    limit = size_limit([len(text) for text in texts], MAX_CHARACTERS)
    return [fences.strip_invisible(_both_ends(limit_text(text), limit)) for text in texts]


def size_limit(sizes: Sequence[int], total: int) -> int:
    """The size to which the largest must be cut so that all together have at most `total`."""
    remaining = total
    for number, size in enumerate(sorted(sizes)):
        share = max(remaining, 0) // (len(sizes) - number)
        if size > share:
            return share
        remaining -= size
    return max(sizes, default=0)


def _both_ends(text: str, limit: int) -> str:
    """Three quarters from the beginning, the rest from the end."""
    return text if len(text) <= limit else f"{text[: limit - limit // 4]}\n\n{text[len(text) - limit // 4 :]}"


# -- what is known of the sentences


def _language(statements: Sequence[SummarySentence]) -> str:
    return detect(" ".join(statement.sentence.text for statement in statements[:40]))


def _with_supports(statements: Sequence[SummarySentence], language: str) -> list[SummarySentence]:
    """The statements with what each needs to be understood; if none stands alone, all of them do."""
    sourced = [
        SourcedSentence(statement.source, speaker_of(statement.line), statement.sentence) for statement in statements
    ]
    supports = find_supports(sourced, language)
    if not any(support.stands for support in supports):
        supported = [statement.with_changes(stands=not is_filler(statement.sentence)) for statement in statements]
        return supported if any(statement.stands for statement in supported) else list(statements)
    answered = {support.needs for support in supports} | {
        place
        for place, (statement, following) in enumerate(pairwise(statements))
        if following.source != statement.source and statement.sentence.is_question
    }
    return [
        statement
        if support is ALONE and place not in answered
        else SummarySentence(
            statement.source,
            statement.line,
            statement.sentence,
            support.stands,
            support.needs,
            is_answered=place in answered,
        )
        for place, (statement, support) in enumerate(zip(statements, supports, strict=True))
    ]


def _with_standing(statements: Sequence[SummarySentence], language: str) -> list[SummarySentence]:
    """The lines of extracts, those not to be chosen that can no longer be understood alone: an extract has such a line
    where its messages had nothing better. If none can be understood, all stay."""
    marked = [
        statement.with_changes(stands=False)
        if statement.stands and not _is_clear_line(statement, language)
        else statement
        for statement in statements
    ]
    marked = [
        statement.with_changes(stands=False) if statement.stands and not _is_led_in(marked, statement) else statement
        for statement in marked
    ]
    return marked if any(statement.stands for statement in marked) else list(statements)


def _is_led_in(statements: Sequence[SummarySentence], statement: SummarySentence) -> bool:
    """Whether the line that another needs can be understood: it stands, asks, or introduces a list."""
    if statement.needs is None:
        return True
    needed = statements[statement.needs]
    return needed.stands or needed.sentence.is_question or needed.sentence.text.rstrip().endswith((":", "："))


def _is_clear_line(statement: SummarySentence, language: str) -> bool:
    has_context = statement.needs is not None or not statement.line.role or statement.line.kind == "text"
    return has_context or stands_alone(statement.sentence, language)


def _with_corrections(statements: Sequence[SummarySentence], language: str) -> list[SummarySentence]:
    """The statements, with those marked that a later one corrects."""
    claims = [
        ComparedSentence(
            statement.line.turn,
            speaker_of(statement.line),
            statement.stands and statement.needs is None,
            statement.sentence.text,
            language,
        )
        for statement in statements
    ]
    marked = list(statements)
    for correction in find_corrections(claims):
        earlier = correction.earlier
        later = correction.later
        if correction.together and not marked[earlier].stands:
            continue  # what nobody can understand is not shown, and so needs no correction
        marked[earlier] = marked[earlier].with_changes(corrected_by=later)
        needs = earlier if correction.together else marked[later].needs
        marked[later] = marked[later].with_changes(corrects=True, stands=True, needs=needs)
    return marked


def _without_repetition(statements: Sequence[SummarySentence]) -> list[SummarySentence]:
    """The statements, with those that are said again word for word not to be chosen, except the last of them."""
    last_places = {statement.sentence.text: place for place, statement in enumerate(statements)}
    return [
        statement if last_places[statement.sentence.text] == place else statement.with_changes(stands=False)
        for place, statement in enumerate(statements)
    ]


def _excerpt_lines(statements: Sequence[SummarySentence]) -> list[ExtractLine]:
    """The lines that may be cut short, best first; never what was corrected."""
    current = [statement for statement in statements if statement.corrected_by is None]
    ranked = sorted(current, key=lambda statement: (not statement.stands, statement.needs is not None))
    return [replace(statement.line, text=statement.sentence.text) for statement in ranked]


def _first_excerpt(lines: Iterable[ExtractLine], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """As much of the first line with a word as there is room for: used if nothing else fits."""
    for line in lines:
        text = tiers.clean(line.text)
        if limit < 1 or not has_word(text):
            continue
        for form in (replace(line, text=text), whole_line(text, line.turn)[0]):
            if excerpt := _shorten_line(form, limit, count):
                return (excerpt,)
    return ()


def _shorten_line(line: ExtractLine, limit: int, count: Count) -> ExtractLine | None:
    """The beginning of a line that fits the limit with its speaker; None if not even a word does."""
    room = limit
    while room > 0:
        text = cut_to_tokens(line.text, room, count)
        if text != line.text:
            text = drop_torn_end(text) or text
        if not has_word(text):
            return None
        shorter = replace(line, text=text)
        excess = count(render_lines([shorter])) - limit
        if excess <= 0:
            return shorter
        room -= excess
    return None
