"""A message's own words: what its author says, without text of others that was pasted into it.

A mail, a chat, a page, data, a song, a letter, a script: all of them say "I", and this "I" is not the person who pasted
them. They are recognised by their form, not by their content: headers, a time and a name before a line, speakers and a
colon, tags, delimiters, timings, verses, fences like ours, a sentence that says that somebody else wrote what follows.
If such a text has a visible end, what comes after it is read again; otherwise all that follows counts as foreign. When
in doubt a line is foreign: a missed fact will be said again, a wrong one stays. Where the author says that a text
is theirs and true of them, the form of a letter, a table, a survey or a page does not count; a chat, a prompt or a song
is foreign even then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

from everword.text.escaping import AT_START, plain_breaks
from everword.text.word_weights import is_ordinary
from everword.word_lists import Patterns, WordLists, lazy_pattern

_PATTERNS = Patterns("own_words")
_LISTS = WordLists("own_words")

MAX_QUOTATION = 4_000
"""Characters of a quotation over several lines."""

Lines = Sequence[str]


def own_words(text: str) -> str:
    """The text with an empty line in place of every foreign line."""
    text = plain_breaks(text)
    if is_plain_line(text):
        return text
    lines = _drop_introduced_text(_drop_tags_and_quotations(text).split("\n"))
    is_own = is_claimed_as_own(text)
    foreign_lines: set[int] = set()
    for rule in _RULES:
        if not (is_own and rule in _RULES_OF_FORMS):
            foreign_lines.update(rule(lines))
    opens = _opens_another_text if is_own else _opens_foreign_text
    foreign_start = next((number for number in range(len(lines)) if opens(lines, number)), len(lines))
    own_lines = ["" if number in foreign_lines or number > foreign_start else line for number, line in enumerate(lines)]
    if foreign_start < len(lines):
        own_lines[foreign_start] = _text_before_introduction(lines[foreign_start])
    return "\n".join(own_lines)


def is_plain_line(text: str) -> bool:
    """Whether a text is one line in which nothing is that the rules below look for: most messages of a chat are. What
    begins a foreign text without a sign is asked for itself."""
    return not (
        "\n" in text
        or any(map(text.__contains__, _MARKS_OF_PAGES))
        or _PATTERNS.sign_of_foreign_text.search(text)
        or _PATTERNS.published.search(text)
        or _PATTERNS.known.fullmatch(text)
        or _PATTERNS.prompt.match(text)
        or "{{" in text
        or _is_structure(text)
    )


_MARKS_OF_PAGES = ("|", "@", "·", "•")


# -- what the author claims


def is_claimed_as_own(text: str) -> bool:
    """Whether the first paragraph says that what follows was written by its author, of themselves. A claim inside a
    foreign text is not the author's."""
    lines = text.strip()[:_LONGEST_CLAIM].partition("\n\n")[0].split("\n")
    if not any(map(_PATTERNS.claims.search, lines)) or any(map(_PATTERNS.others_wrote.search, lines)):
        return False
    for number, line in enumerate(lines):
        label = _PATTERNS.labelled.match(line)
        if line.lstrip()[:1] in _MARKS_OF_OTHERS or (label and _is_speaker(label["label"], True)):
            return False
        if _PATTERNS.claims.search(line) or _opens_foreign_text(lines, number):
            return _PATTERNS.claims.search(line) is not None
    return False


_LONGEST_CLAIM = 400  # characters
_MARKS_OF_OTHERS = frozenset('|>"“«„')


# -- inside lines: tags and quotations

_TAG = lazy_pattern(r"<([a-z][\w:.-]{0,40})(?:\s[^<>]{0,400})?>", re.IGNORECASE)
_MOST_TAGS = 40  # texts between tags in one message
_QUOTATIONS = lazy_pattern(
    rf"“[^“”]{{1,{MAX_QUOTATION}}}”|«[^«»]{{1,{MAX_QUOTATION}}}»|„[^„“”]{{1,{MAX_QUOTATION}}}[“”]|»[^«»]{{1,{MAX_QUOTATION}}}«"
    rf"|「[^「」]{{1,{MAX_QUOTATION}}}」|(?:(?<=:\s)|^)\"[^\"]{{1,{MAX_QUOTATION}}}\"(?=\s*(?:$|\n))",
    re.MULTILINE,
)
_LONG_NAME = 3  # words; what is longer and has a line for itself is somebody's sentence
_LONG_QUOTATION = 400  # characters; a shorter one in a line is read with its sentence


