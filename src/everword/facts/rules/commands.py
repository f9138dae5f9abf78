"""Commands to a memory, in free form: remember this, forget that, what do you know about me.

A command is addressed to the bot, so the bot must be named, unless everything in a conversation is for it anyway.
People remember and forget in ordinary talk all the time ("I remember when …", "remember to breathe", "forget it"): only
what is certainly a command counts. A missed command costs a repetition; a false one costs somebody's memory.

The person a command is about is given as said; `text.names.resolve` finds the member. A name that resolves to nobody
is ordinary talk. English has rules of its own; in other languages a command is one of the wordings of a language pack
(`text/packs/CODE/commands.txt`). A message need not be long enough to tell its language: the wordings do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from everword.facts.english import WORDS
from everword.facts.english.finder import find_facts
from everword.text.detect import BY_SCRIPT, DEFAULT, allowed_languages, detect, function_words
from everword.text.doc import lower_words
from everword.text.english import LANGUAGES, PLACES, PROGRAMMING
from everword.text.escaping import strip_invisible
from everword.text.language_packs import Wordings, compose, fold_letters, packs_with, wordings
from everword.text.sentences import split_sentences
from everword.word_lists import Patterns, lazy_pattern

_COMMANDS = Patterns("commands", words=WORDS)
_MARKS = " \"'“”„«»「」『』.,:;!?…–—-¡¿，。！？：；、،؟؛।॥"
_GROUPS = (
    ("what", "(?P<what>.+)"),
    ("clause", "(?P<clause>.+)"),
    ("whom", "(?P<whom>.+)"),
    ("thing", "(?P<thing>.+)"),
    ("matter", "(?P<matter>.+)"),
    ("own", "(?P<clause>{my}(?= |$|(?<=[\u3041-\ud7ff])).*)"),
    ("back", "(?P<back>{this})"),
    ("everything", "(?P<everything>{all})"),
    ("opening", "{MARK}*(?:(?:{polite})(?:(?=$|{MARK})|(?<=[\u3041-\u9fff])){MARK}*)+"),
    ("closing", "(?:(?:{MARK}+|(?<=[\u3041-\u9fff]))(?:{ending})(?=$|{MARK}))*{MARK}*$"),
    ("MARK", f"[{re.escape(_MARKS)}]"),
)
_LANGUAGES = packs_with("commands")

CommandKind = Literal["remember", "forget", "ask", "none"]
MAX_COMMAND = 2_000
"""Characters of a message that are looked at; a longer one is a text, not a command."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a message asks of the memory.

    `about` is the person, as said: "me" for the speaker, None if not said. `text` is what to remember or forget, or
    the thing that is asked about: "my dog"; empty for everything. With `refers_back` it is in the messages before.
    `language` is the language of the command, in which it is answered. Unless it `is_certain`, it is a command only if
    something is known that fits: "do you remember when the exam is?" may as well be for a model.
    """

    kind: CommandKind
    about: str | None = None
    text: str = ""
    refers_back: bool = False
    language: str = DEFAULT
    is_certain: bool = True


NO_COMMAND = Command("none")


def parse_command(text: str, names: Sequence[str], *, for_bot: bool = False, people: Sequence[str] = ()) -> Command:
    """The command in a message. `names` are the names of the bot, `people` the names of members if the caller has them:
    they distinguish "bob" from "physics". `for_bot`: the message is for the bot even if it does not name it."""
    if len(text) > MAX_COMMAND:
        return NO_COMMAND
    known_people = frozenset(name.casefold().removeprefix("@") for name in people)
    before: list[str] = []
    for sentence, names_bot in _sentences(text, names):
        for_bot = for_bot or names_bot
        command = _command_in_any_language(sentence, known_people) if for_bot else NO_COMMAND
        if command.kind != "none":
            # "I'm vegan. Bot, remember that": what it refers to is in the same message.
            if command.refers_back and not command.text and before:
                earlier = " ".join(before)
                return replace(
                    command, text=earlier, about=command.about or _find_subject(earlier)[0], refers_back=False
                )
            return command
        before.append(sentence)
    return NO_COMMAND


def is_addressed(text: str, names: Sequence[str]) -> bool:
    """Whether a message addresses the bot by name."""
    return any(names_bot for _, names_bot in _sentences(text[:MAX_COMMAND], names))


def may_be_command(text: str) -> bool:
    """Whether it is worth asking a model: a cheap test without false negatives."""
    return len(text) <= MAX_COMMAND and (_COMMANDS.hint.search(text) is not None or any(_packs_for(text)))


def is_talk(text: str) -> bool:
    """Whether a text uses the words of commands as ordinary talk does."""
    return _COMMANDS.talk.search(text) is not None


# Who is spoken to


def _sentences(text: str, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The sentences without the bot's name, each with whether it addresses the bot."""
    names_pattern = "|".join(re.escape(name.strip().removeprefix("@")) for name in names if name.strip(" @"))
    for line in strip_invisible(text).split("\n"):
        for sentence in split_sentences(" ".join(line.split())):
            yield _strip_bot_name(sentence, names_pattern) if names_pattern else (sentence, False)


