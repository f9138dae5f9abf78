"""What is asked of a model about summaries: prompt, reply and parser side by side, with the answer without a model.

A model's summary is found wherever it is in the answer, cleaned, checked against what the model was shown and cut at
the end of a sentence (`Instructions.summary_in`). One that repeats the prompt, or mentions what nobody said, is not
used. Without a model the most important sentences are the summary (`rules.extract`). What a model is told is in
`data/prompts.txt`.

- `message_tiers`: tiers 1 and 2 of messages. Those that are too short for tiers are their own, whatever a model writes.
- `episode_summary`: a new summary of a run of messages, or an update of the one so far. The model sees the summary so
  far and the new messages, never the old messages again, and has to keep something of the summary so far.
- `episode_batch`: several of these in one call. One that cannot be used is left out, and is asked for alone.
- `level_summary`: one summary of several.
- `topic_summary`: the title and the summary of a topic, updated as with an episode. The model is shown the summaries of
  episodes that are about the topic, and of the other messages whole lines, the most important if they are many. Without
  a model the title stays as it is, the beginning of the message that opened the topic.
- `day_digest`: a day for each member who spoke on it. The answer names members by their ids; unknown ids are dropped. A
  member who was left out, or whose entry says what nobody said, gets their own most important sentences instead: so
  every member has exactly one entry. A day too long for one request is asked about in parts; then the `notes` of the
  parts become one entry for each member.
- `week_history`: one text of a member's digests of six days, renewed every day.
- `context_merge`: what is known of a member, today, and the days before as one text. What is known counts most: if the
  other texts contradict it, it wins. Without a model the texts follow each other, what is known first and complete.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from typing import Any

from everword.errors import ModelNonsense
from everword.facts.rules.grounding import Grounds
from everword.follow import model_task
from everword.follow.model_task import Prompt, TaskMessage, build_request, fence_text, object_schema, read_instructions
from everword.log.append_and_read import known_names
from everword.model import Episode, ExtractLine, Message, Tiers
from everword.ports import Request
from everword.summaries.rules import days, extract, shortened_messages
from everword.summaries.rules.day_threads import DayThreads, is_told_by_thread, merge_told_days
from everword.summaries.rules.days import People, ThreadLink
from everword.summaries.rules.extract import SpokenLine, member_lines, narrative_lines, render_lines
from everword.summaries.rules.shortened_messages import Count, clean
from everword.text.addressing import show_address
from everword.text.escaping import Fenced, attribution, author_labels, escape, escape_line, plain_name, section
from everword.text.language_packs import heading, language_of_chat
from everword.text.sentences import both_ends, first_words
from everword.text.terms import analyse
from everword.text.word_weights import words
from everword.word_lists import read_entries

_FILE = "summaries/data/prompts.txt"
_STRING = {"type": "string"}
_SUMMARY_SCHEMA = object_schema({"summary": _STRING})
_WORDS_PER_TOKEN = 0.7


def word_limit(tokens: int, fewest: int = 8) -> int:
    """How many words to ask a model for, so that it stays within so many tokens."""
    return max(int(tokens * _WORDS_PER_TOKEN), fewest)


_SUMMARY_KEYS = ("summary", "newsummary", "updatedsummary", "episodesummary", "text", "content", "answer")
_ECHO = 30  # a line of the prompt with at least so many characters is not in a summary by chance
_MANY = 24  # words from which on a summary must not repeat itself
_DIFFERENT = 0.2  # the share of different words, at least


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a model is told for a task, and the example of an answer that is in it."""

    text: str
    example: str

    @classmethod
    def of(cls, name: str, **parts: str) -> Instructions:
        example = read_entries(_FILE)[f"{name} example"]
        return cls(read_instructions(_FILE, name, EXAMPLE=example, **parts), example)

    def request(self, parts: Iterable[str], max_tokens: int) -> Request:
        """The question that is answered with one summary of about so many tokens at most."""
        return build_request(self.text, "\n".join(parts), max_tokens=200 + max_tokens, schema=_SUMMARY_SCHEMA)

    def summary_in(self, text: str, source: str, limit: int, count: Count) -> str:
        """The summary in an answer, clean and within the limit; ModelNonsense if it does not summarize the source."""
        summary = clean(_find_summary(text))
        if fault := _summary_fault(summary, source, (self.text, self.example)):
            raise ModelNonsense(fault)
        return extract.first_sentences(summary, limit, count)


def _find_summary(text: str) -> str:
    for answer in model_task.objects(text):
        candidates = [answer, *(value for value in answer.values() if isinstance(value, dict))]
        for key in _SUMMARY_KEYS:
            for candidate in candidates:
                if (value := _text(candidate.get(key))).strip():
                    return value
    if labels := model_task.parts_by_label(text, {"summary": r"(?:(?:new|updated)\s+)?summary"}):
        return labels[0]["summary"]
    bare_text = model_task.after_thinking(text).strip().strip("`").strip()
    # Prose without JSON counts as the summary; broken JSON does not.
    return "" if bare_text[:1] in ("{", "[") or bare_text.startswith("json") else bare_text.strip("\"'")


