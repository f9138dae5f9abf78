"""What a piece of text looks like by itself: a machine's token, a person's password, a stand-in, or a known thing.

Nothing here looks at the words around it. A machine's token changes between small letters, capitals and figures far
more often than a word does (`is_random`); a person's password mixes letters with figures or signs (`is_strong`); a
date, an address, a version or a file has a form of its own (`is_thing`); and `<password>` or `xxxx` only shows where a
secret would stand (`is_placeholder`).
"""

from __future__ import annotations

import base64
import re
from itertools import pairwise

from everword.word_lists import Patterns, WordLists

WORDS = WordLists("words", "bip39", folder="secrets/data")
PATTERNS = Patterns("secrets", "secrets/data", WORDS)
FIGURE = re.compile(r"\d")
_SIGNS = "!@#$%^&*?+=~"


def is_placeholder(value: str) -> bool:
    """Whether a value only shows where one would stand."""
    small = value.lower()
    return len(set(small)) < 3 or any(part in small for part in WORDS.placeholders)


def is_stand_in(value: str) -> bool:
    """Whether a value stands where a password does and is none: a name for it, a variable, a placeholder."""
    return (
        value.lower() in WORDS.stand_ins
        or value.startswith(("<", "{", "[", "*", "$", "%", "("))
        or (value.isupper() and value.replace("_", "").isalpha())
        or is_placeholder(value)
    )


def is_random(value: str) -> bool:
    """Whether letters, capitals and figures change as often as in what a machine made up."""
    return is_jumbled(value) and _numbers(value[:64]) >= 2


def is_surely_random(value: str) -> bool:
    """The same, but so sure that no word need announce it: all three kinds of letters, one long run, and no meaning."""
    head = value[:200]
    longest = max(map(len, re.split(r"[-_.~%]", head)))
    mixed = any(map(str.isupper, head)) and any(map(str.islower, head)) and any(map(str.isdigit, head))
    return mixed and longest >= 12 and _changes(head) >= 0.4 and _varies(head) and not is_encoded(value)


def is_jumbled(value: str) -> bool:
    """Whether small letters, capitals and figures change often; figures need not be among them."""
    return _changes(value[:64]) >= 1 / 3 and _varies(value[:64])


def is_camel_case(value: str) -> bool:
    """Words written together, as in the names of programs: most of it is runs of small letters that can be spoken."""
    words = (word for word in re.findall(r"[A-Z]?[a-z]{1,20}", value) if len(word) > 1 and PATTERNS.vowel.search(word))
    return 5 * sum(map(len, words)) >= 3 * len(value)


def is_one_case_random(value: str) -> bool:
    """A long hexadecimal number, or figures among letters of one case: only after a word that announces a secret."""
    if not value.isalnum() or not value.isascii() or not (value.islower() or value.isupper()) or not _varies(value):
        return False
    if PATTERNS.hexadecimal.fullmatch(value):
        return len(value) >= 32
    figures = sum(map(str.isdigit, value))
    return (len(value) >= 16 and figures >= 2 and _changes(value) >= 0.25) or (len(value) >= 40 and figures >= 8)


def is_unguessable(token: str, *, hexes: bool) -> bool:
    """Random letters and figures; with `hexes` also those of one case, as UUIDs and hexadecimal numbers are."""
    token = token[:80]
    pieces = [piece for piece in re.split(r"[-_./+=~:%]", token) if len(piece) >= 4]
    if any(len(piece) >= 12 and is_random(piece) for piece in pieces) or is_random(token):
        return True
    return hexes and _is_random_in_one_case(token, pieces)


def _is_random_in_one_case(token: str, pieces: list[str]) -> bool:
    """Whether a token is a UUID, pieces of one length in capitals, or has a piece like a hexadecimal number."""
    if PATTERNS.uuid.fullmatch(token):
        return True
    if len(pieces) >= 3 and len({len(piece) for piece in pieces}) == 1 and token.isupper():
        return True
    return any(
        (len(piece) >= 10 and _alternates(piece)) or (len(piece) >= 20 and piece[0] not in "/.")
        for piece in pieces
        if re.search(r"\d", piece)
    )


def is_encoded(value: str) -> bool:
    """Whether it is a text or a file written in base64, and no secret by itself."""
    if value.startswith(WORDS.in_order("encoded_files")):
        return True
    try:
        plain = base64.b64decode(value[: min(len(value), 200) // 4 * 4], altchars=b"-_", validate=True)
    except ValueError:
        return False
    for cut in range(4):  # the last letter may have been cut in two
        try:
            return plain[: len(plain) - cut].decode().replace("\n", " ").isprintable()
        except UnicodeDecodeError:
            continue
    return False


def is_public(value: str) -> bool:
    """A public key, a fingerprint, the address of a wallet, or the id of something: all may be known."""
    return bool(PATTERNS.public.match(value)) or value.startswith(WORDS.in_order("id_prefixes"))


def is_path(value: str) -> bool:
    """Words between strokes, or a name with an ending: a file or a part of an address."""
    is_ended = re.search(r"\.[a-z]{2,5}\d?$", value) is not None
    return is_ended or ("/" in value and PATTERNS.word_of_a_path.search(value) is not None)


def is_wordy(body: str) -> bool:
    """Words with signs between them, as in the name of a package or a model: nothing of it is random."""
    return all(part.isalpha() or part.isdigit() or len(part) < 5 for part in re.split(r"[-_.]", body) if part)


def is_thing(word: str) -> bool:
    """Whether it has a form of its own that is no secret's: an address, a file, a version, an amount."""
    return bool(PATTERNS.thing.match(word)) if len(word) <= 80 else word.startswith(("http", "www."))


def is_mixed(word: str) -> bool:
    """Letters together with figures or signs, as in a password."""
    letters = any(map(str.isalpha, word))
    return letters and (any(map(str.isdigit, word)) or any(char in _SIGNS for char in word[:-1]))


def is_strong(word: str) -> bool:
    """A password by its looks alone: mixed, with a small letter, and nothing that has a form or a name of its own."""
    return (
        6 <= len(word) <= 60
        and is_mixed(word)
        and any(map(str.islower, word))
        and not any(char in word for char in "/\\[](){}<>")
        and word.lower() not in WORDS.known_things
        and not (is_thing(word) and not word[0].isupper())
        and not is_placeholder(word)
        and not PATTERNS.no_password.search(word)
    )


def is_very_strong(word: str) -> bool:
    """So sure a password that no word need point to it: figures and a sign that is in no name."""
    return (
        is_strong(word)
        and any(map(str.isdigit, word))
        and any(char in "!@#$%^&*+~_" for char in word[1:-1] + word[-1:].strip("!"))
    )


def _changes(value: str) -> float:
    """The share of letters and figures that are of another kind than the one before."""
    kinds = [("a" if char.islower() else "A" if char.isupper() else "1") for char in value if char.isalnum()]
    return sum(previous != kind for previous, kind in pairwise(kinds)) / max(1, len(kinds))


def _numbers(value: str) -> int:
    """How often a figure or a run of figures begins."""
    return len(re.findall(r"\d+", "".join(filter(str.isalnum, value))))


def _varies(value: str) -> bool:
    return len(set(value)) >= min(10, len(value) // 2)


def _alternates(piece: str) -> bool:
    digits = [char.isdigit() for char in piece]
    return sum(previous != char for previous, char in pairwise(digits)) >= max(3, len(piece) // 6)
