"""Finds secrets in a text: by their form, by the words around them, and by how random they are.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order; of two
that overlap the one of the earlier step counts. A placeholder is no secret: a masked text has no more of them. Most
texts are done after a cheap look for what every secret has: figures, a long run without a space, or a word that
announces it. The time grows with the text and no faster. The forms and words are files in the folder `data`:
`secrets.re` and `words.txt`.

Some are known by the words before them: "my password is hunter2", `DB_PASSWORD=…`, "PIN: 4711". After such a word a
few others may come ("for the router is"), then the secret: what has letters and figures mixed is taken at once, a plain
word or a plain number only right after a link ("is", ":", "="), and a word that tells about the password ("is too
short") is none. In the next sentence only what looks like a password is taken, and only if a word points to it ("it's
now …"). Which code the word "code" means is told by what is named next to it. At most so many characters after each
word are looked at, whatever the text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from everword.secrets import SecretMark
from everword.secrets.values import (
    FIGURE,
    PATTERNS,
    WORDS,
    is_camel_case,
    is_jumbled,
    is_mixed,
    is_one_case_random,
    is_path,
    is_placeholder,
    is_public,
    is_stand_in,
    is_strong,
    is_surely_random,
    is_thing,
    is_unguessable,
    is_very_strong,
    is_wordy,
)
from everword.word_lists import lazy_pattern

_WINDOW = 160  # characters after a word that are looked at
_MOST = 15_000  # words that announce a secret: after so many in one text only keys of a known form are found
_MANY = 500  # words that announce a secret: in a text with more of them, each is looked after only up to the next
_NUMBER_WINDOW = 60  # the same of a code
_FILLERS = 6  # words that may stand before a link
_AROUND = 40  # characters before and after a word for "code" that say which

_LISTS = {
    "password_also_inside_a_longer_word": "password",
    "password": "password",
    "password_only_after_a_link": "password",
    "login": "login",
    "pin": "pin",
    "one_time_code": "proof",
    "card_security_code": "card",
    "code_of_any_kind": "code",
    "key": "key",
    "key_only_if_it_is_surely_random": "weak",
}
_KINDS = {word: kind for name, kind in _LISTS.items() for word in WORDS.in_order(name)}
_INSIDE_OTHERS = {*WORDS.password_also_inside_a_longer_word, *(word for word in _KINDS if not word.isascii())}
_NUMBERS = {"card": PATTERNS.card_numbers, "proof": PATTERNS.proof_numbers, "pin": PATTERNS.pin_numbers}
_CODE_KINDS = {"card": "card security code", "proof": "one-time code", "pin": "PIN"}
_LINK_SIGNS = (":", "=", "：", "→", "-", "—", "–", "是", "は", "는", "은", "为")
_MODALS = ("should", "will", "would", "could", "might")
_CLOSERS = ("==", "!=", "[", ".", ">", "]", "}")  # after a word of a page, a style or a program
_CLOSED_QUOTES = tuple(quote + sign for quote in "\"'" for sign in "]})>")
_CODE_BEFORE = ("_", ".", "$", "<", '"', "'", "(", "[")
_ACCOUNTS = ("root", "admin", "guest", "postgres", "sa /", "pi /")
_PIN_NOUNS = ("pin", "pins", "combination", "combo", "kombination")  # with other uses: the number right after it
_POSTAL = ("pin code", "pincode", "pin-code")  # in India, also of a place


def _longest_of(names: Iterable[str]) -> str:
    """A pattern that finds the longest of some words that begins at a place. They are tried letter by letter, so that
    their number hardly matters."""
    rests: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        rests.setdefault(name[:1], []).append(name[1:])
    is_whole = rests.pop("", None) is not None
    branches = "|".join(re.escape(letter) + _longest_of(ends) for letter, ends in rests.items())
    return f"(?:{branches})" + ("?" if is_whole else "") if branches else ""


_ANNOUNCING = lazy_pattern(_longest_of(_KINDS))
_ASCII_ANNOUNCING = lazy_pattern(_longest_of(filter(str.isascii, _KINDS)))
_COMMANDS = [
    (sign, PATTERNS.compile(command)) for sign, command in (line.split(" => ") for line in PATTERNS.lines("COMMANDS"))
]
"""What a text must hold to be searched for a command, and the command with its password."""


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
        rest = text[end : end + 40]
        self.last = not rest.lstrip("\"'`”»*)! \t") or rest[:3].lstrip("\"'`”»*) ")[:1] in ".,;\n?!。，"

    def cut_before(self, length: int) -> None:
        """Leave out the first characters."""
        self.text = self.text[length:]
        self.start += length

    def mark(self, kind: str) -> SecretMark:
        return SecretMark(kind, self.start, self.end)


def announced_secrets(text: str, small: str, cover: bytearray) -> Iterator[SecretMark]:
    """What the words around it say is a secret. What `cover` marks is no word."""
    yield from _given_to_commands(text)
    yield from _beside_accounts(text)
    if PATTERNS.four_figures.search(text):
        yield from _opening_numbers(small)
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
            if mark.end >= end + _WINDOW - 1 and (rest := PATTERNS.rest_up_to_a_space.match(text, mark.end)):
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
    if PATTERNS.name_of_an_error.search(text, max(0, start - 10), start):
        return None
    is_loose = name in WORDS.password_only_after_a_link and PATTERNS.wireless.search(small, max(0, start - 40), start)
    if is_loose or (kind in ("key", "weak") and PATTERNS.wireless.search(small, max(0, start - 24), end + 24)):
        return "wifi", "password"
    if kind == "code":
        return _meaning_of_code(small, name, start, end)
    return _meaning_of_key(small, name, start) if name in ("key", "keys") else (name, kind)


def _meaning_of_key(small: str, name: str, start: int) -> tuple[str, str] | None:
    """Which key is meant: the word before it says so."""
    last = (PATTERNS.letters_and_figures.findall(small, max(0, start - 24), start) or [""])[-1]
    if last in WORDS.other_keys:
        return None
    if last in WORDS.secret_keys or last.endswith(("api", "access", "secret")):
        return "api key", "key"
    return name, _KINDS[name]


def _meaning_of_code(small: str, name: str, start: int, end: int) -> tuple[str, str] | None:
    """Which code is meant: what stands next to the word says so, before it or after it in the same sentence."""
    before = PATTERNS.end_of_a_sentence.split(small[max(0, start - _AROUND) : start])[-1]
    after = PATTERNS.end_of_a_sentence.split(small[end : end + _AROUND])[0]
    if PATTERNS.other_code.search(before[-16:]) or PATTERNS.other_code.search(after[:16]):
        return None
    if PATTERNS.wireless.search(before[-24:]) or PATTERNS.wireless.search(after[:24]):
        return "wifi", "password"
    if not FIGURE.search(small, max(0, start - _NUMBER_WINDOW), end + _WINDOW):
        return None
    if PATTERNS.safety_of_a_card.search(before[-12:]) or PATTERNS.safety_of_a_card.match(after):
        return "security code", "card"
    if _is_proof(before, after):
        return "backup codes" if PATTERNS.backup.search(before + after) else name, "proof"
    if PATTERNS.things_with_a_pin.search(before) or PATTERNS.things_with_a_pin_after_it.search(after):
        return name, "pin"
    return None


def _is_proof(before: str, after: str) -> bool:
    """Whether a code proves who somebody is, by the words around it."""
    is_given = PATTERNS.yours.search(before) and PATTERNS.is_a_number.match(after)
    return bool(PATTERNS.proof.search(before) or PATTERNS.proof.search(after) or is_given)


def _begins(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return not before.isalnum() or (before.islower() and text[start].isupper())


def _ends(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if after.isdigit():
        return not text[end + 1 : end + 2].isalnum()
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())


def _secrets_after(text: str, word: _Word) -> Iterator[SecretMark]:
    if word.kind in _CODE_KINDS:
        return _codes(text, word)
    if word.kind == "login":
        return _pairs(text, word)
    if word.kind == "password":
        return _passwords(text, word)
    return _cookies(text, word.end) if word.text == "cookie" else _keys(text, word)


# -- what may be the secret


def _rest_of_name(text: str, word: _Word) -> int:
    """Where the name ends that a word is part of; -1 if the name tells of something else."""
    rest = PATTERNS.rest_of_a_name.match(text, word.end)
    name = rest[0] if rest else ""
    if name in ("", "-", "_") or name.startswith("--"):
        return word.end
    if not name.isascii():
        return word.end + len(name)
    small = name.lower().strip("_-")
    ends = WORDS.in_order("name_ends")
    is_other = small not in ("s", "es", "en") and (small.endswith(ends) or small.startswith(ends))
    return -1 if is_other or FIGURE.search(name) else word.end + len(name)


def _tokens_after(text: str, word: _Word, at: int) -> Iterator[re.Match[str]]:
    is_unspaced = PATTERNS.letters_written_without_spaces.search(word.text)
    piece = PATTERNS.piece_among_letters_without_spaces if is_unspaced else PATTERNS.piece
    return piece.finditer(text, at, word.limit)


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
        if _is_passed_over(text, bare, link, at):
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
    sign = PATTERNS.link_by_an_attribute.match(text, at) or PATTERNS.link_by_a_sign.match(text, at)
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


def _is_passed_over(text: str, bare: str, link: str, at: int) -> bool:
    """Whether a word leaves the link as it is: "is now", "will be"."""
    is_still = link != "" and bare in WORDS.still and bare not in WORDS.links
    return is_still or (bare in _MODALS and text.startswith(" be ", at))


def _link_of(bare: str) -> str:
    if bare in WORDS.links or (bare and not bare.rstrip(":=")):
        return "is" if bare in WORDS.plain_links else "est" if bare.isalpha() else ":"
    return "to" if bare in WORDS.loose_links else ""


def _ends_there(text: str, raw: str, bare: str, link: str, at: int) -> bool:
    """Whether after this word no value belongs to the one that announced it."""
    if bare.strip(".,;:!?()") in WORDS.no_secret or (raw[-1] == "," and not link):
        return True
    return raw[-1] in ".!?;" and not text[at : at + 5].lower().startswith((" it's", " it’s", " it i"))


def _cut(text: str, value: _Value, word: _Word) -> None:
    """Ends a value that stands after a sign where a list, a line of settings or an address goes on."""
    cut = PATTERNS.end_of_a_value_in_code.search(value.text)
    end = cut.start() if cut and cut.start() else len(value.text)
    before = text[max(0, word.start - 30) : word.start]
    if "?" in before.rpartition(" ")[2] or before.endswith("&"):
        end = min(end, (value.text + "&").find("&"))
    value.text = value.text[:end]
    value.end = value.start + end


def _is_reference(value: _Value) -> bool:
    """Whether a value says where the secret is kept, as programs and templates do."""
    if value.in_quotes and len(value.text) >= 8 and is_mixed(value.text) and not PATTERNS.template.search(value.text):
        return False
    if not value.text or value.text[0] in "[<{>" or PATTERNS.variable.fullmatch(value.text):
        return True
    if value.in_quotes:
        return False
    is_path = PATTERNS.reference.match(value.text) and not FIGURE.search(value.text[:60])
    return bool(PATTERNS.code.match(value.text) or is_path)


# -- passwords


def _passwords(text: str, word: _Word) -> Iterator[SecretMark]:
    if "phrase" in word.text:
        yield from _passphrases(text, word)
    number = PATTERNS.wireless_key.search(text, word.end, word.end + _NUMBER_WINDOW) if word.text == "wifi" else None
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
        if link and not _waits_for_password(value.text.lower(), link, count):
            break
    yield from _passwords_later(text, word)


def _waits_for_password(small: str, link: str, count: int) -> bool:
    """Whether the password may still follow a word after the link: "is now", "is for the router"."""
    return small in WORDS.still or (link == "is" and count == 0 and small in ("for", "of"))


def _passphrases(text: str, word: _Word) -> Iterator[SecretMark]:
    link = PATTERNS.link_to_a_phrase.match(text, word.end)
    phrase = PATTERNS.passphrase.match(text, link.end(), link.end() + 120) if link else None
    if phrase and not (WORDS.telling | WORDS.no_secret).intersection(re.split("[ -]", phrase[1])):
        yield SecretMark("password", *phrase.span(1))


def _passwords_later(text: str, word: _Word) -> Iterator[SecretMark]:
    """ "I had to reset my password again. It's now hunter2!": in the next clause, what a word points to and what looks
    like a password. After the end of a sentence only a word that means the password points to it ("it", "new one")."""
    if text.startswith(_CODE_BEFORE, max(0, word.start - 1)) or PATTERNS.goes_on_as_code.match(text, word.end):
        return
    if _rest_of_name(text, word) < 0:
        return
    line = PATTERNS.alone_on_the_next_line.match(text, word.end, word.limit)
    if line and _is_sure_alone(line[1]):
        yield SecretMark("password", *line.span(1))
        return
    for token in _tokens_after(text, word, word.end):
        value = _Value(text, *token.span())
        if not is_strong(value.text) and not PATTERNS.long_number.fullmatch(value.text):
            continue
        between = text[word.end : token.start()]
        if PATTERNS.rule_for_passwords.search(between):
            return
        if _is_pointed_to(value.text, between) and not _is_reference(value):
            yield value.mark("password")
            return


def _is_sure_alone(value: str) -> bool:
    """Whether what stands alone on a line is surely a password."""
    return is_strong(value) and bool(FIGURE.search(value)) and (not value.islower() or is_very_strong(value))


def _is_pointed_to(value: str, between: str) -> bool:
    near = between[-24:]
    if not is_strong(value):
        return near.rstrip()[-1:] in (":", "：")
    has_pointer = PATTERNS.pointer.search(near) is not None
    if PATTERNS.end_of_a_sentence.search(between):
        return has_pointer and PATTERNS.means_the_announced.search(near) is not None
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
    is_name = link == ":" and (value.in_quotes or "_" in word or word.isalpha())
    if is_name and PATTERNS.made_up_name.fullmatch(small[:60]):
        return False
    if not link:
        return _is_unlinked_password(value, count, mixed, announcing)
    return mixed or _is_unmixed_password(value, link, text)


def _is_unmixed_password(value: _Value, link: str, text: str) -> bool:
    """Figures or letters alone, after a link."""
    word = value.text
    if word.isdigit():
        return len(word) >= 4 and (link != "to" or (value.last and not PATTERNS.year.fullmatch(word)))
    is_plural = "words " in text[max(0, value.start - 12) : value.start].lower()
    return not is_plural and _is_plain_password(value, link)


def _is_said_of_passwords(value: _Value, link: str) -> bool:
    """Whether it is a word of what people and programs say about passwords: a property, a type, a name of its own."""
    word = value.text
    small = word.lower()
    if not value.in_quotes and ("[" in word or (link == ":" and PATTERNS.name_of_a_type.fullmatch(word))):
        return True
    if "_" in word and word.isupper() and not FIGURE.search(word):  # PUT_IT_HERE, in whatever language
        return True
    is_telling = re.split(r"[|:]", small.strip(".!?,"))[0] in WORDS.telling
    return is_telling or small in WORDS.no_secret or small in WORDS.links or small in WORDS.known_things


def _is_unlinked_password(value: _Value, count: int, mixed: bool, announcing: str) -> bool:
    word = value.text
    if announcing in WORDS.password_only_after_a_link:
        return count == 0 and (is_very_strong(word) or (is_strong(word) and len(word) >= 9))
    if word.strip("#*").isdigit():
        return 4 <= len(word) <= 63 and count == 0 and value.last and not PATTERNS.year.fullmatch(word)
    return mixed and len(word) >= 5 and (count == 0 or (count <= 3 and is_strong(word) and value.last))


def _is_quoted_phrase(value: _Value, link: str) -> bool:
    """Several words are one only in quotation marks, and if they do not tell about it."""
    parts = value.text.lower().split()
    is_linked = value.in_quotes and link in (":", "is", "est") and len(value.text) >= 8
    return (
        is_linked and parts[0] not in WORDS.no_secret and 2 * sum(part in WORDS.telling for part in parts) < len(parts)
    )


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
    if not value.last or len(word) < 4 or word.endswith(WORDS.in_order("telling_ends")) or "(" in word:
        return False
    if not word.isascii() and link != ":":
        return False
    is_word = word.strip("!-_.").replace("-", "").replace("_", "").isalpha()
    return is_word and (value.in_quotes or word.rstrip("!").isalpha() or link == ":")


def _passwords_before(text: str, start: int) -> Iterator[SecretMark]:
    """What stands before the word, and is the password."""
    value = _value_given_before(text, start) or _value_linked_before(text, start)
    if value:
        yield value.mark("password")


def _value_given_before(text: str, start: int) -> _Value | None:
    """ "type in hunter2 when it asks for the password": what a verb gives."""
    for match in PATTERNS.told_before.finditer(text, max(0, start - 90), start):
        value = _Value(text, *match.span(2))
        is_loose = match[1].lower() in WORDS.loose_verbs_before_a_password
        is_sure = not is_loose or is_very_strong(value.text) or PATTERNS.use.match(text, match.end())
        if is_sure and len(value.text) >= 8 and is_strong(value.text) and FIGURE.search(value.text):
            return value
    return None


def _value_linked_before(text: str, start: int) -> _Value | None:
    """ "hunter2 is the password": what a link joins to the word."""
    tokens = list(PATTERNS.piece.finditer(text, max(0, start - 80), start))[-5:]
    links = WORDS.links_to_what_is_before
    at = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at][0].lower() in links), 0)
    if not at or tokens[at - 1].start() == max(0, start - 80) > 0:
        return None
    value = _Value(text, *tokens[at - 1].span())
    is_long_enough = len(value.text) >= 6 and value.text.lower() not in WORDS.known_things
    return value if is_long_enough and _is_mixed_value(value) else None


def _is_mixed_value(value: _Value) -> bool:
    """Whether a value is mixed as a password is, and neither a thing nor a stand-in."""
    return not (not is_mixed(value.text) or is_thing(value.text) or is_placeholder(value.text) or _is_reference(value))


# -- logins and commands


def _pairs(text: str, word: _Word) -> Iterator[SecretMark]:
    """A name and its password side by side: "login: anna / hunter2", "log in with anna and hunter2", or on lines of
    their own after "credentials"."""
    match = PATTERNS.pair.match(text, word.end, word.limit)
    if match is None and word.text.startswith("log"):
        change = PATTERNS.new_login.match(text, word.end, word.limit)
        match = change if change and is_strong(change[1].rstrip(".,;!")) else None
    if match is None and word.text in WORDS.credentials:
        match = PATTERNS.line_with_a_sign.search(text, word.end, word.limit)
    value = _Value(text, *match.span(match.lastindex or 0)) if match else None
    if value is not None and len(value.text) >= 5 and _is_mixed_value(value):
        yield value.mark("password")


def _given_to_commands(text: str) -> Iterator[SecretMark]:
    """Passwords that commands are given."""
    for command in [command for sign, command in _COMMANDS if sign in text]:
        for match in command.finditer(text):
            if not match[1].isdigit() and not is_stand_in(match[1]):
                yield SecretMark("password", *match.span(1))


def _beside_accounts(text: str) -> Iterator[SecretMark]:
    """Passwords after an address of mail, or after an account that every system has."""
    for match in PATTERNS.mail_and_password.finditer(text) if "@" in text else ():
        if is_strong(match[1].rstrip(".,;!")) and not is_stand_in(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))
    has_account = ("/" in text or ":" in text) and any(name in text for name in _ACCOUNTS)
    for match in PATTERNS.account_and_password.finditer(text) if has_account else ():
        if is_very_strong(match[1]) and not is_stand_in(match[1]):
            yield SecretMark("password", match.start(1), match.start(1) + len(match[1].rstrip(".,;")))


# -- codes


def _opening_numbers(small: str) -> Iterator[SecretMark]:
    """A number by which something is opened: "unlock my phone with 280593", "type 4711 at the gate", "gate: 4711"."""
    yield from (SecretMark("one-time code", *match.span(1)) for match in PATTERNS.use_this_code.finditer(small))
    if any(verb in small for verb in WORDS.opening):
        for match in PATTERNS.number_that_opens.finditer(small):
            if PATTERNS.opened_things.search(small, max(0, match.start() - 24), match.start(1)):
                yield SecretMark("PIN", *match.span(1))
    if any(thing in small for thing in WORDS.keypads):
        for match in PATTERNS.number_typed.finditer(small):
            yield SecretMark("PIN", *match.span(match.lastindex or 0))


def _codes(text: str, word: _Word) -> Iterator[SecretMark]:
    """A PIN, a one-time code or the code of a card: the first number near the word that no other word explains."""
    is_proof = word.kind == "proof"
    if is_proof and PATTERNS.words_for_lists_of_codes.search(word.text):
        yield from _listed_codes(text, word.end)
        return
    kind = _CODE_KINDS[word.kind]
    number = _NUMBERS[word.kind].search(text, word.end, word.end + _NUMBER_WINDOW)
    earlier = PATTERNS.number_before.search(text, max(0, word.start - 60), word.start) if is_proof else None
    if earlier:
        yield SecretMark(kind, *earlier.span(1))
    elif number and _belongs(text, word, number):
        yield SecretMark(kind, *number.span(1))
    elif word.kind == "pin":
        yield from _mixed_pins(text, word)
    elif is_proof and not PATTERNS.booked.search(text, max(0, word.start - 30), word.start):
        code = PATTERNS.code_with_letters.match(text, word.end)
        yield from [SecretMark(kind, *code.span(1))] if code else []


def _belongs(text: str, word: _Word, number: re.Match[str]) -> bool:
    """Whether a number after a word is its code: nothing between them says that it is something else."""
    between = text[word.end : number.start()]
    names = PATTERNS.letters_and_figures.findall(between.lower())
    last = names[-1] if names else ""
    if PATTERNS.end_of_a_sentence.search(between) or PATTERNS.rule_for_passwords.search(between):
        return False
    if PATTERNS.amount.match(text, number.end()):
        return False
    if last in WORDS.number_leads or not WORDS.no_code_between.isdisjoint(names):
        return False
    if _rest_of_name(text, word) < 0:
        return False
    is_linked = _is_linked_number(between, names, last)
    is_year = PATTERNS.year.fullmatch(number[1]) is not None
    if word.kind == "pin":
        return _is_pin(text, word, number, names, is_linked=is_linked, is_year=is_year)
    return is_linked or not is_year


def _is_linked_number(between: str, names: list[str], last: str) -> bool:
    """Whether what stands between a word and a number links them."""
    is_changed = last in WORDS.loose_links and not WORDS.still.isdisjoint(names)
    is_after_link = last in WORDS.links or last in WORDS.still or last == "s"  # "it's"
    return is_changed or is_after_link or between.rstrip()[-1:] in _LINK_SIGNS


def _is_pin(text: str, word: _Word, number: re.Match[str], names: list[str], *, is_linked: bool, is_year: bool) -> bool:
    is_postal = word.text in _POSTAL and len(number[1]) == 6
    if is_postal and not PATTERNS.own.search(text[max(0, word.start - 40) : word.end]):
        return False
    if is_linked:
        return True
    if is_year and (word.text not in ("pin", "pins") or names):
        return False
    if word.text not in _PIN_NOUNS:
        return len(names) <= _FILLERS
    if len(names) <= 3 and PATTERNS.things_with_a_pin.search(text, word.end, number.start()):
        return True
    return not names and not PATTERNS.does.search(text, max(0, word.start - 6), word.start)


def _mixed_pins(text: str, word: _Word) -> Iterator[SecretMark]:
    for value, link, count in _values(text, word):
        if link and is_mixed(value.text) and FIGURE.search(value.text) and not is_thing(value.text):
            if len(value.text) >= 4:
                yield value.mark("PIN")
            return
        if link == ":" or count > 4:
            return


def _listed_codes(text: str, at: int) -> Iterator[SecretMark]:
    beginnings = (PATTERNS.beginning_of_a_list_of_codes, PATTERNS.beginning_of_a_list_of_codes_after_a_colon)
    leads = [beginning.match(text, at) for beginning in beginnings]
    at = next((lead.end() for lead in leads if lead and PATTERNS.next_code.match(text, lead.end())), -1)
    for _ in range(24 if at >= 0 else 0):
        code = PATTERNS.next_code.match(text, at)
        if code is None or not (FIGURE.search(code[1]) or PATTERNS.two_words_with_a_dash.fullmatch(code[1])):
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
        named = PATTERNS.named_value.match(value.text)
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
    return (
        len(signs) >= 4 and bool(FIGURE.search(key)) and not PATTERNS.template.search(key) and not is_placeholder(key)
    )


def _cookies(text: str, at: int) -> Iterator[SecretMark]:
    for _ in range(20):
        cookie = PATTERNS.cookie.match(text, at)
        if cookie is None:
            return
        if len(cookie[1]) >= 16 and not is_placeholder(cookie[1]) and is_unguessable(cookie[1], hexes=True):
            yield SecretMark("token", *cookie.span(1))
        at = cookie.end()


def _is_token(value: _Value, word: _Word, link: str, count: int) -> bool:
    token = value.text
    if not _may_be_token(token):
        return False
    if word.kind == "weak":
        return bool(link) and len(token) >= 16 and is_unguessable(token, hexes=link == ":" and count == 0)
    if not link and (count > 5 or len(token) < 16):
        return False
    if link and "secret" in word.text and len(token) >= 8 and is_mixed(token):
        return not PATTERNS.made_up_name.fullmatch(token[:60].lower())
    return len(token) >= 10 and is_unguessable(token, hexes=True)


def _may_be_token(token: str) -> bool:
    """Whether it has the letters of a token, and is nothing known."""
    if not PATTERNS.letters_of_a_token.fullmatch(token) or is_public(token):
        return False
    return (not is_thing(token) or token[0] == "~") and token.lower() not in WORDS.known_things


_NEAR = 48  # characters before a run in which a word says what it is
_FAR = 160  # and in which it says that secrets are spoken of
_MOST_PIECES = 10_000  # of one text that are looked at: after them only keys of a known form are found
_SHORTEST_RUN = 16  # characters
_SHORTEST = 20  # characters of a run that nothing announces
_SURELY_LONG = 40  # of one in letters of one case


def find_secrets(text: str) -> tuple[SecretMark, ...]:
    """Every secret in a text, in its order."""
    small = _small_letters(text)
    cover = bytearray(len(text))  # 1 where a secret or a placeholder stands
    for match in PATTERNS.placeholder.finditer(text) if "[secret: " in text else ():
        cover[match.start() : match.end()] = b"\1" * len(match[0])
    marks: list[SecretMark] = []
    runs = _key_runs(text)
    for step in (secrets_by_form(text, small, runs), announced_secrets(text, small, cover), _random_tokens(text, runs)):
        for mark in step:
            if mark.start < mark.end and 1 not in cover[mark.start : mark.end]:
                cover[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
                marks.append(mark)
    return tuple(sorted(marks, key=lambda mark: mark.start))


def _small_letters(text: str) -> str:
    """In small letters, each where it was: some capitals have small letters of two signs."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _key_runs(text: str) -> list[tuple[int, int]]:
    """Where a text has so many characters without a space that they may be a key: capitals or figures are in each."""
    runs: list[tuple[int, int]] = []
    end = 0
    for word in [word for word in text.split() if len(word) >= _SHORTEST_RUN]:
        start = text.find(word, end)
        end = start + len(word)
        if not word.islower() or FIGURE.search(word):
            runs += [run.span() for run in PATTERNS.run.finditer(text, start, end)]
    return runs


