"""What a message states, clause by clause: of whom, whether it holds, since when.

Only what the author states as a fact is kept. Questions, conditions, wishes, quotations, what others said, jokes, code
and texts to be worked on are left out, and so is any clause in doubt.

A clause is brought to one form, so that few patterns match many wordings: "I'm no longer allergic to nuts" is the
speaker, `be allergic to nuts`, ended; "my brother's living in Rome" is "brother", `be living in Rome`, now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from recollect.language.lexicon import RELATIONS
from recollect.language.sentences import Sentence, limit_text, sentences
from recollect.language.since import TimedPhrase, parse_times
from recollect.model import Holds
from recollect.rules.facts.own_words import own_words


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement: whom it is about (None: the speaker), and its text from the verb on.

    `attribute` is what is spoken of in "my X is …", with the value in `text`. `past` and `perfect` are the tense:
    "I lived in Rome" is over, "I have lived in Rome" is not.
    """

    subject: str | None
    text: str
    attribute: str = ""
    holds: Holds = "now"
    past: bool = False
    perfect: bool = False
    is_hedged: bool = False
    corrects: bool = False
    span: TimedPhrase = TimedPhrase("")
    lowercase: bool = False
    """Whether the sentence is all in small letters, so that a small letter does not rule out a name."""


# What is not stated

_QUOTED_LINE = re.compile(r"^[^\S\n]*+[>|].*$", re.MULTILINE)
_CODE = re.compile(r"```.*?(?:```|$)|`[^`\n]{1,200}`", re.DOTALL)
_QUOTES = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|‘([^’\n]{1,400})’(?!\w)"
    r"|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)"
)
_SPEAKS = re.compile(r"\b(?:i|i['’]m|i['’]ve|my|me|we|our|am|is|are)\b", re.IGNORECASE)
_SMALL_STOP = re.compile(r"(?<=[a-z]{3})(\s?[.!?]+)\s+(?=[a-z])")  # where small letters begin a sentence too
_LONG_QUOTE = 3  # words; a longer one is somebody's sentence, a shorter one may be a name

_JOKED = re.compile(
    r"(?:^|\s)/s\b|\b(?:jk|j/k|just\s(?:kidding|joking)|(?:i['’]?m|only)\s(?:kidding|joking))\b", re.IGNORECASE
)
_JOKING = re.compile(
    r"\b(?:lol|lmao|rofl|(?:ha){2,}h?|(?:he){2,}|yeah,?\sright|oh,?\ssure|obviously|as\sif|apparently|supposedly"
    r"|so-called"
    r"|not!)|[🙄😂🤣😜😝🤪😏]",
    re.IGNORECASE,
)
_MADE_UP = re.compile(
    r"^(?:so\s|ok\s|okay\s|now\s)?(?:suppose|supposing|imagine|pretend|hypothetically|let['’]?s\s(?:say|pretend"
    r"|imagine|assume)|what\sif|assume|assuming"
    r"|say\s(?:i|my)|picture\sthis|according\sto|in\s(?:the|a|my|this|that)\s(?:\w+\s)?(?:novel|story|book|film|movie"
    r"|song|game"
    r"|dream|play|poem|series|episode|roleplay|scenario|letter|email|text|article|example|form)\b|(?:the|a|this"
    r"|that)\s(?:\w+\s)?"
    r"(?:novel|story|book|film|movie|song|poem|lyrics?|article|hero|character|protagonist|narrator|form|sign|text"
    r"|quote)\b)",
    re.IGNORECASE,
)
_ROLES = re.compile(
    r"\b(?:role-?\s?play(?:ing)?|act\sas|you\sare\snow|in\scharacter|fictional|the\sprompt)\b", re.IGNORECASE
)
_WORK_ON_TEXT = re.compile(
    r"\b(?:translate|proofread|rephrase|paraphrase|rewrite|reword|summari[sz]e|correct|fix|improve|edit|polish"
    r"|analy[sz]e"
    r"|continue|complete|write|compose|draft|generate|classify|repeat|say|type|print|output|conjugate|decline)\b"
    r"(?=.*(?::|\bthis\b|\bthat\b|\bfollowing\b|\bbelow\b|\bstory\b|\bpoem\b|\bsentence\b|\bpersona\b|\bcharacter\b"
    r"|\bsong\b|\bletter\b|\bemail\b|\bessay\b|\bbio\b|\binto\b|\bdialogue\b))",
    re.IGNORECASE,
)
_TEXT_FOLLOWS = re.compile(r":|\b(?:this|following|below)\b")
_ASKS = re.compile(
    r"^(?:(?:so|and|but|or|well|ok|okay|hey|hi|hello|please|also|then)[,\s]+)*(?:is|are|am|was|were|do|does|did|can"
    r"|could|should"
    r"|would|will|shall|may|have\s(?:i|you|we)|has|what|what['’]?s|who|who['’]?s|whom|whose|which|where|when|why|how"
    r"|any)\b",
    re.IGNORECASE,
)
_THEN_ASKS = re.compile(
    r"(?:[,;–—-]\s*|\s(?:and|so|but)\s)(?:(?:so|and|but|please)\s)*(?:is|are|am|do|does|did|can|could|should|would"
    r"|will|what"
    r"|what['’]?s|who|which|where|when|why|how|any|got|know)\b.*$",
    re.IGNORECASE | re.DOTALL,
)


