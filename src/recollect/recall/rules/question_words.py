"""Words of a question that say little about what it asks for.

"What kind of art does Ann make?" is about art: "kind" stands in many messages that are about something else. Words that
frame a question count little. Verbs that go with anything ("get", "take"), and words like "current" and "total", say
something now and then: they count half. The lists are of English.
"""

from __future__ import annotations

FRAME = 0.3
"""What a word counts that frames a question,"""
LIGHT = 0.5
"""and what one counts that goes with anything."""
FRAME_WORDS = (
    "kind kinds type types sort sorts different various certain particular specific example item items thing things"
    " according conversation conversations chat chats mention mentioned discuss discussed talk talked think thinking"
    " wonder wondering describe described"
)
LIGHT_WORDS = (
    "come came find found get getting got give gave go going gone went happen happened like say said see saw take took"
    " tell told want wanted amount current currently previous previously total"
)
