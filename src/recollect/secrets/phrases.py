"""Secrets that are known by the words before them: "my password is hunter2", `DB_PASSWORD=…`, "PIN: 4711".

After such a word a few others may come ("for the router is"), then the secret: what has letters and figures mixed is
taken at once, a plain word or a plain number only right after a link ("is", ":", "="), and a word that tells about the
password ("is too short") is none. In the next sentence only what looks like a password is taken, and only if a word
points to it ("it's now …"). Which code the word "code" means is told by what is named next to it. At most so
many characters after each word are looked at, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.model.secrets import SecretMark
from recollect.secrets.values import (
    is_mixed,
    is_placeholder,
    is_public,
    is_strong,
    is_thing,
    is_unguessable,
    is_very_strong,
)
from recollect.secrets.words import (
    ANY_CODE_WORDS,
    CARD_CODE_WORDS,
    CODE_WORDS,
    COMMANDS,
    KEY_WORDS,
    KEYPADS,
    KNOWN_THINGS,
    LINKED_PASSWORD_WORDS,
    LINKS,
    LOGIN_WORDS,
    LOOSE_LINKS,
    NAME_ENDS,
    NO_CODE_BETWEEN,
    NO_SECRET,
    NUMBER_LEADS,
    OPENED_THINGS,
    OPENING,
    OTHER_CODES,
    OTHER_KEYS,
    PASSWORD_PARTS,
    PASSWORD_WORDS,
    PIN_HINTS,
    PIN_PLACES,
    PIN_WORDS,
    PLAIN_LINKS,
    PROOF_HINTS,
    ROOTS,
    SECRET_KEYS,
    STILL,
    TELLING,
    TELLING_ENDS,
    WEAK_KEY_WORDS,
    WIRELESS,
)

_WINDOW = 160  # characters after a word that are looked at
_MOST = 15_000  # words that announce a secret: after so many in one text only keys of a known form are found
_MANY = 500  # words that announce a secret: in a text with more of them, each is looked after only up to the next
_NUMBER_WINDOW = 60  # the same of a code
_FILLERS = 6  # words that may stand before a link


def _kinds() -> dict[str, str]:
    tables = (
        ("card", CARD_CODE_WORDS),
        ("proof", CODE_WORDS),
        ("pin", PIN_WORDS),
        ("password", PASSWORD_PARTS + PASSWORD_WORDS),
        ("key", KEY_WORDS),
        ("weak", WEAK_KEY_WORDS),
        ("login", LOGIN_WORDS),
        ("code", ANY_CODE_WORDS),
    )
    return {word: kind for kind, words in reversed(tables) for word in words}


def _by_root(words: list[str]) -> list[tuple[str, list[tuple[str, int]]]]:
    """The words, and where in each its root stands: a part of several, or the shortest of them that it holds. Where a
    text has not the root, it has none of its words."""
    groups: dict[str, list[str]] = {root: [] for root in ROOTS}
    for word in sorted(words, key=len):
        groups.setdefault(next((root for root in groups if root in word), word), []).append(word)
    return [(root, [(word, word.find(root)) for word in group]) for root, group in groups.items() if group]


def _by_sign(words: list[str]) -> dict[str, list[tuple[str, int]]]:
    """The words of other scripts by their first letter that is not in ASCII."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for word in words:
        sign = next(char for char in word if not char.isascii())
        groups.setdefault(sign, []).append((word, word.find(sign)))
    return groups