def _drop_tags_and_quotations(text: str) -> str:
    """The text without what is between tags, and without quotations that are longer than a line or a sentence."""
    start = 0
    for _ in range(_MOST_TAGS):
        tag = _TAG.search(text, start)
        if tag is None:
            break
        end = text.lower().rfind(f"</{tag[1].lower()}>") if tag[1].lower() not in _LISTS.inline_tags else -1
        start = tag.end() if end < tag.end() else tag.start()
        if end >= tag.end():
            text = text[: tag.start()] + "\n" + text[end:].partition(">")[2]
    return _QUOTATIONS.sub(_drop_long_quotation, text)


def _drop_long_quotation(quotation: re.Match[str]) -> str:
    is_alone = quotation.string[: quotation.start()].rpartition("\n")[2].strip() == "" and (
        quotation.string[quotation.end() :].partition("\n")[0].strip() == ""
    )
    is_long = "\n" in quotation[0] or len(quotation[0]) > _LONG_QUOTATION
    return " … " if is_long or (is_alone and len(quotation[0].split()) > _LONG_NAME) else quotation[0]


# -- from here on the text is foreign

_SIGNATURE = lazy_pattern(r"--\s?")
_HEADERS = 2  # in a row; and one of them is of mail alone
_COLON = lazy_pattern(r":(?=[\s*_\"'“«„]|$)")
_MOST_COLONS = 40  # of a line that are looked at; one with more is no sentence
_LONGEST_INTRODUCTION = 160  # characters before the colon


def _opens_foreign_text(lines: Lines, number: int) -> bool:
    """Whether a line begins a foreign text that has no visible end."""
    line = lines[number]
    return bool(line.strip()) and bool(
        (number == 0 and _PATTERNS.subject.match(line))
        or _SIGNATURE.fullmatch(line)
        or _is_mail(lines, number)
        or (_PATTERNS.salutation.match(line) and any(map(str.strip, lines[number + 1 :])))
        or _opens_another_text(lines, number)
    )


def _opens_another_text(lines: Lines, number: int) -> bool:
    """Whether a line begins a foreign text even in one that the author claims."""
    line = lines[number]
    if not line.strip():
        return False
    two_lines = line if number + 1 >= len(lines) else f"{line} {lines[number + 1]}"
    return bool(
        _PATTERNS.forwarded.match(line)
        or _PATTERNS.chapter.fullmatch(line)
        or _PATTERNS.prompt.match(line)
        or _PATTERNS.on_wrote.match(line)
        or (line.lstrip()[:3].lower() == "on " and _PATTERNS.on_wrote.match(two_lines))
        or _PATTERNS.known.fullmatch(line)
        or _is_structure(line)
        or ((introduction := _find_introduction(line)) and not line[introduction.end() :].strip(_MARKUP))
    )


def _is_mail(lines: Lines, number: int) -> bool:
    headers = []
    for line in lines[number : number + 8]:
        header = _PATTERNS.header.match(line)
        if header is None:
            break
        headers.append(header)
    return len(headers) >= _HEADERS and any(
        _PATTERNS.mail.fullmatch(header[1]) or "@" in header[2] for header in headers
    )


def _is_structure(line: str) -> bool:
    """Whether a line looks like a fence, a label or a role of a prompt, ours or any other; headings do not count, but
    for those of a prompt."""
    return (not line.lstrip().startswith("#") or line.rstrip().endswith(":")) and AT_START.match(line) is not None


def _find_introduction(line: str) -> re.Match[str] | None:
    """The part of a line that says that what follows is foreign."""
    for colon in islice(_COLON.finditer(line), _MOST_COLONS):
        start = max(colon.start() - _LONGEST_INTRODUCTION, 0)
        introduction = _PATTERNS.introduces.search(line, start, colon.end())
        if introduction is not None and (
            not _PATTERNS.mine.search(line, start, introduction.end() - 1)
            or _PATTERNS.others_wrote.search(introduction[0])
        ):
            return introduction
    return None


_MARKUP = " \t*_\"'“”«»„>"


