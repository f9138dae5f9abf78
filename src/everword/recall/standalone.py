"""Rewrites a follow-up question so that it stands alone and can be searched for.

Without a model no pronoun is replaced: the subject of the last exchange is added in brackets, and only to a question
that depends on it. A question that already stands alone is returned as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from everword.errors import ModelNonsense
from everword.follow import task_answers as answers
from everword.follow.task import DATA, TaskMessage, build_request, object_schema, repair_request
from everword.ports import Request
from everword.text.detect import detect
from everword.text.fences import Fenced, escape_line, section
from everword.text.filler import is_filler
from everword.text.mentions import names, topic_pairs
from everword.text.sentences import sentences
from everword.text.terms import analyse
from everword.text.words import is_content, stems, weigh, words
from everword.word_lists import lazy_pattern

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


_SYSTEM = f"""You rewrite the last question of a chat so that it can be understood alone.
Put names in the place of words like it, they, there, that one. Add what is missing, and nothing else.
Keep the language and the meaning. If the question can be understood alone, repeat it as it is. Do not answer it.
{DATA}
Answer with JSON only: {{"question": "..."}}

Example:
=== CHAT ===
user: Who painted The Night Watch?
assistant: Rembrandt, in 1642.
=== END CHAT ===
=== QUESTION ===
Where can I see it?
=== END QUESTION ===
{{"question": "Where can I see The Night Watch by Rembrandt?"}}"""

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
    for answer in answers.objects(text):
        for key in ("question", "rewritten", "rewrittenquestion", "standalone", "standalonequestion"):
            if isinstance(answer.get(key), str) and answer[key].strip():
                return str(answer[key])
    labels = answers.parts_by_label(text, {"question": r"(?:stand-?alone\s+|rewritten\s+)?question"})
    if labels:
        return labels[0]["question"].splitlines()[0] if labels[0]["question"] else ""
    bare_text = answers.after_thinking(text).strip().strip("\"'`")
    return bare_text if "\n" not in bare_text and bare_text.endswith(("?", "？", "؟")) else ""


# A question depends on what was said before if it points there, or is too short to say what it is about.

_POINTERS = {
    "en": r"it|its|they|them|their|theirs|he|him|his|she|her|hers|those|these|ones?|former|latter|same|this"
    r"|there(?!\s(?:is|are|was|were|any|a)\b)(?<!is there)(?<!are there)"
    r"|(?<=about\s)that|(?<=like\s)that|(?<=of\s)that|(?<=is\s)that|(?<=was\s)that|(?<=does\s)that|(?<=do\s)that|that(?=\W*$)",
    "de": r"er|sie|es|ihn|ihm|ihnen|ihr|ihre|dessen|deren|das|dies|diese[rsmn]?|dort|damit|davon|dazu|dafür|darüber",
    "fr": r"il|elle|ils|elles|lui|leur|leurs|ça|cela|ceci|celui|celle|ceux|y|en",
    "es": r"él|ella|ellos|ellas|lo|la|los|las|le|les|eso|esto|aquello|ese|esa|este|esta|allí|ahí|su|sus",
    "it": r"lui|lei|loro|lo|la|li|le|ciò|quello|quella|questo|questa|ci|ne|suo|sua",
    "pt": r"ele|ela|eles|elas|isso|isto|aquilo|esse|essa|este|esta|lá|seu|sua|dele|dela",
    "nl": r"hij|zij|ze|het|hem|haar|hun|dat|dit|die|deze|daar|ervan|ermee",
    "sv": r"den|det|han|hon|de|dem|dess|deras|hans|hennes|där|denna|detta",
    "pl": r"on|ona|ono|oni|one|jego|jej|ich|go|ją|to|ten|ta|tam|tego",
    "ru": r"он|она|оно|они|его|её|ее|их|ему|ей|им|это|этот|эта|эти|там|него|неё|них",
    "uk": r"він|вона|воно|вони|його|її|їх|йому|їй|це|цей|ця|ці|там",
    "tr": r"o|onu|onun|ona|onlar|onları|bu|bunu|bunun|şu|orada",
    "id": r"dia|ia|mereka|itu|ini|nya|sana",
}
_UNSPACED_POINTERS = lazy_pattern("它|他|她|這|这|那|其|それ|これ|あれ|そこ|彼|彼女|그것|그거|거기|이것|저것|그는|그녀")
_FEW_WORDS = 4
_CONTINUES = lazy_pattern(
    r"^(?:and|but|or|so|also|what about|how about|why|why not|which ones?|how so|how come|und|aber|warum|wieso|et|mais"
    r"|pourquoi|y|pero|por qué|e|ma|perché|mas|por quê|en|maar|waarom|а|и|но|почему)\b",
    re.IGNORECASE,
)


def depends_on_context(question: str) -> bool:
    """Whether a question depends on what was said before; of a long one only the beginning is read."""
    question = question[:MAX_QUESTION]
    language = detect(question)
    pointers = _POINTERS.get(language)
    if _UNSPACED_POINTERS.search(question):
        return True
    if pointers and re.search(rf"(?<![\w'’-])(?:{pointers})(?![\w'’-])", question, re.IGNORECASE):
        return True
    question_words = words(question)
    content_count = sum(1 for word in question_words if is_content(word, language))
    return content_count == 0 or (
        len(question_words) <= _FEW_WORDS and content_count <= 2 and bool(_CONTINUES.match(question))
    )


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
