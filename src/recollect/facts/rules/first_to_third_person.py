"""What somebody said, as statements about them in the third person, and back.

"I live in Rome and my dog is called Rex", said by Alex, is two statements: "Alex lives in Rome." and "Alex's dog is
called Rex." The name replaces every pronoun: a statement is read alone, years later. Nothing else is changed: a clause
about a thing, or in the third person already, stays as it was said. Verbs are known in English only; words in another
language are quoted. A question states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.facts.english.values import trade
from recollect.text.detect import detect, function_words
from recollect.text.english import (
    COMMON_VERBS,
    CONDITION_ADJECTIVES,
    DIETS,
    FORMS_AFTER_I,
    PERSON_FORMS,
    form_after_i,
    form_after_name,
)
from recollect.text.fences import strip_invisible
from recollect.text.packs import lazy_pattern
from recollect.text.sentences import split_sentences

MAX_STATEMENT = 300
"""Characters of one statement; a longer one is cut between two words."""
MAX_STATEMENTS = 10
"""Statements that are made of one text."""
_MAX_SAID = 4_000  # characters that are looked at


def statements_about(name: str, speech: str, *, speaker: str = "") -> tuple[str, ...]:
    """A speech about somebody as statements that name them. Without a `speaker` they said it themselves."""
    name = _plain_name(name)
    speaker_name = _plain_name(speaker) or name
    statements: dict[str, None] = {}
    for line in strip_invisible(speech[:_MAX_SAID]).split("\n"):
        for sentence in split_sentences(" ".join(line.split())):
            if not sentence.rstrip("\"'”’»)」』 ").endswith(_ASKS) and any(map(str.isalnum, sentence)):
                clauses = _clauses(sentence, name)
                statements |= dict.fromkeys(
                    _finish_statement(_third_person(clause, name, speaker_name)) for clause in clauses
                )
    return tuple(text for text in statements if _says_something(text, name, speaker_name))[:MAX_STATEMENTS]


def first_person(name: str, statement: str) -> str:
    """A statement in the words of the person it is about: rules for messages can then read it."""
    name = _plain_name(name)
    start = re.match(rf"{re.escape(name)}(?P<own>['’]s?)?(?=[\s,.]|$)", statement, re.IGNORECASE) if name else None
    if start is None:
        return statement
    predicate = statement[start.end() :].lstrip()
    predicate = re.sub(rf"(?<!\w){re.escape(name)}['’]s?(?=\s)", "my", predicate, flags=re.IGNORECASE)
    predicate = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "me", predicate, flags=re.IGNORECASE)
    if start["own"]:
        return f"My {predicate}"
    adverbs = _ADVERBS_FIRST.match(predicate)
    before, predicate = (adverbs[0], predicate[adverbs.end() :]) if adverbs else ("", predicate)
    verb, _, tail = predicate.partition(" ")
    stop = "." if verb.endswith(".") else ""
    return f"I {before}{form_after_i(verb.rstrip('.'))}{stop} {tail}".rstrip()


def possessive(name: str) -> str:
    return f"{name}'s"


_ASKS = ("?", "？", "؟", "\u037e", "՞")


def _plain_name(name: str) -> str:
    return " ".join(strip_invisible(name).split())


def _says_something(text: str, name: str, speaker_name: str) -> bool:
    """Whether a statement is more than a name and a short verb: "I am" says nothing."""
    for person in (name, speaker_name):
        text = re.sub(rf"^{re.escape(person)}(?:['’]s)?(?!\w)", "", text)
    words = text.strip(" .…").casefold().split()
    return bool(words) and not (len(words) == 1 and words[0] in PERSON_FORMS)


def _finish_statement(text: str) -> str:
    """The text with a full stop, cut to the length of a statement."""
    text = text.strip(" ,;:-–—")
    if len(text) > MAX_STATEMENT:
        cut = text[: MAX_STATEMENT - 1]
        text = f"{cut.rsplit(' ', 1)[0] if ' ' in cut[MAX_STATEMENT // 2 :] else cut}…"
    text = text.rstrip(" ,;!") or text
    return text if text.endswith((".", "…", "。", "！", "।", '."', ".”")) else f"{text}."


# A sentence is cut where a clause with its own subject begins.

_OWN_SUBJECT = r"(?=(?:i|i['’]m|im|i['’]ve|i['’]d|i['’]ll|my|we|we['’]re|we['’]ve|our)\s+\w)"
_JOINT = lazy_pattern(
    rf"\s*;\s+|,?\s+(?:and|but|also|plus)\s+(?:also\s+)?{_OWN_SUBJECT}|,\s+{_OWN_SUBJECT}", re.IGNORECASE
)
_STATED = lazy_pattern(
    r"^(?:(?:i|we)\s+\S+\s+\S|(?:i['’]?m|i['’]ve|we['’]re|we['’]ve)\s+\S"
    r"|(?:my|our|his|her|their|[\w'’.@-]+['’]s)\s.*\b(?:is|are|was|were|has|have|does|\w{3,}s)\b\s+\S"
    r"|\S+(?:\s\S+)?\s(?:is|are|was|has|does|\w{3,}s)\b\s+\S)",
    re.IGNORECASE,
)
_LEANS = lazy_pattern(
    r"\b(?:if|when|whenever|while|because|unless|since|before|after|until|think|thinks|that)\b", re.IGNORECASE
)
_LEAD = lazy_pattern(
    r"^(?:(?:that|and|also|but|so|well|btw|by\sthe\sway|fyi|please|actually|just)[,:]?\s+)+(?=\S+\s)"
    r"(?!(?:that\s)?(?:is|was)\b)",
    re.IGNORECASE,
)


# Verbs that begin another clause after "and". Words that may also be nouns count only before words that follow no noun.
_NEXT = lazy_pattern(
    r",?\s+(?:and|but)\s+(?P<again>(?:(?:also|now|currently|really)\s+)?"
    r"(?:(?:live|speak|own|prefer|enjoy|dislike|hate|believe|have|eat|drive|teach|adore|avoid|write|read|watch|collect)s?"
    r"|am|is|has|teaches|watches|(?:work|play|travel|train|volunteer|love|like|study|studie)s?(?=\s(?:at|for|as|in|from|with"
    r"|the|on|my|a|to)\b))\s+\S)",
    re.IGNORECASE,
)
_INFINITIVE = lazy_pattern(
    r"\bto\s+[a-z]|\b(?:can|could|will|would|should|must|may|might|do|does|don['’]?t|doesn['’]t|not)\b"
)


def _clauses(sentence: str, name: str) -> Iterator[str]:
    lead = _LEAD.match(sentence)
    sentence = sentence[lead.end() :] if lead else sentence
    start = 0
    for joint in _JOINT.finditer(sentence):
        piece = sentence[start : joint.start()]
        if _STATED.match(piece) and not _LEANS.search(piece):
            yield from _split_predicates(piece, name)
            start = joint.end()
    yield from _split_predicates(sentence[start:], name)


def _split_predicates(clause: str, name: str) -> Iterator[str]:
    """The predicates of a clause, each with the subject: "I live in Rome and work at Globex" has two."""
    subject = re.match(rf"(?:i|we|he|she|they|{re.escape(name)})(?=\s)|i(?=['’]m\s)", clause, re.IGNORECASE)
    start = 0
    for cut in _NEXT.finditer(clause) if subject else ():
        if (
            subject is None
            or _INFINITIVE.search(clause, start, cut.start())
            or _LEANS.search(clause, start, cut.start())
        ):
            break
        yield clause[start : cut.start()] if not start else f"{subject[0]} {clause[start : cut.start()]}"
        start = cut.start("again")
    yield clause if not start or subject is None else f"{subject[0]} {clause[start:]}"


# Whom the pronouns mean

_ADVERBS = (
    r"also|always|never|really|still|just|now|currently|often|usually|sometimes|only|mostly|already|both|hardly|once"
    r"|ever|actually|kinda|kind\sof|sort\sof|so|recently|rarely|mainly|absolutely|\w+ly"
)
_ADVERBS_FIRST = lazy_pattern(rf"(?:(?:{_ADVERBS})\s+)+", re.IGNORECASE)
_SHORT = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bi['’]m\b|\bim\b(?=\s)", "I am"),
        (r"\bi['’]ve\b|\bive\b(?=\s)", "I have"),
        (r"\bi['’]ll\b", "I will"),
        (r"\bi['’]d\b(?=\s(?:rather|like|love|prefer|want|be|\w+ly)\b)", "I would"),
        (r"\bi['’]d\b", "I had"),
        (r"\bwe['’]re\b", "we are"),
        (r"\bwe['’]ve\b", "we have"),
        (r"\bwe['’]ll\b", "we will"),
        (r"\b(?P<who>he|she|they)['’]s\sgot\b", r"\g<who> has got"),
        (r"\b(?P<who>he|she|they)['’](?:s|re)\b", r"\g<who> is"),
        (r"\b(?P<who>he|she|they)['’]ve\b", r"\g<who> has"),
        (r"\b(?P<who>he|she|they)['’]ll\b", r"\g<who> will"),
    )
)
_WITH_ME = lazy_pattern(r"^(?P<other>(?:my\s)?[\w'’-]+(?:\s[\w'’-]+)?)\s+(?P<and>and|or)\s+i\b", re.IGNORECASE)
_I = lazy_pattern(
    rf"\b(?:i|we)\s+(?P<adverbs>(?:(?:{_ADVERBS})\s+)*)(?P<verb>[a-z]+(?:['’]t)?)\b(?!['’])", re.IGNORECASE
)
_NOT_PAST_I = lazy_pattern(r"\b(?:i|I)\b(?![.'’]\w)|\b[Ww]e\b")
_SOMEBODY = lazy_pattern(
    rf"^(?:(?P<they>they)|he|she|the\suser|this\s(?:person|user))\s+(?P<adverbs>(?:(?:{_ADVERBS})\s+)*)"
    r"(?P<verb>[a-z]+(?:['’]t)?)\b",
    re.IGNORECASE,
)
_THEIRS = lazy_pattern(r"^(?:his|her|their|the\suser['’]s)\s+(?=\w)", re.IGNORECASE)
_MENTION = lazy_pattern(r"^<@!?\w{1,40}>(?P<own>['’]s)?(?=\s)")
_CALL_ME = lazy_pattern(
    r"^(?:please\s+)?(?:(?:you\s(?:can|may)|always)\s+)?call\sme\s+(?P<called>\S.*)$", re.IGNORECASE
)


def _third_person(clause: str, name: str, speaker_name: str) -> str:
    """A clause with names instead of pronouns."""
    nickname = _CALL_ME.match(clause)
    if nickname:
        return f"{speaker_name} goes by {nickname['called']}"
    plain = clause
    for pattern, full in _SHORT:
        plain = pattern.sub(full, plain)
    with_name = _name_subject(plain, name)
    statement = _name_speaker(with_name, speaker_name)
    if statement == plain:
        statement = _add_subject(plain, name)
    if (
        statement == plain
        and detect(clause) != "en"
        and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause, re.IGNORECASE)
    ):
        return f"{speaker_name} said: “{clause.strip().rstrip('.')}.”"
    if statement == plain:
        statement = clause  # no name was put in: as it was said, short forms too
    return _capitalise_start(statement, name, speaker_name)


def _name_subject(clause: str, name: str) -> str:
    """The clause with the name where it begins with a pronoun, a mention, or the name in other case."""
    mention = _MENTION.match(clause)
    if mention:
        return f"{possessive(name) if mention['own'] else name}{clause[mention.end() :]}"
    somebody = _SOMEBODY.match(clause)
    if somebody:
        verb = form_after_name(somebody["verb"]) if somebody["they"] else somebody["verb"]
        return f"{name} {somebody['adverbs']}{verb}{clause[somebody.end() :]}"
    theirs = _THEIRS.match(clause)
    if theirs and not re.match(r"her\s+(?:and|or|is|was)\b", clause, re.IGNORECASE):
        return f"{possessive(name)} {clause[theirs.end() :]}"
    own_name = re.match(rf"@?{re.escape(name)}(?=['’]s\b|\s|$)", clause, re.IGNORECASE) if name else None
    return f"{name}{clause[own_name.end() :]}" if own_name else clause


def _name_speaker(clause: str, speaker_name: str) -> str:
    """The clause with the speaker's name where they spoke of themselves."""
    together = _WITH_ME.match(clause)
    if together and not _is_verb(together["other"].split()[-1]):
        clause = f"{together['other']} {together['and']} {speaker_name}{clause[together.end() :]}"
        clause = re.sub(rf"(?<={re.escape(speaker_name)})\sam\b", " are", clause, count=1)

    def name_and_verb(match: re.Match[str]) -> str:
        return f"{speaker_name} {match['adverbs']}{form_after_name(match['verb'])}"

    clause = _I.sub(name_and_verb, clause)
    clause = re.sub(r"\b(?:myself|ourselves)\b", "themself", clause, flags=re.IGNORECASE)
    clause = re.sub(r"\b(?:[Mm]ine|[Oo]urs)\b(?!\s*[-:])", lambda _: possessive(speaker_name), clause)
    clause = re.sub(r"\b(?:[Mm]y|MY|[Oo]ur)\b(?=\s+\S)", lambda _: possessive(speaker_name), clause)
    clause = re.sub(r"\b(?:[Mm]e|us)\b(?!['’])", lambda _: speaker_name, clause)
    return _NOT_PAST_I.sub(lambda _: speaker_name, clause)


