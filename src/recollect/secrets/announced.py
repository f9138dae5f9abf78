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
from dataclasses import dataclass
from itertools import islice

from recollect.secrets.marks import SecretMark
from recollect.secrets.values import (
    KNOWN_THINGS,
    is_mixed,
    is_placeholder,
    is_public,
    is_stand_in,
    is_strong,
    is_thing,
    is_unguessable,
    is_very_strong,
)
from recollect.secrets.words import any_of, one_of, word_set, words

_WINDOW = 160  # characters after a word that are looked at
_MOST = 15_000  # words that announce a secret: after so many in one text only keys of a known form are found
_MANY = 500  # words that announce a secret: in a text with more of them, each is looked after only up to the next
_NUMBER_WINDOW = 60  # the same of a code
_FILLERS = 6  # words that may stand before a link
_AROUND = 40  # characters before and after a word for "code" that say which

_PARTS = words("password, also inside a longer word")
_LOOSE_PASSWORDS = words("password, only after a link")
_SECTIONS = {
    "password": (*_PARTS, *words("password"), *_LOOSE_PASSWORDS),
    "login": words("login"),
    "pin": words("PIN"),
    "proof": words("one-time code"),
    "card": words("card security code"),
    "code": words("code of any kind"),
    "key": words("key"),
    "weak": words("key, only if it is surely random"),
}
_KINDS = {word: kind for kind, names in _SECTIONS.items() for word in names}
_INSIDE_OTHERS = {*_PARTS, *(word for word in _KINDS if not word.isascii())}


_ANNOUNCING = re.compile(one_of(_KINDS))
_ASCII_ANNOUNCING = re.compile(one_of(word for word in _KINDS if word.isascii()))
_LINKS = word_set("links")
_PLAIN_LINKS = word_set("plain links")
_LOOSE_LINKS = word_set("loose links")
_LINK_SIGNS = (":", "=", "：", "→", "-", "—", "–", "是", "は", "는", "은", "为")
_STILL = word_set("still")
_TELLING = word_set("telling")
_NO_SECRET = word_set("no secret")
_MODALS = ("should", "will", "would", "could", "might")
_NAME_ENDS = words("name ends")

# What a word announces, and what is told near it.
_BEFORE = re.compile(r"[^\W_]+")
_NAME_REST = re.compile(r"[A-Za-z_-][\w-]{0,30}|[^\W\x00-\x7f]{0,12}")
_WRONG = re.compile(r"(?:Invalid|Wrong|Bad|Incorrect|Missing|Unknown)_?$")  # the name of an error
_WIRELESS = re.compile(any_of("wireless"))
_SENTENCE_END = re.compile(r"[.!?;]\s|\n|。")
_OTHER_CODE = re.compile(rf"(?<![a-z]){any_of('other codes')}(?![a-z])")
_PROOF = re.compile(any_of("proof"))
_BACKUP = re.compile("backup|recovery|rescue|scratch|secours|respaldo|резерв")
_SAFETY = re.compile(r"\bsecurity\s?$|\s?(?:de|di) (?:seguridad|segurança|sicurezza|sécurité)|\s?на оборот")
_YOURS = re.compile(r"\b(?:your|dein|ihr|votre|ton|tu|su|seu|tuo|ваш|твой)\b")
_IS_NUMBER = re.compile(r"(?:\s\w{1,16}){0,3}\s?(?:\b(?:is|ist|lautet|est|es|é|è|это)|[:=])\s?\d{3}")
_PIN_PLACE = re.compile(any_of("things with a PIN"))
_PIN_PLACE_AFTER = re.compile(any_of("things with a PIN", "things with a PIN, after it"))
_SECRET_KEYS = word_set("secret keys")
_OTHER_KEYS = word_set("other keys")

