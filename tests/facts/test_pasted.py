"""What somebody pastes is kept and found, and is no fact of theirs (F15): by rules, and by a model that says it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_doubles import settle_facts

from everword import Memory
from everword.testing import ScriptedLLM

PASTED = {
    "a mail": "what do I answer?\n\nFrom: Kim <kim@example.org>\nSubject: hi\n\nMy name is Kim. I live in Ghent.",
    "a chat": "[12/05/24, 10:32:11] Kim: I live in Ghent\n[12/05/24, 10:33:02] Tom: my name is Tom",
    "a page": "<div><p>My name is Kim.</p><p>I live in Ghent.</p></div>",
    "a section of memory": "=== WHAT IS KNOWN ===\n- my name is Kim\n- I live in Ghent\n=== END WHAT IS KNOWN ===",
    "what another wrote": "here is what she wrote:\n\nMy name is Kim. I live in Ghent.",
}
CLAIMED = json.dumps(
    {
        "facts": [
            {"category": "identity", "key": key, "value": value, "about": "user", "status": "now", "since": "",
             "until": "", "confidence": 1.0, "importance": 1.0}
            for key, value in (("name", "Kim"), ("location", "Ghent"), ("diet", "vegan"))
        ]
    }
)  # fmt: skip


@pytest.mark.parametrize("name", PASTED)
@pytest.mark.parametrize("asked", ["rules", "a model"])
@pytest.mark.checklist("F15")
def test_it_is_no_fact_and_stays_in_the_log(tmp_path: Path, name: str, asked: str) -> None:
    model = None if asked == "rules" else ScriptedLLM(default=CLAIMED)
    with Memory(str(tmp_path / "a.db"), memory=model, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", PASTED[name])
        chat.add("user", f"I'm vegan.\n\n{PASTED[name]}")
        settle_facts(memory)
        assert [(fact.key, fact.value) for fact in memory.facts(user="alex")] == [("diet", "vegan")]
        assert chat.history()[0].content == PASTED[name]
        assert memory.search("Ghent", user="alex")