# A clause without a subject is about the person, if it begins as a statement about a person does.

_THIRD_BEGINS = lazy_pattern(
    r"^(?:is|was|has|does|doesn['’]t|isn['’]t|goes|can|cannot|can['’]t|used\sto|moved|\w{2,}s)\s", re.IGNORECASE
)
_BARE_BEGINS = lazy_pattern(
    r"^(?:(?P<adverbs>(?:(?:also|really|still|now|never|always)\s)*)(?P<verb>am|don['’]?t|have\s(?:a|an|two|three|no)"
    r"|live\s(?:in|with|near|on)|work\s(?:at|for|as|in|from)|love|like|hate|prefer|speak)\s)",
    re.IGNORECASE,
)
_ADJECTIVE = lazy_pattern(
    r"^(?:allergic\sto|born\s(?:in|on)|married|divorced|single|retired|from|afraid\sof|intolerant)\s", re.IGNORECASE
)
_OF_ADJECTIVES = DIETS | CONDITION_ADJECTIVES
_ATTRIBUTE = lazy_pattern(
    r"^(?P<what>(?:(?:favou?rite|preferred|first|last|full|real|middle|home|work|e-?mail|phone|date\sof)\s)?"
    r"(?:name|nickname|birthday|birth(?:\sdate)?|age|job|email|e-mail|phone(?:\snumber)?|address|pronouns|time\s?zone|height|diet"
    r"|hometown|employer|wife|husband|partner|dog|cat|sister|brother|mother|father|mum|mom|dad|boss|number)"
    r"|favou?rite\s[\w ]{2,30}?)(?:\s*[:=]\s*|\s+(?P<is>is|are|was)\s+)(?P<value>\S.*)$",
    re.IGNORECASE,
)