def _strip_bot_name(sentence: str, names_pattern: str) -> tuple[str, bool]:
    start = re.match(
        rf"(?P<greeting>{_COMMANDS.greeting.pattern})@?(?:{names_pattern})(?![\w'’])[\s,:;!.–—-]*",
        sentence,
        re.IGNORECASE,
    )
    if start:
        return f"{start['greeting']}{sentence[start.end() :]}".strip(), True
    name_last = rf"(?:{names_pattern})(?P<stop>[\s.!?]*)$"
    end = re.search(rf"(?:,\s*@?|\s@){name_last}", sentence, re.IGNORECASE)
    if end is None:
        end = re.search(rf"\s(?:please|pls|thanks|ok)\s@?{name_last}", sentence, re.IGNORECASE)
    if end:
        return f"{sentence[: end.start()]}{end['stop']}".strip(), True
    mention = re.match(rf"what\sdoes\s@?(?:{names_pattern})\s(?=know|remember)", sentence, re.IGNORECASE)
    return (f"what do you {sentence[mention.end() :]}", True) if mention else (sentence, False)


# One sentence


def _command_in_any_language(sentence: str, people: frozenset[str]) -> Command:
    command = _command(sentence, people)
    return command if command.kind != "none" else _command_in_packs(sentence, people)


def _command(sentence: str, people: frozenset[str]) -> Command:
    text = sentence.strip(" \"'“”")
    is_question = text.endswith(("?", "？"))
    polite = _COMMANDS.polite.match(text)
    text = text[polite.end() :] if polite else text
    question = _ask(_COMMANDS.ending.sub("", text), people)
    if question.kind != "none":
        return question
    request = _COMMANDS.asked.match(text)
    if request:
        text = text[request.end() :]
    # "Remember the film?" asks; "could you remember that …?" does not.
    if is_question and not request:
        return NO_COMMAND
    text = _COMMANDS.ending.sub("", text)
    for verb, reader in ((_COMMANDS.remember, _remember), (_COMMANDS.forget, _forget), (_COMMANDS.keep, _keep)):
        match = verb.match(text)
        if match:
            content = text[match.end() :].strip()
            # "Can you remember what I said?" asks whether.
            if is_question and verb is _COMMANDS.remember and _COMMANDS.said_before.match(content):
                return NO_COMMAND
            command = reader(content)
            is_read = command.kind != "none" or verb is _COMMANDS.keep
            return command if is_read else _about_member(verb is _COMMANDS.forget, content, people)
    return _delete(text)


# remember …


def _remember(text: str) -> Command:
    if not text:
        return NO_COMMAND
    if _COMMANDS.back.fullmatch(text):
        return Command("remember", refers_back=True)
    about = _COMMANDS.about.fullmatch(text)
    if about and _is_person(about["whom"]):
        content = about["said"] or about["clause"] or ""
        return Command("remember", _me_or_name(about["whom"]), content, refers_back=not content)
    quote = _COMMANDS.given.fullmatch(text)
    return _remember_clause(quote["said"]) if quote else _remember_words(text)


def _remember_words(text: str) -> Command:
    """What "remember …" asks for, if these words are a clause and no title or manner of speaking."""
    opener = re.match(r"(?:that|,|this)\s*,?\s*(?=\S)", text, re.IGNORECASE)
    clause = text[opener.end() :] if opener else text
    if _COMMANDS.not_told.match(text) or _COMMANDS.not_told.match(clause) or not _is_clause(clause):
        return NO_COMMAND
    command = _remember_clause(clause)
    # "Remember the Titans" may be a title, "remember, the exam is hard" a manner of speaking.
    doubtful = re.match(r"[Tt]he\s[A-Z]", clause) if not opener else opener[0].startswith(",") and command.about is None
    return NO_COMMAND if doubtful else command


