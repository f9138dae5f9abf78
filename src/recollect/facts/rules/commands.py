"""Commands to a memory, in free form: remember this, forget that, what do you know about me.

A command is addressed to the bot, so the bot must be named, unless everything in a conversation is for it anyway.
People remember and forget in ordinary talk all the time ("I remember when …", "remember to breathe", "forget it"): only
what is certainly a command counts. A missed command costs a repetition; a false one costs somebody's memory.

The person a command is about is given as said; `names.resolve` finds the member. A name that resolves to nobody is
ordinary talk. English only: other languages are for a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recollect.facts.english.finder import find_facts
from recollect.text.detect import function_words
from recollect.text.english import LANGUAGES, PLACES, PROGRAMMING
from recollect.text.fences import strip_invisible
from recollect.text.packs import lazy_pattern
from recollect.text.sentences import split_sentences

CommandKind = Literal["remember", "forget", "ask", "none"]
MAX_COMMAND = 2_000
"""Characters of a message that are looked at; a longer one is a text, not a command."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a message asks of the memory.

    `about` is the person, as said: "me" for the speaker, None if not said. `text` is what to remember or forget, or
    the thing that is asked about: "my dog"; empty for everything. With `refers_back` it is in the messages before.
    """

    kind: CommandKind
    about: str | None = None
    text: str = ""
    refers_back: bool = False


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
        command = _command(sentence, names, known_people) if for_bot else NO_COMMAND
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


_HINT = lazy_pattern(
    r"rem[em]{1,3}ber|memor|forget|4get|\bknow|recall|profile|delete|erase|wipe|unlearn|\bnote\b|in\smind|write\sdown|jot"
    r"|\bstore|\bsave|\bgot\b|[^\x00-\x7f]",
    re.IGNORECASE,
)


def may_be_command(text: str) -> bool:
    """Whether it is worth asking a model: a cheap test without false negatives."""
    return len(text) <= MAX_COMMAND and _HINT.search(text) is not None


_TALK = lazy_pattern(
    r"\b(?:i|we|he|she|they|people|nobody|everyone|you)(?:['’]ll|['’]d)?\s(?:\w+\s){0,2}?(?:remember(?:ed|s)?|forgot(?:ten)?|forgets?|recall(?:ed)?)\b"
    r"|\bremember\s(?:to|when|how|who|why|where|what|me|us|him|them|those|these|the\stime|that\stime|\w+ing|not\sto)\b"
    r"|\b(?:don['’]?t|do\snot|never|didn['’]t)\sforget\s(?:to|about)\b|\bforget\s(?:to|it|about\s(?:it|that)|the)\b"
    r"|\bremember\s[^.!?]{0,400}\?\s*$|\b(?:previous|prior|above)\sinstructions?\b",
    re.IGNORECASE,
)


def is_talk(text: str) -> bool:
    """Whether a text uses the words of commands as ordinary talk does."""
    return _TALK.search(text) is not None


# Who is spoken to

_GREETING = r"(?:(?:hey|hi|hello|hiya|yo|ok|okay|dear|so|um|oh|and|please|pls|plz|well|now|thanks|thx)\b[\s,!.]*)*"


def _sentences(text: str, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The sentences without the bot's name, each with whether it addresses the bot."""
    names_pattern = "|".join(re.escape(name.strip().removeprefix("@")) for name in names if name.strip(" @"))
    for line in strip_invisible(text).split("\n"):
        for sentence in split_sentences(" ".join(line.split())):
            yield _strip_bot_name(sentence, names_pattern) if names_pattern else (sentence, False)


def _strip_bot_name(sentence: str, names_pattern: str) -> tuple[str, bool]:
    start = re.match(rf"(?P<greeting>{_GREETING})@?(?:{names_pattern})(?![\w'’])[\s,:;!.–—-]*", sentence, re.IGNORECASE)
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