# What may stand between a word and its secret, and pieces of text that may be the secret.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SIGN_LINK = re.compile(
    r"[\"'`*_]{0,4}[ \t]{0,3}(?:>(?=[^<>\s]{3,100}</)|=>|->|:=|=(?!=)|:(?!:)|：|＝|→)[ \t*_]{0,8}(?:\n[ \t]{0,8})?"
)
_VALUE_LINK = re.compile(r"[\"'][\s,]{1,3}value[\"']?\s{0,2}[=:]\s{0,2}(?=[\"'])")
_CLOSERS = ("==", "!=", "[", ".", ">", "]", "}")  # after a word of a page, a style or a program
_CLOSED_QUOTES = tuple(quote + sign for quote in "\"'" for sign in "]})>")
_TOKEN = re.compile(
    r"\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“\n]{1,120}“|\S+"
)
_ASCII_TOKEN = re.compile(r"\"[^\"\n]{1,120}\"|「[^」\n]{1,60}」|“[^”\n]{1,120}”|[!-~]+|[^\s!-~]+")
_TO_SPACE = re.compile(r"[^\s\"'`]*")
_CODE_CUT = re.compile(r"[\"'`<>;,)}\]\\]")
_REFERENCE = re.compile(
    r"\$?\{?\{?\s?[A-Za-z_][\w]*(?:(?:\.|->|::)[A-Za-z_]\w*)+|\$\{?[A-Za-z_]|\$\(|%[A-Za-z_(]|\{|<|\[|\(|\*{2,}|[\w.]+[(\[]"
)
_VARIABLE = re.compile(r"\$\{?\w+\}?|\$\(.*|%\(?\w+\)?[s%]?")
_TEMPLATE = re.compile(r"^[<\[{$%].*[>\]})%]$|\$\{|\{\{|\$\(|%\(|^\$\w+$|^%\w+$|\{\w*\}|\s")
# Of an address, a pattern, a tag of YAML; a call; what is kept elsewhere.
_CODE = re.compile(
    r"\?|\^?\(\?|\^[\[(]|![a-z]+(?:-[a-z]+)+$|[A-Za-z_][\w.]*[(\[]"
    r"|(?:process\.env|import\.meta\.env|os\.environ|env|secrets|config|settings|vars)\.\w|![a-z]+$"
)
_TYPE_NAME = re.compile(r"(?:[A-Z][a-z]+)*(?:Str|String|Text|Field|Bytes|Type|Input|Password|Secret|Property|Column)")
_MADE_UP = re.compile(rf"{any_of('made up')}+(?:\d|12|123|1234|12345)?")
_FIGURE = re.compile(r"\d")
_YEAR = re.compile(r"(?:19|20)\d\d")

# Passwords.
_WIRELESS_KEY = re.compile(r"(?<![\w-])(?:\d{4}(?:[ -]\d{4}){1,5}|\d{8,63}|[0-9A-F]{10,64}|[0-9a-f]{10,64})(?![\w-])")
_LONG_NUMBER = re.compile(r"\d{4}(?:[ -]?\d{4}){2,5}|\d{10,63}")
_PHRASE_LINK = re.compile(r"(?i)\s*(?:is|was|:|=|ist|lautet|est|es)\s+")
_PASSPHRASE = re.compile(r"[\"'“]?([a-z]+(?:[ -][a-z]+){2,9})[\"'”]?(?=[.,;!?]?\s*(?:\n|$))")
_NEXT_LINE = re.compile(
    r"(?: (?:below|is|here|now|for [^\s?]{1,20}))?[:.]?[ \t]?\n{1,2}[ \t]{0,4}([^\s=:;,]{8,60})[ \t]*(?=\n|$)"
)  # it stands there alone
_POINTER = re.compile(
    rf"(?i)(?:(?<![^\W_]){any_of('pointers')}[:,]?\s{{1,3}}|[:=→—–]\s{{1,3}}|\s-\s{{1,3}}|[：是为為はが는은成]\s{{0,3}})[\"'`“«„「(]?$"
)
_MEANS_IT = re.compile(rf"(?i)(?<![^\W_]){any_of('means the secret')}(?![^\W_])|[现新在今는は]")
_RULES = re.compile(rf"(?i)\b{any_of('rules')}\b")
_CODE_BEFORE = ("_", ".", "$", "<", '"', "'", "(", "[")
_IN_CODE = re.compile(r"[\"'\[\](){}<>=.]\S|[_(]")
_TOLD_BEFORE = re.compile(
    rf"(?i)(?<![^\W_])({any_of('verbs before a password', 'loose verbs before a password')})"
    r"(?: in| now| jetzt| einfach)?\s[\"'`“«„(]?([^\s]{8,60})(?!\S)(?! (?:and|und|et|y|e) )(?=[^.!?;\n]*$)"
)
_LOOSE_VERBS = words("loose verbs before a password")
_MEANT = re.compile(rf" {any_of('uses')}\b")
_BACK = word_set("links to what is before")

# Logins, and passwords that are given to commands.
_PAIR = re.compile(
    r"[^\n/|,\"]{0,40}?(?<=[\s:=])[^\s/|:;=<,\"]{2,40}(?:\s[/|]\s|\s?:\s?(?=\S*\d)|/(?=[^\s/]*\d))([^\s\"/]{4,60})(?![^\s\"])"
)
_WITH_PAIR = re.compile(
    r"[^\n/|\"]{0,30}?\b(?:with|as|using|mit|als|avec|con|com|under|is|are|[:=])\s[^\s/|:;=<\"]{2,40}\s?"
    r"(?:and|with|und|mit|et|avec|y|con|e|com|i|и|ve|\+|,|/)\s(?=[^\s\"]*\d)(?=[^\s\"]*[a-z])([^\s\"]{6,60})"
)
_LOGIN_IS = re.compile(r"\s(?:is now|is|to)\s(?=\S*\d)(\S{8,60})")
_CREDENTIALS = words("credentials")
_SIGNED_TOKEN = re.compile(r"\n\s{0,4}(?=\S*\d)(?=\S*[a-z])([A-Za-z0-9_.-]{2,40}[!@#$%^&*+~][^\s/@]{0,40})(?=\n|$)")
_COMMANDS = [
    (needle, re.compile(pattern))
    for needles, pattern in (line.split(" => ") for line in words("commands"))
    for needle in needles.split("|")
]
_MAIL_PAIR = re.compile(r"[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,20}\s[/|]\s([^\s/|\"']{6,60})(?!\S)")
_ACCOUNTS = ("root", "admin", "guest", "postgres", "sa /", "pi /")
_ACCOUNT_PAIR = re.compile(
    r"(?<![\w/.@:-])(?:root|admin|administrator|guest|postgres|sa|pi)\s?[/:]\s?([^\s/\"']{6,60})"
)

