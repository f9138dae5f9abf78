"""Which language a text is in, as far as its analysis needs to know: which stemmer, which function words.

The script decides first. Within a script, function words and letters that only some languages use vote; a vote counts
less the more languages share it. Text without a clear sign counts as English. A wrong answer costs little: a query is
analysed for every language that the index holds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cache, lru_cache
from struct import unpack

from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.stopwords import function_words
from recollect.text.word_runs import lower_letter_runs

UNKNOWN = "und"
DEFAULT = "en"

SAMPLE = 1_000
"""Characters of a text that are looked at."""

# First code point and script of each range that holds letters; "" for scripts that are not recognised.
_RANGES: tuple[tuple[int, str], ...] = (
    (0x0000, "latin"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "armenian"),
    (0x0590, "hebrew"),
    (0x0600, "arabic"),
    (0x0700, ""),
    (0x0750, "arabic"),
    (0x0780, ""),
    (0x08A0, "arabic"),
    (0x0900, "devanagari"),
    (0x0980, ""),
    (0x0B80, "tamil"),
    (0x0C00, ""),
    (0x0E00, "thai"),
    (0x0E80, "lao"),
    (0x0F00, ""),
    (0x1000, "myanmar"),
    (0x10A0, ""),
    (0x1100, "hangul"),
    (0x1200, ""),
    (0x1780, "khmer"),
    (0x1800, ""),
    (0x1C80, "cyrillic"),
    (0x1C90, ""),
    (0x1D00, "latin"),
    (0x1F00, "greek"),
    (0x2000, ""),
    (0x2C60, "latin"),
    (0x2C80, ""),
    (0x2DE0, "cyrillic"),
    (0x2E00, ""),
    (0x2E80, "han"),
    (0x3040, "kana"),
    (0x3100, "han"),
    (0x3130, "hangul"),
    (0x3190, "han"),
    (0x31F0, "kana"),
    (0x3200, "han"),
    (0xA000, ""),
    (0xA640, "cyrillic"),
    (0xA6A0, ""),
    (0xA720, "latin"),
    (0xA800, ""),
    (0xA8E0, "devanagari"),
    (0xA900, ""),
    (0xA960, "hangul"),
    (0xA980, ""),
    (0xA9E0, "myanmar"),
    (0xAA00, ""),
    (0xAA60, "myanmar"),
    (0xAA80, ""),
    (0xAB30, "latin"),
    (0xAB70, ""),
    (0xAC00, "hangul"),
    (0xD800, ""),
    (0xF900, "han"),
    (0xFB00, "latin"),
    (0xFB13, ""),
    (0xFB1D, "hebrew"),
    (0xFB50, "arabic"),
    (0xFE00, ""),
    (0xFE70, "arabic"),
    (0xFEFF, ""),
    (0x1AFF0, "kana"),
    (0x1B170, ""),
    (0x20000, "han"),
    (0x32000, ""),
)
_STARTS = tuple(start for start, _ in _RANGES)
_SCRIPTS = tuple(name for _, name in _RANGES)

BY_SCRIPT: dict[str, tuple[str, ...]] = {
    "latin": tuple("en de fr es it pt nl sv da no fi hu ro tr pl cs ca id".split()),  # noqa: SIM905
    "cyrillic": ("ru", "uk"),
    "greek": ("el",),
    "arabic": ("ar", "fa"),
    "devanagari": ("hi",),
    "armenian": ("hy",),
    "tamil": ("ta",),
    "hebrew": ("he",),
    "han": ("zh", "ja"),
    "kana": ("ja",),
    "hangul": ("ko",),
    "thai": ("th",),
    "lao": ("lo",),
    "khmer": ("km",),
    "myanmar": ("my",),
}
"""The languages that are recognised in each script; the first is the default."""

# Letters that few languages write.
_LETTERS = {
    "de": "äöüß",
    "fr": "àâçèéêëîïôùûœ",
    "es": "áéíñóú¿¡",
    "it": "àèéìòù",
    "pt": "áâãàçéêíóõú",
    "sv": "åäö",
    "da": "æøå",
    "no": "æøå",
    "fi": "äö",
    "hu": "áéíóöőúüű",
    "ro": "ăâîșțşţ",
    "tr": "çğıöşü",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "ca": "àçèéíïòóú·",
    "ru": "ёъыэ",
    "uk": "ґєії",
    "fa": "پچژگکی",
    "ar": "ةكيىإأ",
}

# Frequent words that are not function words, for texts too short to have one: "take care", "guten Morgen".
_COMMON = {
    "en": "again back best better bye call care cool day don didn doesn feel find get give glad go going good got "
    "great guess guy happy hello help hey hi home hope isn keep kids know last life like ll long look lot love made "
    "make man maybe mean men much need new next nice oh okay old people pet play please re read right said say see "
    "show size soon start sure take talk tell thank thanks thing things think time try ve want wasn way week well work "
    "wow yeah year years yep yes",
    "de": "bitte danke gehen geht gerade gern guten gut hallo heute immer kommen leben liebe machen macht mag mal "
    "mehr morgen schön tag wohne wohnen zeit",
    "fr": "aime aller bon bonjour bonne ça chose demain faire habite j jour l maintenant merci n oui plaît qu salut "
    "sais temps veux vie",
    "es": "buen buena bueno buenos días gracias gusta hacer hola hoy llama mañana quiero sé tiempo vida vivo años",
    "it": "abito anni bella bello buon buono chiama ciao domani fare giorno grazie oggi piace sono tempo vita voglio",
    "pt": "amanhã anos bom chama dia fazer gosto hoje moro obrigada obrigado oi olá quero sei tempo tudo vida",
    "nl": "bedankt dag doet dank gaan gaat goed heet hoi leuk maken morgen tijd vandaag weet woon wonen",
    "sv": "bor bra dag god göra heter hej idag imorgon kommer mycket tack tid vet år",
    "da": "bor dag gerne god godt gøre hedder hej hvornår idag kommer spise tak tid ved år",
    "no": "bor bra dag god gjøre heter hei kommer takk tid vet år",
    "fi": "asun hei huomenna hyvä hyvää kiitos kirja moi nimi olla pidän päivä tiedä tänään vuosi",
    "hu": "jó köszönöm lakom ma napot neve nekem szeretem szia tudom vagyok holnap",
    "ro": "acum astăzi bun bună mâine mersi mulțumesc numele salut știu timp vreau zi",
    "tr": "adı bugün evet günaydın güzel hayır iyi lütfen merhaba nerede teşekkürler yarın zaman",
    "pl": "cześć dobra dobry dzień dzięki dzisiaj jutro lubię mam proszę tak wiem",
    "cs": "ahoj děkuji dnes dobrá dobrý den díky mám prosím zítra vím",
    "ca": "avui bon bona demà dia fer gràcies hola llibre sé vull",
    "id": "baik besok buku hari kasih makan nama orang selamat suka tahu terima tinggal",
}

_WORD = lazy_pattern(r"[^\W\d_]+")
_BEYOND_LATIN = lazy_pattern(r"[\u0370-\u1cff\u1f00-\u1fff\u2c80-\ua71f\ua800-\uab2f\uab70-\ufaff\ufb13-\U0010ffff]")

# The worth of a sign by the number of languages that share it, in whole numbers so that the order of counting does not
# matter; and the sum below which a text counts as the first language of its script.
_WORTH = (0, 12, 8, 6, 5, 4, *[3] * 13)
_NEEDED = 6
_SHORT = 3


def script_of(character: str) -> str:
    """The script of a letter, as `BY_SCRIPT` names it; empty for the others."""
    return _SCRIPTS[bisect_right(_STARTS, ord(character)) - 1]


def detect(text: str) -> str:
    """The ISO 639 code of the language whose analysis fits the text; `und` if none is known."""
    return _detect_language(text[:SAMPLE].lower())


@lru_cache(maxsize=8_192)  # every view asks this of a message, one after the other
def _detect_language(sample: str) -> str:
    if sample.isascii():
        return _vote("latin", sample)
    foreign = [c for c in _BEYOND_LATIN.findall(sample) if c.isalpha()]
    # A word in a script such as Chinese has a third of a Latin word's letters.
    if not foreign or 3 * len(foreign) < sum(map(len, _WORD.findall(sample))) - len(foreign):
        return _vote("latin", sample)
    scripts = Counter(map(script_of, foreign))
    if scripts["kana"]:
        # Japanese is written with Chinese characters too, and they may well be more.
        scripts["kana"] += scripts.pop("han", 0)
    script = max(sorted(scripts), key=scripts.__getitem__)
    if script not in BY_SCRIPT:
        return UNKNOWN
    return _vote(script, sample) if script in ("cyrillic", "arabic") else BY_SCRIPT[script][0]


def _vote(script: str, sample: str) -> str:
    words, letters = _signs(script)
    sample_words = set(lower_letter_runs(sample))
    votes = sum(filter(None, map(words.get, sample_words)))
    if not sample.isascii():
        votes += sum([letters[letter] for letter in letters.keys() & set(sample)])
    languages = BY_SCRIPT[script]
    size = 2 * len(languages)
    tally = unpack(f"<{size}H", votes.to_bytes(2 * size, "little"))
    worths = tally[: len(languages)]
    best = max(worths)
    place = worths.index(best)  # of equals the first in the list, so the default
    # One sign is enough in a short text and in a script of few languages; in a long one it is a name or a quotation.
    enough = tally[len(languages) + place] > 1 or len(sample_words) <= _SHORT or script != "latin"
    return languages[place] if best >= _NEEDED and enough else languages[0]


_VOTE_BITS = 16  # for the worth of all signs of a sample, which is less


@cache
def _signs(script: str) -> tuple[dict[str, int], dict[str, int]]:
    """The votes of each word and each letter that distinguishes languages, as one number, so that a sum counts them
    all: the worth of the sign for each language that uses it, and after these a one for each."""
    words: dict[str, list[str]] = {}
    letters: dict[str, list[str]] = {}
    for language in BY_SCRIPT[script]:
        for word in function_words(language) | set(_COMMON.get(language, "").split()):
            words.setdefault(word, []).append(language)
        for letter in _LETTERS.get(language, ""):
            letters.setdefault(letter, []).append(language)
    places = {language: place for place, language in enumerate(BY_SCRIPT[script])}

    @cache  # most signs are those of one language, or of the same few
    def votes_of(*users: str) -> int:
        return sum(
            _WORTH[len(users)] << _VOTE_BITS * places[user] | 1 << _VOTE_BITS * (places[user] + len(places))
            for user in users
        )

    return {word: votes_of(*users) for word, users in words.items()}, {
        letter: votes_of(*users) for letter, users in letters.items()
    }
