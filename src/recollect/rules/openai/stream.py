"""Passing: a model's answer on its way to a client, chunk by chunk in OpenAI's shapes, without what is not for it.

Each choice's text goes through a `Holding`, so that no marker and no block is seen, however the stream was cut.
Everything else of a chunk passes as it is: tool calls, reasoning, whatever a server adds. How a choice ended is held
back until the round is over, because the model may be asked again: to the client, all rounds are one answer, with one
id, one beginning and one end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.rules.openai.messages import clean
from recollect.rules.prompt.fences import seen
from recollect.rules.prompt.reply_filter import Held, Holding

BREAK = "\n\n"  # between what was said before the model asked for more and what it said after
CUT_OFF = ("length", "content_filter")


@dataclass(slots=True)
class Choice:
    """One of the answers a request may have, usually the only one."""

    index: int
    holding: Holding = field(default_factory=Holding)
    held: Held | None = None
    begun: bool = False
    apart: str = ""
    pieces: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    sound: str = ""
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    fragments: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)

    def feed(self, text: str) -> str:
        """What may be shown now."""
        return self._show(self.holding.feed(text))

    def finish(self) -> None:
        self.held = self.holding.finish()
        for (place, name, key), pieces in self.fragments.items():
            self.calls[place][name][key] = "".join(pieces)

    def rest(self) -> str:
        """What is still to be shown when this was all. Behind the block stands the answer, or nothing new."""
        assert self.held is not None
        blank = not seen(self.held.markers.text).strip()
        return self._show(self.held.after if blank else self.held.text_to_show)

    def again(self) -> None:
        """The model is asked once more."""
        self.holding, self.held, self.end = Holding(), None, {}
        self.apart = BREAK if seen(self.shown).strip() else ""

    def call(self, part: Mapping[str, Any]) -> None:
        """A piece of a tool call. What it leaves empty stays as the first one named it."""
        place = part.get("index")
        place = place if isinstance(place, int) else len(self.calls)
        known = self.calls.setdefault(place, {})
        for name, value in part.items():
            if name in ("function", "custom"):
                if isinstance(value, Mapping):
                    self._called(place, name, value)
            elif name != "index" and (value or name not in known) and value is not None:
                known[name] = value

    def _called(self, place: int, name: str, part: Mapping[str, Any]) -> None:
        known = self.calls[place].setdefault(name, {})
        for key, value in part.items():
            if key in ("arguments", "input") and isinstance(value, str):
                self.fragments.setdefault((place, name, key), []).append(value)
            elif value or key not in known:
                known[key] = value

    def aloud(self, said: Mapping[str, Any]) -> None:
        """What is said beside the text, or a piece of it: that it refuses, or the words of a sound and its id."""
        refusal, sound = said.get("refusal"), said.get("audio")
        if refusal and isinstance(refusal, str):
            self.refusals.append(refusal)
        if isinstance(sound, Mapping):
            id, words = sound.get("id"), sound.get("transcript")
            self.sound = self.sound or (id if isinstance(id, str) else "")
            self.transcript += [clean(words)] if isinstance(words, str) else []

    @property
    def words(self) -> list[str]:
        """What the client was told, in words; in pieces, since putting them together takes longer each time."""
        return self.pieces or self.refusals or self.transcript

    @property
    def shown(self) -> str:
        """What the client was shown of the text."""
        return "".join(self.pieces)

    @property
    def asks(self) -> bool:
        """Whether it asks for more."""
        return self.held is not None and self.held.markers.asks

    @property
    def said_nothing(self) -> bool:
        """Whether there is nothing in it for the client."""
        assert self.held is not None
        text = self.held.markers.text + self.held.after
        return not (self.calls or self.refusals or self.sound or seen(text).strip() or seen(self.shown).strip())

    @property
    def complete(self) -> bool:
        """Whether it came to its own end."""
        return self.finish_reason not in CUT_OFF

    @property
    def finish_reason(self) -> str:
        """How it ended, as the client sees it: a block that was cut off leaves the answer before it whole."""
        told = self.end.get("finish_reason") or ("tool_calls" if self.calls else "stop")
        inline = self.held is not None and self.held.inline is not None
        return "stop" if told == "length" and inline else str(told)

    def _show(self, text: str) -> str:
        if text:
            text, self.apart = self.apart + text, ""
            self.pieces.append(text)
        return text


class Passing:
    """The whole of an answer."""

    def __init__(self, frame: Mapping[str, Any]) -> None:
        """`frame` is what stands around the choices where a server leaves it out."""
        self.choices: dict[int, Choice] = {}
        self.frame: dict[str, Any] = {}
        self._usual = {**frame, "object": "chat.completion.chunk"}
        self.usages: list[Any] = [None]

    @property
    def first(self) -> Choice:
        return self._at(0)

    def _at(self, index: int) -> Choice:
        found = self.choices.get(index)
        if found is None:
            found = self.choices[index] = Choice(index)
        return found

    def feed(self, chunk: Mapping[str, Any]) -> dict[str, Any] | None:
        """The chunk as the client may see it; None if there is nothing in it now."""
        self.usages[-1] = chunk.get("usage") or self.usages[-1]
        frame = {name: value for name, value in chunk.items() if name not in ("choices", "usage")}
        if chunk["choices"]:  # before them, a server may send something that names nothing
            self.frame = self.frame or framed(frame, self._usual)
        choices = [passed for choice in chunk["choices"] if (passed := self._choice(choice))]
        return {**frame, **self.frame, "choices": choices} if choices else None

    def _choice(self, choice: Mapping[str, Any]) -> dict[str, Any] | None:
        one = self._at(choice["index"])
        delta = {name: value for name, value in choice["delta"].items() if name not in ("role", "content")}
        one.aloud(delta)
        for part in delta.get("tool_calls") or ():
            if isinstance(part, dict):
                one.call(part)
        if isinstance(delta.get("function_call"), dict):
            one.call({"index": -1, "function": delta["function_call"]})
        text = one.feed(choice["delta"].get("content") or "")
        others = {name: value for name, value in choice.items() if name not in ("delta", "finish_reason")}
        delta = {name: value for name, value in delta.items() if value is not None}
        if not one.begun:
            delta = {"role": "assistant", "content": text, **delta}
        elif text:
            delta = {"content": text, **delta}
        if choice.get("finish_reason") is not None:
            passed = ("logprobs",) if delta else ()  # with the last word, and not again with the end
            one.end = {name: value for name, value in others.items() if name not in passed}
            one.end["finish_reason"] = choice["finish_reason"]
        if not delta and not (others.get("logprobs") and not one.end):
            return None
        one.begun = True
        return {**others, "delta": delta, "finish_reason": None}

    def finish(self) -> None:
        """The round is over."""
        for one in (self.first, *self.choices.values()):
            if one.held is None:
                one.finish()

    def again(self) -> None:
        """The model is asked once more."""
        self.usages.append(None)
        for one in self.choices.values():
            one.again()

    def last(self) -> list[dict[str, Any]]:
        """The chunks that end the answer."""
        chunks = []
        self.frame = self.frame or self._usual
        for one in sorted(self.choices.values(), key=lambda one: one.index):
            text = one.rest()
            if text or not one.begun:
                delta = {"content": text} if one.begun else {"role": "assistant", "content": text}
                chunks.append(self._chunk({"index": one.index, "delta": delta, "finish_reason": None}))
            chunks.append(self._chunk({"index": one.index, **one.end, "delta": {}, "finish_reason": one.finish_reason}))
        return chunks

    def cost(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        """The chunk that says what the answer cost."""
        return {**self.frame, "choices": [], "usage": dict(usage)}

    def _chunk(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.frame, "choices": [dict(choice)]}


class Answer:
    """An answer that came in one: the last round's is the client's."""

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.reply = reply
        self.choices = [self._choice(choice) for choice in reply["choices"]]

    @property
    def first(self) -> Choice:
        return self.choices[0]

    def _choice(self, choice: Mapping[str, Any]) -> Choice:
        message = choice["message"]
        one = Choice(choice["index"], end=dict(choice))
        one.aloud(message)
        for part in message.get("tool_calls") or ():
            if isinstance(part, dict):
                one.call({**part, "index": len(one.calls)})
        if isinstance(message.get("function_call"), dict):
            one.call({"index": -1, "function": message["function_call"]})
        one.feed(message.get("content") or "")
        one.finish()
        return one

    def last(self, frame: Mapping[str, Any], usage: Mapping[str, Any]) -> dict[str, Any]:
        """The answer as the client sees it."""
        usual = {**frame, "object": "chat.completion"}
        choices = []
        for one, choice in zip(self.choices, self.reply["choices"], strict=True):
            one.rest()
            message = {"role": "assistant", **choice["message"]}
            if message.get("content") is not None:
                message["content"] = one.shown
            choices.append({**choice, "message": message, "finish_reason": one.finish_reason})
        return {**framed(self.reply, usual), "choices": choices, "usage": dict(usage)}


def framed(frame: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """A frame with nothing missing that clients rely on."""
    return {**usual, **{name: value for name, value in frame.items() if value or name not in usual}}


def added(usages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What several rounds cost together, in all the detail that a server gives."""
    total: dict[str, Any] = {}
    for usage in usages:
        for name, value in usage.items():
            if isinstance(value, Mapping):
                before = total.get(name)
                total[name] = added([before if isinstance(before, Mapping) else {}, value])
            elif isinstance(value, int | float) and not isinstance(value, bool):
                before = total.get(name, 0)
                total[name] = value + (before if isinstance(before, int | float) else 0)
            elif name not in total:
                total[name] = value
    return total
