"""An answer that is no sentence by itself, as the sentence it stands for: "Any allergies?" "Yes, peanuts."

The question says what is stated and the answer supplies the value; the sentence is then read like any other. Only a
question that is known here is completed, and only by a short answer to it: what is said after it is read as it stands.
"""

from __future__ import annotations

import re

from recollect.facts.english.words import STATEMENT_WORDS, any_of, load_patterns
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.sentences import limit_text, sentences

_ANSWERS = load_patterns(__package__, "answers")

MAX_ANSWER = 10
"""Words of an answer that is completed; a longer one is a sentence."""

MAX_QUESTION = 14
"""Words of a question; in a longer one, what is asked is not sure."""


# Each question with the sentence for a value, and the sentences for a bare "yes" and a bare "no".
_QUESTIONS: tuple[tuple[re.Pattern[str], str, str, str], ...] = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), value, yes, no)
    for pattern, value, yes, no in (
        (rf"(?:^(?:and\s|so\s|also\s)?(?:any|what|which)|{_ANSWERS.do_you_have.pattern}|\byour|\bare\sthere\sany)(?:\s?\w+\s)?\s?allerg(?:y|ies)\b"
         r"|\bare\syou\sallergic\sto\s(?:any|some)", "I am allergic to {}.", "", "I have no allergies."),
        (r"\bare\syou\sallergic\sto\s(?P<what>[\w\s-]{2,40})", "I am allergic to {}.", "I am allergic to {what}.",
         "I am not allergic to {what}."),
        (r"\bwhere\s(?:do\syou\slive|are\syou\s(?:based|living|located))|\bwhich\s(?:city|country|town)\s(?:do|are)\syou\b",
         "I live in {}.", "", ""),
        (r"\bwhere\s(?:are\syou\s(?:originally\s)?from|do\syou\scome\sfrom)", "I am from {}.", "", ""),
        (r"\bwhat(?:['’]s|\sis)\syour\sname|\bwhat\s(?:should|can|may)\si\scall\syou|\bwho\sare\syou",
         "My name is {}.", "", ""),
        (r"\bhow\sold\sare\syou|\bwhat(?:['’]s|\sis)\syour\sage", "I am {} years old.", "", ""),
        (r"\bwhat\sdo\syou\sdo(?:\sfor\s(?:a\sliving|work))?\s*$|\bwhat(?:['’]s|\sis)\syour\s(?:job|profession)",
         "I work as {}.", "", ""),
        (r"\b(?:where|who)\sdo\syou\swork(?:\sfor)?", "I work at {}.", "", ""),
        (r"\bwhen(?:['’]s|\sis)\syour\sbirthday", "My birthday is {}.", "", ""),
        (rf"{_ANSWERS.do_you_have.pattern}pets?\b", "I have {}.", "", "I have no pets."),
        (rf"{_ANSWERS.do_you_have.pattern}(?:kids|children)\b", "I have {}.", "", "I have no children."),
        (r"\b(?:what|which)\slanguages?\sdo\syou\sspeak", "I speak {}.", "", ""),
        (r"\bwhat(?:['’]s|\sis)\syour\s(?P<what>(?:favou?rite|preferred)\s[\w\s]{2,30}?|time\s?zone|birthday|e-?mail"
         r"|nickname|surname|last\sname)\s*$", "My {what} is {}.", "", ""),
        (rf"\bare\syou\s(?:an?\s)?(?P<what>{any_of(STATEMENT_WORDS.ASKED_STATES)})\b",
         "I am {}.", "I am {what}.", "I am not {what}."),
        (r"\bdo\syou\s(?:like|enjoy)\s(?P<what>[\w\s-]{3,40}?)\s*$", "I like {}.", "I like {what}.",
         "I do not like {what}."),
        (r"\bdo\syou\s(?P<what>speak\s[\w\s]{3,20}|smoke|drink\salcohol|eat\smeat)\s*$", "", "I {what}.",
         "I do not {what}."),
    )
)  # fmt: skip


def complete_answer(text: str, question: str) -> str:
    """The sentence that a text states as an answer to a question, or an empty text."""
    asked = _last_question(question)
    if not asked:
        return ""
    first = next((sentence.text for sentence in sentences(limit_text(text)) if sentence.text.strip()), "")
    if len(asked.split()) > MAX_QUESTION or not first or first.rstrip().endswith("?"):
        return ""
    for pattern, value_form, yes_form, no_form in _QUESTIONS:
        match = pattern.search(asked)
        if match:
            what = (match.groupdict().get("what") or "").strip()
            if _ANSWERS.vague.search(what):
                return ""
            return _complete(first.strip(), value_form, yes_form, no_form).replace("{what}", what)
    return ""


def _last_question(text: str) -> str:
    """The question a text ends with, without its mark; other sentences may follow it."""
    questions = [sentence.text for sentence in sentences(limit_text(text)) if sentence.is_question]
    return questions[-1].rstrip("?! ") if questions else ""


def _complete(answer: str, value_form: str, yes_form: str, no_form: str) -> str:
    no = _ANSWERS.no.match(answer)
    yes = _ANSWERS.yes.match(answer)
    value = answer[no.end() if no else yes.end() if yes else 0 :]
    lead = _ANSWERS.lead.match(value)
    value = (value[lead.end() :] if lead else value).strip(" .!,")
    if yes and _ANSWERS.name.fullmatch(value):
        value = ""  # who asked: "Yep, John!"
    if _ANSWERS.sentence.match(value) or _ANSWERS.polite.match(value) or len(value.split()) > MAX_ANSWER:
        return ""
    if no:
        return no_form if not value else ""
    if not value:
        return yes_form if yes else ""
    return value_form.replace("{}", value)