def _add_subject(clause: str, name: str) -> str:
    attribute = _ATTRIBUTE.match(clause)
    if attribute:
        verb = attribute["is"] or ("are" if attribute["what"].casefold() == "pronouns" else "is")
        return f"{possessive(name)} {attribute['what'].lower()} {verb} {attribute['value']}"
    bare = _BARE_BEGINS.match(clause)
    if bare:
        verb, *rest = bare["verb"].split()
        return " ".join([name, *bare["adverbs"].split(), form_after_name(verb), *rest, clause[bare.end() :]])
    first = clause.split(" ", 1)[0].casefold().strip(".,")
    opens = _THIRD_BEGINS.match(f"{clause} ")
    if opens and (first in _CLOSED or form_after_i(first) in COMMON_VERBS):
        return f"{name} {clause[0].lower()}{clause[1:]}"
    if _ADJECTIVE.match(f"{clause} ") or first in _OF_ADJECTIVES or clause.casefold().strip(". ") in _OF_ADJECTIVES:
        # A clause with a verb of its own is about something else: "vegan food is dear".
        if not re.search(r"\b(?:is|are|was|were|has|have|will|can)\b", clause) and not any(
            map(_is_verb, clause.split()[1:])
        ):
            return f"{name} is {clause[0].lower()}{clause[1:]}"
    elif first in ("a", "an") and len(clause.split()) <= _TRADE_WORDS and trade(clause)[0]:
        return f"{name} is {clause[0].lower()}{clause[1:]}"
    return clause


_TRADE_WORDS = 4


_CLOSED = frozenset(
    {
        "is",
        "was",
        "has",
        "does",
        "doesn't",
        "doesn’t",
        "isn't",
        "isn’t",
        "goes",
        "can",
        "cannot",
        "can't",
        "can’t",
        "used",
        "moved",
    }
)


def _capitalise_start(text: str, name: str, speaker_name: str) -> str:
    """The text with a capital if it begins with a function word; a name stays as it is written."""
    first = text.split(" ", 1)[0]
    if first in function_words("en") and not text.startswith((name, speaker_name)):
        return text[:1].upper() + text[1:]
    return text


def _is_verb(word: str) -> bool:
    plain = word.casefold().strip(".,!")
    return (
        plain in COMMON_VERBS or plain in FORMS_AFTER_I or (plain.endswith("s") and form_after_i(plain) in COMMON_VERBS)
    )
