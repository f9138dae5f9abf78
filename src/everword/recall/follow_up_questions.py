"""Rewrites a follow-up question so that it stands alone and can be searched for.

Without a model no pronoun is replaced: the subject of the last exchange is added in brackets, and only to a question
that depends on it. A question that already stands alone is returned as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from everword.errors import ModelNonsense
from everword.follow import model_task
from everword.follow.model_task import TaskMessage, build_request, object_schema, read_instructions, repair_request
from everword.ports import Request
from everword.text.detect import detect
from everword.text.escaping import Fenced, escape_line, section
from everword.text.filler import is_filler
from everword.text.key_value_statements import names, topic_pairs
from everword.text.sentences import sentences
from everword.text.terms import analyse
from everword.text.word_weights import is_content, stems, weigh, words
from everword.word_lists import Patterns

name = "standalone"

MAX_QUESTION = 1_000
"""Characters of a question that are read, and the most of one that is accepted."""
_MAX_SAID = 1_200  # characters of one message of the exchange
_MAX_EXCHANGE = 6  # messages
_MAX_TERMS = 5


@dataclass(frozen=True, slots=True)
class Inputs:
    """The question, what was said before it, oldest first, and what that was about, if known."""

    question: str
    exchange: tuple[TaskMessage, ...] = ()
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The question as it stands alone, and whether that differs from what was asked."""

    question: str
    changed: bool


_SYSTEM = read_instructions("recall/data/prompts.txt", "standalone")
_SCHEMA = object_schema({"question": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    parts = [section("TOPIC", [escape_line(inputs.topic[:_MAX_SAID])])] if inputs.topic.strip() else []
    # Escaped text never begins with a role, so these lines are ours.
    chat = [
        Fenced(f"{message.role}: {escape_line(message.text[:_MAX_SAID])}")
        for message in inputs.exchange[-_MAX_EXCHANGE:]
    ]
    if chat:
        parts.append(section("CHAT", chat, between="\n"))
    parts.append(section("QUESTION", [escape_line(inputs.question[:MAX_QUESTION]) or Fenced("(empty)")]))
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=300, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    rewritten = " ".join(escape_line(_question_in(text)).split())
    if not rewritten:
        raise ModelNonsense('There is no JSON with "question" in the answer.')
    if len(rewritten) > MAX_QUESTION:
        raise ModelNonsense("The question is too long.")
    context_analysis = analyse(
        " ".join([inputs.question, inputs.topic, *(message.text for message in inputs.exchange)])
    )
    if context_analysis.terms and not set(context_analysis.terms) & set(
        analyse(rewritten, context_analysis.language).terms
    ):
        raise ModelNonsense("The question has nothing to do with the one that was asked.")
    return _reply(rewritten, inputs)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    question = escape_line(inputs.question[:MAX_QUESTION])
    if not question or not depends_on_context(question):
        return _reply(question, inputs)
    language = detect(question)
    question_stems = stems(question, language)
    new_terms = (term for term in _topic_terms(inputs) if not stems(term, language) <= question_stems)
    terms = list(islice(new_terms, _MAX_TERMS))
    return _reply(f"{question} ({', '.join(terms)})" if terms else question, inputs)


def _reply(question: str, inputs: Inputs) -> Reply:
    return Reply(question, question != escape_line(inputs.question[:MAX_QUESTION]))


def _question_in(text: str) -> str:
    for answer in model_task.objects(text):
        for key in ("question", "rewritten", "rewrittenquestion", "standalone", "standalonequestion"):
            if isinstance(answer.get(key), str) and answer[key].strip():
                return str(answer[key])
    labels = model_task.parts_by_label(text, {"question": r"(?:stand-?alone\s+|rewritten\s+)?question"})
    if labels:
        return labels[0]["question"].splitlines()[0] if labels[0]["question"] else ""
    bare_text = model_task.after_thinking(text).strip().strip("\"'`")
    return bare_text if "\n" not in bare_text and bare_text.endswith(("?", "？", "؟")) else ""


_PATTERNS = Patterns("queries", "recall/data")
_FEW_WORDS = 4


def depends_on_context(question: str) -> bool:
    """Whether a question depends on what was said before; of a long one only the beginning is read."""
    question = question[:MAX_QUESTION]
    language = detect(question)
    if _PATTERNS.pointer_unspaced.search(question):
        return True
    pattern = _PATTERNS.get(f"pointer_{language}")
    pointer = pattern.search(question) if pattern is not None else None
    if pointer is not None and not _is_introduced(question[: pointer.start()], language):
        return True
    question_words = words(question)
    content_count = sum(1 for word in question_words if is_content(word, language))
    return content_count == 0 or (
        len(question_words) <= _FEW_WORDS and content_count <= 2 and bool(_PATTERNS.continues.match(question))
    )


def _is_introduced(before: str, language: str) -> bool:
    """Whether a sentence before a pointer says what it may mean: "My kitchen is a mess. How do I keep it clean?" """
    introduction = _PATTERNS.get(f"introduces_{language}")
    return introduction is not None and introduction.search(before) is not None


def _topic_terms(inputs: Inputs) -> Iterator[str]:
    """What the last exchange was about: its topic, its names, its most important words."""
    keys: list[str] = []
    for term in (escape_line(inputs.topic[:100]), *exchange_terms(inputs.exchange)):
        key = term.casefold()
        if key.strip("0123456789., ") and not any(key in other or other in key for other in keys):
            keys.append(key)
            yield term


def exchange_terms(exchange: Sequence[TaskMessage]) -> tuple[str, ...]:
    """The names and the most important words of the last message of the user and of what followed it."""
    start = max((index for index, message in enumerate(exchange) if message.role == "user"), default=len(exchange) - 1)
    texts = [message.text for message in exchange[max(start, 0) :]]
    all_sentences = [sentence for text in texts for sentence in sentences(text)]
    last_sentences = [sentence for sentence in all_sentences if not is_filler(sentence)] or all_sentences
    language = detect(" ".join(sentence.text for sentence in last_sentences))
    pairs = topic_pairs(last_sentences, language, weigh(last_sentences, language))
    terms = [*names(last_sentences, language)[:3], *(pair.value for pair in pairs)]
    return tuple(map(escape_line, terms))