_POLITE = lazy_pattern(
    r"(?:(?:please|pls|plz|kindly|hey|hi|hello|yo|ok|okay|so|and|also|now|well|btw|by\sthe\sway|oh|thanks|thx|great|cool|yes|yeah|actually"
    r"|just|then|fyi|but|one\smore\sthing|alright|sorry)\b[\s,!.:;–—-]*)+",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"(?:(?:can|could|would|will)\s(?:you|u|ya)\s(?:(?:please|pls|plz|kindly|also|just|now|maybe|perhaps)\s)*"
    r"|i(?:['’]d|\swould)\slike\s(?:you|u)\sto\s|i\s(?:want|need)\s(?:you|u)\sto\s|would\syou\smind\s"
    r"|(?:you|u)\s(?:can|may|should|must|need\sto|have\sto)\s(?:(?:now|also|just|please)\s)*"
    r"|(?:make\ssure|be\ssure)\s(?:to|(?:that\s)?you)\s|go\sahead\sand\s|try\sto\s)",
    re.IGNORECASE,
)
_REMEMBER = lazy_pattern(r"(?:remember|rember|remeber|rememeber|memori[sz]e)\b\s*", re.IGNORECASE)
_KEEP = lazy_pattern(
    r"(?:(?:take\s|make\s)?(?:a\s)?note\b(?:\sof\sthis|\sdown)?|(?:keep|bear)\sin\smind\b|(?:do\snot|don['’]?t)\sforget\b|never\sforget\b"
    r"|(?:write|jot|note)\s(?:this\s|it\s)?down\b|(?:save|store)\b(?:\sin\syour\smemory)?|for\sthe\srecord\b|know\b)\s*",
    re.IGNORECASE,
)
_FORGET = lazy_pattern(
    r"(?:(?:forget|4get|unlearn)\b|(?:stop|no\slonger)\sremember(?:ing)?\b(?=\s(?:that|my)\b))\s*", re.IGNORECASE
)
_ENDING = lazy_pattern(
    r"(?:[\s,]{1,8}(?:please|pls|plz|thanks|thank\syou|thx|ty|ok|okay|k|will\s(?:you|ya)|would\syou|can\syou|for\sme|for\slater|from\snow\son"
    r"|too|as\swell|so\sfar|at\sall|right\snow|already|anyway|next\stime|for\sthe\sfuture|alright))*[\s.!?…]*$",
    re.IGNORECASE,
)


_SAID_BEFORE = lazy_pattern(r"(?:what|who|when|how|it)\b", re.IGNORECASE)


def _command(sentence: str, names: Sequence[str], people: frozenset[str]) -> Command:
    text = sentence.strip(" \"'“”")
    is_question = text.endswith(("?", "？"))
    polite = _POLITE.match(text)
    text = text[polite.end() :] if polite else text
    question = _ask(_ENDING.sub("", text), people)
    if question.kind != "none":
        return question
    request = _ASKED.match(text)
    if request:
        text = text[request.end() :]
    # "Remember the film?" asks; "could you remember that …?" does not.
    if is_question and not request:
        return NO_COMMAND
    text = _ENDING.sub("", text)
    for verb, reader in ((_REMEMBER, _remember), (_FORGET, _forget), (_KEEP, _keep)):
        match = verb.match(text)
        if match:
            content = text[match.end() :].strip()
            # "Can you remember what I said?" asks whether.
            if is_question and verb is _REMEMBER and _SAID_BEFORE.match(content):
                return NO_COMMAND
            command = reader(content)
            is_read = command.kind != "none" or verb is _KEEP
            return command if is_read else _about_member(verb is _FORGET, content, people)
    return _delete(text)


# remember …

_WHOM = r"(?P<whom>me|myself|us|<@!?\w{1,40}>|@?[^\s,:;.!?]+(?:\s[^\s,:;.!?a-z][^\s,:;.!?]*){0,3})"
_BACK = lazy_pattern(
    r"(?:this|that|it|these|all\s(?:this|that)|what\si(?:['’]ve)?\s(?:just\s)?(?:said|told\syou|wrote)|what\s(?:he|she|they)\sjust\ssaid"
    r"|my\slast\smessage|the\slast\s(?:message|thing))",
    re.IGNORECASE,
)
_ABOUT = lazy_pattern(
    rf"(?:(?:this|that|it|the\sfollowing|something)\s)?(?:about|for|regarding)\s{_WHOM}"
    r"(?:\s*[:,–—-]+\s*(?:that\s)?(?P<said>\S.*)|\sthat\s(?P<clause>\S.*))?",
    re.IGNORECASE,
)
_GIVEN = lazy_pattern(r"(?:(?:this|that|the\sfollowing|it)\s*)?[:–—]\s*(?P<said>\S.*)", re.IGNORECASE)
_NOT_TOLD = lazy_pattern(
    r"(?:i\s(?:told|said|asked|mentioned|promised)|to|not|when|whenever|who|whom|what|where|why|how|if|whether|those|these|all|you|your|u|ur|me|us|him|them|everything|nothing"
    r"|\w+ing|(?:the|that)\s(?:time|day|night|one|ones|guy|girl|movie|film|song|show|thing|place|person|man|woman|kid|game|book|video|story"
    r"|joke|trip|party|week|year|moment|dude|episode|scene|part|line|summer|winter|evening|weekend))\b",
    re.IGNORECASE,
)


