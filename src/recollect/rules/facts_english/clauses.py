"""What a message states, clause by clause: of whom, whether it holds, since when.

Only what is said in earnest and as a fact comes through. Questions, conditions, wishes, quotations, what others said,
jokes, code and texts to be worked on are left out here, so that whoever looks for facts need not think of them. When
in doubt a clause is left out.

A clause is brought to one form, so that few patterns read many: "I'm no longer allergic to nuts" is the speaker, `be
allergic to nuts`, ended; "my brother's living in Rome" is "brother", `be living in Rome`, now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from recollect.language.lexicon import RELATIONS
from recollect.language.sentences import Sentence, part_of, sentences
from recollect.language.since import Span, span
from recollect.model import Holds
from recollect.rules.facts.own_words import own_words


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement: whom it is about (None: who speaks), and what is said, from its verb on.

    `attribute` is what is spoken of in "my X is …", with the value in `said`. `past` and
    `perfect` tell the tense: "I lived in Rome" is over, "I have lived in Rome" is not.
    """

    subject: str | None
    said: str
    attribute: str = ""
    holds: Holds = "now"
    past: bool = False
    perfect: bool = False
    hedged: bool = False
    corrects: bool = False
    span: Span = Span("")
    small: bool = False
    """Whether it is written all in small letters, so that a small letter is no sign."""


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


def prose(text: str) -> list[Sentence]:
    """The sentences in which somebody speaks for themselves: no quotations, no code; none if it is all in jest."""
    text = own_words(part_of(text))
    if _JOKED.search(text) or _ROLES.search(text):
        return []
    found = []
    for sentence in sentences(_unquoted(text)):
        if sentence.kind not in ("prose", "item") or _MADE_UP.match(sentence.text) or _JOKING.search(sentence.text):
            continue
        if _WORK_ON_TEXT.search(sentence.text):
            if _TEXT_FOLLOWS.search(sentence.text):
                break
            continue
        found.append(sentence)
    return found


def asserted(spoken: Iterable[Sentence]) -> list[str]:
    """What is stated in sentences, without what is asked; of a question, what is stated before it."""
    found: list[str] = []
    for sentence in spoken:
        said = sentence.text.strip()
        if sentence.is_question:
            said = _before_question(said)
        if said and not _ASKS.match(said) and not supposes(said):
            found.append(said)
    return found


_UNREAL = re.compile(r"\bwould\b|['’]d\b|\bcould\b", re.IGNORECASE)
_IF = re.compile(r"\bif\s(?:i|we|my|our)\b", re.IGNORECASE)


def supposes(said: str) -> bool:
    """Whether a sentence tells of what would be, not of what is."""
    return _UNREAL.search(said) is not None and _IF.search(said) is not None


def _unquoted(text: str) -> str:
    """Without quoted lines, code, and quotations; a name in quotes stays, without them."""

    def plain(quote: re.Match[str]) -> str:
        inner = next(group for group in quote.groups() if group is not None)
        return " … " if len(inner.split()) > _LONG_QUOTE or _SPEAKS.search(inner) else inner

    return _SMALL_STOP.sub(r"\1\n", _QUOTES.sub(plain, _CODE.sub(" … ", _QUOTED_LINE.sub("", text))))


def _before_question(said: str) -> str:
    """What is stated before a question in the same sentence: "I live in Rome, do you know …?"."""
    asks = _THEN_ASKS.search(said)
    return said[: asks.start()] if asks else ""


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


def stated(said: Iterable[str], today: date | None = None) -> Iterator[Clause]:
    """The clauses in sentences that state something of somebody."""
    number = 0
    for sentence in said:
        opened, corrects = _opened(_spelt_out(sentence))
        for piece in _pieces(opened):
            number += 1
            if number > _MAX_CLAUSES:
                return
            clause = _clause(piece, today)
            if clause is not None:
                yield replace(clause, corrects=corrects or clause.corrects, small=sentence.islower())


def _spelt_out(sentence: str) -> str:
    """With short forms written out: what is left are few ways to say a thing."""
    for pattern, full in _SHORT_FORMS:
        sentence = pattern.sub(full, sentence)
    return " ".join(sentence.split())


def _pieces(sentence: str) -> Iterator[str]:
    """The clauses of a sentence as text, each with its subject.

    Conditions and clauses beside the point ("which I …") are left out with whatever hangs on them; after "she said"
    nothing is stated, unless a "but" sets it against what she said.
    """
    start, carried, doubtful, told = 0, "", False, False
    cuts = [(cut.start(), cut.end(), cut.lastgroup or "") for cut in _SPLIT.finditer(sentence)]
    for begin, end, joint in [*cuts, (len(sentence), len(sentence), "end")]:
        piece = sentence[start:begin].strip(" ,")
        said, start = f"{carried}{piece}", end
        carried = _subject_of(said) if joint == "verb" else ""
        condition = _CONDITION.search(said)
        stated = "" if doubtful else said[: condition.start()] if condition else said
        doubtful = joint == "beside" or ((doubtful or condition is not None) and joint in ("soft", "verb"))
        told = told or _OTHERS_SAID.search(_HEDGES.sub("", _opened(stated)[0])) is not None
        if stated.strip() and not told:
            yield stated.strip()
        told = told and _BUT.search(sentence, begin, end) is None