def _keep(text: str) -> Command:
    """Softer words, which people also use for other things: "note that the list is sorted". Their content must be a
    fact about somebody."""
    clause = re.sub(r"^(?:that|this|[:,–—-])\s*[:,]?\s*", "", text, flags=re.IGNORECASE)
    if _COMMANDS.not_told.match(clause) or not _is_clause(clause):
        return NO_COMMAND
    command = _remember_clause(clause)
    return command if command.about is not None and find_facts(clause[:1].upper() + clause[1:]) else NO_COMMAND


def _remember_clause(clause: str) -> Command:
    about, back = _find_subject(clause)
    return Command("remember", about, clause.strip(), refers_back=back)


# forget …


def _forget(text: str) -> Command:
    if _COMMANDS.back_forget.fullmatch(text):
        return Command("forget", refers_back=True)
    if _COMMANDS.of_the_chat.search(text) or _COMMANDS.idiom.match(text):
        return NO_COMMAND
    if _COMMANDS.everything.fullmatch(text):
        return Command("forget", "me", "everything")
    topic = _COMMANDS.topic.fullmatch(text)
    if topic:
        return _forget_topic(topic["topic"])
    possession = _COMMANDS.own.fullmatch(text)
    if possession and not _is_clause(text):
        whose = possession["whose"]
        about = "me" if whose.casefold() in ("my", "our") else whose[:-2]
        return Command("forget", about, possession["what"]) if about == "me" or _is_person(about) else NO_COMMAND
    if _COMMANDS.asking.fullmatch(text):
        return Command("forget", "me", text)
    clause = re.sub(r"^(?:the\sfact\sthat|that|about)\s+(?=\S)", "", text, flags=re.IGNORECASE)
    if _COMMANDS.not_told.match(clause) or not _is_clause(clause):
        return NO_COMMAND
    about, back = _find_subject(clause)
    return Command("forget", about, clause, refers_back=back)


def _forget_topic(topic: str) -> Command:
    if topic.casefold() in _SELF:
        return Command("forget", "me", "everything")
    if topic.casefold() in _OTHERS:
        return Command("forget", None, "everything", refers_back=True)
    owner = re.match(r"(?P<whose>my|our|<@!?\w{1,40}>['’]s|@?[^\s,:;.!?]+['’]s)\s", topic, re.IGNORECASE)
    if owner:
        whose = owner["whose"]
        return Command("forget", "me" if whose.casefold() in ("my", "our") else whose[:-2], topic)
    if topic.startswith(("@", "<@")) or (topic[:1].isupper() and _is_person(topic)):
        return Command("forget", topic, "everything")
    return Command("forget", "me", topic)


def _delete(text: str) -> Command:
    match = _COMMANDS.delete.fullmatch(text)
    if match is None:
        return NO_COMMAND
    if match["what"]:
        return _forget(re.sub(r"^(?:the\sfact\s)?that\s", "that ", match["what"]))
    return _forget_topic(match["topic"] or match["whose"] or "me")


# what do you know about …

_SELF = frozenset({"me", "myself", "us", "i"})
_OTHERS = frozenset({"him", "her", "them", "it", "this", "that"})


def _ask(text: str, people: frozenset[str]) -> Command:
    match = _COMMANDS.ask.fullmatch(text)
    if match is None:
        return NO_COMMAND
    if match["whose"]:
        whose = match["whose"]
        return Command("ask", "me" if whose.casefold() == "my" else whose[:-2])
    topic = _COMMANDS.filling.sub("", match["one"] or match["two"] or match["three"]).strip()
    low = topic.casefold()
    if low in _SELF:
        return Command("ask", "me")
    if low in _OTHERS - {"it", "this", "that"}:
        return Command("ask", refers_back=True)
    return _ask_about(topic, people)


def _ask_about(topic: str, people: frozenset[str]) -> Command:
    """The question about a person and what is theirs: "Ben's work", "my work"."""
    possession = re.match(r"(?P<whose>my|our|<@!?\w{1,40}>['’]s|@?[^\s,:;.!?]+['’]s)\s\S", topic, re.IGNORECASE)
    if possession and possession["whose"].casefold() in ("my", "our"):
        return Command("ask", "me", topic)
    name = possession["whose"][:-2] if possession else topic
    if {topic.casefold().removeprefix("@"), name.casefold().removeprefix("@")} & people or _is_name(name):
        return Command("ask", name, topic if possession else "")
    return NO_COMMAND


# Whom it is about

_PERSON_LIMIT = 4  # words