def _remember(text: str) -> Command:
    if not text:
        return NO_COMMAND
    if _BACK.fullmatch(text):
        return Command("remember", refers_back=True)
    about = _ABOUT.fullmatch(text)
    if about and _is_person(about["whom"]):
        content = about["said"] or about["clause"] or ""
        return Command("remember", _me_or_name(about["whom"]), content, refers_back=not content)
    quote = _GIVEN.fullmatch(text)
    if quote:
        return _remember_clause(quote["said"])
    opener = re.match(r"(?:that|,|this)\s*,?\s*(?=\S)", text, re.IGNORECASE)
    clause = text[opener.end() :] if opener else text
    if _NOT_TOLD.match(text) or _NOT_TOLD.match(clause) or not _is_clause(clause):
        return NO_COMMAND
    command = _remember_clause(clause)
    # "Remember the Titans" may be a title, "remember, the exam is hard" a manner of speaking.
    doubtful = re.match(r"[Tt]he\s[A-Z]", clause) if not opener else opener[0].startswith(",") and command.about is None
    return NO_COMMAND if doubtful else command


def _keep(text: str) -> Command:
    """Softer words, which people also use for other things: "note that the list is sorted". Their content must be a
    fact about somebody."""
    clause = re.sub(r"^(?:that|this|[:,–—-])\s*[:,]?\s*", "", text, flags=re.IGNORECASE)
    if _NOT_TOLD.match(clause) or not _is_clause(clause):
        return NO_COMMAND
    command = _remember_clause(clause)
    return command if command.about is not None and find_facts(clause[:1].upper() + clause[1:]) else NO_COMMAND


def _remember_clause(clause: str) -> Command:
    about, back = _find_subject(clause)
    return Command("remember", about, clause.strip(), refers_back=back)


# forget …

_BACK_FORGET = lazy_pattern(
    r"(?:this|(?:about\s)?(?:what|the\s(?:last\s)?(?:thing|part|bit)(?:\sthat)?)\si(?:['’]ve)?\s(?:just\s)?(?:said|told\syou|wrote|mentioned)"
    r"(?:\sjust\snow)?|(?:about\s)?(?:my|the|that)\slast\s(?:message|thing|part|bit|fact)|that\slast\sone)",
    re.IGNORECASE,
)
_TOPIC = lazy_pattern(
    r"(?:about\s)?(?:everything|anything|all(?:\sof\sit)?|all\sthat|whatever|what|the\s(?:thing|stuff|things)|stuff|things|that)\s?"
    r"(?:that\s)?(?:(?:i|we|you|u)(?:['’]ve|\shave)?\s(?:just\s|ever\s)?(?:said|told\syou|mentioned|wrote|know|knew|remember(?:ed)?|heard|learned|learnt"
    r"|saved|stored|have|noted|got)\s)?(?:about|on|of|regarding|concerning)\s(?P<topic>\S.*)",
    re.IGNORECASE,
)
_EVERYTHING = lazy_pattern(
    r"(?:absolutely\s)?(?:everything|it\sall|all\sof\sit|all)(?:\s(?:that\s)?(?:i|you|u)(?:['’]ve|\shave)?\s(?:ever\s)?(?:said|told\syou|know|remember(?:ed)?"
    r"|saved|stored|learned))?(?:\sso\sfar)?",
    re.IGNORECASE,
)
_OWN = lazy_pattern(
    r"(?:about\s)?(?P<what>(?P<whose>my|our|<@!?\w{1,40}>['’]s|@?[^\s,:;.!?]+['’]s)\s\S.*)", re.IGNORECASE
)
_OF_THE_CHAT = lazy_pattern(
    r"\b(?:questions?|requests?|instructions?|prompts?|answer|reply|idea|plan|problem|worries|troubles|manners|point|sake"
    r"|comment|suggestion|advice|above|previous|before)\b",
    re.IGNORECASE,
)
_IDIOM = lazy_pattern(r"(?:that\s)?i\s(?:ever\s)?(?:said|asked|mentioned|brought|exist)\b", re.IGNORECASE)
_ASKING = lazy_pattern(r"(?:where|when|how\sold|who|what)\s(?:i|i['’]m|my)\b.+", re.IGNORECASE)


