"""A follow-up question made to stand alone, so that it can be searched for.

Without a model nothing is put in place of a pronoun: what the last exchange was about is added in brackets, and only to
a question that leans on it. A question that stands alone already comes back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import ModelNonsense
from recollect.language.detect import detect
from recollect.language.filler import is_filler
from recollect.language.mentions import names
from recollect.language.sentences import Sentence, sentences
from recollect.language.terms import analyse
from recollect.language.word_weights import is_content, stems, weigh, words
from recollect.ports import Request
from recollect.rules.prompt.fences import Fenced, line, section
from recollect.rules.tiers.particulars import topic
from recollect.tasks import answers
from recollect.tasks.task import DATA, Said, again, ask, object_schema

name = "standalone"

MAX_QUESTION = 1_000
"""Characters of a question that are looked at, and of one that is accepted."""
_MAX_SAID = 1_200  # characters of one message of the exchange
_MAX_EXCHANGE = 6  # messages
_MAX_TERMS = 5


@dataclass(frozen=True, slots=True)
class Inputs:
    """The question, what was said before it, oldest first, and what that was about, if known."""

    question: str
    exchange: tuple[Said, ...] = ()
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
    parts = [section("TOPIC", [line(inputs.topic[:_MAX_SAID])])] if inputs.topic.strip() else []
    # Escaped text never begins with a role, so these lines are ours.
    chat = [Fenced(f"{said.role}: {line(said.text[:_MAX_SAID])}") for said in inputs.exchange[-_MAX_EXCHANGE:]]
    if chat:
        parts.append(section("CHAT", chat, between="\n"))
    parts.append(section("QUESTION", [line(inputs.question[:MAX_QUESTION]) or Fenced("(empty)")]))
    return ask(_SYSTEM, "\n".join(parts), max_tokens=300, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    rewritten = " ".join(line(_question_in(text)).split())
    if not rewritten:
        raise ModelNonsense('There is no JSON with "question" in the answer.')
    if len(rewritten) > MAX_QUESTION:
        raise ModelNonsense("The question is too long.")
    known = analyse(" ".join([inputs.question, inputs.topic, *(said.text for said in inputs.exchange)]))
    if known.terms and not set(known.terms) & set(analyse(rewritten, known.language).terms):
        raise ModelNonsense("The question has nothing to do with the one that was asked.")
    return _reply(rewritten, inputs)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return again(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    question = line(inputs.question[:MAX_QUESTION])
    if not question or not leans(question):
        return _reply(question, inputs)
    asked = stems(question, detect(question))
    terms = [term for term in _about(inputs) if not stems(term, detect(question)) <= asked]
    return _reply(f"{question} ({', '.join(terms[:_MAX_TERMS])})" if terms else question, inputs)


def _reply(question: str, inputs: Inputs) -> Reply:
    return Reply(question, question != line(inputs.question[:MAX_QUESTION]))


def _question_in(text: str) -> str:
    for found in answers.objects(text):
        for key in ("question", "rewritten", "rewrittenquestion", "standalone", "standalonequestion"):
            if isinstance(found.get(key), str) and found[key].strip():
                return str(found[key])
    labels = answers.labelled(text, {"question": r"(?:stand-?alone\s+|rewritten\s+)?question"})
    if labels:
        return labels[0]["question"].splitlines()[0] if labels[0]["question"] else ""
    bare = answers.said(text).strip().strip("\"'`")
    return bare if "\n" not in bare and bare.endswith(("?", "？", "؟")) else ""


# A question leans on what was said before if it points there, or is too short to say what it is about.

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
_UNSPACED_POINTERS = re.compile("它|他|她|這|这|那|其|それ|これ|あれ|そこ|彼|彼女|그것|그거|거기|이것|저것|그는|그녀")
_FEW_WORDS = 4
_CONTINUES = re.compile(
    r"^(?:and|but|or|so|also|what about|how about|why|why not|which ones?|how so|how come|und|aber|warum|wieso|et|mais"
    r"|pourquoi|y|pero|por qué|e|ma|perché|mas|por quê|en|maar|waarom|а|и|но|почему)\b",
    re.IGNORECASE,
)


def leans(question: str) -> bool:
    """Whether a question leans on what was said before; of a long one, its beginning."""
    question = question[:MAX_QUESTION]
    language = detect(question)
    pointers = _POINTERS.get(language)
    if _UNSPACED_POINTERS.search(question):
        return True
    if pointers and re.search(rf"(?<![\w'’-])(?:{pointers})(?![\w'’-])", question, re.IGNORECASE):
        return True
    said = words(question)
    matter = sum(1 for word in said if is_content(word, language))
    return matter == 0 or (len(said) <= _FEW_WORDS and matter <= 2 and bool(_CONTINUES.match(question)))


def _about(inputs: Inputs) -> list[str]:
    """What the last exchange was about: its topic, its names, the words that weigh most."""
    said = _last(inputs.exchange)
    language = detect(" ".join(sentence.text for sentence in said))
    weights = weigh(said, language)
    found = [inputs.topic[:100], *names(said, language)[:3], *(each.value for each in topic(said, language, weights))]
    kept: list[str] = []
    for term in map(line, found):
        low = term.casefold()
        if low.strip("0123456789., ") and not any(low in one.casefold() or one.casefold() in low for one in kept):
            kept.append(term)
    return kept


def _last(exchange: Sequence[Said]) -> list[Sentence]:
    """The sentences of the last message of the user and of what followed it."""
    start = max((at for at, said in enumerate(exchange) if said.role == "user"), default=len(exchange) - 1)
    told = [sentence for said in exchange[max(start, 0) :] for sentence in sentences(said.text)]
    return [sentence for sentence in told if not is_filler(sentence)] or told