def _random_tokens(text: str, runs: list[tuple[int, int]]) -> Iterator[SecretMark]:
    """The random ones of the runs, whatever is said of them, unless it is said that they are something else."""
    for piece in islice(_pieces(text, runs), _MOST_PIECES):
        value = piece[0].rstrip(".-_/%~")
        if _is_run_a_token(text, piece.start(), value):
            yield SecretMark("token", piece.start(), piece.start() + len(value))


def _pieces(text: str, runs: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """What of the runs may be a token: nothing of an address, of an encoded file or of a block."""
    blocks = _blocks(text) if "-----BEGIN" in text else []
    for start, end in runs:
        if text.find("://", start, end) >= 0 or text.find("base64,", start, end) >= 0:
            continue
        while blocks and blocks[-1][1] <= start:
            blocks.pop()
        if not blocks or blocks[-1][0] > start:
            yield from PATTERNS.piece_of_a_run.finditer(text, start, end)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Where certificates and keys between two lines of strokes stand, the last one first."""
    blocks = []
    for head in PATTERNS.begin_of_a_block.finditer(text, 0, max(0, text.rfind("-----END"))):
        end = text.find("-----END", head.end(), head.end() + 9_000)
        if end >= 0:
            blocks.append((head.start(), end))
    return blocks[::-1]


def _is_run_a_token(text: str, start: int, value: str) -> bool:
    is_sure = is_surely_random(value)
    if not is_sure and not is_one_case_random(value):
        return False
    if is_placeholder(value) or is_public(value) or is_path(value) or is_wordy(value):
        return False
    before = text[max(0, start - _FAR) : start].lower()
    near = before[-_NEAR:]
    against = _last_end(PATTERNS.id_before.finditer(near))
    hint = _last_end(PATTERNS.secrets.finditer(near))
    if against >= max(hint, 0) or "base64" in before:
        return False
    if is_sure and len(value) >= _SHORTEST and not is_camel_case(value):
        return True
    return hint >= 0 or _is_long_random(value, is_sure) or PATTERNS.secrets.search(before) is not None


def _last_end(matches: Iterator[re.Match[str]]) -> int:
    return max((match.end() for match in matches), default=-1)


def _is_long_random(value: str, is_sure: bool) -> bool:
    return len(value) >= _SURELY_LONG and not is_sure and not PATTERNS.hexadecimal_number.fullmatch(value)


# -- by their form: a checksum is reckoned where the format has one; what is made of one letter only stands for a key

_PLACES = {word: at for at, word in enumerate(WORDS.in_order("bip39"))}  # each has three to eight letters
_LISTED = frozenset(word.encode() for word in _PLACES)
_LETTERS_ALONE = bytes(place if chr(place).isalpha() and place < 128 else ord(" ") for place in range(256))
_PHRASE_LENGTHS = (24, 21, 18, 15, 12)  # words
_LONGEST_RUN = 48  # words: what has more of them is a list of words
_AROUND_PHRASE = 2_000  # characters in which a text may call a phrase one
_IBAN_LENGTHS = {country[:2]: int(country[3:]) for country in WORDS.iban}
# Before a number or a phrase that everybody may know, since it was published to be tried or shown.
_MAY_BE_PUBLISHED = frozenset(["card number", "IBAN", "recovery phrase"])
_BEFORE_PUBLISHED = 48  # characters


def secrets_by_form(text: str, small: str, runs: list[tuple[int, int]]) -> Iterator[SecretMark]:
    """What is a secret by its form, in the order of certainty; `runs` are the long runs without a space."""
    for mark in _marks_by_form(text, small, runs):
        before = max(0, mark.start - _BEFORE_PUBLISHED)
        if mark.kind not in _MAY_BE_PUBLISHED or not PATTERNS.published.search(small, before, mark.start):
            yield mark


def _marks_by_form(text: str, small: str, runs: list[tuple[int, int]]) -> Iterator[SecretMark]:
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if runs:
        yield from (SecretMark("webhook address", *match.span()) for match in PATTERNS.webhook_address.finditer(text))
        if "eyJ" in text:
            yield from _web_tokens(text)
        for start, end in runs:
            yield from _known_keys(text, start, end)
    if "://" in text and "@" in text:
        yield from _addresses(text)
    if runs or "asic " in text or "earer " in text:
        yield from _headers(text)
        yield from _signatures(text)
    if FIGURE.search(text):
        yield from _secret_numbers(text, small)
    if _has_listed_words(small):
        yield from _recovery_phrases(text)


def _secret_numbers(text: str, small: str) -> Iterator[SecretMark]:
    yield from _ibans(text)
    if PATTERNS.figures_of_a_card.search(text):
        yield from _cards(text)
    if PATTERNS.figures_of_a_social_security_number.search(text):
        yield from _social_security(text)
    if any(hint in small for hint in WORDS.one_time_seeds):
        yield from _seeds(text, small)


def _private_keys(text: str) -> Iterator[SecretMark]:
    after = 0
    last = text.rfind("-----END")
    for head in PATTERNS.begin_of_a_private_key.finditer(text):
        if head.start() < after:
            continue
        lines = PATTERNS.lines_of_a_key.match(text, head.end())
        close = f"-----END {head[1]}-----"
        at = text.find(close, head.end(), head.end() + 9_000) if head.end() < last else -1
        if at >= 0 and sum(map(str.isalnum, text[head.end() : head.end() + 80])) >= 24:
            after = at + len(close)
        elif at < 0 and lines:
            after = head.end() + len(lines[0].rstrip())
        else:
            continue
        yield SecretMark("private key", head.start(), after)


def _web_tokens(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.web_token.finditer(text):
        try:
            head = base64.urlsafe_b64decode(match[1][: len(match[1]) // 4 * 4])
        except ValueError:  # the pattern has let only its alphabet through
            continue
        if any(field in head for field in (b'"alg"', b'"typ"', b'"kid"', b'"enc"')):
            yield SecretMark("token", match.start(), match.start() + len(match[0].rstrip(".-")))


def _known_keys(text: str, start: int, end: int) -> Iterator[SecretMark]:
    for match in PATTERNS.token_of_a_bot.finditer(text, start, end):
        yield SecretMark("token", *match.span())
    for match in PATTERNS.known_key.finditer(text, start, end):
        value = match[0].rstrip("-._=/+") if match[0][-1] in "-._/+" else match[0]
        if _is_key_body(value[4:]) and not is_placeholder(value):
            kind = "API key" if match.lastgroup == "api_key" else str(match.lastgroup).replace("_", " ")
            yield SecretMark(kind, match.start(), match.start() + len(value))


def _is_key_body(body: str) -> bool:
    """Whether what comes after a known beginning is no name: letters of two kinds that change often, or figures."""
    is_shouted = body.isupper() and body.isalnum() and len(body) == 16
    has_figures = any(map(str.isdigit, body)) and not is_wordy(body)
    return len(set(body)) >= 8 and (has_figures or is_shouted or is_jumbled(body))


def _addresses(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.address_with_a_password.finditer(text):
        start, end = match.span(2)
        scheme = PATTERNS.scheme.search(text[max(0, match.start() - 26) : match.start()])
        rest = PATTERNS.rest_of_a_password.match(text, end + 1)
        if rest:  # a password with a sign of its own
            end = rest.end() - 1
        value = text[start:end]
        if scheme and not ("/" in value and not match[1]) and not is_stand_in(value):
            name = scheme[0].lower().split("+")[0].rpartition(":")[2]
            yield SecretMark("database password" if name in WORDS.databases else "password", start, end)


def _headers(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.basic_header.finditer(text) if "Basic" in text else ():
        try:
            plain = base64.b64decode(match[1] + "=" * (-len(match[1]) % 4))
        except ValueError:
            continue
        if b":" in plain and plain.isascii() and plain.decode("ascii").isprintable():
            yield SecretMark("password", *match.span(1))
    for match in PATTERNS.bearer_header.finditer(text) if "earer" in text or "EARER" in text else ():
        if any(map(str.isdigit, match[1])) and not is_placeholder(match[1]) and not is_wordy(match[1]):
            yield SecretMark("token", match.start(1), match.start(1) + len(match[1].rstrip(".")))


def _signatures(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.signature_in_an_address.finditer(text) if "ig=" in text or "ignature=" in text else ():
        if not is_placeholder(match[1]):
            yield SecretMark("token", *match.span(1))


def _ibans(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.begin_of_an_iban.finditer(text):
        start = match.start() - 2
        length = _IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
        piece = text[start : start + 2 * length]
        places = [at for at, char in enumerate(piece) if char.isascii() and char.isalnum()][:length]
        if not length or len(places) < length or not PATTERNS.form_of_an_iban.fullmatch(piece, 0, places[-1] + 1):
            continue
        end = start + places[-1] + 1
        number = "".join(piece[at] for at in places).upper()
        has_figures = sum(map(str.isdigit, number)) * 3 >= length
        if has_figures and not text[end : end + 1].isalnum() and _sum_of_iban(number) % 97 == 1:
            yield SecretMark("IBAN", start, end)


def _sum_of_iban(number: str) -> int:
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4]))


def _cards(text: str) -> Iterator[SecretMark]:
    for match in PATTERNS.card_number.finditer(text):
        number = "".join(filter(str.isdigit, match[0]))
        if not number.isascii() or not _passes_luhn(number):
            continue
        before = text[max(0, match.start() - 40) : match.start()].lower()
        after = text[match.end() : match.end() + 30].lower()
        hint = max((hint.start() for hint in PATTERNS.cards.finditer(before)), default=-1)
        against = max((hint.start() for hint in PATTERNS.no_cards.finditer(before)), default=-1)
        if against > hint or (hint < 0 and PATTERNS.no_cards.search(after)):
            continue
        is_called_card = hint >= 0 or PATTERNS.cards.search(after)
        issuers = PATTERNS.any_card_issuers if is_called_card else PATTERNS.card_issuers
        if len(set(number)) > 1 and issuers.fullmatch(number):
            yield SecretMark("card number", *match.span())
            if (code := PATTERNS.code_after_a_card.match(text, match.end())) is not None:
                yield SecretMark("card security code", *code.span(1))


def _passes_luhn(number: str) -> bool:
    doubles = (int(char) * 2 for char in number[-2::-2])
    return (sum(map(int, number[-1::-2])) + sum(value - 9 if value > 9 else value for value in doubles)) % 10 == 0


def _social_security(text: str) -> Iterator[SecretMark]:
    """With strokes it is one by its form, unless the text calls it something else; without them if it calls it so."""
    for match in PATTERNS.social_security_number.finditer(text):
        before = text[max(0, match.start() - 60) : match.start()].lower()
        around = text[max(0, match.start() - 40) : match.end() + 20].lower()
        is_other = PATTERNS.no_social_security.search(around) and "ssn" not in around
        is_number = PATTERNS.social_security.search(before) or (match[1] == "-" and not is_other)
        if is_number and not PATTERNS.forms.search(before):
            yield SecretMark("social security number", *match.span())


def _seeds(text: str, small: str) -> Iterator[SecretMark]:
    """What an app for one-time codes is set up with: letters of base32 near a word for it."""
    for match in PATTERNS.letters_of_base32.finditer(text):
        near = small[max(0, match.start() - 80) : match.end() + 50]
        is_near = any(hint in near for hint in WORDS.one_time_seeds)
        if is_near and FIGURE.search(match[0]) and len(set(match[0])) >= 7 and not is_placeholder(match[0]):
            yield SecretMark("token", *match.span())


def _has_listed_words(small: str) -> bool:
    """Whether a text has twelve words of BIP-39 one after the other, whatever is between them."""
    names = small.encode("ascii", "replace").translate(_LETTERS_ALONE).split()
    return b"\1" * 12 in bytes(map(_LISTED.__contains__, names))


def _recovery_phrases(text: str) -> Iterator[SecretMark]:
    """Twelve to 24 words of BIP-39 one after the other, with nothing but signs and numbers between them."""
    for stretch in PATTERNS.stretch_of_words.finditer(text):
        places = (
            (_PLACES.get(word[0].lower(), -1), *word.span()) for word in PATTERNS.word.finditer(text, *stretch.span())
        )
        for is_listed, group in groupby(places, key=lambda place: place[0] >= 0):
            run = list(group)
            if is_listed and 12 <= len(run) <= _LONGEST_RUN:
                near = (max(0, run[0][1] - _AROUND_PHRASE), run[-1][2] + _AROUND_PHRASE)
                yield from _phrases_in(run, has_hint=PATTERNS.called_a_phrase.search(text, *near) is not None)


def _phrases_in(run: list[tuple[int, int, int]], *, has_hint: bool) -> Iterator[SecretMark]:
    """The phrases in a run of words of the list: all of it if the text calls it one or its length is right; in order
    of the alphabet it is a list. Of a longer run, the parts whose checksum is right."""
    places = [place for place, _, _ in run]
    is_list = places == sorted(places)
    if (has_hint or not is_list) and len(run) in _PHRASE_LENGTHS:
        yield SecretMark("recovery phrase", run[0][1], run[-1][2])
        return
    at = found = 0
    while len(run) - at >= 12:
        size = next((size for size in _PHRASE_LENGTHS if size <= len(run) - at and _sums_up(run[at : at + size])), 0)
        if size:
            found += 1
            yield SecretMark("recovery phrase", run[at][1], run[at + size - 1][2])
        at += size or 1
    if has_hint and not found and len(run) < 2 * _PHRASE_LENGTHS[0]:
        yield SecretMark("recovery phrase", run[0][1], run[-1][2])


def _sums_up(words: list[tuple[int, int, int]]) -> bool:
    bits = "".join(f"{place:011b}" for place, _, _ in words)
    size = len(words) // 3
    entropy = int(bits[:-size], 2).to_bytes(size * 4, "big")
    return f"{hashlib.sha256(entropy).digest()[0]:08b}"[:size] == bits[-size:]
