"""Finds secrets in a text: by their form, by the words around them, and by how random they are.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order; of two
that overlap the one of the earlier step counts. A placeholder is no secret: a masked text has no more of them. Most
texts are done after a cheap look for what every secret has: figures, a long run without a space, or a word that
announces it. The time grows with the text and no faster. The forms and words are files in the folder `data`:
`secrets.re` and `words.txt`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from itertools import groupby, islice

from everword.secrets import SecretMark
from everword.secrets.announced import announced_secrets
from everword.secrets.values import (
    FIGURE,
    PATTERNS,
    WORDS,
    is_camel_case,
    is_jumbled,
    is_one_case_random,
    is_path,
    is_placeholder,
    is_public,
    is_stand_in,
    is_surely_random,
    is_wordy,
)

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
        if _is_token(text, piece.start(), value):
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


def _is_token(text: str, start: int, value: str) -> bool:
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