def _text_before_introduction(line: str) -> str:
    """What the author still says in a line that begins a foreign text: the part before the introduction."""
    introduction = _find_introduction(line)
    return "" if introduction is None or _is_structure(line) else line[: introduction.start()]


def _drop_introduced_text(lines: Lines) -> list[str]:
    """The lines without text that is introduced as foreign in the middle of a line, up to the end of its paragraph."""
    own_lines: list[str] = []
    in_foreign_text = False
    for line in lines:
        in_foreign_text = in_foreign_text and bool(line.strip())
        introduction = None if in_foreign_text else _find_introduction(line)
        if introduction is not None and line[introduction.end() :].strip(_MARKUP):
            text_after = _text_after_quotation(introduction)
            own_lines.append(f"{line[: introduction.start()]}{text_after}")
            in_foreign_text = not text_after
        else:
            own_lines.append("" if in_foreign_text else line)
    return own_lines


def _text_after_quotation(introduction: re.Match[str]) -> str:
    """What follows the only quotation of a line, if the author tells what somebody close to them said."""
    quoted = _PATTERNS.quoted.match(introduction.string, introduction.end())
    return quoted["after"] if quoted is not None and _PATTERNS.of_mine.search(introduction[0]) else ""


_DELIMITER = lazy_pattern(r"\s*+([-=*_<>#\"'+])(?:\s?\1){2,}\s*+")


def _lines_between_delimiters(lines: Lines) -> Iterator[int]:
    """The lines between two lines of nothing but signs. Code fences are handled elsewhere."""
    marks = [number for number, line in enumerate(lines) if _DELIMITER.fullmatch(line)]
    for opening, closing in zip(marks[::2], marks[1::2], strict=False):
        yield from range(opening, closing + 1)


# -- lines that are foreign by themselves, or together with those around them

_FEWEST_HEADS = 2  # lines of a name and a time, where nothing else parts them
_LOGGED = lazy_pattern(r"\b(?:INFO|DEBUG|TRACE|WARN(?:ING)?|ERROR|FATAL)\b|\b\w+=\S")
_TIMING = lazy_pattern(r"\s*+(?:\d\d?:)?\d\d:\d\d[.,]\d{1,3}\s*-->\s*\S")
_COMMENT = lazy_pattern(r"\s*+(?://|/\*|\*/)")


def _chat_lines(lines: Lines) -> Iterator[int]:
    """Lines with a time and a name, or a nick, before what is said."""
    return (number for number, line in enumerate(lines) if _PATTERNS.spoken.match(line) or _COMMENT.match(line))


def _log_lines(lines: Lines) -> Iterator[int]:
    stamped_lines = [number for number, line in enumerate(lines) if _PATTERNS.stamped.match(line)]
    return (number for number in stamped_lines if len(stamped_lines) > 1 or _LOGGED.search(lines[number]))


def _lines_under_heads(lines: Lines) -> Iterator[int]:
    """The lines under a name and a time, a handle or a timing, up to an empty line; with several short heads, the whole
    paragraph of each."""
    short_heads = {number for number, line in enumerate(lines) if _PATTERNS.short_head.match(line)}
    # Several in a row are a timetable.
    lone_heads = {number for number in short_heads if number - 1 not in short_heads and number + 1 not in short_heads}
    for paragraph in _paragraphs(lines):
        if len(lone_heads) >= _FEWEST_HEADS and not lone_heads.isdisjoint(paragraph):
            yield from paragraph
            continue
        heads = (number for number in paragraph if _PATTERNS.head.match(lines[number]) or _TIMING.match(lines[number]))
        yield from range(next(heads, paragraph.stop), paragraph.stop)


def _paragraphs(lines: Lines) -> Iterator[range]:
    """The ranges of lines that have no empty line between them."""
    start = 0
    for number in range(len(lines) + 1):
        if number == len(lines) or not lines[number].strip():
            if number > start:
                yield range(start, number)
            start = number + 1


# A speaker and a colon

_FEWEST_FIELDS = 4  # labels of a list of topics
_CUE = lazy_pattern(r"\s*+([A-Z]{3,}(?:\s[A-Z]+){0,2})(?:\s?\([^()\n]{1,60}\))?\.\s+\S")  # as in printed plays