def _text(value: object) -> str:
    """What a model gave as text: a string, or a list of sentences."""
    if isinstance(value, list):
        return " ".join(sentence for sentence in value if isinstance(sentence, str))
    return model_task.line(value) if isinstance(value, str) else ""


def _summary_fault(summary: str, source: str, prompt: Sequence[str]) -> str:
    """What is wrong with a summary; empty if nothing is."""
    if not any(map(str.isalnum, summary)):
        return 'There is no JSON with "summary" in the answer, or it is empty.'
    summary_text = " ".join(summary.casefold().split())
    prompt_lines = [" ".join(prompt_line.casefold().split()) for part in prompt for prompt_line in part.splitlines()]
    if any(prompt_line in summary_text for prompt_line in prompt_lines if len(prompt_line) >= _ECHO):
        return "The summary repeats the instructions or the example."
    summary_words = [word.casefold() for word in words(summary)]
    if len(summary_words) >= _MANY and len(set(summary_words)) < _DIFFERENT * len(summary_words):
        return "The summary says the same words again and again."
    grounds = Grounds.of(source)
    if not grounds.shares_word(summary):
        return "The summary says nothing that was said."
    strangers = grounds.find_inventions(summary)
    return f"The summary mentions {', '.join(strangers[:4])}, which nobody said." if strangers else ""


# -- the tiers of messages


@dataclass(frozen=True, slots=True)
class TiersInputs:
    """The messages, and how tokens are counted."""

    messages: tuple[TaskMessage, ...]
    count: shortened_messages.Count = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TiersReply:
    """The tiers of each message, in order."""

    tiers: tuple[Tiers, ...]


_TIERS = Instructions.of("tiers")


def build_tiers(inputs: TiersInputs) -> Request:
    is_several = len(inputs.messages) > 1
    example = json.loads(_TIERS.example)
    answer = {"tiers": [{"message": 1, **example}]} if is_several else example
    parts = []
    token_count = 0
    for number, message in enumerate(inputs.messages, 1):
        tier1_tokens, tier2_tokens = shortened_messages.budgets(message.text, inputs.count)
        token_count += tier1_tokens + tier2_tokens
        limits = f"tier1 at most {word_limit(tier1_tokens, 4)} words, tier2 at most {word_limit(tier2_tokens, 4)}."
        parts.append(f"{fence_text(f'MESSAGE {number}', message.text)}\nIt is by the {message.role}: {limits}")
    system = _TIERS.text.replace(_TIERS.example, json.dumps(answer, ensure_ascii=False))
    return build_request(system, "\n\n".join(parts), max_tokens=200 + 2 * token_count, schema=_tiers_schema(is_several))


def parse_tiers(text: str, inputs: TiersInputs) -> TiersReply:
    entries = _tier_entries(text, len(inputs.messages))
    message_tiers = []
    faults = []
    for number, (message, entry) in enumerate(zip(inputs.messages, entries, strict=True), 1):
        tier1 = model_task.line(entry.get("tier1"))
        tier2 = model_task.line(entry.get("tier2"))
        check = shortened_messages.check_tiers(tier1, tier2, message.text, inputs.count)
        message_tiers.append(check.tiers)
        faults += [f"{fault} (message {number})" for fault in check.faults]
    if faults:
        raise ModelNonsense(f"{'; '.join(faults)}.")
    return TiersReply(tuple(message_tiers))


def offline_tiers(inputs: TiersInputs) -> TiersReply:
    return TiersReply(tuple(shortened_messages.write_tiers(message.text, inputs.count) for message in inputs.messages))


def _tiers_schema(is_several: bool) -> Mapping[str, Any]:
    properties = {"tier1": _STRING, "tier2": _STRING}
    if not is_several:
        return object_schema(properties)
    entry = object_schema({"message": {"type": "integer"}, **properties})
    return object_schema({"tiers": {"type": "array", "items": entry}})


def _tier_entries(text: str, message_count: int) -> list[Mapping[str, Any]]:
    """The entry of each message, in the order of the messages."""
    entries: list[Mapping[str, Any]] = []
    for answer in model_task.objects(text):
        entries += _tier_entries_in(answer)
    entries = entries or [*model_task.parts_by_label(text, {"tier1": r"tier\s*_?1", "tier2": r"tier\s*_?2"})]
    if not entries:
        raise ModelNonsense("There is no JSON with tier1 and tier2 in the answer.")
    numbers = [entry.get("message") for entry in entries]
    if sorted(map(str, numbers)) == sorted(map(str, range(1, message_count + 1))):
        entries = sorted(entries, key=lambda entry: int(entry["message"]))
    if len(entries) < message_count:
        raise ModelNonsense(f"The answer has tiers of {len(entries)} message(s), but there are {message_count}.")
    return entries[:message_count]