def prose_sentences(text: str) -> list[Sentence]:
    """The sentences in which the author speaks: no quotations, no code; none if the message is a joke."""
    text = own_words(limit_text(text))
    if _JOKED.search(text) or _ROLES.search(text):
        return []
    own_sentences = []
    for sentence in sentences(_drop_quotations(text)):
        if sentence.kind not in ("prose", "item") or _MADE_UP.match(sentence.text) or _JOKING.search(sentence.text):
            continue
        if _WORK_ON_TEXT.search(sentence.text):
            if _TEXT_FOLLOWS.search(sentence.text):
                break
            continue
        own_sentences.append(sentence)
    return own_sentences


def assertions_in(spoken_sentences: Iterable[Sentence]) -> list[str]:
    """The texts that state something, without questions; of a question, what is stated before it."""
    texts: list[str] = []
    for sentence in spoken_sentences:
        text = sentence.text.strip()
        if sentence.is_question:
            text = _text_before_question(text)
        if text and not _ASKS.match(text) and not supposes(text):
            texts.append(text)
    return texts


_UNREAL = re.compile(r"\bwould\b|['’]d\b|\bcould\b", re.IGNORECASE)
_IF = re.compile(r"\bif\s(?:i|we|my|our)\b", re.IGNORECASE)


def supposes(sentence: str) -> bool:
    """Whether a sentence says what would be, not what is."""
    return _UNREAL.search(sentence) is not None and _IF.search(sentence) is not None


def _drop_quotations(text: str) -> str:
    """The text without quoted lines, code and quotations; a name in quotes stays, without the quotes."""

    def unquote(quote: re.Match[str]) -> str:
        inner = next(group for group in quote.groups() if group is not None)
        return " … " if len(inner.split()) > _LONG_QUOTE or _SPEAKS.search(inner) else inner

    return _SMALL_STOP.sub(r"\1\n", _QUOTES.sub(unquote, _CODE.sub(" … ", _QUOTED_LINE.sub("", text))))


def _text_before_question(sentence: str) -> str:
    """What is stated before a question in the same sentence: "I live in Rome, do you know …?"."""
    asks = _THEN_ASKS.search(sentence)
    return sentence[: asks.start()] if asks else ""


# Clauses