def _speaker_lines(lines: Lines) -> Iterator[int]:
    """Lines that begin with a speaker: a name and a colon, then an "I". A topic is not a speaker; a name in small
    letters is one only if there are other speakers."""
    matches = {number: match for number, line in enumerate(lines) if (match := _PATTERNS.labelled.match(line))}
    labels = [_strip_number(match["label"]) for match in matches.values()]
    is_survey = any(map(_PATTERNS.asked.fullmatch, labels)) and any(map(_PATTERNS.answered.fullmatch, labels))
    speakers = {
        number: match for number, match in matches.items() if _is_speaker(_strip_number(match["label"]), is_survey)
    }
    if len(labels) == len({*labels}) >= max(_FEWEST_FIELDS, 2 * len(speakers)):
        return  # a list of topics, some of which are not known
    label_counts = Counter(match["label"] for match in speakers.values())
    alternates = len(label_counts) > 1 and max(label_counts.values()) > 1
    for number, match in speakers.items():
        if alternates or _speaks_of_oneself(match, has_others=len(label_counts) > 1):
            yield number


def _speaks_of_oneself(match: re.Match[str], *, has_others: bool) -> bool:
    is_speaker = has_others or all(word[0].isupper() for word in match["label"].split())
    return is_speaker and _PATTERNS.first_person.search(match["speech"]) is not None


def _cue_lines(lines: Lines) -> Iterator[int]:
    """The lines of a play: each begins with who speaks, in capitals and with a stop."""
    cues = {number: cue[1] for number, line in enumerate(lines) if (cue := _CUE.match(line))}
    return iter(cues if len({*cues.values()}) > 1 else ())


def _strip_number(label: str) -> str:
    return label.rstrip("0123456789. ") or label


def _is_speaker(label: str, is_survey: bool) -> bool:
    if _PATTERNS.asked.fullmatch(label) or _PATTERNS.answered.fullmatch(label):
        return is_survey
    return not _is_topic(label)


def _is_topic(label: str) -> bool:
    """Whether a label names a topic, not a person: an ordinary word, or several words that are not all capitalised."""
    words = label.casefold().rstrip(".").split()
    if words[0] in _LISTS.greetings:
        return True
    if len(words) > 1 and not all(word[0].isupper() for word in label.split()):
        return True
    return all(word.strip(".") in _LISTS.topics or is_ordinary(word) for word in words)


# Data: columns, and keys in levels

_DELIMITERS = (",", ";", "\t", "|")
_FEWEST_COLUMNS = 3
_LONGEST_NAME = 3  # words of a column's name, and of the first field under it
_STOP = lazy_pattern(r"[.!?:]")
_BARRED = lazy_pattern(r"\s*+\|[^|\n]++\|.*\|\s*")
_OPENS_LEVEL = lazy_pattern(r"(?:[>|][+-]?)?\s*")


def _table_rows(lines: Lines) -> Iterator[int]:
    """Lines between bars; and runs of lines with the same number of fields, and no space after the delimiter."""
    yield from (number for number, line in enumerate(lines) if _BARRED.fullmatch(line))
    for delimiter in _DELIMITERS:
        run: list[int] = []
        for number, line in enumerate([*lines, ""]):
            fields = len(re.findall(rf"{re.escape(delimiter)}(?!\s)", line)) + 1
            if fields >= _FEWEST_COLUMNS and run and fields == run[-1]:
                run.append(fields)
                continue
            if len(run) > 1:
                yield from range(number - len(run), number)
            run = [fields] if fields >= _FEWEST_COLUMNS else []


def _rows_under_column_names(lines: Lines) -> Iterator[int]:
    """A line of short names, and two or more lines under it that have as many fields and begin with a short one."""
    for paragraph in _paragraphs(lines):
        for number in paragraph[:-2]:
            names = lines[number].split(",")
            rows = (lines[row].split(",") for row in range(number + 1, paragraph.stop))  # seldom looked at
            if (
                len(names) >= _FEWEST_COLUMNS
                and all(_is_short_field(name) and not _STOP.search(name) for name in names)
                and all(len(row) >= len(names) and _is_short_field(row[0]) for row in rows)
            ):
                yield from range(number, paragraph.stop)
                break


def _is_short_field(field: str) -> bool:
    return 0 < len(field.split()) <= _LONGEST_NAME and not _PATTERNS.first_person.search(field)