def _tier_entries_in(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The entries in an object: itself, or those it lists under whatever name."""
    if "tier1" in answer or "tier2" in answer:
        return [answer]
    values = [value for value in answer.values() if isinstance(value, list | dict)]
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return [entry for entry in entries if isinstance(entry, dict) and ("tier1" in entry or "tier2" in entry)]


message_tiers = Prompt("message_tiers", build_tiers, parse_tiers, offline_tiers)


# -- a summary of summaries: a level of episodes becomes one summary on the level above

MAX_TOKENS = 6_000
"""Tokens of messages or summaries that a model is shown; of more, the longest are shortened first."""


@dataclass(frozen=True, slots=True)
class LevelInputs:
    """The summaries, oldest first, the most tokens of the one they become, and how tokens are counted.

    `parts` are the lines of each summary; without them the summaries are prose that nobody said. `ends` are the times
    of the last message of each.
    """

    summaries: tuple[str, ...]
    limit: int
    count: Count = field(compare=False, repr=False)
    parts: tuple[tuple[ExtractLine, ...], ...] = ()
    ends: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryReply:
    """The summary, in one line, and without a model the lines that it was written from."""

    summary: str
    lines: tuple[ExtractLine, ...] = ()


_LEVEL = Instructions.of("level")


def build_level(inputs: LevelInputs) -> Request:
    days_shown = [f"{end:%Y-%m-%d}: " for end in inputs.ends] or [""] * len(inputs.summaries)
    parts = [
        section(f"SUMMARY {number}", [Fenced(f"{day}{escape_line(text) or '(empty)'}")])
        for number, (day, text) in enumerate(zip(days_shown, _shorten_summaries(inputs), strict=True), 1)
    ]
    parts.append(Fenced(f"Write one summary of at most {word_limit(inputs.limit)} words."))
    return _LEVEL.request(parts, 2 * inputs.limit)


def parse_level(text: str, inputs: LevelInputs) -> SummaryReply:
    source = "\n".join([*_shorten_summaries(inputs), *map(day_words, inputs.ends)])
    return SummaryReply(_LEVEL.summary_in(text, source, inputs.limit, inputs.count))


def offline_level(inputs: LevelInputs) -> SummaryReply:
    parts = inputs.parts or tuple(narrative_lines(summary) for summary in inputs.summaries)
    lines = extract.condense(parts, inputs.limit, inputs.count)
    return SummaryReply(render_lines(lines), lines)


def _shorten_summaries(inputs: LevelInputs) -> list[str]:
    texts = extract.limit_texts(inputs.summaries)
    max_tokens = extract.size_limit([inputs.count(text) for text in texts], MAX_TOKENS)
    return [extract.first_sentences(text, max_tokens, inputs.count) for text in texts]


level_summary = Prompt("level_summary", build_level, parse_level, offline_level)


# -- the summary of an episode

MAX_LINES = 300
"""Messages that a model is shown; of more, the first and the last."""
_TRACE = 5  # if at least so many words are only in the summary so far, one of them must be kept


@dataclass(frozen=True, slots=True)
class EpisodeInputs:
    """The new messages, the summary so far (empty for a new episode), the most tokens, and how they are counted.

    `before_lines` are the lines of the summary so far; without them it is prose that nobody said.
    """

    lines: tuple[SpokenLine, ...]
    before: str
    limit: int
    count: Count = field(compare=False, repr=False)
    before_lines: tuple[ExtractLine, ...] = ()


_GUIDE = read_entries(_FILE)["guide"]
_EPISODE = Instructions.of("episode", GUIDE=_GUIDE)


def build_episode(inputs: EpisodeInputs) -> Request:
    return _EPISODE.request(shown_parts(inputs), 2 * inputs.limit)


def shown_parts(inputs: EpisodeInputs) -> list[Fenced]:
    """What a model is shown of one episode: the summary so far, the new messages, and how long the new one may be."""
    parts = [section("SUMMARY SO FAR", [escape_line(inputs.before)])] if inputs.before.strip() else []
    parts.append(section("NEW MESSAGES", _message_lines(inputs) or [Fenced("(none)")], between="\n"))
    parts.append(Fenced(f"Write a summary of at most {word_limit(inputs.limit)} words."))
    return parts


def parse_episode(text: str, inputs: EpisodeInputs) -> SummaryReply:
    message_text = "\n".join(
        text_part
        for message in _shorten_lines(inputs)
        for text_part in (message.author, message.text, day_words(message.time))
    )
    summary = _EPISODE.summary_in(text, f"{inputs.before}\n{message_text}", inputs.limit, inputs.count)
    if _forgets(summary, inputs.before, message_text):
        raise ModelNonsense("The summary leaves out what the summary so far says.")
    return SummaryReply(summary)


def offline_episode(inputs: EpisodeInputs) -> SummaryReply:
    lines = extract.gist(inputs.lines, inputs.limit, inputs.count)
    if inputs.before.strip():
        before = inputs.before_lines or narrative_lines(inputs.before)
        lines = extract.condense([part for part in (before, lines) if part], inputs.limit, inputs.count)
    return SummaryReply(render_lines(lines), lines)


def _message_lines(inputs: EpisodeInputs) -> list[Fenced]:
    """The messages as lines, what somebody says in a row as one, and the day wherever it changes."""
    # Escaped text stands after a role, so the days and the roles at the start of these lines are ours.
    labels = author_labels((message.role, message.author) for message in inputs.lines)
    day = None
    last_speaker = None
    lines: list[Fenced] = []
    for message in _shorten_lines(inputs):
        if message.time is not None and message.time.date() != day:
            day = message.time.date()
            last_speaker = None
            lines.append(Fenced(day.isoformat()))
        speaker = attribution(message.role, message.author, labels)
        text = escape_line(message.text) or "(empty)"
        if speaker == last_speaker:
            lines[-1] = Fenced(f"{lines[-1]} {text}")
        else:
            lines.append(Fenced(f"{speaker}: {text}"))
        last_speaker = speaker
    return lines


def day_words(time: datetime | None) -> str:
    """A day as a model may write it: one that was shown with a line is no invention."""
    return "" if time is None else f"{time:%Y-%m-%d} {time.day} {time:%B %A %Y}"


def _shorten_lines(inputs: EpisodeInputs) -> list[SpokenLine]:
    """The messages as a model is shown them: of many the first and the last, of long ones both ends."""
    lines = list(inputs.lines)
    if len(lines) > MAX_LINES:
        lines = lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]
    texts = extract.limit_texts([message.text for message in lines])
    sizes = [inputs.count(text) for text in texts]
    max_tokens = extract.size_limit(sizes, MAX_TOKENS)
    return [
        replace(message, text=both_ends(text, len(text) * max_tokens // size if size > max_tokens else len(text)))
        for message, text, size in zip(lines, texts, sizes, strict=True)
    ]


def _forgets(summary: str, before: str, message_text: str) -> bool:
    """Whether nothing is left of what only the summary so far says."""
    old_analysis = analyse(before)
    old_terms = set(old_analysis.terms) - set(analyse(message_text, old_analysis.language).terms)
    return len(old_terms) >= _TRACE and old_terms.isdisjoint(analyse(summary, old_analysis.language).terms)


episode_summary = Prompt("episode_summary", build_episode, parse_episode, offline_episode)


# -- several episodes in one call: the instructions cost as much for one

MAX_EPISODES = 8
BATCH_CHARACTERS = 20_000
"""Characters of the messages of all episodes in one call."""


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """What each episode is written from."""

    episodes: tuple[EpisodeInputs, ...]


@dataclass(frozen=True, slots=True)
class BatchReply:
    """The summary of each episode, in order; None where there is none that can be used."""

    replies: tuple[SummaryReply | None, ...]


_BATCH = read_instructions(_FILE, "batch", GUIDE=_GUIDE)
_BATCH_ENTRY = object_schema({"episode": {"type": "integer"}, "summary": {"type": "string"}})
_BATCH_SCHEMA = object_schema({"summaries": {"type": "array", "items": _BATCH_ENTRY}})


def build_batch(inputs: BatchInputs) -> Request:
    parts: list[Fenced] = []
    for number, episode in enumerate(inputs.episodes, 1):
        parts += [Fenced(f"Episode {number}:"), *shown_parts(episode)]
    max_tokens = 200 + sum(2 * episode.limit for episode in inputs.episodes)
    return build_request(_BATCH, "\n".join(parts), max_tokens=max_tokens, schema=_BATCH_SCHEMA)


def parse_batch(text: str, inputs: BatchInputs) -> BatchReply:
    replies: list[SummaryReply | None] = [None] * len(inputs.episodes)
    fault = 'There is no JSON of the form {"summaries": [...]} in the answer.'
    for number, summary in _summaries_in(text):
        if not 1 <= number <= len(replies) or replies[number - 1] is not None:
            continue
        try:
            answer = json.dumps({"summary": summary})
            replies[number - 1] = episode_summary.parse(answer, inputs.episodes[number - 1])
        except ModelNonsense as error:
            fault = f"Episode {number}: {error}"
    if not any(replies):
        raise ModelNonsense(fault)
    return BatchReply(tuple(replies))


def offline_batch(inputs: BatchInputs) -> BatchReply:
    return BatchReply(tuple(map(episode_summary.offline, inputs.episodes)))


def batch_sizes(characters: Sequence[int]) -> list[int]:
    """How many episodes fit one call each, in order, by the characters of their messages."""
    sizes: list[int] = []
    total = 0
    for size in characters:
        if not sizes or sizes[-1] == MAX_EPISODES or total + size > BATCH_CHARACTERS:
            sizes.append(0)
            total = 0
        sizes[-1] += 1
        total += size
    return sizes


def _summaries_in(text: str) -> list[tuple[int, str]]:
    """The summaries with their numbers; without numbers they are in order."""
    entries: list[object] = []
    for answer in model_task.objects(text):
        lists = [value for value in answer.values() if isinstance(value, list)]
        entries += [entry for value in lists for entry in value] if lists else [answer]
    summaries: list[tuple[int, str]] = []
    for place, entry in enumerate(entries, 1):
        if isinstance(entry, dict) and isinstance(entry.get("summary"), str):
            number = entry.get("episode", place)
            summaries.append((number if isinstance(number, int) else place, entry["summary"]))
    return summaries


episode_batch = Prompt("episode_summary", build_batch, parse_batch, offline_batch)


# -- a day in a space, for each member who spoke on it

DAY_SIZE = 300  # of an entry, about
MOST_OF_DAY = 420  # characters of an entry that is kept whole
GROUP_DAY = 600  # characters of an entry in lines, one for each thread
CHANNEL_DAY = 1_500  # characters of a channel's day
MAX_MESSAGE = 2_000  # characters of one message that are shown
OWN = 8_000  # characters of a member's own words that the built-in writer reads


@dataclass(frozen=True, slots=True)
class DayInputs:
    """A day's messages, oldest first, and the ids of those who spoke; `names` by id, of others too.

    With `notes`, the messages are entries that were made of parts of the day. `links` has the threads of messages in
    groups, and what each answers, by the ids of the messages.
    """

    day: date
    zone: tzinfo
    messages: tuple[Message, ...]
    members: tuple[str, ...]
    names: Mapping[str, str] = field(compare=False)
    notes: bool = False
    links: Mapping[str, ThreadLink] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class DayReply:
    """An entry for each member, by id; and those whose entry the built-in writer made."""

    entries: Mapping[str, str]
    offline: frozenset[str] = frozenset()


_DAY_EXAMPLES = read_entries(_FILE)["day example"].splitlines()
_DAY = read_instructions(_FILE, "day", SIZE=str(DAY_SIZE), EXAMPLE=_DAY_EXAMPLES[0], OTHER=_DAY_EXAMPLES[1])
_NOTES = "These are not messages but notes on parts of the day, oldest first: make one entry of each member's notes."
_DAY_TOKENS = (300, 160, 12_000)  # of an answer: to begin with, for each member, at most


def build_day(inputs: DayInputs) -> Request:
    people = _people(inputs)
    member_lines = [Fenced(f"- {people.ids[id]} ({plain_name(people.names[id])})") for id in inputs.members]
    ids = {"type": "string", "enum": [people.ids[id] for id in inputs.members]}
    entry = object_schema({"id": ids, "summary": {"type": "string"}})
    parts = [
        Fenced(f"The day is {inputs.day.isoformat()}, {inputs.day:%A}." + (f" {_NOTES}" if inputs.notes else "")),
        section(
            "MESSAGES",
            [days.transcript(map(shorten_message, inputs.messages), inputs.names, inputs.zone, inputs.links)],
        ),
        section("MEMBERS", member_lines, between="\n"),
    ]
    base_tokens, member_tokens, max_tokens = _DAY_TOKENS
    return build_request(
        _DAY,
        "\n".join(parts),
        max_tokens=min(base_tokens + member_tokens * len(inputs.members), max_tokens),
        schema=object_schema({"members": {"type": "array", "items": entry}}),
    )


def parse_day(text: str, inputs: DayInputs) -> DayReply:
    grounds = Grounds.of(
        "\n".join([*(shorten_message(message).content for message in inputs.messages), *inputs.names.values()])
    )
    # The id as it was shown decides; another id may be written the same.
    by_label = {id: id for id in inputs.members} | {_people(inputs).ids[id]: id for id in inputs.members}
    entries: dict[str, str] = {}
    entry_count = 0
    fault = ""
    for label, entry_text in _day_entries(text, inputs):
        entry_count += 1
        id = by_label.get(label) or by_label.get(html.unescape(label))
        summary = clean(entry_text)
        entry_fault = _entry_fault(summary, grounds)
        if id is not None and id not in entries and not entry_fault:
            entries[id] = extract.first_sentences(summary, MOST_OF_DAY, len)
        fault = fault or entry_fault
    if not entries:
        raise ModelNonsense(fault or (_STRANGERS if entry_count else _NO_ENTRIES))
    missing = tuple(id for id in inputs.members if id not in entries)
    return DayReply({**entries, **offline_day(replace(inputs, members=missing)).entries}, frozenset(missing))


def offline_day(inputs: DayInputs) -> DayReply:
    threads = _threads(inputs)
    entries = {id: (threads and threads.tell_person(id, GROUP_DAY)) or _own_entry(id, inputs) for id in inputs.members}
    return DayReply(entries, frozenset(inputs.members))


def channel_day(inputs: DayInputs) -> str:
    """What a day in a channel was about: its threads with what came of them, or else the most important sentences."""
    if threads := _threads(inputs):
        return threads.tell_day(CHANNEL_DAY)
    nicknames = known_names(inputs.messages)
    lines = [
        SpokenLine(
            "user",
            plain_name(inputs.names.get(message.author, message.author)) or "A member",
            show_address(days.replace_mentions(message.content, inputs.names), nicknames),
        )
        for message in inputs.messages
    ]
    return render_lines(extract.gist(lines, CHANNEL_DAY, len))


def _threads(inputs: DayInputs) -> DayThreads | None:
    """The threads of the day; None if there are none, or their language is not known."""
    threads = DayThreads(inputs.messages, inputs.links, inputs.names, known_names(inputs.messages))
    return threads if threads.is_readable else None


def _people(inputs: DayInputs) -> People:
    """The ids and names of all people of the day, as shown in its messages."""
    return People.of([*(message.author for message in inputs.messages), *inputs.members], inputs.names)


# -- what a model wrote

_NO_ENTRIES = 'There is no JSON of the form {"members": [{"id": "...", "summary": "..."}]} in the answer.'
_STRANGERS = "No entry has the id of a member; copy the ids from the list of members."
_IDS = ("id", "authorid", "memberid", "userid", "member", "user", "author")
_TEXTS = ("summary", "text", "entry", "digest", "content")


def _day_entries(text: str, inputs: DayInputs) -> Iterator[tuple[str, str]]:
    """The ids and texts in an answer: a list of entries, or texts under their ids."""
    keys = _plain_ids(inputs)
    for answer in model_task.objects(text):
        list_items = [item for value in answer.values() if isinstance(value, list) for item in value]
        for entry in [answer, *(item for item in list_items if isinstance(item, dict))]:
            id = _first_value(entry, _IDS)
            summary = _first_value(entry, _TEXTS)
            if id and summary:
                yield id.strip(), summary
        for texts_by_key in [answer, *(value for value in answer.values() if isinstance(value, dict))]:
            yield from (
                (keys[key], value) for key, value in texts_by_key.items() if key in keys and isinstance(value, str)
            )


def _plain_ids(inputs: DayInputs) -> dict[str, str]:
    """Ids by what remains of them as a key of an answer, only those that stay distinct."""
    plain_ids = dict[str, list[str]]()
    for id in inputs.members:
        plain_ids.setdefault("".join(filter(str.isalnum, id)).casefold(), []).append(id)
    reserved_keys = {*_IDS, *_TEXTS, "members", ""}
    return {key: ids[0] for key, ids in plain_ids.items() if len(ids) == 1 and key not in reserved_keys}


def _first_value(entry: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = next((entry[name] for name in names if entry.get(name)), "")
    return model_task.line(value) if isinstance(value, str | int | list) else ""


def _entry_fault(summary: str, grounds: Grounds) -> str:
    """What is wrong with an entry; empty if nothing is."""
    if not any(map(str.isalnum, summary)):
        return "An entry is empty."
    summary_text = " ".join(summary.casefold().split())
    if any(example.casefold() in summary_text for example in _DAY_EXAMPLES):
        return "An entry repeats the example."
    strangers = grounds.find_inventions(summary)
    return f"An entry mentions {', '.join(strangers[:4])}, which nobody said." if strangers else ""


# -- without one


def _own_entry(id: str, inputs: DayInputs) -> str:
    """What a member said, the most important sentences; with notes, what those say."""
    nicknames = known_names(inputs.messages)
    contents = [
        show_address(days.replace_mentions(message.content, inputs.names), nicknames)
        for message in inputs.messages
        if message.author == id
    ]
    max_characters = extract.size_limit([len(text) for text in contents], OWN)
    texts = [text[:max_characters] for text in contents]
    member = plain_name(inputs.names.get(id, id)) or "A member"
    if inputs.notes:
        return render_lines(extract.condense([member_lines(text, member) for text in texts], MOST_OF_DAY, len))
    lines = extract.gist([SpokenLine("user", member, text) for text in texts], DAY_SIZE, len)
    return render_lines(lines) or f"{member}: {' '.join(escape_line(text) for text in texts)}"[:DAY_SIZE].strip()


def shorten_message(message: Message) -> Message:
    """The message as a model is shown it: of a long one both ends."""
    return replace(message, content=both_ends(message.content, MAX_MESSAGE))


day_digest = Prompt("day_digest", build_day, parse_day, offline_day)


# -- how a member has been in the last days

WEEK_SIZE = 500  # about
MOST_OF_WEEK = 650  # characters that are kept whole
MAX_DAY = 2_000  # characters of a day's digest that are shown


@dataclass(frozen=True, slots=True)
class WeekInputs:
    """What the member is called, and their days with what each was, oldest first."""

    name: str
    days: tuple[tuple[date, str], ...]


@dataclass(frozen=True, slots=True)
class TextReply:
    """The text, in one line from a model."""

    text: str


_WEEK = Instructions.of("week", SIZE=str(WEEK_SIZE))


def build_week(inputs: WeekInputs) -> Request:
    texts = [(day, first_words(text, MAX_DAY)) for day, text in inputs.days]
    diary = [Fenced(f"{day.isoformat()} ({day:%A}): {escape_line(text)}") for day, text in texts]
    member = plain_name(inputs.name) or "the member"
    parts = [section("MEMBER", [Fenced(member)]), section("DIARY", diary, between="\n")]
    return _WEEK.request(parts, WEEK_SIZE)


def parse_week(text: str, inputs: WeekInputs) -> TextReply:
    dates = " ".join(f"{day.isoformat()} {day:%A %d %B %Y}" for day, _ in inputs.days)
    source = "\n".join([inputs.name, dates, *(digest[:MAX_DAY] for _, digest in inputs.days)])
    return TextReply(_WEEK.summary_in(text, source, MOST_OF_WEEK, len))


def offline_week(inputs: WeekInputs) -> TextReply:
    member = plain_name(inputs.name) or "the member"
    if any(is_told_by_thread(text) for _, text in inputs.days):
        return TextReply(merge_told_days([text for _, text in inputs.days], MOST_OF_WEEK))
    parts = [member_lines(text, member) for _, text in inputs.days]
    return TextReply(render_lines(extract.condense(parts, WEEK_SIZE, len)))


week_history = Prompt("week_history", build_week, parse_week, offline_week)


# -- what is known of a member, what they did today and how they have been, as one text

MERGE_SIZE = 800  # about, or more if as much is known
BESIDE = 400  # characters for today and the days before, beside a long profile
LABELS = {"today": "Today", "history": "In the last days"}


@dataclass(frozen=True, slots=True)
class MergeInputs:
    """What the member is called, and the three texts; any may be empty."""

    name: str
    profile: str
    today: str
    history: str

    @property
    def hash(self) -> str:
        """Equal for two merges of the same texts."""
        return days.content_hash(self.name, self.profile, self.today, self.history)

    @property
    def several(self) -> bool:
        """Whether there is anything to merge: one text alone stays as it is."""
        return len(days.merge_sources(self.profile, self.today, self.history)) > 1


_MERGE = Instructions.of("merge")


def build_merge(inputs: MergeInputs) -> Request:
    parts = [section("MEMBER", [Fenced(plain_name(inputs.name) or "the member")])]
    for title, text in days.merge_sources(inputs.profile, inputs.today, inputs.history):
        parts.append(section(title.upper(), [escape(text)]))
    parts.append(Fenced(f"Write at most {_merge_limit(inputs)} characters."))
    return _MERGE.request(parts, _merge_limit(inputs))


def parse_merge(text: str, inputs: MergeInputs) -> TextReply:
    source = "\n".join([inputs.name, inputs.profile, inputs.today, inputs.history])
    return TextReply(_MERGE.summary_in(text, source, _merge_limit(inputs) * 4 // 3, len))


def offline_merge(inputs: MergeInputs) -> TextReply:
    language = language_of_chat(inputs.today, (inputs.history, inputs.profile))
    labels = {name: heading(language, label) for name, label in LABELS.items()}
    return TextReply(days.join_sources(inputs.profile, inputs.today, inputs.history, labels))


def _merge_limit(inputs: MergeInputs) -> int:
    return max(MERGE_SIZE, len(inputs.profile) + BESIDE)


context_merge = Prompt("context_merge", build_merge, parse_merge, offline_merge)


# -- the title and the summary of a topic

MAX_TITLE = 80
"""Characters of a title."""
MAX_TOPIC_CHARACTERS = 2_400
"""Characters of episodes and messages that a model is shown: of more, the most important sentences of messages."""


@dataclass(frozen=True, slots=True)
class TopicInputs:
    """The title so far, the new messages, the summary so far (empty for none), the most tokens of the new one, and how
    they are counted. `episodes` are about the topic: a model is shown them in place of their messages."""

    title: str
    lines: tuple[SpokenLine, ...]
    before: str
    limit: int
    count: Count = field(compare=False, repr=False)
    before_lines: tuple[ExtractLine, ...] = ()
    episodes: tuple[Episode, ...] = ()

    @property
    def episode(self) -> EpisodeInputs:
        """The inputs for the summary, which are those of an episode."""
        return EpisodeInputs(self.lines, self.before, self.limit, self.count, self.before_lines)

    @property
    def shown_episode(self) -> EpisodeInputs:
        """The same as a model is shown them: messages that are in no episode, or the most important sentences of them.
        A title and a few sentences need no more."""
        covered = {turn for episode in self.episodes for turn in range(episode.first, episode.last + 1)}
        lines = tuple(line for line in self.lines if line.turn not in covered)
        room = max(MAX_TOPIC_CHARACTERS - sum(len(episode.summary) for episode in self.episodes), 0)
        if sum(len(line.text) for line in lines) > room:
            lines = tuple(
                SpokenLine(line.role or "user", line.author, line.text, line.turn, line.time)
                for line in extract.gist(lines, room, len)
            )
        return replace(self.episode, lines=lines)

    @property
    def source(self) -> EpisodeInputs:
        """What a summary may say: all that was said in the topic, and the episodes."""
        of_episodes = [SpokenLine("user", "", part.summary, part.last, part.ended) for part in self.episodes]
        return replace(self.episode, lines=(*of_episodes, *self.lines))


@dataclass(frozen=True, slots=True)
class TopicReply:
    """The title and the summary, each in one line, and without a model the lines that the summary was written from."""

    title: str
    summary: str
    lines: tuple[ExtractLine, ...] = ()


_TITLE = "Tiles for the bathroom"
_TOPIC = Instructions.of("topic", TITLE=_TITLE)
_TOPIC_SCHEMA = object_schema({"title": _STRING, "summary": _STRING})


def build_topic(inputs: TopicInputs) -> Request:
    request = episode_summary.build(inputs.shown_episode)
    parts = [section("TITLE SO FAR", [escape_line(inputs.title) or Fenced("(none)")])]
    if inputs.episodes:
        summaries = [Fenced(f"{part.ended:%Y-%m-%d}: {escape_line(part.summary)}") for part in inputs.episodes]
        parts.append(section("EPISODES", summaries, between="\n"))
    body = "\n".join([*parts, request.messages[-1]["content"]])
    return build_request(_TOPIC.text, body, max_tokens=260 + 2 * inputs.limit, schema=_TOPIC_SCHEMA)


def parse_topic(text: str, inputs: TopicInputs) -> TopicReply:
    try:
        summary = episode_summary.parse(text, inputs.source).summary
    except ModelNonsense:
        if inputs.lines or not inputs.before:
            raise
        summary = inputs.before
    return TopicReply(_title_in(text, inputs), summary)


def offline_topic(inputs: TopicInputs) -> TopicReply:
    """The title so far, and a summary of the messages; of the episodes, if there are no messages beside them."""
    reply = episode_summary.offline(inputs.episode)
    if not reply.summary and inputs.episodes:
        parts = [part.lines or extract.whole_line(part.summary, part.last, part.ended) for part in inputs.episodes]
        lines = extract.condense(parts, inputs.limit, inputs.count)
        return TopicReply(inputs.title, render_lines(lines), lines)
    return TopicReply(inputs.title, reply.summary, reply.lines)


def _title_in(text: str, inputs: TopicInputs) -> str:
    """The title in an answer; the one so far, if the answer has none that is grounded in the messages."""
    raw_title = ""
    for answer in model_task.objects(text):
        if isinstance(answer.get("title"), str) and answer["title"].strip():
            raw_title = answer["title"]
            break
    else:
        labels = model_task.parts_by_label(text, {"title": r"title"})
        raw_title = labels[0]["title"].splitlines()[0] if labels and labels[0]["title"].strip() else ""
    title = " ".join(escape_line(raw_title).strip(" \"'`*").rstrip(".").split())
    if not any(map(str.isalnum, title)) or len(title) > MAX_TITLE or title.casefold() == _TITLE.casefold():
        return inputs.title
    source = "\n".join(
        [
            inputs.title,
            inputs.before,
            *(text_part for message in inputs.source.lines for text_part in (message.author, message.text)),
        ]
    )
    grounds = Grounds.of(source)
    return inputs.title if not grounds.shares_word(title) or grounds.find_inventions(title) else title


topic_summary = Prompt("topic_summary", build_topic, parse_topic, offline_topic)