# Codes.
_FOUR_FIGURES = re.compile(r"\d\d\d ?-?\d")
_USE_CODE = re.compile(
    r"use (?<!\wuse )(?:code )?(\d{4,8}|\d{3}[ -]\d{3}) to "
    r"(?:verify|log ?in|sign ?in|confirm|reset|continue|authenticate)"
)
_OPENING = words("opening")
_KEYPADS = words("keypads")
_OPENING_NUMBER = (
    r"([#*]?\d{4,8}[#*]?)(?=\s{0,2}(?:$|[.,;!?)](?!\d)|\n|"
    r"(?:and|und|et|y|e|then|to|but|on the|at the|in the|please)\b))"
)
_OPENED = re.compile(
    rf"{any_of('opening')}\w{{0,6}}\b[^.!?\n\d]{{0,50}}?(?:\b(?:with|using|typing|is|code|mit|avec|con|com)|[:=])\s?"
    rf"{_OPENING_NUMBER}"
)
_OPENED_THING = re.compile(any_of("opened things"))
_TYPED = re.compile(
    r"\b(?:type|enter|punch|press|key)(?: in)? ([#*]?\d{4,8}[#*]?)\s"
    rf"(?=to |at |on |in |into |for |when |and |then )(?:[^\s.!?]+\s){{0,5}}?{any_of('keypads')}"
)
_THING_NUMBER = re.compile(rf"\b(?:gate|door|lockbox|keypad|safe|garage)\s?:\s?{_OPENING_NUMBER}")
_LISTED = re.compile(r"(?:codes|коды|códigos)$|codes de|códigos de|backup|recovery")
_CODE_LEADS = (
    re.compile(r"[^\d\n:]{0,40}?(?:[:=]|\bare\b|\bis\b|\bsind\b|\bsont\b|\bson\b|(?=\s[A-Za-z0-9-]*\d))\s*"),
    re.compile(r"[^\n:]{0,60}:\s*"),
)
_CODES = re.compile(
    r"(?:[\s,;:.•*|/-]|\b(?:and|or|und|et|y|e|\d{1,2}[.)])(?=\s)){0,8}(?<![A-Za-z0-9])"
    r"([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,3}|(?=[A-Za-z]*\d)[A-Za-z0-9]{6,12}"
    r"|(?=[a-f ]*\d)[0-9a-f]{4} [0-9a-f]{4})(?![A-Za-z0-9])"
)
_DASHED_WORDS = re.compile(r"([a-z]{4,8})-[a-z]{4,8}")
_NUMBER_BEFORE = re.compile(
    r"(?<![\w.-])((?:[A-Z]{1,3}-)?\d{4,8}|\d{3}[ -]\d{3}) (?:is|ist|est|es|é|è|—|-|это)(?: [^\W\d]+){1,5} $"
)
_LETTERED_CODE = re.compile(r"(?: is)?(?: now)?\s?[:=]?\s(?=[A-Z]*\d)(?=\d*[A-Z])([A-Z0-9]{5,8})(?![\w-])")
_BOOKED = re.compile(r"(?i)confirm|best[aä]|book|flight|hotel")
_AMOUNT = re.compile(rf"\s?{any_of('amounts')}")
_NO_CODE_BETWEEN = word_set("no code between")
_NUMBER_LEADS = word_set("number leads")
_PIN_NOUNS = ("pin", "pins", "combination", "combo", "kombination")  # with other uses: the number right after it
_POSTAL = ("pin code", "pincode", "pin-code")  # in India, also of a place
_OWN = re.compile(r"(?i)card|bank|phone|sim\b|door|unlock|\bapp\b|my |mein|mon |mi |alarm|safe|atm")
_DOES = re.compile(r"(?i)\b(?:i|we|you|to|they) $")


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

# Keys.
_NAMED = re.compile(r"-{0,2}(?:[A-Za-z_][\w.-]{0,40}=)?([A-Za-z_][\w.-]{0,40})=(?=[^=]{8})")
_TOKEN_LETTERS = re.compile(r"[A-Za-z0-9_\-./+=~:%$!@#^&*|]{6,}")
_COOKIE = re.compile(r"[:=;\s\"']{1,6}[\w.-]{1,60}=([^;\s\"',]{1,4000})")