def _key_tree_lines(lines: Lines) -> Iterator[int]:
    """Runs of keys, and of text under one, in which a key or an item opens a level and others are indented deeper."""
    start = 0
    run: list[re.Match[str]] = []
    for number, line in enumerate([*lines, ""]):
        key = _PATTERNS.key.match(line)
        if key is not None:
            start = start if run else number
            run.append(key)
            continue
        if run and _is_text_under_key(run[-1], "".join(lines[number : number + 2]) if not line.strip() else line):
            continue
        indents = {len(match["indent"]) for match in run}
        if len(run) > 2 and len(indents) > 1 and any(match["item"] or not match["value"] for match in run):
            yield from range(start, number)
        run = []


def _is_text_under_key(key: re.Match[str], line: str) -> bool:
    is_deeper = len(line) - len(line.lstrip()) > len(key["indent"])
    return is_deeper and bool(line.strip()) and _OPENS_LEVEL.fullmatch(key["value"] or "") is not None


# Pages, mails and terminals: a line that no author writes to a chat

_COLUMN_LINE = lazy_pattern(  # one bar may be typed, two bars or a dot between words are not
    r"\s*+\w[^|·•\n]{0,60}\s(?:[·•]|\|[^|\n]{1,60}\s\|)\s[^\n]{1,80}[^\s?|]\s*"
)
_FULL_NAME = lazy_pattern(r"\s*+[A-Z][\w.'’-]*(?:\s[A-Z][\w.'’-]*){1,3}(?:\s\([a-z/]{3,10}\))?,?\s*")
_LONGEST_REQUEST = 120  # characters of a line above a pasted page
_AT_PROMPT = lazy_pattern(r"\s*+(?:[\w.-]{1,30}@[\w.-]{1,30}[:\s]\S{0,40}[$#%]|[$%]|>>>)\s\S")
_TEMPLATE = lazy_pattern(r"\{\{[^{}\n]{1,80}\}\}")


def _page_lines(lines: Lines) -> Iterator[int]:
    """All lines, if one of them is the furniture of a page, or a title or a person's entry, or the end of a letter with
    a full name; but a short line above, with an empty one under it, is what the author asks about the page."""
    first = next(_paragraphs(lines), range(0))
    is_request = len(first) == 1 and len(lines[first.start]) <= _LONGEST_REQUEST and first.stop < len(lines)
    rest = lines[first.stop :] if is_request else lines
    is_letter = any(_PATTERNS.closing.fullmatch(line) and _FULL_NAME.fullmatch(name) for line, name in pairwise(lines))
    if is_letter or any(map(_is_of_a_page, lines)) or _has_title(lines) or (is_request and _has_title(rest)):
        yield from range(first.stop if is_request else 0, len(lines))


def _is_of_a_page(line: str) -> bool:
    if _PATTERNS.of_a_page.fullmatch(line):
        return True
    is_column_line = (
        not {*"|·•"}.isdisjoint(line) and _COLUMN_LINE.fullmatch(line) and len(line.split()) > _FEWEST_COLUMNS
    )
    return bool(is_column_line) and not _PATTERNS.first_person.search(re.split(r"[|·•]", line, maxsplit=1)[0])


def _has_title(lines: Lines) -> bool:
    """Whether a text begins with a title in capitals, or with a person's entry, and goes on."""
    texts = [line.strip() for line in lines if line.strip()]
    if len(texts) < 2 or _PATTERNS.first_person.search(texts[0]):
        return False
    is_title = _PATTERNS.title.fullmatch(texts[0]) and texts[0].split()[0].casefold() not in _LISTS.greetings
    return bool(is_title) or _PATTERNS.of_a_person.fullmatch(texts[0]) is not None


def _terminal_lines(lines: Lines) -> Iterator[int]:
    """The lines from the first prompt of a terminal on, if there are several; and paragraphs with gaps to be filled."""
    prompts = [number for number, line in enumerate(lines) if _AT_PROMPT.match(line)]
    if len(prompts) > 1:
        yield from range(prompts[0], len(lines))
    for paragraph in _paragraphs(lines):
        if any(_TEMPLATE.search(lines[number]) for number in paragraph):
            yield from paragraph


# Verses, and documents

