"""Small files in the published formats of LoCoMo and LongMemEval, made up for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Said = tuple[str, str]


def locomo_turn(id: str, speaker: str, text: str, caption: str | None = None) -> dict[str, Any]:
    picture = {} if caption is None else {"img_url": ["https://example.org/1.jpg"], "blip_caption": caption}
    return {"dia_id": id, "speaker": speaker, "text": text, **picture}


def locomo_question(text: str, evidence: list[str], category: int = 4, **answer: Any) -> dict[str, Any]:
    return {"question": text, "evidence": evidence, "category": category, **(answer or {"answer": "as said"})}


def locomo_record(name: str = "conv-a") -> dict[str, Any]:
    """Two friends, two sessions, five questions, three of them with flawed evidence."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Tomas",
            "session_1_date_time": "1:56 pm on 8 May, 2031",
            "session_1": [
                locomo_turn("D1:1", "Ines", "Yesterday I adopted a greyhound from the shelter."),
                locomo_turn("D1:2", "Tomas", "Lovely! What is it called?"),
                locomo_turn("D1:3", "Ines", "Biscuit. Look!", "a photo of a thin dog on a sofa"),
                locomo_turn("D1:4", "Tomas", "I have begun to learn the cello."),
            ],
            "session_2_date_time": "12:05 am on 2 June, 2031",
            "session_2": [
                locomo_turn("D2:1", "Tomas", "My first cello concert is in the town hall."),
                locomo_turn("D2:2", "Ines", "I will bring my marmalade cake."),
            ],
            "session_3_date_time": "9:00 am on 1 July, 2031",
        },
        "qa": [
            locomo_question("Which dog did Ines adopt from the shelter?", ["D1:1"]),
            locomo_question("What does the photo of the dog on the sofa show?", ["D1:3"], 1),
            locomo_question("What has Tomas told about his cello?", ["D1:4; D2:01"], 1, answer=7),
            locomo_question("Who brings a marmalade cake?", ["D:2:2", "D9:9"], 5, adversarial_answer="Tomas"),
            locomo_question("Is Ines patient?", [], 3),
        ],
    }


def longmemeval_turn(role: str, content: str, answer: bool = False) -> dict[str, Any]:
    return {"role": role, "content": content, "has_answer": answer}


def longmemeval_record(
    id: str, question: str, sessions: dict[str, list[dict[str, Any]]], **more: Any
) -> dict[str, Any]:
    return {
        "question_id": id,
        "question_type": "single-session-user",
        "question": question,
        "answer": "as said",
        "question_date": "2031/06/10 (Tue) 23:07",
        "haystack_dates": [f"2031/0{month}/04 (Sun) 08:30" for month in range(1, len(sessions) + 1)],
        "haystack_session_ids": list(sessions),
        "haystack_sessions": list(sessions.values()),
        "answer_session_ids": [name for name, said in sessions.items() if any(turn["has_answer"] for turn in said)],
        **more,
    }


def longmemeval_records() -> list[dict[str, Any]]:
    """Three questions with answers, one without; a session that two share, and two that share only their id."""
    canoe = [
        longmemeval_turn("user", "I bought a red canoe at the harbour market.", True),
        longmemeval_turn("assistant", "A fine choice: wear a life vest and tell somebody where you are going."),
    ]
    saffron = [
        longmemeval_turn("user", "How much saffron belongs in a risotto for four?"),
        longmemeval_turn("assistant", "Thirty threads, steeped in warm stock, are plenty for four people.", True),
    ]
    violin = [longmemeval_turn("user", "My violin teacher is called Ottoline.", True)]
    shared = [{**turn, "has_answer": False} for turn in canoe]
    return [
        longmemeval_record("q1", "Where did I buy my canoe?", {"s1": canoe}),
        longmemeval_record("q2", "How many threads of saffron for four people?", {"s2": saffron, "s1": shared}),
        longmemeval_record("q3", "What is my violin teacher called?", {"s2": violin}, question_type="multi-session"),
        longmemeval_record("q4_abs", "Where did I buy my kayak?", {"s1": shared}),
    ]


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
