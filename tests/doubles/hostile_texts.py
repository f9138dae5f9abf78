"""Texts that are hard to read for rules: what is repeated without end, and what is odd."""

from __future__ import annotations

# What makes a pattern go back over what it has read, repeated: signs, white space, words that lead somewhere, openings
# that are never closed, scripts without spaces, marks that join. Each is one family of texts.
UNITS = (
    " ", "\t", "\n", "\r", "\xa0", "\u2003", "\u3000", "\u2028", "\x85", "\x0b", "\x0c", "\u200b", "\u200d", ".", ",",
    ";", ":", "!", "?", "\u2026", "-", "\u2013", "\u2014", "_", "=", "+", "*", "/", "\\", "|", "&", "%", "$", "#",
    "@", "~", "^", "<", ">", "(", ")", "[", "]", "{", "}", '"', "'", "`", "\u201c", "\u201d", "\u2018", "\u2019",
    "\xab", "\xbb", "\xbf", "\xa1", "\u3002", "\u3001", "\uff0c", "\uff1b", "\uff1a", "\uff01", "\uff1f", "\u300c",
    "\u300d", "a", "I", "\xe9", "\xdf", "\u0130", "\u4e2d", "\u306e", "\u0e01", "\u0627", "\u05d0", "\u0905",
    "\uac00", "\u044f", "\u03c9", "1", "0", "\u0663", "\xb2", "\U0001f642", "\U0001f469", "\U0001f1e6", "\u0301",
    "\u0e31", "\ufe0f", "a ", "a.", "a,", "a\n", "a-", "a'", "a:", "a=", "a;", "a/", "a_", "1 ", "1.", "1,", "1/",
    "1-", "1:", "A ", "Aa", "A.", "aB", "a1", ". ", ", ", "? ", "! ", "- ", "* ", "> ", "# ", "| ", "\n\n", "\r\n",
    " \n", "\n ", "\t ", "..\n", "\n-", "\n*", "\n>", "\n1.", "= ", "=;", "a=b;", "a: b\n", "a, ", "b, and ", "()",
    "[]", "{}", "<>", '""', "''", "``", "**", "__", "~~", "(a", "[a", "{a", "<a", '"a', "'a", "`a", "a)", "a]", "a}",
    "a>", "[[", "]]", "((", "```", "```\n", "===", "---", "\n---\n", "=== ", "<|", "|>", "&amp;", "&#x41;", "&lt;",
    "<b>", "</b>", '<a href="', "<!--", "-->", "<![CDATA[", "]]>", "[/INST]", "[INST]", "<|im_start|>", "System: ",
    "user: ", "assistant:\n", "u1: hi\n", "@u1 ", "#tag ", "http://", "http://a.b/", "www.", "a@b.c ", "x@",
    "https://a.b/c?d=e&", "1,000,", "1.5 ", "$1 ", "5% ", "10:30 ", "2020-01-01 ", "1/2/2020 ", "01.02.2003 ", "May ",
    "may 5 ", "5 May ", "January, ", "last ", "last week ", "next ", "ago ", "2 days ago ", "in 5 ", "since ",
    "since May ", "until ", "from ", "between ", "from May to June ", "the ", "the the ", "and ", "and and ", "or ",
    "but ", "because ", "that ", "which ", "who ", "if ", "not ", "no ", "yes ", "I ", "I am ", "I'm ", "I like ",
    "I live in ", "my ", "my name is ", "my dog ", "my wife's ", "Al's ", "my mother's brother's ", "is ", "was ",
    "called ", "named ", "works at ", "in ", "at ", "of ", "to ", "with ", "for ", "don't ", "always ", "never ",
    "remember ", "forget ", "remember that ", "Bot, ", "bot ", "please ", "what ", "what is ", "how many ",
    "do you know ", "tell me ", "hello ", "thanks ", "ok ", "haha", "hahaha ", "by the way ", "Dr. ", "e.g. ",
    "U.S.A. ", "J. ", "A.B.", "No. 5 ", "Mr. Smith ", "Rome ", "New York ", "New ", "Anna ", "Anna and ", "Anna, ",
    "AbC", "aBcD", "camelCase", "snake_case ", "a.b.c.", "v1.2.3 ", "C++ ", "C# ", "a&b", "AT&T ", "l'eau ", "qu'",
    "d'", "o'clock ", "1st ", "2nd of ", "3x ", "4h ", "100k ", "\u20ac5 ", "5\u20ac ", "10kg ", "## a\n", "1) ",
    "(1) ", "a) ", "\u2022 ", "\u2013 ", "\u2026 ", "...", "?!", "!?", "\u6f22\u5b57", "\u6f22\u5b57\u3002",
    "\u3072\u3089", "\u30ab\u30ca", "\ud55c\uad6d ", "\u0e44\u0e17\u0e22",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 ", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 ",
    "\u05e9\u05dc\u05d5\u05dd ", "\u0939\u093f\u0928\u094d\u0926\u0940 ",
    "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 ", "\u03b5\u03bb ", "e\u0301", "a\u0301\u0301", "\U0001f469\u200d",
    "\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "\u200b\u200d", "\ufeff", "\u202e",
    "=a", "; ", "key = value; ", "key: value, ", "-=", "=-", "a = , ", '{"', '{"a": ', '{"a": [', "[1,", '\\"',
    "\\u0041", "\\n", "true,", "null,", "{},", '"a": "b", ', "[REQUEST", "[REQUEST_TIER", "[REQUEST_TIER:",
    "[REQUEST_TIER: m1, 2]", "[SEARCH_EPISODIC: a]", "[SEARCH_EPISODIC:", "[SEARCH", "<tiers>", "</tiers>", "[R",
    "REQUEST_TIER ", "[ REQUEST", "[[REQUEST_TIER", "TIERS:", "USER1:", "m1 ", "m12,", "(m1)", "> a\n", "> > ",
    "On Mon, Al wrote:\n", "| a | b |\n", "|-|-|\n", "\n\n\n", "a\n\nb ", "- a\n", "  - a\n", "1. a\n", "a:\n",
    "a:\n- ", '"a" ', "'a' ", "\u201ca\u201d ", "it's ", "can't ", "won't ", "he's ", "Al said ", "she said that ",
    'I said "', "to be or ", "either a or ", "both a and ", "not only ", "more than ", "less than ", "about 5 ",
    "almost ", "very very ", "really ", "so so ", "no no ", "a lot of ", "kind of ", "the day before ",
    "two weeks before May ", "the weekend after ", "half a ", "a couple of ", "few ", "several ", "one two ",
    "Monday ", "on Monday ", "Mon-Fri ", "mid-", "mid-May ", "early ", "Christmas ", "new year's eve ", "summer of ",
    "summer 2020 ", "Q1 ", "19", "20", "1999", "2020 ", "year ", "week of ", "born ", "born in 1999 ", "aged ",
    "years old ", "allergic to ", "speak ", "speaks German, ", "a dog and a cat and ", "cats, dogs, ", "vegetarian ",
    "favourite ", "my favorite colour is ", "used to ", "moved from ", "moved to ", "hate ", "love ", "want to ",
    "need to ", "call me ", "I'm a ", "I work as a ", "a x ", "x y, z ",
)  # fmt: skip

# What a rule may stumble over, once.
ODD = (
    "",
    " ",
    "\n",
    "last week",
    "yesterday, last month, last year, in 999 years, 999 years ago, the weekend after next Monday",
    "I moved to Rome last week, in 0 days, 99999999999 years ago, since 1066",
    "on 31 February 9999 and 2024-02-30 and 0000-00-00 and 29 February",
    "\u00b2\u00b3 years ago, \u0661\u0662 days ago, in \u00bd year",
    "9" * 400 + " days ago",
    "my nationality is   , my age is \u0663",
    "\ufeff\u202e\u2028\x85\x0b\x0c\x1f\x7f",
    '{"facts": [' + "{" * 300,
    "&#0;&#xFFFFFFFF;&#1114112;",
    "\u0130stanbul \u0149 \u01f0 \ufb03 \u2167 \u3007",
    "[REQUEST_TIER: m1, \u00b2]",
    "x1/2/2020 " * 120,
)


def text_of(unit: str, size: int) -> str:
    """A text of about so many characters: the unit again and again, between two letters."""
    return "x" + unit * max(size // len(unit), 1) + "x"