_KINDS = _kinds()
_PARTS = frozenset(PASSWORD_PARTS) | {word for word in _KINDS if not word.isascii()}
_WITHOUT_FIGURES = ("password", "login", "proof")  # kinds whose secrets may have none
_WORDS_OF_ROOT = {
    has_figures: _by_root(
        [word for word, kind in _KINDS.items() if word.isascii() and (has_figures or kind in _WITHOUT_FIGURES)]
    )
    for has_figures in (True, False)
}
_WORDS_OF_SIGN = _by_sign([word for word in _KINDS if not word.isascii()])
_BEFORE = re.compile(r"[^\W_]+")
_NAME_REST = re.compile(r"[A-Za-z_-][\w-]{0,30}|[^\W\x00-\x7f]{0,12}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SIGN_LINK = re.compile(
    r"[\"'`*_]{0,4}[ \t]{0,3}(?:>(?=[^<>\s]{3,100}</)|=>|->|:=|=(?!=)|:(?!:)|：|＝|→)[ \t*_]{0,8}(?:\n[ \t]{0,8})?"
)
_VALUE_LINK = re.compile(r"[\"'][\s,]{1,3}value[\"']?\s{0,2}[=:]\s{0,2}(?=[\"'])")
_TOKEN = re.compile(
    r"\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“\n]{1,120}“|\S+"
)
_ASCII_TOKEN = re.compile(r"\"[^\"\n]{1,120}\"|「[^」\n]{1,60}」|“[^”\n]{1,120}”|[!-~]+|[^\s!-~]+")
_OPENERS = "\"'`“«„「(*<"
_CODE_CUT = re.compile(r"[\"'`<>;,)}\]\\]")
_CODES = re.compile(
    r"(?:[\s,;:.•*|/-]|\b(?:and|or|und|et|y|e|\d{1,2}[.)])(?=\s)){0,8}(?<![A-Za-z0-9])"
    r"([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,3}|(?=[A-Za-z]*\d)[A-Za-z0-9]{6,12}"
    r"|(?=[a-f ]*\d)[0-9a-f]{4} [0-9a-f]{4})(?![A-Za-z0-9])"
)
_CODE_LEADS = (
    re.compile(r"[^\d\n:]{0,40}?(?:[:=]|\bare\b|\bis\b|\bsind\b|\bsont\b|\bson\b|(?=\s[A-Za-z0-9-]*\d))\s*"),
    re.compile(r"[^\n:]{0,60}:\s*"),
)
_PASSPHRASE = re.compile(r"[\"'“]?([a-z]+(?:[ -][a-z]+){2,9})[\"'”]?(?=[.,;!?]?\s*(?:\n|$))")
_TOLD_BEFORE = re.compile(
    r"(?i)(?<![^\W_])(?:type|typed|enter|put|it['’]s|it is|changed to|set to|now|use|try"
    r"|gib|tape[zr]?|escribe|digita|digite|inserisci|nimm)"
    r"(?: in| now| jetzt| einfach)?\s[\"'`“«„(]?([^\s]{8,60})(?!\S)(?! (?:and|und|et|y|e) )(?=[^.!?;\n]*$)"
)
_LOOSE_VERBS = ("use", "try", "now", "nim", "gib")  # which have other uses
_MEANT = re.compile(r" (?:as|for|when|if|where|als|wenn|für|comme|pour|quand|como|cuando|para|come|quando|per)\b")
_BACK = frozenset(["is", "as", "was", "are", "ist", "als", "est", "es", "é", "è", "это", "-", "—", "for"])
_PAIR = re.compile(
    r"[^\n/|,\"]{0,40}?(?<=[\s:=])[^\s/|:;=<,\"]{2,40}(?:\s[/|]\s|\s?:\s?(?=\S*\d)|/(?=[^\s/]*\d))([^\s\"/]{4,60})(?![^\s\"])"
)
_WITH_PAIR = re.compile(
    r"[^\n/|\"]{0,30}?\b(?:with|as|using|mit|als|avec|con|com|under|is|are|[:=])\s[^\s/|:;=<\"]{2,40}\s?"
    r"(?:and|with|und|mit|et|avec|y|con|e|com|i|и|ve|\+|,|/)\s(?=[^\s\"]*\d)(?=[^\s\"]*[a-z])([^\s\"]{6,60})"
)
_SYNTAX = re.compile(r"\?|\^?\(\?|\^[\[(]|![a-z]+(?:-[a-z]+)+$")  # of an address, a pattern, a tag of YAML
_MAIL_PAIR = re.compile(r"[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,20}\s[/|]\s([^\s/|\"']{6,60})(?!\S)")
_LOGIN_IS = re.compile(r"\s(?:is now|is|to)\s(?=\S*\d)(\S{8,60})")
_ACCOUNT_PAIR = re.compile(
    r"(?<![\w/.@:-])(?:root|admin|administrator|guest|postgres|sa|pi)\s?[/:]\s?([^\s/\"']{6,60})"
)
_CREDENTIALS = ("credentials", "creds", "zugangsdaten", "identifiants", "credenciales", "credenziali", "credenciais")
_SIGNED_TOKEN = re.compile(r"\n\s{0,4}(?=\S*\d)(?=\S*[a-z])([A-Za-z0-9_.-]{2,40}[!@#$%^&*+~][^\s/@]{0,40})(?=\n|$)")
_COMMANDS = [(needle, re.compile(pattern)) for needles, pattern in COMMANDS for needle in needles.split("|")]
_DASHED = [(needle, pattern) for needle, pattern in _COMMANDS if needle.startswith((" -", "--"))]
_UNDASHED = [pair for pair in _COMMANDS if pair not in _DASHED]
_USE_CODE = re.compile(
    r"use (?<!\wuse )(?:code )?(\d{4,8}|\d{3}[ -]\d{3}) to "
    r"(?:verify|log ?in|sign ?in|confirm|reset|continue|authenticate)"
)
_OPENING_NUMBER = (
    r"([#*]?\d{4,8}[#*]?)(?=\s{0,2}(?:$|[.,;!?)](?!\d)|\n|"
    r"(?:and|und|et|y|e|then|to|but|on the|at the|in the|please)\b))"
)
_OPENED = re.compile(
    rf"(?:{'|'.join(OPENING)})\w{{0,6}}\b[^.!?\n\d]{{0,50}}?(?:\b(?:with|using|typing|is|code|mit|avec|con|com)|[:=])\s?"
    rf"{_OPENING_NUMBER}"
)
_OPENED_THING = re.compile("|".join(OPENED_THINGS))
_TYPED = re.compile(
    r"\b(?:type|enter|punch|press|key)(?: in)? ([#*]?\d{4,8}[#*]?)\s"
    r"(?=to |at |on |in |into |for |when |and |then )(?:[^\s.!?]+\s){0,5}?"
    rf"(?:{'|'.join(KEYPADS)})"
)
_THING_NUMBER = re.compile(rf"\b(?:gate|door|lockbox|keypad|safe|garage)\s?:\s?{_OPENING_NUMBER}")
_ACCOUNTS = ("root", "admin", "guest", "postgres", "sa /", "pi /")
_REFERENCE = re.compile(
    r"\$?\{?\{?\s?[A-Za-z_][\w]*(?:(?:\.|->|::)[A-Za-z_]\w*)+|\$\{?[A-Za-z_]|\$\(|%[A-Za-z_(]|\{|<|\[|\(|\*{2,}|[\w.]+[(\[]"
)
_POINTER = re.compile(
    r"(?:(?<![^\W_])(?:it'?s|it’s|is|was|be|to|with|use|used|using|try|as|now|here|picked|chose|chosen|took|put|typed?|him|her|them|"
    r"c['’]est|est|prends|es|son|era|ist|jetzt|nun|lautet|heißt|auf|mit|nimm|è|é|ora|agora|usa|use|pon|con|com|avec|"
    r"это|теперь|на|artık|oldu|yenisi|هو|هي|إلى|الى|है|अब)[:,]?\s{1,3}|[:=→—–]\s{1,3}|\s-\s{1,3}|[：是为為はが는은成]\s{0,3})[\"'`“«„「(]?$",
    re.IGNORECASE,
)
_MEANS_IT = re.compile(
    r"(?i)(?<![^\W_])(?:it|its|it['’]s|that['’]?s|this|now|one|new|here|changed|set|went|picked|chose|made|use|try|remember|"
    r"c['’]est|le|ici|nouveau|es|está|ahora|nueva|la|aquí|ist|jetzt|neue[ns]?|hier|nun|è|é|ora|nuova|qui|agora|nova|"
    r"это|теперь|новый|вот|yeni|artık|şimdi)(?![^\W_])|[现新在今는は]"
)
_RULES = re.compile(
    r"(?i)\b(?:must|should|at least|minimum|characters?|zeichen|caract\w+|example|e\.g|such as|like|hash|policy)\b"
)
_SENTENCE_END = re.compile(r"[.!?;]\s|\n|。")
_CLOSERS = ("==", "!=", "[", ".", ">", "]", "}")  # after a word of a page, a style or a program
_CLOSED_QUOTES = tuple(quote + sign for quote in "\"'" for sign in "]})>")
_CODE_BEFORE = ("_", ".", "$", "<", '"', "'", "(", "[")
_IN_CODE = re.compile(r"[\"'\[\](){}<>=.]\S|[_(]")
_WRONG = re.compile(r"(?:Invalid|Wrong|Bad|Incorrect|Missing|Unknown)_?$")  # the name of an error
_NAMED = re.compile(r"-{0,2}(?:[A-Za-z_][\w.-]{0,40}=)?([A-Za-z_][\w.-]{0,40})=(?=[^=]{8})")
_OF_WIRELESS = re.compile(WIRELESS)
_WIRELESS_KEY = re.compile(r"(?<![\w-])(?:\d{4}(?:[ -]\d{4}){1,5}|\d{8,63}|[0-9A-F]{10,64}|[0-9a-f]{10,64})(?![\w-])")
_LONG_NUMBER = re.compile(r"\d{4}(?:[ -]?\d{4}){2,5}|\d{10,63}")
_TOKEN_LETTERS = re.compile(r"[A-Za-z0-9_\-./+=~:%$!@#^&*|]{6,}")
_FIGURE = re.compile(r"\d")
_FOUR_FIGURES = re.compile(r"\d\d\d ?-?\d")
_STAND_INS = ("password", "pass", "pw", "secret")
_YEAR = re.compile(r"(?:19|20)\d\d")
_COOKIE = re.compile(r"[:=;\s\"']{1,6}[\w.-]{1,60}=([^;\s\"',]{1,4000})")
_POSTAL = ("pin code", "pincode", "pin-code")  # in India, also of a place
_OWN = re.compile(r"(?i)card|bank|phone|sim\b|door|unlock|\bapp\b|my |mein|mon |mi |alarm|safe|atm")
_AROUND = 40  # characters before and after a word for "code" that say which
_OTHER_CODE = re.compile(rf"(?<![a-z])(?:{'|'.join(OTHER_CODES)})(?![a-z])")
_PROOF = re.compile("|".join(PROOF_HINTS))
_BACKUP = re.compile("backup|recovery|rescue|scratch|secours|respaldo|резерв")
_SAFETY = re.compile(r"\bsecurity\s?$|\s?(?:de|di) (?:seguridad|segurança|sicurezza|sécurité)|\s?на оборот")
_YOURS = re.compile(r"\b(?:your|dein|ihr|votre|ton|tu|su|seu|tuo|ваш|твой)\b")
_NEXT_LINE = re.compile(
    r"(?: (?:below|is|here|now|for [^\s?]{1,20}))?[:.]?[ \t]?\n{1,2}[ \t]{0,4}([^\s=:;,]{8,60})[ \t]*(?=\n|$)"
)  # it stands there alone
_IS_NUMBER = re.compile(r"(?:\s\w{1,16}){0,3}\s?(?:\b(?:is|ist|lautet|est|es|é|è|это)|[:=])\s?\d{3}")
_NUMBER_BEFORE = re.compile(
    r"(?<![\w.-])((?:[A-Z]{1,3}-)?\d{4,8}|\d{3}[ -]\d{3}) (?:is|ist|est|es|é|è|—|-|это)(?: [^\W\d]+){1,5} $"
)
_BOOKED = re.compile(r"(?i)confirm|best[aä]|book|flight|hotel")
_LETTERED_CODE = re.compile(r"(?: is)?(?: now)?\s?[:=]?\s(?=[A-Z]*\d)(?=\d*[A-Z])([A-Z0-9]{5,8})(?![\w-])")
_PIN_PLACE = re.compile("|".join(PIN_HINTS))
_PIN_PLACE_AFTER = re.compile("|".join(PIN_PLACES))