def _is_person(name: str) -> bool:
    """Whether this may be the name of a person: a mention, or a few words that are not function words."""
    if _COMMANDS.mention.fullmatch(name) or name.casefold() in _SELF:
        return True
    words = name.split()
    plain = function_words("en")
    return 0 < len(words) <= _PERSON_LIMIT and not any(word.casefold() in plain for word in words) and name[0].isalnum()


def _is_name(name: str) -> bool:
    """Whether this looks like a name: capitals, and no place, language or country."""
    if _COMMANDS.mention.fullmatch(name):
        return True
    if not _is_person(name) or not all(word[:1].isupper() or not word[:1].isalpha() for word in name.split()):
        return False
    low = name.casefold()
    return low not in PLACES and low not in PROGRAMMING and name not in LANGUAGES


def _me_or_name(name: str) -> str:
    return "me" if name.casefold() in _SELF else name


def _about_member(forgets: bool, text: str, people: frozenset[str]) -> Command:
    """A command about a member, with a verb that no list has: "that Dana steers on Fridays"."""
    words = text.split()
    if not words or words[0].casefold() != "that":
        return NO_COMMAND
    names = people | {name.split()[0] for name in people if name.split()}
    for count in range(min(_PERSON_LIMIT, len(words) - 3), 0, -1):
        name = " ".join(words[1 : count + 1])
        is_member = name.casefold().removeprefix("@") in names and not name.isdigit()
        if is_member and _COMMANDS.third_person.fullmatch(words[count + 1]):
            return Command("forget" if forgets else "remember", name, " ".join(words[1:]))
    return NO_COMMAND


def _is_clause(text: str) -> bool:
    """Whether a text is a clause with a verb and not only the name of a thing."""
    if re.match(
        r"(?:i|we|he|she|they|it)\s+\S+\s+\S|(?:i['’](?:m|ve|d|ll)|im|ive|we['’](?:re|ve)|(?:he|she|they|it)['’](?:s|re))\s+\S",
        text,
        re.IGNORECASE,
    ):
        return True
    if re.match(r"(?:i|we|he|she|they)\s+\w+$|call\sme\s\S", text, re.IGNORECASE):
        return True
    if re.match(r"(?:my|our)\s[\w ]{2,40}?\s?[:=]\s?\S", text, re.IGNORECASE):
        return True
    subject = _COMMANDS.subject.match(text)
    return (
        subject is not None
        and bool(subject["rest"].strip())
        and not re.search(r"\b(?:who|which|that|we|you)$", subject["who"])
    )


def _find_subject(clause: str) -> tuple[str | None, bool]:
    """The person a clause is about, as said, and whether that person is named in earlier messages only."""
    if _COMMANDS.first.match(clause):
        return "me", False
    if _COMMANDS.pronoun.match(clause):
        return None, True
    mention = _COMMANDS.mention.match(clause)
    if mention:
        return mention[0], False
    subject = _COMMANDS.subject.match(clause)
    if subject is None:
        return None, False
    words = subject["who"].split()
    owner = next((number for number, word in enumerate(words) if word.endswith(("'s", "’s"))), None)
    name = " ".join(words[: owner + 1])[:-2] if owner is not None else " ".join(words)
    return (name, False) if _is_person(name) else (None, False)


# Other languages


_COMMA = lazy_pattern("[,，、،;；]| [–—-] ")
_LONGEST_WORDING = 400  # characters of a sentence that is compared with wordings
_KINDS: tuple[CommandKind, ...] = ("ask", "forget", "remember")


def _packs_for(text: str) -> Iterator[Wordings]:
    """The packs that have a word of this text among their words for commands; that of its language first."""
    folded = fold_letters(compose(text))
    words = frozenset(word.strip(_MARKS) for word in text.lower().split())
    own_language = detect(text)
    for language in sorted(allowed_languages(_LANGUAGES), key=lambda language: language != own_language):
        pack = wordings(language, "commands", _GROUPS)
        if pack.pattern("hint").search(folded) and (
            language == own_language or words.isdisjoint(_english_words_beside(language))
        ):
            yield pack


def _english_words_beside(language: str) -> frozenset[str]:
    """The English function words that tell that a text is not in a language: "note" and "delete" are French and
    Portuguese, too. None for languages in other scripts: who writes them in Latin letters mixes them with English."""
    if language not in BY_SCRIPT["latin"]:
        return frozenset()
    wordings_text = " ".join(wordings(language, "commands", _GROUPS).entries.values())
    own_words = {*function_words(language), *lower_words(wordings_text)}
    return function_words(DEFAULT) - own_words - {fold_letters(word) for word in own_words}