@dataclass(slots=True)
class _Word:
    """A word of the text that announces a secret: what it means, of which kind, and where it stands."""

    text: str
    kind: str
    start: int
    end: int
    limit: int  # what is after it is not looked at


class _Value:
    """A piece of the text that may be the secret: without what encloses it, and what is known of it."""

    __slots__ = ("end", "in_quotes", "last", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.in_quotes = end - start > 2 and text[start] in "\"'`“«„「" and text[end - 1] in "\"'`”»“」"
        if self.in_quotes:
            start, end = start + 1, end - 1
        else:
            piece = text[start:end]
            start += len(piece) - len(piece.lstrip("\"'`“«„「(*"))
            end = start + len(text[start:end].rstrip(".,;:?)]}\"'`”»*。，、؟"))
        self.text = text[start:end]
        self.start, self.end = start, end
        self.last = not text[end : end + 40].lstrip("\"'`”»*)! \t") or text[end : end + 3].lstrip("\"'`”»*) ")[:1] in (
            ".",
            ",",
            ";",
            "\n",
            "?",
            "!",
            "。",
            "，",
            "",
        )

    def cut_before(self, length: int) -> None:
        """Leave out the first characters."""
        self.text = self.text[length:]
        self.start += length

    def mark(self, kind: str) -> SecretMark:
        return SecretMark(kind, self.start, self.end)


def announced_secrets(text: str, small: str, cover: bytearray) -> Iterator[SecretMark]:
    """What the words around it say is a secret. What `cover` marks is no word."""
    yield from _given_to_commands(text)
    if _FOUR_FIGURES.search(text):
        yield from _opening_numbers(small)
    # The longest of those that overlap.
    announcing = (_ASCII_ANNOUNCING if small.isascii() else _ANNOUNCING).finditer(small)
    places = [(match.start(), match[0]) for match in islice(announcing, _MOST + 1)]
    for at, (start, name) in enumerate(places[:_MOST]):
        end = start + len(name)
        meaning = None if cover[start] else _meaning(text, small, name, start, end)
        if meaning is None:
            continue
        is_crowded = _MANY < at < len(places) - 1
        limit = min(end + _WINDOW, places[at + 1][0]) if is_crowded else end + _WINDOW
        word = _Word(*meaning, start, end, limit)
        for mark in _secrets_after(text, word):
            if mark.end >= end + _WINDOW - 1 and (rest := _TO_SPACE.match(text, mark.end)):
                mark = SecretMark(mark.kind, mark.start, rest.end())
            yield mark
        if word.kind == "password" and at <= _MANY:
            yield from _passwords_before(text, start)


def _meaning(text: str, small: str, name: str, start: int, end: int) -> tuple[str, str] | None:
    """What a word means and of which kind that is, if it is one by itself or a part of a name; "key" and "code" are
    told apart by the word before."""
    if name not in _INSIDE_OTHERS and not (_begins(text, start) and _ends(text, end)):
        return None
    kind = _KINDS[name]
    if _WRONG.search(text, max(0, start - 10), start):
        return None
    is_loose = name in _LOOSE_PASSWORDS and _WIRELESS.search(small, max(0, start - 40), start)
    if is_loose or (kind in ("key", "weak") and _WIRELESS.search(small, max(0, start - 24), end + 24)):
        return "wifi", "password"
    if kind == "code":
        return _meaning_of_code(small, name, start, end)
    if name in ("key", "keys"):
        last = (_BEFORE.findall(small, max(0, start - 24), start) or [""])[-1]
        if last in _OTHER_KEYS:
            return None
        if last in _SECRET_KEYS or last.endswith(("api", "access", "secret")):
            return "api key", "key"
    return name, kind


def _meaning_of_code(small: str, name: str, start: int, end: int) -> tuple[str, str] | None:
    """Which code is meant: what stands next to the word says so, before it or after it in the same sentence."""
    before = _SENTENCE_END.split(small[max(0, start - _AROUND) : start])[-1]
    after = _SENTENCE_END.split(small[end : end + _AROUND])[0]
    if _OTHER_CODE.search(before[-16:]) or _OTHER_CODE.search(after[:16]):
        return None
    if _WIRELESS.search(before[-24:]) or _WIRELESS.search(after[:24]):
        return "wifi", "password"
    if not _FIGURE.search(small, max(0, start - _NUMBER_WINDOW), end + _WINDOW):
        return None
    if _SAFETY.search(before[-12:]) or _SAFETY.match(after):
        return "security code", "card"
    if _PROOF.search(before) or _PROOF.search(after) or (_YOURS.search(before) and _IS_NUMBER.match(after)):
        return "backup codes" if _BACKUP.search(before + after) else name, "proof"
    if _PIN_PLACE.search(before) or _PIN_PLACE_AFTER.search(after):
        return name, "pin"
    return None


def _begins(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return not before.isalnum() or (before.islower() and text[start].isupper())


def _ends(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if after.isdigit():
        return not text[end + 1 : end + 2].isalnum()
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())


def _secrets_after(text: str, word: _Word) -> Iterator[SecretMark]:
    if word.kind in _NUMBERS:
        return _codes(text, word)
    if word.kind == "login":
        return _pairs(text, word)
    if word.kind == "password":
        return _passwords(text, word)
    return _cookies(text, word.end) if word.text == "cookie" else _keys(text, word)


# -- what may be the secret


def _rest_of_name(text: str, word: _Word) -> int:
    """Where the name ends that a word is part of; -1 if the name tells of something else."""
    rest = _NAME_REST.match(text, word.end)
    name = rest[0] if rest else ""
    if name in ("", "-", "_") or name.startswith("--"):
        return word.end
    if not name.isascii():
        return word.end + len(name)
    small = name.lower().strip("_-")
    is_other = small not in ("s", "es", "en") and (small.endswith(_NAME_ENDS) or small.startswith(_NAME_ENDS))
    return -1 if is_other or _FIGURE.search(name) else word.end + len(name)


def _tokens_after(text: str, word: _Word, at: int) -> Iterator[re.Match[str]]:
    return (_ASCII_TOKEN if _UNSPACED.search(word.text) else _TOKEN).finditer(text, at, word.limit)


def _values(text: str, word: _Word) -> Iterator[tuple[_Value, str, int]]:
    """What may be the secret after a word: with how it is linked (":" a sign, "is" a word after which a plain word may
    be the secret, "est" another, "to" one with other uses, "" not), and after how many other words."""
    at, link = _first_link(text, word)
    if at < 0:
        return
    count = 0
    for token in _tokens_after(text, word, at):
        if "\n" in text[at : token.start()] and not link:
            return
        at = token.end()
        raw = token[0]
        bare = raw.strip("\"'`*").lower()
        if (bare in _MODALS and text.startswith(" be ", at)) or (link and bare in _STILL and bare not in _LINKS):
            continue
        if new_link := _link_of(bare):
            link = new_link
            continue
        if (link or not raw.isalpha()) and raw not in ("?", "!", "...", "…", ","):
            yield _Value(text, token.start(), at), link, count
        if link == ":" or count >= _FILLERS or _ends_there(text, raw, bare, link, at):
            return
        link = ":" if raw[-1] in ":=：" else ""
        count += 1


def _first_link(text: str, word: _Word) -> tuple[int, str]:
    """Where the values after a word begin, and what links them to it; -1 if none can follow."""
    at = _rest_of_name(text, word)
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
    is_option = text[max(0, word.start - 12) : word.start].rpartition(" ")[2].startswith("--")
    return at, ":" if is_option else ""


def _link_of(bare: str) -> str:
    if bare in _LINKS or (bare and not bare.rstrip(":=")):
        return "is" if bare in _PLAIN_LINKS else "est" if bare.isalpha() else ":"
    return "to" if bare in _LOOSE_LINKS else ""


def _ends_there(text: str, raw: str, bare: str, link: str, at: int) -> bool:
    """Whether after this word no value belongs to the one that announced it."""
    if bare.strip(".,;:!?()") in _NO_SECRET or (raw[-1] == "," and not link):
        return True
    return raw[-1] in ".!?;" and not text[at : at + 5].lower().startswith((" it's", " it’s", " it i"))


def _cut(text: str, value: _Value, word: _Word) -> None:
    """Ends a value that stands after a sign where a list, a line of settings or an address goes on."""
    cut = _CODE_CUT.search(value.text)
    end = cut.start() if cut and cut.start() else len(value.text)
    before = text[max(0, word.start - 30) : word.start]
    if "?" in before.rpartition(" ")[2] or before.endswith("&"):
        end = min(end, (value.text + "&").find("&"))
    value.text = value.text[:end]
    value.end = value.start + end


def _is_reference(value: _Value) -> bool:
    """Whether a value says where the secret is kept, as programs and templates do."""
    if value.in_quotes and len(value.text) >= 8 and is_mixed(value.text) and not _TEMPLATE.search(value.text):
        return False
    if not value.text or value.text[0] in "[<{>" or _VARIABLE.fullmatch(value.text):
        return True
    if value.in_quotes:
        return False
    is_path = _REFERENCE.match(value.text) and not _FIGURE.search(value.text[:60])
    return bool(_CODE.match(value.text) or is_path)


# -- passwords


def _passwords(text: str, word: _Word) -> Iterator[SecretMark]:
    if "phrase" in word.text:
        yield from _passphrases(text, word)
    number = _WIRELESS_KEY.search(text, word.end, word.end + _NUMBER_WINDOW) if word.text == "wifi" else None
    if number:
        yield SecretMark("password", *number.span())
        return
    for value, link, count in _values(text, word):
        if link == ":" and not value.in_quotes:
            _cut(text, value, word)
        if _is_reference(value):
            return
        if _is_password(value, link, count, text, word.text) and not is_placeholder(value.text):
            yield value.mark("password")
            return
        small = value.text.lower()
        if link and small not in _STILL and not (link == "is" and count == 0 and small in ("for", "of")):
            break
    yield from _passwords_later(text, word)


def _passphrases(text: str, word: _Word) -> Iterator[SecretMark]:
    link = _PHRASE_LINK.match(text, word.end)
    phrase = _PASSPHRASE.match(text, link.end(), link.end() + 120) if link else None
    if phrase and not (_TELLING | _NO_SECRET).intersection(re.split("[ -]", phrase[1])):
        yield SecretMark("password", *phrase.span(1))


def _passwords_later(text: str, word: _Word) -> Iterator[SecretMark]:
    """ "I had to reset my password again. It's now hunter2!": in the next clause, what a word points to and what looks
    like a password. After the end of a sentence only a word that means the password points to it ("it", "new one")."""
    is_code = text[max(0, word.start - 1) : word.start] in _CODE_BEFORE or _IN_CODE.match(text, word.end)
    if is_code or _rest_of_name(text, word) < 0:
        return
    line = _NEXT_LINE.match(text, word.end, word.limit)
    if line and is_strong(line[1]) and _FIGURE.search(line[1]) and (not line[1].islower() or is_very_strong(line[1])):
        yield SecretMark("password", *line.span(1))
        return
    for token in _tokens_after(text, word, word.end):
        value = _Value(text, *token.span())
        if not is_strong(value.text) and not _LONG_NUMBER.fullmatch(value.text):
            continue
        between = text[word.end : token.start()]
        if _RULES.search(between):
            return
        if _is_pointed_to(value.text, between) and not _is_reference(value):
            yield value.mark("password")
            return


def _is_pointed_to(value: str, between: str) -> bool:
    near = between[-24:]
    if not is_strong(value):
        return near.rstrip()[-1:] in (":", "：")
    has_pointer = _POINTER.search(near) is not None
    if _SENTENCE_END.search(between):
        return has_pointer and _MEANS_IT.search(near) is not None
    return has_pointer or is_very_strong(value)


def _is_password(value: _Value, link: str, count: int, text: str, announcing: str) -> bool:
    word = value.text
    small = word.lower()
    if not 3 <= len(word) <= 200 or _is_said_of_passwords(value, link):
        return False
    if " " in word:
        return _is_quoted_phrase(value, link)
    mixed = is_mixed(word)
    if is_thing(word) and not _is_named_anyway(small, link, count, mixed):
        return False
    if link == ":" and (value.in_quotes or "_" in word or word.isalpha()) and _MADE_UP.fullmatch(small[:60]):
        return False
    if not link:
        return _is_unlinked_password(value, count, mixed, announcing)
    if mixed:
        return True
    if small.isdigit():
        return len(word) >= 4 and (link != "to" or (value.last and not _YEAR.fullmatch(word)))
    is_plural = "words " in text[max(0, value.start - 12) : value.start].lower()
    return not is_plural and _is_plain_password(value, link)


def _is_said_of_passwords(value: _Value, link: str) -> bool:
    """Whether it is a word of what people and programs say about passwords: a property, a type, a name of its own."""
    word = value.text
    small = word.lower()
    if not value.in_quotes and ("[" in word or (link == ":" and _TYPE_NAME.fullmatch(word))):
        return True
    if "_" in word and word.isupper() and not _FIGURE.search(word):  # PUT_IT_HERE, in whatever language
        return True
    is_telling = re.split(r"[|:]", small.strip(".!?,"))[0] in _TELLING
    return is_telling or small in _NO_SECRET or small in _LINKS or small in KNOWN_THINGS


def _is_unlinked_password(value: _Value, count: int, mixed: bool, announcing: str) -> bool:
    word = value.text
    if announcing in _LOOSE_PASSWORDS:
        return count == 0 and (is_very_strong(word) or (is_strong(word) and len(word) >= 9))
    if word.strip("#*").isdigit():
        return 4 <= len(word) <= 63 and count == 0 and value.last and not _YEAR.fullmatch(word)
    return mixed and len(word) >= 5 and (count == 0 or (count <= 3 and is_strong(word) and value.last))


def _is_quoted_phrase(value: _Value, link: str) -> bool:
    """Several words are one only in quotation marks, and if they do not tell about it."""
    parts = value.text.lower().split()
    is_linked = value.in_quotes and link in (":", "is", "est") and len(value.text) >= 8
    return is_linked and parts[0] not in _NO_SECRET and 2 * sum(part in _TELLING for part in parts) < len(parts)


def _is_named_anyway(small: str, link: str, count: int, mixed: bool) -> bool:
    """What looks like a thing, but stands where only the password can."""
    if not mixed or "@" in small[1:] or re.match(r"https?:|www\.|/|\d+-[a-z]|ssh-", small):
        return False
    return bool(link) or (count == 0 and "." not in small and small[0].isalpha() and len(small) >= 8)


def _is_plain_password(value: _Value, link: str) -> bool:
    """A plain word is one only where nothing follows, and if it does not tell about the password."""
    word = value.text
    if link == "to" or (link == "est" and not value.in_quotes):
        return False
    if not value.last or len(word) < 4 or word.endswith(words("telling ends")) or "(" in word:
        return False
    if not word.isascii() and link != ":":
        return False
    is_word = word.strip("!-_.").replace("-", "").replace("_", "").isalpha()
    return is_word and (value.in_quotes or word.rstrip("!").isalpha() or link == ":")


def _passwords_before(text: str, start: int) -> Iterator[SecretMark]:
    """ "hunter2 is the password", "type in hunter2 when it asks for the password": what stands before the word."""
    for match in _TOLD_BEFORE.finditer(text, max(0, start - 90), start):
        value = _Value(text, *match.span(2))
        is_sure = match[1].lower() not in _LOOSE_VERBS or is_very_strong(value.text) or _MEANT.match(text, match.end())
        if is_sure and len(value.text) >= 8 and is_strong(value.text) and _FIGURE.search(value.text):
            yield value.mark("password")
            return
    tokens = list(_TOKEN.finditer(text, max(0, start - 80), start))[-5:]
    at = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at][0].lower() in _BACK), 0)
    if not at or tokens[at - 1].start() == max(0, start - 80) > 0:
        return
    value = _Value(text, *tokens[at - 1].span())
    if len(value.text) >= 6 and value.text.lower() not in KNOWN_THINGS and _is_mixed_value(value):
        yield value.mark("password")