def _subject_of(said: str) -> str:
    """What stands before the verb, for a clause that has none of its own."""
    found = _WHO.match(_opened(said)[0])
    return f"{found[0].strip()} " if found else ""


def _opened(said: str) -> tuple[str, bool]:
    """Without what leads into it, and whether that announces a correction."""
    corrects = False
    for _ in range(6):
        correction = _CORRECTION.match(said)
        opener = correction or _OPENERS.match(said)
        if opener is None:
            break
        corrects = corrects or correction is not None
        said = said[opener.end() :]
    return said, corrects


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


def _clause(said: str, today: date | None) -> Clause | None:
    said, corrects = _opened(said)
    hedge = _HEDGES.match(said)
    said = said[hedge.end() :] if hedge else said
    time = _TIME_FIRST.match(said)
    if time:
        said = f"{said[time.end() :].rstrip('.! ')} {time[1]}"
    if _PASSING.search(said):
        return None
    found = _attributed(said) or _predicated(said)
    if found is None:
        return None
    # "I live in Rome now" tells of a change, as a correction does.
    corrects = corrects or _NOW.search(said) is not None
    told = span(found.said, today)
    return replace(found, said=told.rest.strip(" .!,"), span=told, hedged=hedge is not None, corrects=corrects)


def _attributed(said: str) -> Clause | None:
    """ "My name is …", "Bob's birthday is …", "my sister's name is …", "Jonas is my brother"."""
    here = _HERE.match(said)
    if here and not _NOT_NAMES.match(here["named"]) and not _NOBODY.match(here["named"]):
        return Clause(None, here["named"], "name")
    is_my = _IS_MY.match(said)
    if is_my and not _NOT_NAMES.match(is_my["named"]):
        return Clause(None, is_my["named"], f"{is_my['relation']} name")
    found = _ATTRIBUTE.match(said)
    if found is None:
        return None
    value, holds = _negation(found["value"])
    what = found["what"].strip()
    if found["mine"]:
        relation = _RELATED.fullmatch(what)
        if relation and (relation["called"] or not _CALLED.match(value)):
            return None
        return Clause(None, value, what, holds)
    if found["relation"] and what.casefold() in ("name", "first name"):
        return Clause(None, value, f"{found['relation']} name", holds)
    who = found["called"] or (found["relation"] and RELATIONS[found["relation"].casefold()]) or found["named"]
    return None if _NOT_NAMES.match(who) else Clause(who, value, what, holds)


def _negation(value: str) -> tuple[str, Holds]:
    holds: Holds = "now"
    denied = re.match(r"(?:no\slonger|not)\s", value, re.IGNORECASE)
    if denied:
        value = value[denied.end() :]
        holds = "ended" if denied[0].casefold().startswith("no ") else "not"
    if re.search(r"\banymore\b", value):
        value, holds = re.sub(r"\s*\banymore\b", "", value), "ended"
    return value, holds


def _predicated(said: str) -> Clause | None:
    """ "I no longer live in Rome", "my brother is vegan", "Bob lives in Hamburg"."""
    who = _WHO.match(said)
    if who is None or (who["named"] and _NOT_NAMES.match(who["named"])):
        return None
    subject = None
    if not who["self"]:
        subject = who["called"] or (who["relation"] and RELATIONS[who["relation"].casefold()]) or who["named"]
    if subject and subject.endswith(("'s", "'")):
        return None
    rest = said[who.end() :].strip()
    read = _verb(f"{rest} ")
    if read is None:
        return None
    verb, holds, past, perfect = read
    if subject and not verb.startswith("be "):
        # A bare verb is no third person's, unless "does" goes before it: "Sounds like fun" is about nobody.
        if _BASE.match(verb) and not re.match(r"(?:\w+\s)?(?:does|did)\b", rest):
            return None
        verb = _THIRD.sub(r"\1", verb)
        verb = re.sub(r"^has\b", "have", re.sub(r"^studies\b", "study", verb))
    if re.search(r"\banymore\b", verb):
        verb, holds = re.sub(r"\s*\banymore\b", "", verb), "ended"
    return Clause(subject, verb.strip(), holds=holds, past=past, perfect=perfect)


def _verb(rest: str) -> tuple[str, Holds, bool, bool] | None:
    """What is said from the verb on, whether it holds, and its tense; None if it is only possible or wished."""
    holds: Holds = "now"
    past = perfect = is_be = unable = False
    while (found := _AUXILIARY.match(rest)) is not None:
        if found["modal"]:
            return None
        if found["ended"]:
            holds = "ended"
            is_be = is_be or "be" in found["ended"].split()
        elif found["not"]:
            holds = "not"
        elif found["was"]:
            past = is_be = True
        elif found["be"]:
            past, is_be = False, True
        elif found["perfect"]:
            perfect = True
        elif found["can"]:
            unable = True
        elif found["did"]:
            past = True
        rest = rest[found.end() :]
    if unable:
        # What somebody cannot do is a statement of its own: "can not eat gluten".
        return f"can not {rest}", "now", past, perfect
    return (f"be {rest}" if is_be else rest), holds, past, perfect