def _number(*forms: str) -> re.Pattern[str]:
    """Finds a number of any of these forms that is no part of a longer number, a word, an amount or an address."""
    return re.compile(rf"(?<![A-Za-z0-9_./+-])({'|'.join(forms)})(?![A-Za-zА-я0-9_%€$£/]|[.,:-]\d|-[a-z])")


_NUMBERS = {
    "card": (_number(r"\d{3,4}"), "card security code"),
    "proof": (
        _number(r"\d{3}[ -]\d{3}", r"\d{2}[ -]\d{2}[ -]\d{2}", r"\d{4} \d{4}", r"[A-Z]{1,2}-\d{4,8}", r"\d{4,8}"),
        "one-time code",
    ),
    "pin": (
        _number(
            r"[#*]?\d{4,10}[#*]?",
            r"[#*]\d{3,8}[#*]?",
            r"\d{1,2}([ -])\d{1,2}(?:\2\d{1,2}){1,3}",  # of a lock
            r"\d{3,4}[ -]\d{3,4}",
            r"[#*]?\d{1,6}[A-Za-zА-я]\d{2,6}[#*]?",  # of a door
            r"\d{3,6}(?![xkms])[A-Za-zА-я]",
            r"[A-ZА-Я]\d{3,6}[#*]?",
        ),
        "PIN",
    ),
}
_PIN_NOUNS = ("pin", "pins", "combination", "combo", "kombination")  # with other uses: the number right after it
_DOES = re.compile(r"\b(?:i|we|you|to|they) $", re.IGNORECASE)
_LINK_SIGNS = (":", "=", "：", "→", "-", "—", "–", "是", "は", "는", "은", "为")
_LISTED = re.compile(r"(?:codes|коды|códigos)$|codes de|códigos de|backup|recovery")
_AMOUNT = re.compile(
    r"\s?(?:line|edition|people|photo|ohm|pins|item|user|sec|min|hour|hrs|day|week|month|year|time|char|digit|number|sek|stunden|tage|jour|heure|hora|día|час|дн|%)"
)
_VARIABLE = re.compile(r"\$\{?\w+\}?|\$\(.*|%\(?\w+\)?[s%]?")
_TEMPLATE = re.compile(r"^[<\[{$%].*[>\]})%]$|\$\{|\{\{|\$\(|%\(|^\$\w+$|^%\w+$|\{\w*\}|\s")
_TYPE_NAME = re.compile(r"(?:[A-Z][a-z]+)*(?:Str|String|Text|Field|Bytes|Type|Input|Password|Secret|Property|Column)")
_ELSEWHERE = re.compile(r"(?:process\.env|import\.meta\.env|os\.environ|env|secrets|config|settings|vars)\.\w|![a-z]+$")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_MODALS = ("should", "will", "would", "could", "might")
_MADE_UP = re.compile(
    r"(?:password|passwd|passwort|pass|pwd|secret|token|key|test|user|foo|bar|demo|my|some|abc|api|admin|db|new|old|client|"
    r"access|auth|jwt|app|[-_ .])+(?:\d|12|123|1234|12345)?"
)


