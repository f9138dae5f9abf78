"""Secrets that are known by the words before them: "my password is hunter2", `DB_PASSWORD=…`, "PIN: 4711".

After such a word a few others may come ("for the router is"), then the secret: what has letters and figures mixed is
taken at once, a plain word or a plain number only right after a link ("is", ":", "="), and a word that tells about the
password ("is too short") is none. At most so many characters after each word are looked at, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.model.secrets import SecretMark
from recollect.rules.secret_formats import is_placeholder, is_random
from recollect.rules.secret_words import (
    CARD_CODE_WORDS,
    CODE_WORDS,
    KEY_WORDS,
    KNOWN_THINGS,
    LINKS,
    NAME_ENDS,
    NO_SECRET,
    PASSWORD_PARTS,
    PASSWORD_WORDS,
    PIN_WORDS,
    STILL,
    TELLING,
    TELLING_ENDS,
)

_WINDOW = 240  # characters after a word that are looked at
_FILLERS = 6  # words that may stand before a link
_STARTS = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"
_ENDS = r"(?![^\W\d_])"


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(set(words), key=len, reverse=True))


def _split(patterns: tuple[str, ...], ascii_only: bool) -> str:
    return "|".join(pattern for pattern in patterns if pattern.isascii() == ascii_only)


WORD_BEFORE = re.compile(
    rf"{_STARTS}(?P<code>{_any((*CODE_WORDS, *CARD_CODE_WORDS))}){_ENDS}"
    rf"|{_STARTS}(?P<pin>{_any(PIN_WORDS)}){_ENDS}"
    rf"|(?P<password>{_any(PASSWORD_PARTS)}|{_STARTS}(?:{_any(PASSWORD_WORDS)}){_ENDS})"
    rf"|(?P<key>{_STARTS}(?:{_split(KEY_WORDS, True)})(?-i:(?![a-z]))|{_split(KEY_WORDS, False)}|{_STARTS}(?P<bare>key){_ENDS})",
    re.IGNORECASE,
)
_NAME_REST = re.compile(r"[A-Za-z_-][\w-]{0,30}|[^\W\x00-\x7f]{0,12}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SIGN_LINK = re.compile(r"[\"'`*_)\]]{0,4}[ \t]{0,3}(?:=>|->|:=|=(?!=)|:(?!:)|：|＝|→)[ \t*_]{0,8}(?:\n[ \t]{0,8})?")
_VALUE_LINK = re.compile(r"[\"'][\s,]{1,3}value[\"']?\s{0,2}[=:]\s{0,2}(?=[\"'])")
_TOKEN = re.compile(r"\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“\n]{1,120}“|\S+")
_ASCII_TOKEN = re.compile(r"\"[^\"\n]{1,120}\"|「[^」\n]{1,60}」|“[^”\n]{1,120}”|[!-~]+|[^\s!-~]+")
_OPENERS = "\"'`“«„「(*<"
_CODE_CUT = re.compile(r"[\"'`<>;,)}\]\\]")
_CODES = re.compile(
    r"(?:[\s,;:.•*|/-]|\b(?:and|or|und|et|y|e|\d{1,2}[.)])(?=\s)){0,8}(?<![A-Za-z0-9])"
    r"([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,3}|(?=[A-Za-z]*\d)[A-Za-z0-9]{6,12}|\d{4} \d{4})(?![A-Za-z0-9])"
)
_PASSPHRASE = re.compile(r"[\"'“]?([a-z]+(?:[ -][a-z]+){2,9})[\"'”]?(?=[.,;!?]?\s*(?:\n|$))")
_DIGITS = re.compile(r"#?\d{4,10}[#*]?|#\d{3,8}|\d{2,4}([ -])\d{2,4}(?:\1\d{2,4})?")
_BACK = re.compile(
    r"(\S{6,60})[\"'”»]?,?\s(?:is|as|was|are|ist|als|est|es|é|è|это|—|-|is also|für das|for the)\s(?:\w{1,12}\s){0,3}$",
    re.IGNORECASE,
)
_PAIR_WORD = re.compile(
    r"(?<![^\W_])(?:log-?in|logon|log in|sign in|signin|credentials?|creds|user(?:name)?|wi-?fi|wlan|account|zugang(?:sdaten)?|"
    r"anmeldung|identifiants?|usuario|acceso|accesso|credenziali|utente|логин|вход|giriş|kullanıcı|账号|帳號|ログイン|계정)",
    re.IGNORECASE,
)
_PAIR = re.compile(r"[^\n/|]{0,40}?(?<=[\s:=])[^\s/|:]{2,40}(?:\s[/|]\s|\s?:\s?(?=\S*\d))(\S{4,60})")
_CURL = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?([^\s:\"'@/]{1,60}):([^\s\"']{2,120})")
_DASH_P = re.compile(r"\b(?:(?:mysql\w{0,10}|mariadb|mongo\w{0,8})\b[^\n]{0,80}?\s-p|sshpass -p ?)([\"']?)([^\s\"'-][^\s\"']{2,80})\1")
_THING = re.compile(
    r"(?:https?://|www\.|[./~]+\w|@|#\w+$)|[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|[\w-]+\.(?:[a-z]{2,4}|[a-z]{2}\d)$|v?\d+(?:\.\d+)+\w*$|"
    r"\d+(?:st|nd|rd|th|s|x|k|m|h|kb|mb|gb|tb|km|kg|g|ml|cm|mm|px|am|pm|min|hrs?|ms|bits?)$|\d+-[a-z]+(?:-[a-z]+)*$|"
    r"[a-z]+-\d{1,2}$|\d{1,2}[:/.-]\d{1,2}(?:[:/.-]\d{2,4})?$|[$€£]\d|\d+%",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\$?\{?\{?\s?[A-Za-z_][\w]*(?:(?:\.|->|::)[A-Za-z_]\w*)+|\$\{?[A-Za-z_]|\$\(|%[A-Za-z_(]|\{|<|\[|\(|\*{2,}|[\w.]+[(\[]"
)
_MADE_UP = ("password", "passwd", "secret", "token", "key", "test", "user", "foo", "demo", "my_", "my-", "some", "abc123", "pass")


class _Value:
    """A piece of the text that may be the secret: without what encloses it, and what is known of it."""

    __slots__ = ("end", "last", "quoted", "start", "text")

    def __init__(self, text: str, start: int, end: int, limit: int) -> None:
        self.quoted = end - start > 2 and text[start] in "\"'`“«„「" and text[end - 1] in "\"'`”»“」"
        if self.quoted:
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


def phrases(text: str, taken: bytearray) -> Iterator[SecretMark]:
    """What the words before it say is a secret. What is `taken` is no word and no secret."""
    for match in WORD_BEFORE.finditer(text):
        if taken[match.start()]:
            continue
        for mark in _after(text, match):
            taken[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
            yield mark
        if match["password"] and not taken[match.start()]:
            yield from _before(text, match.start())
    yield from _pairs(text)


def _after(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    if match["code"]:
        return _codes(text, match)
    if match["pin"]:
        return _pins(text, match)
    if match["password"]:
        return _passwords(text, match)
    return _keys(text, match)


def _rest_of_name(text: str, match: re.Match[str]) -> int:
    """Where the name ends that a word is part of; -1 if the name tells of something else."""
    rest = _NAME_REST.match(text, match.end())
    name = rest[0] if rest else ""
    if not name or name in ("-", "_", "--") or name.startswith("--"):
        return match.end()
    if any(map(str.isdigit, name)) and name.isascii():
        return -1
    lowered = name.lower().strip("_-")
    if lowered not in ("s", "es", "en") and lowered.isascii() and any(lowered.endswith(end) or lowered.startswith(end) for end in NAME_ENDS):
        return -1
    return match.end() + len(name)


def _values(text: str, match: re.Match[str]) -> Iterator[tuple[_Value, str, int]]:
    """What may be the secret after a word: with how it is linked (":" a sign, "is" a word, "" not), and after how many
    other words."""
    at = _rest_of_name(text, match)
    if at < 0:
        return
    limit = match.end() + _WINDOW
    option = text[match.start() - 2 : match.start()] == "--" or text[max(0, match.start() - 12) : match.start()].rpartition(" ")[2].startswith("--")
    link = ":" if option else ""
    value_link = _VALUE_LINK.match(text, at)
    sign = value_link or _SIGN_LINK.match(text, at)
    if sign:
        at, link = sign.end(), ":"
    elif text[at : at + 2] in ("==", "!=") or text[at : at + 1] in "([.":
        if not text[at : at + 1] or text[at : at + 2] != "" and text[at] != ".":
            pass
        if text[at : at + 1] in ("[", ".") or text[at : at + 2] in ("==", "!="):
            return
    pattern = _ASCII_TOKEN if _UNSPACED.search(match[0]) else _TOKEN
    count = 0
    for token in pattern.finditer(text, at, limit):
        gap = text[at : token.start()]
        if "\n" in gap and not link:
            return
        raw = token[0]
        bare = raw.strip("\"'`*").lower()
        signs = bare.rstrip(":=")
        if bare in LINKS or (bare and not signs):
            link = ":" if not bare.isalpha() else "is"
            at = token.end()
            continue
        if link and bare in STILL:
            at = token.end()
            continue
        end = token.end()
        if end == limit:
            more = re.compile(r"\S*").match(text, end)
            end = more.end() if more else end
        yield _Value(text, token.start(), end, limit), link, count
        lowered = bare.strip(".,;:!?()")
        if lowered in NO_SECRET or raw[-1] in ".!?;" or (raw[-1] == "," and not link) or link == ":" or count >= _FILLERS:
            return
        link = ":" if raw[-1] in ":=" or raw.endswith("：") else ""
        count += 1
        at = token.end()


def _passwords(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    if "phrase" in match[0].lower():
        yield from _passphrases(text, match)
    for value, link, count in _values(text, match):
        if link == ":" and not value.quoted:
            _cut(text, value, match)
        if _is_reference(value):
            return
        if _is_password(value, link, count, text):
            yield SecretMark("password", value.start, value.end)
            return
        if link and value.text.lower() not in STILL and not (link == "is" and count == 0 and value.text.lower() in ("for", "of")):
            return


def _passphrases(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    link = re.compile(r"\s*(?:is|was|:|=|ist|lautet|est|es)\s+", re.IGNORECASE).match(text, match.end())
    words = _PASSPHRASE.match(text, link.end(), link.end() + 120) if link else None
    if words and not any(word in TELLING or word in NO_SECRET for word in re.split("[ -]", words[1])):
        yield SecretMark("password", *words.span(1))


def _cut(text: str, value: _Value, match: re.Match[str]) -> None:
    """Ends a value that stands after a sign where a list, a line of settings or an address goes on."""
    cut = _CODE_CUT.search(value.text)
    end = cut.start() if cut and cut.start() else len(value.text)
    if text[max(0, match.start() - 30) : match.start()].rpartition(" ")[2].find("?") >= 0 or "&" in text[max(0, match.start() - 1) : match.start()]:
        end = min(end, (value.text + "&").find("&"))
    value.text = value.text[:end]
    value.end = value.start + end


def _is_reference(value: _Value) -> bool:
    if not value.text or value.text[0] in "[<{":
        return True
    return not value.quoted and bool(_REFERENCE.match(value.text)) and not re.search(r"\d", value.text[:12])


def _is_password(value: _Value, link: str, count: int, text: str) -> bool:
    word = value.text
    lowered = word.lower()
    if not 3 <= len(word) <= 200 or is_placeholder(word) or lowered in KNOWN_THINGS or "[" in word:
        return False
    if lowered.strip(".!?,") in TELLING or lowered in NO_SECRET or lowered in LINKS:
        return False
    if " " in word:
        return value.quoted and bool(link) and len(word) >= 8 and not any(part in TELLING for part in lowered.split())
    mixed = _is_mixed(word)
    if _THING.match(word) and not (link and mixed and not re.match(r"https?:|www\.|/|\d+-[a-z]", lowered) and "@" not in word[1:]):
        return False
    if link == ":" and (value.quoted or "_" in word) and any(part in lowered for part in _MADE_UP):
        return False
    if not link:
        return mixed and len(word) >= 5 and (count == 0 or (count <= 3 and len(word) >= 6 and value.last))
    if mixed:
        return True
    if lowered.isdigit():
        return len(word) >= 4
    return _is_plain_password(value, link)


def _is_plain_password(value: _Value, link: str) -> bool:
    """A plain word is one only where nothing follows, and if it does not tell about the password."""
    word = value.text
    if not value.last or len(word) < 4 or word.endswith(TELLING_ENDS) or "(" in word:
        return False
    if not word.rstrip("!").isascii() and link != ":":
        return False
    return word.strip("!-_.").replace("-", "").replace("_", "").isalpha() and (value.quoted or word.rstrip("!").isalpha() or link == ":")


def _is_mixed(word: str) -> bool:
    letters = any(map(str.isalpha, word))
    return letters and (any(map(str.isdigit, word)) or any(char in "!@#$%^&*?+=~" for char in word[:-1]))


def _before(text: str, start: int) -> Iterator[SecretMark]:
    """ "hunter2 is the password": what stands before the word."""
    base = max(0, start - 100)
    match = _BACK.search(text[base:start])
    if match is None:
        return
    value = _Value(text, base + match.start(1), base + match.end(1), start)
    if _is_mixed(value.text) and not _THING.match(value.text) and not is_placeholder(value.text) and not _is_reference(value):
        if value.text.lower() not in KNOWN_THINGS and len(value.text) >= 6:
            yield SecretMark("password", value.start, value.end)


def _pins(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    for value, link, count in _values(text, match):
        digits = _DIGITS.fullmatch(value.text)
        if digits and (link or not count):
            yield SecretMark("PIN", value.start, value.end)
            return
        if digits or (link == ":" and not digits):
            if link and _is_mixed(value.text) and not _THING.match(value.text) and len(value.text) >= 4:
                yield SecretMark("PIN", value.start, value.end)
            return
        if count > 4:
            return


def _codes(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    word = match[0].lower()
    several = word.endswith(("codes", "коды", "secours", "respaldo")) or "backup" in word or "recovery" in word
    if several:
        yield from _listed_codes(text, match.end())
        return
    for value, link, count in _values(text, match):
        if re.fullmatch(r"\d{3,4}", value.text) and word in CARD_CODE_WORDS and (link or not count):
            yield SecretMark("card security code", value.start, value.end)
            return
        if re.fullmatch(r"\d{4,8}|\d{3}-\d{3}|[A-Z]-\d{5,8}", value.text) and word not in ("cid", "csc") and (link or not count):
            yield SecretMark("one-time code", value.start, value.end)
            return
        if link == ":":
            return


def _listed_codes(text: str, at: int) -> Iterator[SecretMark]:
    lead = re.compile(r"[^\d\n:]{0,40}?(?:[:=]|\bare\b|\bis\b|\bsind\b|\bsont\b|\bson\b|(?=\s[A-Za-z0-9-]*\d))\s*").match(text, at)
    if lead is None:
        return
    at = lead.end()
    for _ in range(24):
        code = _CODES.match(text, at)
        if code is None or (code[1].isalpha() and "-" not in code[1]):
            return
        if not re.search(r"\d", code[1]) and not re.fullmatch(r"([a-z]{4,8})-[a-z]{4,8}", code[1]):
            return
        yield SecretMark("recovery code", *code.span(1))
        at = code.end()


def _keys(text: str, match: re.Match[str]) -> Iterator[SecretMark]:
    word = match[0].lower()
    weak = bool(match["bare"]) or word in (
        "auth", "credential", "credentials", "pat", "cookie", "session", "sid", "ключ", "مفتاح", "anahtar", "bearer", "कुंजी",
    )  # fmt: skip
    if match["bare"] and _is_other_key(text, match.start()):
        return
    for value, link, count in _values(text, match):
        if not value.quoted:
            _cut(text, value, match)
        if _is_reference(value) or is_placeholder(value.text):
            return
        if _is_token(value, word, weak, link, count):
            yield SecretMark("API key" if "key" in word or "api" in word else "token", value.start, value.end)
            return


def _is_other_key(text: str, start: int) -> bool:
    """Keys of tables, caches and people's doors: "primary key", "idempotency key"."""
    before = re.findall(r"[a-z]+", text[max(0, start - 24) : start].lower())
    return bool(before) and before[-1] in {
        "primary", "foreign", "partition", "sort", "cache", "public", "idempotency", "issue", "row", "object", "lookup", "hash",
        "unique", "dictionary", "dict", "map", "index", "group", "composite", "natural", "surrogate", "publishable", "site",
    }  # fmt: skip