def _forget(text: str) -> Command:
    if _BACK_FORGET.fullmatch(text):
        return Command("forget", refers_back=True)
    if _OF_THE_CHAT.search(text) or _IDIOM.match(text):
        return NO_COMMAND
    if _EVERYTHING.fullmatch(text):
        return Command("forget", "me", "everything")
    topic = _TOPIC.fullmatch(text)
    if topic:
        return _forget_topic(topic["topic"])
    possession = _OWN.fullmatch(text)
    if possession and not _is_clause(text):
        whose = possession["whose"]
        about = "me" if whose.casefold() in ("my", "our") else whose[:-2]
        return Command("forget", about, possession["what"]) if about == "me" or _is_person(about) else NO_COMMAND
    if _ASKING.fullmatch(text):
        return Command("forget", "me", text)
    clause = re.sub(r"^(?:the\sfact\sthat|that|about)\s+(?=\S)", "", text, flags=re.IGNORECASE)
    if _NOT_TOLD.match(clause) or not _is_clause(clause):
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


_DELETE = lazy_pattern(
    r"(?:delete|erase|remove|wipe|clear|drop|scrub)\s(?:(?P<what>.+?)\s(?:from|out\sof)\s(?:your|my|the)\s(?:memory|memories|profile|notes)"
    r"|(?:everything|all(?:\sof)?|anything|whatever|what)(?:\sthat)?\s(?:you|u)(?:['’]ve|\shave)?\s(?:know|knew|remember(?:ed)?|have|stored|saved|got)"
    r"\s(?:about|on|of)\s(?P<topic>\S.*)|(?:my\s(?:profile|memory|memories|data)|your\smemor(?:y|ies)\s(?:of|about)\s(?P<whose>\S.*)))",
    re.IGNORECASE,
)


def _delete(text: str) -> Command:
    match = _DELETE.fullmatch(text)
    if match is None:
        return NO_COMMAND
    if match["what"]:
        return _forget(re.sub(r"^(?:the\sfact\s)?that\s", "that ", match["what"]))
    return _forget_topic(match["topic"] or match["whose"] or "me")


# what do you know about …

_KNOW = r"(?:know|remember|recall|got|have|gather(?:ed)?|learn(?:ed|t)?|store[d]?|save[d]?|remembered|note[d]?|keep)"
_ASK = lazy_pattern(
    rf"(?:(?:so\s)?what(?:\sall|\selse|\sexactly|\sother\s(?:things|stuff)|\sstuff|\sthings)?\s(?:do|did|have|dya|d['’]you)\s(?:you|u|ya)?\s?"
    rf"(?:(?:actually|even|really|already|still|currently)\s)?{_KNOW}(?:\sdown|\sin\s(?:your\s)?memory)?\s(?:about|on|of|regarding)\s(?P<one>\S.*)"
    rf"|(?:(?:can|could|would)\s(?:you|u)\s)?(?:(?:please|pls)\s)?(?:tell|show|list|give|remind)\s?(?:me|us)?\s(?:(?:a\slist\sof|about)\s)?"
    rf"(?:everything|all|anything|what|whatever|the\s(?:things|facts|stuff))(?:\sthat)?\s(?:you|u)(?:['’]ve|\shave)?\s{_KNOW}\s(?:about|on|of"
    rf"|regarding)\s(?P<two>\S.*)"
    rf"|(?:do|did|have)\s(?:you|u)\s{_KNOW}\s(?:anything|something|stuff|much|a\slot|things)\s(?:about|on|of|regarding)\s(?P<three>\S.*)"
    r"|(?:what['’]?s|what\sis|show(?:\sme)?|open|print|list|read(?:\sme)?)\s(?:in\s|on\s)?(?P<whose>my|\S+['’]s)\s(?:profile|memory|memories))",
    re.IGNORECASE,
)
_SELF = frozenset({"me", "myself", "us", "i"})
_OTHERS = frozenset({"him", "her", "them", "it", "this", "that"})
_FILLING = lazy_pattern(r"[\s,]+(?:then|again|exactly|specifically|personally|huh|btw|in\sparticular)$", re.IGNORECASE)


def _ask(text: str, people: frozenset[str]) -> Command:
    match = _ASK.fullmatch(text)
    if match is None:
        return NO_COMMAND
    if match["whose"]:
        whose = match["whose"]
        return Command("ask", "me" if whose.casefold() == "my" else whose[:-2])
    topic = _FILLING.sub("", match["one"] or match["two"] or match["three"]).strip()
    low = topic.casefold()
    if low in _SELF:
        return Command("ask", "me")
    if low in _OTHERS - {"it", "this", "that"}:
        return Command("ask", refers_back=True)
    possession = re.match(r"(?P<whose>my|our|<@!?\w{1,40}>['’]s|@?[^\s,:;.!?]+['’]s)\s\S", topic, re.IGNORECASE)
    if possession and possession["whose"].casefold() in ("my", "our"):
        return Command("ask", "me", topic)
    name = possession["whose"][:-2] if possession else topic
    if low.removeprefix("@") in people or name.casefold().removeprefix("@") in people or _is_name(name):
        return Command("ask", name, topic if possession else "")
    return NO_COMMAND