def _is_mixed_value(value: _Value) -> bool:
    """Whether a value is mixed as a password is, and neither a thing nor a stand-in."""
    return not (not is_mixed(value.text) or is_thing(value.text) or is_placeholder(value.text) or _is_reference(value))


# -- logins and commands


def _pairs(text: str, word: _Word) -> Iterator[SecretMark]:
    """A name and its password side by side: "login: anna / hunter2", "log in with anna and hunter2", or on lines of
    their own after "credentials"."""
    match = _PAIR.match(text, word.end, word.limit) or _WITH_PAIR.match(text, word.end, word.limit)
    if match is None and word.text.startswith("log"):
        change = _LOGIN_IS.match(text, word.end, word.limit)
        match = change if change and is_strong(change[1].rstrip(".,;!")) else None
    if match is None and word.text in _CREDENTIALS:
        match = _SIGNED_TOKEN.search(text, word.end, word.limit)
    value = _Value(text, *match.span(1)) if match else None
    if value is not None and len(value.text) >= 5 and _is_mixed_value(value):
        yield value.mark("password")


def _given_to_commands(text: str) -> Iterator[SecretMark]:
    """Passwords that commands are given, and those of accounts that every system has."""
    for pattern in [pattern for needle, pattern in _COMMANDS if needle in text]:
        for match in pattern.finditer(text):
            if not match[1].isdigit() and not is_stand_in(match[1]):
                yield SecretMark("password", *match.span(1))
    for match in _MAIL_PAIR.finditer(text) if "@" in text else ():
        if is_strong(match[1].rstrip(".,;!")) and not is_stand_in(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))
    for match in _ACCOUNT_PAIR.finditer(text) if any(name in text for name in _ACCOUNTS) else ():
        if is_very_strong(match[1]) and not is_stand_in(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))