class _Value:
    """A piece of the text that may be the secret: without what encloses it, and what is known of it."""

    __slots__ = ("end", "in_quotes", "last", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.in_quotes = end - start > 2 and text[start] in "\"'`“«„「" and text[end - 1] in "\"'`”»“」"
        if self.in_quotes:
            start, end = start + 1, end - 1
        else:
            while start < end and text[start] in _OPENERS[:-1]:
                start += 1
            while end > start and text[end - 1] in ".,;:?)]}\"'`”»*。，、؟":
                end -= 1
        self.text = text[start:end]
        self.start, self.end = start, end
        self.last = not text[end : end + 40].lstrip("\"'`”»*)!").lstrip(" \t") or text[end : end + 3].lstrip(
            "\"'`”»*) "
        )[:1] in (".", ",", ";", "\n", "?", "!", "。", "，", "")


class _Word:
    """A word of the text that announces a secret, and of which kind."""

    __slots__ = ("end", "kind", "limit", "start", "text")

    def __init__(self, text: str, kind: str, start: int, end: int) -> None:
        self.text, self.kind, self.start, self.end = text, kind, start, end
        self.limit = end + _WINDOW  # what is after it is not looked at


def phrases(text: str, small: str, cover: bytearray) -> Iterator[SecretMark]:
    """What the words before it say is a secret. What `cover` marks is no word and no secret."""
    has_figures = _FIGURE.search(text) is not None
    yield from _options(text)
    if has_figures and _FOUR_FIGURES.search(text):
        yield from (SecretMark("one-time code", *match.span(1)) for match in _USE_CODE.finditer(small))
        yield from _opened(small)
    matches = _announced(small, has_figures)
    for at, (start, name) in enumerate(matches[:_MOST]):
        word = None if cover[start] else _word_of(text, small, name, start)
        if word is None:
            continue
        if _MANY < at < len(matches) - 1:
            word.limit = min(word.limit, matches[at + 1][0])
        for mark in _after(text, word):
            if mark.end >= word.end + _WINDOW - 1:
                mark = SecretMark(mark.kind, mark.start, _to_space(text, mark.end))
            cover[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
            yield mark
        if word.kind == "password" and at <= _MANY:
            yield from _before(text, word.start)


def _to_space(text: str, at: int) -> int:
    rest = re.compile(r"[^\s\"'`]*").match(text, at)
    return rest.end() if rest else at


def _announced(small: str, has_figures: bool) -> list[tuple[int, str]]:
    """Where the words stand that announce a secret, the longest of those that overlap."""
    groups = _WORDS_OF_ROOT[has_figures]
    if not small.isascii():
        groups = groups + [(sign, _WORDS_OF_SIGN[sign]) for sign in set(small).intersection(_WORDS_OF_SIGN)]
    places = []
    for root, names in groups:
        at = small.find(root)
        present = [] if at < 0 else [(name, offset) for name, offset in names if name in small]
        while present and at >= 0:
            for name, offset in present:
                if small.startswith(name, at - offset) and at >= offset:
                    places.append((at - offset, -len(name), name))
            at = small.find(root, at + 1)
    matches = []
    end = 0
    for start, _, name in sorted(places):
        if start >= end:
            matches.append((start, name))
            end = start + len(name)
    return matches


def _word_of(text: str, small: str, word: str, start: int) -> _Word | None:
    """The word, if it is one by itself or a part of a name; "key" and "code" are told apart by the word before."""
    end = start + len(word)
    if word not in _PARTS and not (_begins(text, start) and _ends(text, end)):
        return None
    kind = _KINDS[word]
    if _WRONG.search(text, max(0, start - 10), start):
        return None
    is_loose = word in LINKED_PASSWORD_WORDS and _OF_WIRELESS.search(small, max(0, start - 40), start)
    if is_loose or (kind in ("key", "weak") and _OF_WIRELESS.search(small, max(0, start - 24), end + 24)):
        return _Word("wifi", "password", start, end)
    if kind not in ("code", "weak"):
        return _Word(word, kind, start, end)
    before = _BEFORE.findall(small, max(0, start - 24), start)
    last = before[-1] if before else ""
    if word in ("key", "keys"):
        if last in OTHER_KEYS:
            return None
        if last in SECRET_KEYS or last.endswith(("api", "access", "secret")):
            return _Word("api key", "key", start, end)
    if kind == "code":
        return _code_of(small, word, start, end)
    return _Word(word, kind, start, end)


def _code_of(small: str, word: str, start: int, end: int) -> _Word | None:
    """Which code is meant: what stands next to the word says so, before it or after it in the same sentence."""
    if not _FIGURE.search(small, max(0, start - _NUMBER_WINDOW), end + _WINDOW) and not _OF_WIRELESS.search(
        small, max(0, start - 24), end + 24
    ):
        return None
    before = _SENTENCE_END.split(small[max(0, start - _AROUND) : start])[-1]
    after = _SENTENCE_END.split(small[end : end + _AROUND])[0]
    if _OTHER_CODE.search(before[-16:]) or _OTHER_CODE.search(after[:16]):
        return None
    if _OF_WIRELESS.search(before[-24:]) or _OF_WIRELESS.search(after[:24]):
        return _Word("wifi", "password", start, end)
    if _SAFETY.search(before[-12:]) or _SAFETY.match(after):
        return _Word("security code", "card", start, end)
    if _PROOF.search(before) or _PROOF.search(after) or (_YOURS.search(before) and _IS_NUMBER.match(after)):
        listed = _BACKUP.search(before + after) is not None
        return _Word("backup codes" if listed else word, "proof", start, end)
    if _PIN_PLACE.search(before) or _PIN_PLACE.search(after) or _PIN_PLACE_AFTER.search(after):
        return _Word(word, "pin", start, end)
    return None


def _begins(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return not before.isalnum() or (before.islower() and text[start].isupper())


def _ends(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if after.isdigit():
        return not text[end + 1 : end + 2].isalnum()
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())


def _after(text: str, word: _Word) -> Iterator[SecretMark]:
    if word.kind in _NUMBERS:
        return _codes(text, word)
    if word.kind == "login":
        return _pairs(text, word)
    if word.kind == "password":
        return _passwords(text, word)
    return _keys(text, word)


def _rest_of_name(text: str, match: _Word) -> int:
    """Where the name ends that a word is part of; -1 if the name tells of something else."""
    rest = _NAME_REST.match(text, match.end)
    name = rest[0] if rest else ""
    if not name or name in ("-", "_", "--") or name.startswith("--"):
        return match.end
    if any(map(str.isdigit, name)) and name.isascii():
        return -1
    small = name.lower().strip("_-")
    if (
        small not in ("s", "es", "en")
        and small.isascii()
        and (small.endswith(NAME_ENDS) or small.startswith(NAME_ENDS))
    ):
        return -1
    return match.end + len(name)


def _values(text: str, match: _Word) -> Iterator[tuple[_Value, str, int]]:
    """What may be the secret after a word: with how it is linked (":" a sign, "is" a word, "" not), and after how many
    other words."""
    at, link = _first_link(text, match)
    if at < 0:
        return
    pattern = _ASCII_TOKEN if _UNSPACED.search(match.text) else _TOKEN
    count = 0
    for token in pattern.finditer(text, at, match.limit):
        if "\n" in text[at : token.start()] and not link:
            return
        at = token.end()
        raw = token[0]
        bare = raw.strip("\"'`*").lower()
        if (bare in _MODALS and text.startswith(" be ", at)) or (link and bare in STILL and bare not in LINKS):
            continue
        if linked := _link_of(bare):
            link = linked
            continue
        if (link or not raw.isalpha()) and raw not in ("?", "!", "...", "…", ","):
            yield _Value(text, token.start(), at), link, count
        if link == ":" or count >= _FILLERS or _ends_there(text, raw, bare, link, at):
            return
        link = ":" if raw[-1] in ":=：" else ""
        count += 1


def _first_link(text: str, match: _Word) -> tuple[int, str]:
    """Where the values after a word begin, and what links them to it; -1 if none can follow."""
    at = _rest_of_name(text, match)
    if at < 0:
        return -1, ""
    sign = _VALUE_LINK.match(text, at) or _SIGN_LINK.match(text, at)
    if sign:
        return sign.end(), ":"
    if text.startswith(_CLOSERS, at) or text[at : at + 2] in _CLOSED_QUOTES:
        return -1, ""
    if text[at : at + 3].lower() in ("'s ", "’s "):
        return at + 2, "est"
    if text[at - 1] in "是为為はが는은이":
        return at, "est"
    is_option = text[max(0, match.start - 12) : match.start].rpartition(" ")[2].startswith("--")
    return at, ":" if is_option else ""


def _link_of(bare: str) -> str:
    if bare in LINKS or (bare and not bare.rstrip(":=")):
        return "is" if bare in PLAIN_LINKS else "est" if bare.isalpha() else ":"
    return "to" if bare in LOOSE_LINKS else ""


def _ends_there(text: str, raw: str, bare: str, link: str, at: int) -> bool:
    """Whether after this word no value belongs to the one that announced it."""
    if bare.strip(".,;:!?()") in NO_SECRET or (raw[-1] == "," and not link):
        return True
    return raw[-1] in ".!?;" and not text[at : at + 5].lower().startswith((" it's", " it’s", " it i"))


def _passwords(text: str, match: _Word) -> Iterator[SecretMark]:
    if "phrase" in match.text:
        yield from _passphrases(text, match)
    number = _WIRELESS_KEY.search(text, match.end, match.end + _NUMBER_WINDOW) if match.text == "wifi" else None
    if number:
        yield SecretMark("password", *number.span())
        return
    for value, link, count in _values(text, match):
        if link == ":" and not value.in_quotes:
            _cut(text, value, match)
        if _is_reference(value):
            return
        if _is_password(value, link, count, text, match.text) and not is_placeholder(value.text):
            yield SecretMark("password", value.start, value.end)
            return
        if (
            link
            and value.text.lower() not in STILL
            and not (link == "is" and count == 0 and value.text.lower() in ("for", "of"))
        ):
            break
    yield from _told_later(text, match)


def _told_later(text: str, match: _Word) -> Iterator[SecretMark]:
    """ "I had to reset my password again. It's now hunter2!": in the next clause, what a word points to and what looks
    like a password. After the end of a sentence only a word that means the password points to it ("it", "new one")."""
    if (
        _rest_of_name(text, match) < 0
        or text[max(0, match.start - 1) : match.start] in _CODE_BEFORE
        or _IN_CODE.match(text, match.end)
    ):
        return
    line = _NEXT_LINE.match(text, match.end, match.limit)
    if line and is_strong(line[1]) and _FIGURE.search(line[1]) and (not line[1].islower() or is_very_strong(line[1])):
        yield SecretMark("password", *line.span(1))
        return
    pattern = _ASCII_TOKEN if _UNSPACED.search(match.text) else _TOKEN
    for token in pattern.finditer(text, match.end, match.limit):
        value = _Value(text, *token.span())
        if not is_strong(value.text) and not _LONG_NUMBER.fullmatch(value.text):
            continue
        between = text[match.end : token.start()]
        if _RULES.search(between):
            return
        if _is_pointed_to(value.text, between) and not _is_reference(value):
            yield SecretMark("password", value.start, value.end)
            return


def _is_pointed_to(word: str, between: str) -> bool:
    near = between[-24:]
    if not is_strong(word):
        return near.rstrip()[-1:] in (":", "：")
    has_pointer = _POINTER.search(near) is not None
    if _SENTENCE_END.search(between):
        return has_pointer and _MEANS_IT.search(near) is not None
    return has_pointer or is_very_strong(word)


def _passphrases(text: str, match: _Word) -> Iterator[SecretMark]:
    link = re.compile(r"\s*(?:is|was|:|=|ist|lautet|est|es)\s+", re.IGNORECASE).match(text, match.end)
    words = _PASSPHRASE.match(text, link.end(), link.end() + 120) if link else None
    if words and not any(word in TELLING or word in NO_SECRET for word in re.split("[ -]", words[1])):
        yield SecretMark("password", *words.span(1))


def _cut(text: str, value: _Value, match: _Word) -> None:
    """Ends a value that stands after a sign where a list, a line of settings or an address goes on."""
    cut = _CODE_CUT.search(value.text)
    end = cut.start() if cut and cut.start() else len(value.text)
    if (
        text[max(0, match.start - 30) : match.start].rpartition(" ")[2].find("?") >= 0
        or "&" in text[max(0, match.start - 1) : match.start]
    ):
        end = min(end, (value.text + "&").find("&"))
    value.text = value.text[:end]
    value.end = value.start + end


def _is_reference(value: _Value) -> bool:
    if value.in_quotes and len(value.text) >= 8 and is_mixed(value.text) and not _TEMPLATE.search(value.text):
        return False
    if not value.text or value.text[0] in "[<{>" or _VARIABLE.fullmatch(value.text):
        return True
    if not value.in_quotes and _SYNTAX.match(value.text):
        return True
    if not value.in_quotes and (_CALL.match(value.text) or _ELSEWHERE.match(value.text)):
        return True
    return not value.in_quotes and bool(_REFERENCE.match(value.text)) and not re.search(r"\d", value.text[:60])


def _is_password(value: _Value, link: str, count: int, text: str, word_before: str) -> bool:
    word = value.text
    small = word.lower()
    if not 3 <= len(word) <= 200 or small in KNOWN_THINGS or ("[" in word and not value.in_quotes):
        return False
    if not value.in_quotes and link == ":" and _TYPE_NAME.fullmatch(word):
        return False
    if "_" in word and word.isupper() and not any(map(str.isdigit, word)):  # PUT_IT_HERE, in whatever language
        return False
    if re.split(r"[|:]", small.strip(".!?,"))[0] in TELLING or small in NO_SECRET or small in LINKS:
        return False
    if " " in word:
        return _is_quoted_phrase(value, link)
    mixed = is_mixed(word)
    if is_thing(word) and not _is_named_anyway(small, link, count, mixed):
        return False
    if link == ":" and (value.in_quotes or "_" in word or word.isalpha()) and _MADE_UP.fullmatch(small[:60]):
        return False
    if not link and word_before in LINKED_PASSWORD_WORDS:
        return count == 0 and (is_very_strong(word) or (is_strong(word) and len(word) >= 9))
    if not link and word.strip("#*").isdigit():
        return 4 <= len(word) <= 63 and count == 0 and value.last and not _YEAR.fullmatch(word)
    if not link:
        return mixed and len(word) >= 5 and (count == 0 or (count <= 3 and is_strong(word) and value.last))
    if mixed:
        return True
    if small.isdigit():
        return len(word) >= 4 and (link != "to" or (value.last and not _YEAR.fullmatch(word)))
    plural = text[value.start - 12 : value.start].lower().count("words ") > 0
    return (
        (link in (":", "is") or (link == "est" and value.in_quotes)) and not plural and _is_plain_password(value, link)
    )


def _is_quoted_phrase(value: _Value, link: str) -> bool:
    """Several words are one only in quotation marks, and if they do not tell about it."""
    words = value.text.lower().split()
    return (
        value.in_quotes
        and link in (":", "is", "est")
        and len(value.text) >= 8
        and words[0] not in NO_SECRET
        and 2 * sum(part in TELLING for part in words) < len(words)
    )


def _is_named_anyway(small: str, link: str, count: int, mixed: bool) -> bool:
    """What looks like a thing, but stands where only the password can."""
    if not mixed or "@" in small[1:] or re.match(r"https?:|www\.|/|\d+-[a-z]|ssh-", small):
        return False
    return bool(link) or (count == 0 and "." not in small and small[0].isalpha() and len(small) >= 8)


def _is_plain_password(value: _Value, link: str) -> bool:
    """A plain word is one only where nothing follows, and if it does not tell about the password."""
    word = value.text
    if not value.last or len(word) < 4 or word.endswith(TELLING_ENDS) or "(" in word:
        return False
    if not word.rstrip("!").isascii() and link != ":":
        return False
    return word.strip("!-_.").replace("-", "").replace("_", "").isalpha() and (
        value.in_quotes or word.rstrip("!").isalpha() or link == ":"
    )


def _before(text: str, start: int) -> Iterator[SecretMark]:
    """ "hunter2 is the password", "type in hunter2 when it asks for the password": what stands before the word."""
    for told in _TOLD_BEFORE.finditer(text, max(0, start - 90), start):
        value = _Value(text, *told.span(1))
        is_sure = (
            is_very_strong(value.text) or told[0][:3].lower() not in _LOOSE_VERBS or _MEANT.match(text, told.end())
        )
        if is_sure and len(value.text) >= 8 and is_strong(value.text) and any(map(str.isdigit, value.text)):
            yield SecretMark("password", value.start, value.end)
            return
    words = list(_TOKEN.finditer(text, max(0, start - 80), start))[-5:]
    at = next((at for at in range(len(words) - 1, 0, -1) if words[at][0].lower() in _BACK), 0)
    if not at or words[at - 1].start() == max(0, start - 80) > 0:
        return
    value = _Value(text, *words[at - 1].span())
    word = value.text
    if len(word) < 6 or not is_mixed(word) or word.lower() in KNOWN_THINGS or is_thing(word):
        return
    if not is_placeholder(word) and not _is_reference(value):
        yield SecretMark("password", value.start, value.end)


def _codes(text: str, match: _Word) -> Iterator[SecretMark]:
    """A PIN, a one-time code or the code of a card: the first number near the word that no other word explains."""
    if match.kind == "proof" and _LISTED.search(match.text):
        yield from _listed_codes(text, match.end)
        return
    pattern, kind = _NUMBERS[match.kind]
    number = pattern.search(text, match.end, match.end + _NUMBER_WINDOW)
    earlier = _NUMBER_BEFORE.search(text, max(0, match.start - 60), match.start) if match.kind == "proof" else None
    if earlier:
        yield SecretMark(kind, *earlier.span(1))
    elif number and _belongs(text, match, number):
        yield SecretMark(kind, *number.span(1))
    elif match.kind == "pin":
        yield from _mixed_pins(text, match)
    elif match.kind == "proof" and (code := _LETTERED_CODE.match(text, match.end)):
        if _BOOKED.search(text, max(0, match.start - 30), match.start):
            return
        yield SecretMark(kind, *code.span(1))


def _belongs(text: str, match: _Word, number: re.Match[str]) -> bool:
    """Whether a number after a word is its code: nothing between them says that it is something else."""
    between = text[match.end : number.start()]
    words = _BEFORE.findall(between.lower())
    if (
        _SENTENCE_END.search(between)
        or _AMOUNT.match(text, number.end())
        or _RULES.search(between)
        or NO_CODE_BETWEEN.intersection(words)
    ):
        return False
    if (words and words[-1] in NUMBER_LEADS) or _rest_of_name(text, match) < 0:
        return False
    is_changed = bool(words) and words[-1] in LOOSE_LINKS and not STILL.isdisjoint(words)
    ends_in_link = between.rstrip()[-1:] in _LINK_SIGNS or bool(words and words[-1] in LINKS | STILL)
    is_linked = is_changed or ends_in_link or words[-1:] == ["s"]  # "it's"
    if match.kind != "pin":
        return is_linked or not _YEAR.fullmatch(number[1])
    is_postal = match.text in _POSTAL and len(number[1]) == 6
    if is_postal and not _OWN.search(text[max(0, match.start - 40) : match.end]):
        return False
    if is_linked or match.text not in _PIN_NOUNS:
        return is_linked or (len(words) <= _FILLERS and not _YEAR.fullmatch(number[1]))
    if len(words) <= 3 and _PIN_PLACE.search(between):
        return not _YEAR.fullmatch(number[1])
    if match.text not in ("pin", "pins") and _YEAR.fullmatch(number[1]):
        return False
    return not words and not _DOES.search(text, max(0, match.start - 6), match.start)


def _mixed_pins(text: str, match: _Word) -> Iterator[SecretMark]:
    for value, link, count in _values(text, match):
        if link and is_mixed(value.text) and any(map(str.isdigit, value.text)) and not is_thing(value.text):
            if len(value.text) >= 4:
                yield SecretMark("PIN", value.start, value.end)
            return
        if link == ":" or count > 4:
            return


def _listed_codes(text: str, at: int) -> Iterator[SecretMark]:
    leads = [lead.end() for pattern in _CODE_LEADS if (lead := pattern.match(text, at))]
    at = next((at for at in leads if _CODES.match(text, at)), -1)
    if at < 0:
        return
    for _ in range(24):
        code = _CODES.match(text, at)
        if code is None or (code[1].isalpha() and "-" not in code[1]):
            return
        if not re.search(r"\d", code[1]) and not re.fullmatch(r"([a-z]{4,8})-[a-z]{4,8}", code[1]):
            return
        yield SecretMark("recovery code", *code.span(1))
        at = code.end()


def _keys(text: str, match: _Word) -> Iterator[SecretMark]:
    if match.text == "cookie":
        yield from _cookies(text, match.end)
        return
    for value, link, count in _values(text, match):
        if not value.in_quotes:
            _cut(text, value, match)
        if value.text.startswith("base64:"):  # which says how it is written
            value.text = value.text.removeprefix("base64:")
            value.start = value.end - len(value.text)
        if _is_signed_key(value, link):
            yield SecretMark("token", value.start, value.end)
            return
        _skip_name(value)
        if _is_reference(value):
            return
        if _is_token(value, match, link, count) and not is_placeholder(value.text):
            yield SecretMark(
                "API key" if "key" in match.text or "api" in match.text else "token", value.start, value.end
            )
            return


def _is_signed_key(value: _Value, link: str) -> bool:
    """What frameworks make up: a long value in quotation marks with signs of any kind among letters and figures."""
    key = value.text
    signs = {char for char in key if char in "!@#$%^&*()-_=+"}
    return (
        value.in_quotes
        and link == ":"
        and len(key) >= 24
        and len(signs) >= 4
        and len(set(key)) >= 12
        and any(map(str.isdigit, key))
        and not _TEMPLATE.search(key)
        and not is_placeholder(key)
    )


def _skip_name(value: _Value) -> None:
    """Of `name=value` the value alone; of an id nothing."""
    named = _NAMED.match(value.text)
    if named:
        is_id = named[1].lower().endswith("id") and "sess" not in named[1].lower()
        value.start = value.end if is_id else value.start + named.end()
        value.text = "" if is_id else value.text[named.end() :]


def _cookies(text: str, at: int) -> Iterator[SecretMark]:
    for _ in range(20):
        cookie = _COOKIE.match(text, at)
        if cookie is None:
            return
        if len(cookie[1]) >= 16 and not is_placeholder(cookie[1]) and is_unguessable(cookie[1], hexes=True):
            yield SecretMark("token", *cookie.span(1))
        at = cookie.end()


def _is_token(value: _Value, match: _Word, link: str, count: int) -> bool:
    token = value.text
    if (
        not _TOKEN_LETTERS.fullmatch(token)
        or (is_thing(token) and token[0] != "~")
        or is_public(token)
        or token.lower() in KNOWN_THINGS
    ):
        return False
    if not any(map(str.isdigit, token)) or not any(map(str.isalpha, token)):
        return False
    if match.kind == "weak":
        return bool(link) and len(token) >= 16 and is_unguessable(token, hexes=link == ":" and count == 0)
    if not link and (count > 5 or len(token) < 16):
        return False
    if link and "secret" in match.text and len(token) >= 8 and is_mixed(token):
        return not _MADE_UP.fullmatch(token[:60].lower())
    return len(token) >= 10 and is_unguessable(token, hexes=True)


def _pairs(text: str, word: _Word) -> Iterator[SecretMark]:
    """A name and its password side by side: "login: anna / hunter2", "log in with anna and hunter2", or on lines of
    their own after "credentials"."""
    match = _PAIR.match(text, word.end, word.limit) or _WITH_PAIR.match(text, word.end, word.limit)
    if match is None and word.text.startswith("log"):
        changed = _LOGIN_IS.match(text, word.end, word.limit)
        match = changed if changed and is_strong(changed[1].rstrip(".,;!")) else None
    if match is None and word.text in _CREDENTIALS:
        match = _SIGNED_TOKEN.search(text, word.end, word.limit)
    value = _Value(text, *match.span(1)) if match else None
    if value is None or len(value.text) < 5 or not is_mixed(value.text) or is_thing(value.text):
        return
    if not is_placeholder(value.text) and not _is_reference(value):
        yield SecretMark("password", value.start, value.end)


def _options(text: str) -> Iterator[SecretMark]:
    """Those that commands are given, and those of accounts that every system has."""
    for needle, pattern in _DASHED + _UNDASHED if " -" in text else _UNDASHED:
        for match in pattern.finditer(text) if needle in text else ():
            if _is_given(match[1]):
                yield SecretMark("password", *match.span(1))
    for match in _MAIL_PAIR.finditer(text) if "@" in text else ():
        if is_strong(match[1].rstrip(".,;!")) and _is_given(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))
    for match in _ACCOUNT_PAIR.finditer(text) if _has_account(text) else ():
        if is_very_strong(match[1]) and _is_given(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))


def _opened(small: str) -> Iterator[SecretMark]:
    """A number by which something is opened: "unlock my phone with 280593", "type 4711 at the gate", "gate: 4711"."""
    if any(verb in small for verb in OPENING):
        for match in _OPENED.finditer(small):
            if _OPENED_THING.search(small, max(0, match.start() - 24), match.start(1)):
                yield SecretMark("PIN", *match.span(1))
    if any(thing in small for thing in KEYPADS):
        yield from (SecretMark("PIN", *match.span(1)) for match in _TYPED.finditer(small))
        yield from (SecretMark("PIN", *match.span(1)) for match in _THING_NUMBER.finditer(small))


def _has_account(text: str) -> bool:
    return ("/" in text or ":" in text) and any(name in text for name in _ACCOUNTS)


def _is_given(value: str) -> bool:
    return (
        value[0] not in "$<{[*"
        and not value.isdigit()
        and value.lower() not in _STAND_INS
        and not is_placeholder(value)
    )