# Whom it is about

_PERSON_LIMIT = 4  # words
_MENTION = lazy_pattern(r"<@!?\w{1,40}>|@[\w.-]{1,40}")


def _is_person(name: str) -> bool:
    """Whether this may be the name of a person: a mention, or a few words that are not function words."""
    if _MENTION.fullmatch(name) or name.casefold() in _SELF:
        return True
    words = name.split()
    plain = function_words("en")
    return 0 < len(words) <= _PERSON_LIMIT and not any(word.casefold() in plain for word in words) and name[0].isalnum()


def _is_name(name: str) -> bool:
    """Whether this looks like a name: capitals, and no place, language or country."""
    if _MENTION.fullmatch(name):
        return True
    if not _is_person(name) or not all(word[:1].isupper() or not word[:1].isalpha() for word in name.split()):
        return False
    low = name.casefold()
    return low not in PLACES and low not in PROGRAMMING and name not in LANGUAGES


def _me_or_name(name: str) -> str:
    return "me" if name.casefold() in _SELF else name


_THIRD_PERSON = lazy_pattern(r"[a-z]+(?:[^s\W]s|ed)", re.IGNORECASE)


def _about_member(forgets: bool, text: str, people: frozenset[str]) -> Command:
    """A command about a member, with a verb that no list has: "that Dana steers on Fridays"."""
    words = text.split()
    if not words or words[0].casefold() != "that":
        return NO_COMMAND
    names = people | {name.split()[0] for name in people if name.split()}
    for count in range(min(_PERSON_LIMIT, len(words) - 3), 0, -1):
        name = " ".join(words[1 : count + 1])
        is_member = name.casefold().removeprefix("@") in names and not name.isdigit()
        if is_member and _THIRD_PERSON.fullmatch(words[count + 1]):
            return Command("forget" if forgets else "remember", name, " ".join(words[1:]))
    return NO_COMMAND


_FIRST = lazy_pattern(r"(?:i|i['’](?:m|ve|d|ll)|im|ive|we|we['’](?:re|ve)|my|our|call\sme)\b", re.IGNORECASE)
_PRONOUN = lazy_pattern(r"(?:he|she|they|his|her|their|it|its|(?:he|she|they|it)['’](?:s|re|ve))\b", re.IGNORECASE)
_BE = (
    r"(?:is|are|was|were|am|has|have|had|does|do|did|can|cannot|will|would|should|must|isn['’]t|aren['’]t|wasn['’]t|doesn['’]t|don['’]t|can['’]t"
    r"|won['’]t|hasn['’]t|never|always|used\sto|moved|got|went|=|:"
    r"|(?:live|work|like|love|hate|prefer|speak|play|drink|eat|drive|own|use|enjoy|dislike|collect|write|read|need|want|know|believe|support"
    r"|travel|cook|bake|run|swim|ride|wear|keep|train|start|leave|begin|end|mean|come|owe|call|go|arrive|close|open|happen)(?:e?s)"
    r"|studies|teaches|watches|married|bought|died|born|turned|became|started|said|told)"
)
_SUBJECT = lazy_pattern(rf"(?P<who>\S+(?:\s\S+){{0,5}}?)\s+(?P<verb>{_BE})(?=\s|$)\s*(?P<rest>.*)", re.IGNORECASE)


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
    subject = _SUBJECT.match(text)
    return (
        subject is not None
        and bool(subject["rest"].strip())
        and not re.search(r"\b(?:who|which|that|we|you)$", subject["who"])
    )


def _find_subject(clause: str) -> tuple[str | None, bool]:
    """The person a clause is about, as said, and whether that person is named in earlier messages only."""
    if _FIRST.match(clause):
        return "me", False
    if _PRONOUN.match(clause):
        return None, True
    mention = _MENTION.match(clause)
    if mention:
        return mention[0], False
    subject = _SUBJECT.match(clause)
    if subject is None:
        return None, False
    words = subject["who"].split()
    owner = next((number for number, word in enumerate(words) if word.endswith(("'s", "’s"))), None)
    name = " ".join(words[: owner + 1])[:-2] if owner is not None else " ".join(words)
    return (name, False) if _is_person(name) else (None, False)