# -- codes


def _opening_numbers(small: str) -> Iterator[SecretMark]:
    """A number by which something is opened: "unlock my phone with 280593", "type 4711 at the gate", "gate: 4711"."""
    yield from (SecretMark("one-time code", *match.span(1)) for match in _USE_CODE.finditer(small))
    if any(verb in small for verb in _OPENING):
        for match in _OPENED.finditer(small):
            if _OPENED_THING.search(small, max(0, match.start() - 24), match.start(1)):
                yield SecretMark("PIN", *match.span(1))
    if any(thing in small for thing in _KEYPADS):
        for pattern in (_TYPED, _THING_NUMBER):
            yield from (SecretMark("PIN", *match.span(1)) for match in pattern.finditer(small))


def _codes(text: str, word: _Word) -> Iterator[SecretMark]:
    """A PIN, a one-time code or the code of a card: the first number near the word that no other word explains."""
    is_proof = word.kind == "proof"
    if is_proof and _LISTED.search(word.text):
        yield from _listed_codes(text, word.end)
        return
    pattern, kind = _NUMBERS[word.kind]
    number = pattern.search(text, word.end, word.end + _NUMBER_WINDOW)
    earlier = _NUMBER_BEFORE.search(text, max(0, word.start - 60), word.start) if is_proof else None
    if earlier:
        yield SecretMark(kind, *earlier.span(1))
    elif number and _belongs(text, word, number):
        yield SecretMark(kind, *number.span(1))
    elif word.kind == "pin":
        yield from _mixed_pins(text, word)
    elif is_proof and not _BOOKED.search(text, max(0, word.start - 30), word.start):
        code = _LETTERED_CODE.match(text, word.end)
        yield from [SecretMark(kind, *code.span(1))] if code else []