def _command_in_packs(sentence: str, people: frozenset[str]) -> Command:
    """The command of a sentence in a language other than English."""
    text = compose(sentence)
    for pack in _packs_for(text) if len(text) <= _LONGEST_WORDING else ():
        is_question = _asks_whether(text, pack)
        for kind in _KINDS if not is_question else _KINDS[:1]:
            commands = (_read_wordings(kind, core, pack, people) for core in _cores(kind, text, pack))
            command = next((command for command in commands if command.kind != "none"), None)
            if command is not None:
                return command
    return NO_COMMAND


def _cores(kind: CommandKind, text: str, pack: Wordings) -> Iterable[str]:
    """What may be the command in a sentence: all of it, or what is left without politeness at its ends; and without
    the reason that follows: "forget the plan for Lisbon, we are not going"."""
    folded = fold_letters(text)
    start = pack.pattern("opening").match(folded)
    end = pack.pattern("closing").search(folded)
    last = end.start() if end else len(text)
    cores = [text[first:last].strip(_MARKS) for first in (0, start.end() if start else 0)]
    return dict.fromkeys(cores if kind == "remember" else [*cores, *(_COMMA.split(core)[0] for core in cores)])


def _read_wordings(kind: CommandKind, text: str, pack: Wordings, people: frozenset[str]) -> Command:
    folded = fold_letters(text)
    matches = (match for pattern in pack.lines(kind) if (match := pattern.fullmatch(folded)))
    commands = (_read_wording(kind, match, text, pack, people) for match in matches)
    return next((command for command in commands if command.kind != "none"), NO_COMMAND)


def _asks_whether(text: str, pack: Wordings) -> bool:
    """Whether a sentence only asks: "do you remember our trip?" does, and "can you remember this?" does not."""
    folded = fold_letters(text).strip(" \"'”»」")
    asks = folded.endswith(("?", "؟")) or pack.pattern("question").fullmatch(folded.strip(_MARKS)) is not None
    return asks and not pack.pattern("request").search(folded)


def _read_wording(
    kind: CommandKind, match: re.Match[str], text: str, pack: Wordings, people: frozenset[str]
) -> Command:
    """The command that a wording gives: `what` and `clause` are words to keep or to forget, `whom` is a person."""
    parts = {name: text[slice(*match.span(name))].strip(_MARKS) for name, part in match.groupdict().items() if part}
    if "matter" in parts or "thing" in parts:
        return _uncertain_command(kind, parts, pack)
    if kind == "ask" or "whom" in parts:
        return _about_whom(kind, parts.get("whom"), pack, people)
    if "everything" in parts:
        return Command("forget", "me", "everything", language=pack.language)
    content = parts.get("clause") or parts.get("what") or ""
    folded = fold_letters(content)
    if "back" in parts or pack.pattern("this").fullmatch(folded):
        return Command(kind, refers_back=True, language=pack.language)
    if not content or ("clause" not in parts and pack.pattern("not").fullmatch(folded)):
        return NO_COMMAND
    words = content.split()
    names = (" ".join(words[:count]) for count in range(min(_PERSON_LIMIT, len(words)), 0, -1))
    member = next((name for name in names if name.casefold().removeprefix("@") in people), None)
    return Command(kind, member, content, language=pack.language)


def _about_whom(kind: CommandKind, whom: str | None, pack: Wordings, people: frozenset[str]) -> Command:
    """A question about the speaker, what is theirs, or a member; or a request to forget all about one of them."""
    everything = "everything" if kind == "forget" else ""
    if whom is None or pack.pattern("me").fullmatch(fold_letters(whom)):
        return Command(kind, "me", everything, language=pack.language)
    if pack.pattern("my").match(fold_letters(whom)):
        return Command(kind, "me", whom, language=pack.language)
    if whom.casefold().removeprefix("@") in people or _COMMANDS.mention.fullmatch(whom):
        return Command(kind, whom, everything, language=pack.language)
    return _uncertain_command(kind, {"thing": whom}, pack)


def _uncertain_command(kind: CommandKind, parts: Mapping[str, str], pack: Wordings) -> Command:
    """A command about anything: what is known decides whether it is one."""
    text = parts.get("matter") or parts.get("thing") or ""
    is_talk = not text or (kind != "ask" and pack.pattern("idiom").fullmatch(fold_letters(text)) is not None)
    return NO_COMMAND if is_talk else Command(kind, text=text, language=pack.language, is_certain=False)