def _is_token(value: _Value, word: str, weak: bool, link: str, count: int) -> bool:
    token = value.text
    if not re.fullmatch(r"[A-Za-z0-9_\-./+=~:%$!@#^&*|]{6,}", token) or _THING.match(token) or token.lower() in KNOWN_THINGS:
        return False
    if re.match(r"0x[0-9a-fA-F]{40}$|ssh-|AAAA[A-Z]", token) or not re.search(r"\d", token) or not re.search("[A-Za-z]", token):
        return False
    if weak:
        return bool(link) and len(token) >= 16 and _is_unguessable(token, hexes=word in ("cookie", "session", "sid", "auth", "bearer"))
    if not link and (count > 5 or len(token) < 16):
        return False
    if link and "secret" in word and len(token) >= 8 and _is_mixed(token):
        return not any(part in token.lower() for part in _MADE_UP) or is_random(token)
    return len(token) >= 10 and _is_unguessable(token, hexes=True)


def _is_unguessable(token: str, *, hexes: bool) -> bool:
    """Random letters and figures; with `hexes` also those of one case, as UUIDs and hexadecimal numbers are."""
    pieces = [piece for piece in re.split(r"[-_./+=~:%]", token) if len(piece) >= 4]
    if any(len(piece) >= 12 and is_random(piece) for piece in pieces) or is_random(token):
        return True
    if not hexes:
        return False
    if re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", token):
        return True
    if len(pieces) >= 3 and len({len(piece) for piece in pieces}) == 1 and token.isupper():
        return True
    return any(len(piece) >= 10 and _alternates(piece) for piece in pieces)


def _alternates(piece: str) -> bool:
    digits = [char.isdigit() for char in piece]
    return sum(left != right for left, right in zip(digits, digits[1:], strict=False)) >= max(3, len(piece) // 6)


def _pairs(text: str) -> Iterator[SecretMark]:
    """A name and its password with a stroke between, and those of commands."""
    for word in _PAIR_WORD.finditer(text):
        match = _PAIR.match(text, word.end(), word.end() + 140)
        if match and _is_mixed(match[1]):
            value = _Value(text, *match.span(1), match.end())
            if not _THING.match(value.text) and not is_placeholder(value.text) and not _is_reference(value) and len(value.text) >= 5:
                yield SecretMark("password", value.start, value.end)
    if "-u" in text:
        for match in _CURL.finditer(text):
            if match[2].lower() not in ("password", "pass", "pw", "secret") and not match[2].isdigit() and match[2][0] not in "$<{[*":
                if not is_placeholder(match[2]):
                    yield SecretMark("password", *match.span(2))
    for match in _DASH_P.finditer(text):
        if match[2][0] not in "$<{[*" and not is_placeholder(match[2]):
            yield SecretMark("password", *match.span(2))