def _belongs(text: str, word: _Word, number: re.Match[str]) -> bool:
    """Whether a number after a word is its code: nothing between them says that it is something else."""
    between = text[word.end : number.start()]
    names = _BEFORE.findall(between.lower())
    last = names[-1] if names else ""
    if _SENTENCE_END.search(between) or _AMOUNT.match(text, number.end()) or _RULES.search(between):
        return False
    if last in _NUMBER_LEADS or _NO_CODE_BETWEEN.intersection(names) or _rest_of_name(text, word) < 0:
        return False
    is_changed = last in _LOOSE_LINKS and not _STILL.isdisjoint(names)
    ends_in_link = between.rstrip()[-1:] in _LINK_SIGNS or last in _LINKS or last in _STILL or last == "s"  # "it's"
    is_linked = is_changed or ends_in_link
    is_year = _YEAR.fullmatch(number[1]) is not None
    if word.kind == "pin":
        return _is_pin(text, word, number, names, is_linked=is_linked, is_year=is_year)
    return is_linked or not is_year


def _is_pin(text: str, word: _Word, number: re.Match[str], names: list[str], *, is_linked: bool, is_year: bool) -> bool:
    is_postal = word.text in _POSTAL and len(number[1]) == 6
    if is_postal and not _OWN.search(text[max(0, word.start - 40) : word.end]):
        return False
    if is_linked:
        return True
    if is_year and (word.text not in ("pin", "pins") or names):
        return False
    if word.text not in _PIN_NOUNS:
        return len(names) <= _FILLERS
    if len(names) <= 3 and _PIN_PLACE.search(text, word.end, number.start()):
        return True
    return not names and not _DOES.search(text, max(0, word.start - 6), word.start)