_LIST = lazy_pattern(r"\s*+(?:[-*+•]|\d{1,3}[.)])\s")
_FEWEST_VERSES = 4
_LONGEST_VERSE = 64  # characters
_SHORTEST_VERSE = 16
_UNEVENNESS = 2  # times that the longest verse is as long as the shortest
_CAPITALS = lazy_pattern(r"[A-Z][A-Z0-9 &'’/.-]{1,40}:?")
_OF_ONESELF = lazy_pattern(r"\b(?:I|ME|MY|WE|US|OUR|HI|HELLO|HELP|PLEASE|THANKS|URGENT|IMPORTANT|NOTE)\b")


def _verse_lines(lines: Lines) -> Iterator[int]:
    """All lines, if they are short and rhyme or repeat, or if parts of a song are named."""
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    if any(_PATTERNS.part_of_song.match(line) for line in lines):
        yield from numbers
        return
    texts = [lines[number].strip().casefold().rstrip(".,;:!?…") for number in numbers]
    if len(texts) < _FEWEST_VERSES or any(len(text) > _LONGEST_VERSE or _LIST.match(text) for text in texts):
        return
    if _repeats_or_rhymes(texts):
        yield from numbers


def _repeats_or_rhymes(texts: Sequence[str]) -> bool:
    repeats = [text for text, times in Counter(texts).items() if times > 1 and len(text.split()) > 2]
    ends = [text.split()[-1] for text in texts if text]
    rhymes = sum(_rhymes(end, [*ends[max(at - 2, 0) : at], *ends[at + 1 : at + 3]]) for at, end in enumerate(ends))
    return bool(repeats) or 2 * rhymes >= len(texts)


def _stanza_lines(lines: Lines) -> Iterator[int]:
    """The stanzas of a text that has one whose sentences run on from line to line, all lines of about one length."""
    stanzas = [
        paragraph for paragraph in _paragraphs(lines) if len(paragraph) > 1 and _has_short_lines(lines, paragraph)
    ]
    if any(_runs_on([lines[number].strip() for number in stanza]) for stanza in stanzas):
        for stanza in stanzas:
            yield from stanza


def _has_short_lines(lines: Lines, paragraph: range) -> bool:
    return not any(len(lines[number].strip()) > _LONGEST_VERSE or _LIST.match(lines[number]) for number in paragraph)


def _runs_on(verses: Sequence[str]) -> bool:
    lengths = sorted(map(len, verses))
    if len(verses) < _FEWEST_VERSES or lengths[0] < _SHORTEST_VERSE or lengths[-1] > _UNEVENNESS * lengths[0]:
        return False
    runs = sum(_PATTERNS.runs_on.search(f"{verse}\n{following}") is not None for verse, following in pairwise(verses))
    return 2 * runs >= len(verses)


def _rhymes(end: str, others: Iterable[str]) -> bool:
    rime = _PATTERNS.rime.search(end)
    return rime is not None and any(other != end and len(rime[0]) > 1 and other.endswith(rime[0]) for other in others)


def _document_lines(lines: Lines) -> Iterator[int]:
    """The text under headings in capitals, if there are several; and paragraphs that speak for a company or a court."""
    headings = {
        number
        for number, line in enumerate(lines)
        if _CAPITALS.fullmatch(line.strip()) and not _OF_ONESELF.search(line) and number + 1 < len(lines)
    }
    headings = headings if len(headings) > 1 else set()
    for paragraph in _paragraphs(lines):
        first = next((number for number in paragraph if number in headings), paragraph.stop)
        is_published = any(_PATTERNS.published.search(lines[number]) for number in paragraph)
        yield from paragraph if is_published else range(first, paragraph.stop)


_RULES: tuple[Callable[[Lines], Iterator[int]], ...] = (
    _lines_between_delimiters,
    _chat_lines,
    _log_lines,
    _lines_under_heads,
    _speaker_lines,
    _cue_lines,
    _table_rows,
    _rows_under_column_names,
    _key_tree_lines,
    _page_lines,
    _terminal_lines,
    _verse_lines,
    _stanza_lines,
    _document_lines,
)
_RULES_OF_FORMS = frozenset({_speaker_lines, _table_rows, _rows_under_column_names, _page_lines, _document_lines})
"""Those that do not count in a text that the author claims."""