_SHORT_FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"’", "'"),
        (r"\b(?:i'm|im)\b(?!\s?=)", "I am"),
        (r"\b(?:i've|ive)\b", "I have"),
        (r"\bi'd\b", "I would"),
        (r"\bi'll\b", "I will"),
        (r"\bwe're\b", "we are"),
        (r"\bwe've\b", "we have"),
        (r"\bwe'(?:d|ll)\b", "we would"),
        (r"\bcan'?t\b|\bcannot\b", "can not"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)n'?t\b", r"\1 not"),
        (r"\b(name|birthday|job|timezone|email|nickname|colou?r|here|who|that|it|he|she)'s\b", r"\1 is"),
        (r"\bany\s?more\b|\bany\slonger\b", "anymore"),
    )
)
_OPENERS = re.compile(
    r"""^(?:
        (?:hi|hello|hey|hiya|yo|greetings|howdy|good\s(?:morning|evening|afternoon))(?:\s(?:there|all|everyone|team
            |again|folks))?
            [,!.\s-]+(?=\w)
      | (?:(?:please\s)?(?:note|remember|know|keep\sin\smind|be\saware|don't\sforget|do\snot\sforget)|i\s(?:should
      |must|have\sto|want\sto|wanted\sto
          |need\sto|forgot\sto)\s(?:mention|say|add|tell\syou|let\syou\sknow)|you\sshould\sknow|the\s(?:fact|truth
          |thing)\sis
          |it's\strue|let\sme\sadd)(?:,?\sthat)?[:,]?\s+(?=(?:i|we|my|our|[A-Z])\b|[A-Z])
      | (?:well|so|and|but|also|anyway|oh|ah|um|uh|yes|yeah|yep|sure|ok|okay|right|thanks|thank\syou|cool|great|nice
      |plus|btw
          |by\sthe\sway|fyi|honestly|frankly|basically|for\sthe\srecord|for\scontext|for\sreference|as\si\s(?:said
          |mentioned)
          |as\syou\s(?:know|said|mentioned|noted)|just\sso\syou\sknow|in\sfact|to\sbe\shonest|tbh|look|listen|you\ssee|note|reminder|important
          |then|now|ps|p\.s\.|please|generally|personally|usually|also|first(?:ly)?|second(?:ly)?|lastly|finally)
            [,:.!\s–—-]+(?=\w)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"""^(?:(?:oh|ah|hm+|well|but|and|ok|okay|hey)[,\s]+)?
        (?:actually|no(?:pe)?(?=[,.!:–—\s]+(?:i|my|we|it|actually|sorry)\b)|wait|correction|sorry|scratch\sthat
            |my\s(?:mistake|bad)|i\smeant?(?:\sto\ssay)?
        |that\sis\s(?:wrong|not\sright|incorrect)|not\squite|update|oops|to\scorrect\s(?:myself|that)|in\sfact
        |i\smisspoke)
        [,:.!\s–—-]+(?:(?:that\s)?(?=\w))""",
    re.VERBOSE | re.IGNORECASE,
)
_HEDGES = re.compile(
    r"^(?:i\s(?:think|guess|believe|suppose|reckon|suspect|feel\slike)|probably|i\sam\s(?:pretty|fairly|quite"
    r"|almost)\ssure)\s(?:that\s)?(?=i\b|my\b|we\b)",
    re.IGNORECASE,
)
_OTHERS_SAID = re.compile(
    r"\b(?:said|says|saying|told|tells|claim(?:s|ed)?|think(?:s|ing)?|thought|believe[sd]?|heard|wrote|writes|asked"
    r"|asks|wonder(?:s|ed|ing)?|guess(?:es|ed)?"
    r"|dreamt|dreamed|pretend(?:s|ed|ing)?|wish(?:ed|es)?|hope[sd]?|insist(?:s|ed)?|mean(?:s|t)?\sthat|call(?:s"
    r"|ed)?\sme|assumes?"
    r"|prefer\sthat|sure\s(?:if|whether)|feel(?:s|ing)?\s(?:as|like))\b",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:i|we|my|our|he|she|they|it|you|your|his|her|their|there|this|that|these|those|the|people|everyone|everybody"
    r"|nobody|someone)\b"
)
_VERBS = (
    r"(?:(?:now|also|currently|still|just|mostly|really)\s)?(?:lives?|works?|speaks?|have|has|loves?|hates?|enjoys?"
    r"|prefers?|dislikes?"
    r"|study|studies|grew|moved|am|adores?)\b"
)
_MORE_VERBS = r"(?:was|were|are|is|do|does|can|use|keep|eat|own|never|used\sto|started|quit|left)\b"
_LEAD = r"(?:(?:in|on|at|from|until|after|before|during|next|this|every)\s+(?:[\w’']+\s+){1,2}|tomorrow\s+)"
_SPLIT = re.compile(
    rf"(?P<beside>,?\s+(?:as|when|where|which|who|whom|whose|that)\s+(?={_SUBJECT}))"
    rf"|(?P<hard>\s*[;…]\s*|\s+[–—-]+\s+|\s*--\s*|(?<=\w):\s+(?={_SUBJECT})"
    rf"|,?\s+(?:but|so|because|although|though|while|whereas|cos|cuz|since)\s+(?={_SUBJECT})"
    rf"|,\s*(?:and\s+|but\s+|so\s+|now\s+|yet\s+)*(?={_LEAD}?{_SUBJECT}))"
    rf"|(?P<soft>\s+(?:and|or)\s+(?={_SUBJECT}))"
    rf"|(?P<verb>,?\s+(?:and|but|or)\s+(?={_VERBS}|{_MORE_VERBS})|,\s+(?={_VERBS}))",
    re.IGNORECASE,
)
_BUT = re.compile(r"\bbut\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:^|\s)(?:if|whether|unless|in\scase|as\sthough|until\si|once\si|when\si|before\si|after\si|till\si)\b",
    re.IGNORECASE,
)
_TIME_FIRST = re.compile(r"^((?:since|from|as\sof|in|until|for)\s[^,]{3,30}?),?\s+(?=(?:i|we|my)\s)", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:right\snow|just\snow|at\sthe\smoment|atm|lately|today|tonight|this\s(?:morning|afternoon|evening"
    r"|week(?:end)?|month)|tomorrow|for\snow"
    r"|for\s(?:a|the)\s(?:conference|meeting|trip|visit|weekend|week|few\sdays|while|day|moment)|temporarily"
    r"|on\s(?:holiday|vacation|business)"
    r"|until\stomorrow|next\s(?:week|month|year|summer|winter|spring))\b",
    re.IGNORECASE,
)
_MAX_CLAUSES = 400


def parse_clauses(texts: Iterable[str], today: date | None = None) -> Iterator[Clause]:
    """The clauses in texts that state something about somebody."""
    count = 0
    for text in texts:
        body, corrects = _strip_openers(_expand_short_forms(text))
        for piece in _clause_texts(body):
            count += 1
            if count > _MAX_CLAUSES:
                return
            clause = _parse_clause(piece, today)
            if clause is not None:
                yield replace(clause, corrects=corrects or clause.corrects, lowercase=text.islower())


def _expand_short_forms(sentence: str) -> str:
    """The sentence with short forms written out, so that fewer wordings are left."""
    for pattern, full in _SHORT_FORMS:
        sentence = pattern.sub(full, sentence)
    return " ".join(sentence.split())


def _clause_texts(sentence: str) -> Iterator[str]:
    """The clauses of a sentence as text, each with its subject.

    Conditions and relative clauses are left out with what depends on them, and what follows "she said" up to a "but".
    """
    start = 0
    subject = ""
    is_doubtful = False
    in_report = False
    cuts = [(cut.start(), cut.end(), cut.lastgroup or "") for cut in _SPLIT.finditer(sentence)]
    for begin, end, joint in [*cuts, (len(sentence), len(sentence), "end")]:
        piece = sentence[start:begin].strip(" ,")
        text = f"{subject}{piece}"
        start = end
        subject = _find_subject(text) if joint == "verb" else ""
        condition = _CONDITION.search(text)
        statement = "" if is_doubtful else text[: condition.start()] if condition else text
        is_doubtful = joint == "beside" or ((is_doubtful or condition is not None) and joint in ("soft", "verb"))
        in_report = in_report or _OTHERS_SAID.search(_HEDGES.sub("", _strip_openers(statement)[0])) is not None
        if statement.strip() and not in_report:
            yield statement.strip()
        in_report = in_report and _BUT.search(sentence, begin, end) is None


def _find_subject(text: str) -> str:
    """The subject of a clause, for the next clause if that has none."""
    match = _WHO.match(_strip_openers(text)[0])
    return f"{match[0].strip()} " if match else ""


def _strip_openers(text: str) -> tuple[str, bool]:
    """The text without its opening words, and whether these announce a correction."""
    corrects = False
    for _ in range(6):
        correction = _CORRECTION.match(text)
        opener = correction or _OPENERS.match(text)
        if opener is None:
            break
        corrects = corrects or correction is not None
        text = text[opener.end() :]
    return text, corrects


# One clause

_MODIFIER = (
    r"(?:(?:older|younger|elder|little|big|best|twin|old|new|late|eldest|youngest|oldest|middle|dear|lovely|beloved"
    r"|good"
    r"|close|childhood|first|second|only)\s)*"
)
_RELATION = "|".join(sorted(map(re.escape, RELATIONS), key=len, reverse=True))
_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*(?:\s[^\W\d_a-zß-öø-ÿ][\w'’-]*)?"
_WHO = re.compile(
    r"(?P<self>(?i:i|we)\b)"
    rf"|(?i:my|our)\s(?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))(?:,?\s(?P<called>{_NAME}),?)?(?=\s(?!name\b))(?!['’]s)"
    rf"|(?P<named>@[\w.-]{{1,40}}|{_NAME})(?=\s)"
)
_ATTRIBUTE = re.compile(
    rf"(?:(?:(?i:my|our)\s(?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))(?:\s(?P<called>{_NAME}?))?"
    rf"|(?P<named>{_NAME}?))'s"
    r"|(?P<mine>(?i:my|our)))"
    r"\s(?P<what>[\w'’ -]{2,40}?)\s?(?:\b(?i:is|are|was|will\sbe|has\sto\sbe)\b|=|:)\s*(?P<value>\S.*)$"
)
_RELATED = re.compile(rf"(?i:{_MODIFIER})(?i:{_RELATION})(?P<called>,?\s{_NAME})?")
_CALLED = re.compile(rf"(?:(?i:called|named)\s|{_NAME}$|{_NAME}[.,!])")
_HERE = re.compile(rf"(?:(?i:it\sis|this\sis)\s)?(?P<named>{_NAME})\shere(?=\W|$)(?!\s(?:is|are|was|to|and)\b)")
_NOBODY = re.compile(
    r"(?:Same|Nothing|Anyone|Anything|Right|Over|Up|Down|Out|Back|Not|New|Newbie|Stuck|Look|Come|Sign|Click)\b"
)
_IS_MY = re.compile(rf"(?P<named>{_NAME}) is (?i:my|our) (?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))\b(?!['’]s)")
_AUXILIARY = re.compile(
    r"""(?:
        (?P<ended>no\slonger|used\sto|stopped\sbeing|ceased\sto\sbe)
      | (?P<not>not|never)
      | (?P<modal>would|will|might|may|could|should|shall|must|wish|want|wants|wanted|hope|hopes|plan|plans|need
      |needs|going\sto|about\sto|intend|dream|tried|try|seem|seems|wonder)
      | (?P<perfect>(?:have|has|had)(?=\s(?:(?:also|just|always|recently|now|already|not|never|only|lived|been
      |really)\s)*(?:been|lived|moved|worked|become
            |spoken|started|changed|stopped|quit|left|turned|relocated|switched|studied|joined|given|retired|got)\b))
      | (?P<emphasis>do|does)(?=\s(?:not|like|love|enjoy|live|work|speak|eat|drink|have|hate|prefer)\b)
      | (?P<did>did)(?=\snot\b)
      | (?P<be>am|are|is|be|been|being)
      | (?P<was>was|were)
      | (?P<can>can)(?=\snot\b)
      | (?P<adverb>also|still|just|now|currently|really|actually|always|usually|mostly|generally|absolutely|totally
      |recently|presently
          |definitely|truly|simply|genuinely|honestly|mainly|officially|originally|both|all|already|basically|quite
          |severely|very
          |deathly|highly|deeply|extremely|slightly|mildly|terribly|particularly|especially|strictly|personally
          |kind\sof|sort\sof|so|only|long|ever)
    )\s+""",
    re.VERBOSE | re.IGNORECASE,
)
_NOW = re.compile(r"\bnow\b", re.IGNORECASE)
_THIRD = re.compile(
    r"^(live|work|speak|love|like|hate|enjoy|prefer|keep|eat|use|come|own|dislike|adore|reside|follow|drink)s\b"
)
_BASE = re.compile(
    r"^(?:live|work|speak|love|like|hate|enjoy|prefer|keep|eat|use|come|own|dislike|adore|reside|follow|drink|have"
    r"|study)\b"
)
_NOT_NAMES = re.compile(
    r"^(?:The|A|An|This|That|These|Those|There|It|He|She|They|You|Your|His|Her|Their|Its|Everyone|Everybody|Nobody"
    r"|Someone|Somebody"
    r"|People|Who|What|When|Where|Why|How|If|As|In|On|At|For|To|From|With|By|And|But|So|Or|Not|No|Yes|Please|Thanks"
    r"|Hi|Hello|Hey|Call|Always"
    r"|Never|Maybe|Perhaps|Then|Now|Also|Originally|One|Some|Most|Many|All|Both|Each|Every|Any|None|God|Life|Love"
    r"|Today|Tomorrow|Monday"
    r"|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Here|Which|While|Because|Since|Although|Though|Let|Just|Only"
    r"|Even|Still|I|We|My|Our)\b"
)


def _parse_clause(text: str, today: date | None) -> Clause | None:
    text, corrects = _strip_openers(text)
    hedge = _HEDGES.match(text)
    text = text[hedge.end() :] if hedge else text
    time_lead = _TIME_FIRST.match(text)
    if time_lead:
        text = f"{text[time_lead.end() :].rstrip('.! ')} {time_lead[1]}"
    if _PASSING.search(text):
        return None
    clause = _parse_attribute(text) or _parse_predicate(text)
    if clause is None:
        return None
    # "I live in Rome now" reports a change, as a correction does.
    corrects = corrects or _NOW.search(text) is not None
    times = parse_times(clause.text, today)
    return replace(clause, text=times.rest.strip(" .!,"), span=times, is_hedged=hedge is not None, corrects=corrects)


def _parse_attribute(text: str) -> Clause | None:
    """ "My name is …", "Bob's birthday is …", "my sister's name is …", "Jonas is my brother"."""
    introduction = _HERE.match(text)
    if introduction and not _NOT_NAMES.match(introduction["named"]) and not _NOBODY.match(introduction["named"]):
        return Clause(None, introduction["named"], "name")
    is_my = _IS_MY.match(text)
    if is_my and not _NOT_NAMES.match(is_my["named"]):
        return Clause(None, is_my["named"], f"{is_my['relation']} name")
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    value, holds = _parse_negation(match["value"])
    attribute = match["what"].strip()
    if match["mine"]:
        relation = _RELATED.fullmatch(attribute)
        if relation and (relation["called"] or not _CALLED.match(value)):
            return None
        return Clause(None, value, attribute, holds)
    if match["relation"] and attribute.casefold() in ("name", "first name"):
        return Clause(None, value, f"{match['relation']} name", holds)
    subject = match["called"] or (match["relation"] and RELATIONS[match["relation"].casefold()]) or match["named"]
    return None if _NOT_NAMES.match(subject) else Clause(subject, value, attribute, holds)


def _parse_negation(value: str) -> tuple[str, Holds]:
    holds: Holds = "now"
    negation = re.match(r"(?:no\slonger|not)\s", value, re.IGNORECASE)
    if negation:
        value = value[negation.end() :]
        holds = "ended" if negation[0].casefold().startswith("no ") else "not"
    if re.search(r"\banymore\b", value):
        value = re.sub(r"\s*\banymore\b", "", value)
        holds = "ended"
    return value, holds


def _parse_predicate(text: str) -> Clause | None:
    """ "I no longer live in Rome", "my brother is vegan", "Bob lives in Hamburg"."""
    match = _WHO.match(text)
    if match is None or (match["named"] and _NOT_NAMES.match(match["named"])):
        return None
    subject = None
    if not match["self"]:
        subject = match["called"] or (match["relation"] and RELATIONS[match["relation"].casefold()]) or match["named"]
    if subject and subject.endswith(("'s", "'")):
        return None
    predicate = text[match.end() :].strip()
    reading = _parse_verb(f"{predicate} ")
    if reading is None:
        return None
    verb, holds, past, perfect = reading
    if subject and not verb.startswith("be "):
        # A third person needs "-s" or "does": "Sounds like fun" is about nobody.
        if _BASE.match(verb) and not re.match(r"(?:\w+\s)?(?:does|did)\b", predicate):
            return None
        verb = _THIRD.sub(r"\1", verb)
        verb = re.sub(r"^has\b", "have", re.sub(r"^studies\b", "study", verb))
    if re.search(r"\banymore\b", verb):
        verb = re.sub(r"\s*\banymore\b", "", verb)
        holds = "ended"
    return Clause(subject, verb.strip(), holds=holds, past=past, perfect=perfect)


def _parse_verb(predicate: str) -> tuple[str, Holds, bool, bool] | None:
    """The predicate from its main verb on, whether it holds, and its tense; None if it is only possible or wished."""
    holds: Holds = "now"
    past = perfect = is_be = is_unable = False
    while (match := _AUXILIARY.match(predicate)) is not None:
        if match["modal"]:
            return None
        if match["ended"]:
            holds = "ended"
            is_be = is_be or "be" in match["ended"].split()
        elif match["not"]:
            holds = "not"
        elif match["was"]:
            past = is_be = True
        elif match["be"]:
            past, is_be = False, True
        elif match["perfect"]:
            perfect = True
        elif match["can"]:
            is_unable = True
        elif match["did"]:
            past = True
        predicate = predicate[match.end() :]
    if is_unable:
        # What somebody cannot do is a statement of its own: "can not eat gluten".
        return f"can not {predicate}", "now", past, perfect
    return (f"be {predicate}" if is_be else predicate), holds, past, perfect