def _mixed_pins(text: str, word: _Word) -> Iterator[SecretMark]:
    for value, link, count in _values(text, word):
        if link and is_mixed(value.text) and _FIGURE.search(value.text) and not is_thing(value.text):
            if len(value.text) >= 4:
                yield value.mark("PIN")
            return
        if link == ":" or count > 4:
            return


def _listed_codes(text: str, at: int) -> Iterator[SecretMark]:
    leads = [lead.end() for pattern in _CODE_LEADS if (lead := pattern.match(text, at))]
    at = next((at for at in leads if _CODES.match(text, at)), -1)
    for _ in range(24 if at >= 0 else 0):
        code = _CODES.match(text, at)
        if code is None or not (_FIGURE.search(code[1]) or _DASHED_WORDS.fullmatch(code[1])):
            return
        yield SecretMark("recovery code", *code.span(1))
        at = code.end()


# -- keys


def _keys(text: str, word: _Word) -> Iterator[SecretMark]:
    for value, link, count in _values(text, word):
        if not value.in_quotes:
            _cut(text, value, word)
        if value.text.startswith("base64:"):  # which says how it is written
            value.cut_before(len("base64:"))
        if _is_signed_key(value, link):
            yield value.mark("token")
            return
        named = _NAMED.match(value.text)
        if named:  # of `name=value` the value alone; of an id nothing
            is_id = named[1].lower().endswith("id") and "sess" not in named[1].lower()
            value.cut_before(len(value.text) if is_id else named.end())
        if _is_reference(value):
            return
        if _is_token(value, word, link, count) and not is_placeholder(value.text):
            yield value.mark("API key" if "key" in word.text or "api" in word.text else "token")
            return


def _is_signed_key(value: _Value, link: str) -> bool:
    """What frameworks make up: a long value in quotation marks with signs of any kind among letters and figures."""
    key = value.text
    if not value.in_quotes or link != ":" or len(key) < 24 or len(set(key)) < 12:
        return False
    signs = set("!@#$%^&*()-_=+").intersection(key)
    return len(signs) >= 4 and bool(_FIGURE.search(key)) and not _TEMPLATE.search(key) and not is_placeholder(key)


def _cookies(text: str, at: int) -> Iterator[SecretMark]:
    for _ in range(20):
        cookie = _COOKIE.match(text, at)
        if cookie is None:
            return
        if len(cookie[1]) >= 16 and not is_placeholder(cookie[1]) and is_unguessable(cookie[1], hexes=True):
            yield SecretMark("token", *cookie.span(1))
        at = cookie.end()


def _is_token(value: _Value, word: _Word, link: str, count: int) -> bool:
    token = value.text
    if not _TOKEN_LETTERS.fullmatch(token) or not _FIGURE.search(token) or not any(map(str.isalpha, token)):
        return False
    if (is_thing(token) and token[0] != "~") or is_public(token) or token.lower() in KNOWN_THINGS:
        return False
    if word.kind == "weak":
        return bool(link) and len(token) >= 16 and is_unguessable(token, hexes=link == ":" and count == 0)
    if not link and (count > 5 or len(token) < 16):
        return False
    if link and "secret" in word.text and len(token) >= 8 and is_mixed(token):
        return not _MADE_UP.fullmatch(token[:60].lower())
    return len(token) >= 10 and is_unguessable(token, hexes=True)
