"""A model's reply on its way to a client, chunk by chunk in OpenAI's shapes, without what is not for the client.

Each choice's text goes through a `ReplyFilter`, so that no marker and no block is shown, however the stream was cut.
Everything else of a chunk passes as it is: tool calls, reasoning, whatever a server adds. The end of a choice is held
back until the round is over, because the model may be called again: to the client, all rounds are one reply, with one
id, one beginning and one end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everword.context.reply_markers import ReplyEnd, ReplyFilter
from everword.openai.messages import clean_text
from everword.text.escaping import strip_invisible

BREAK = "\n\n"  # between the text before the model asked for more and the text after
CUT_OFF = ("length", "content_filter")


@dataclass(slots=True)
class Choice:
    """One of the choices of a reply, usually the only one."""

    index: int
    holding: ReplyFilter = field(default_factory=ReplyFilter)
    held: ReplyEnd | None = None
    has_begun: bool = False
    separator: str = ""
    pieces: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    sound: str = ""
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    fragments: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)

    def feed(self, text: str) -> str:
        """The text that may be shown now."""
        return self._show(self.holding.feed(text))

    def finish(self) -> None:
        self.held = self.holding.finish()
        for (place, name, key), pieces in self.fragments.items():
            self.calls[place][name][key] = "".join(pieces)

    def show_rest(self) -> str:
        """Show the rest of the text after the last round. After the block stands the answer, or nothing new."""
        assert self.held is not None
        blank = not strip_invisible(self.held.markers.text).strip()
        return self._show(self.held.after if blank and self.held.after else self.held.text_to_show)

    def start_round(self) -> None:
        """Prepare for another round of the model."""
        self.holding = ReplyFilter()
        self.held = None
        self.end = {}
        self.separator = BREAK if strip_invisible(self.visible_text).strip() else ""

    def add_call(self, part: Mapping[str, Any]) -> None:
        """Add a piece of a tool call. An empty field keeps its first value."""
        place = part.get("index")
        place = place if isinstance(place, int) else len(self.calls)
        tool_call = self.calls.setdefault(place, {})
        for name, value in part.items():
            if name in ("function", "custom"):
                if isinstance(value, Mapping):
                    self._add_call_part(place, name, value)
            elif name != "index" and (value or name not in tool_call) and value is not None:
                tool_call[name] = value

    def _add_call_part(self, place: int, name: str, part: Mapping[str, Any]) -> None:
        fields = self.calls[place].setdefault(name, {})
        for key, value in part.items():
            if key in ("arguments", "input") and isinstance(value, str):
                self.fragments.setdefault((place, name, key), []).append(value)
            elif value or key not in fields:
                fields[key] = value

    def add_refusal_or_sound(self, message: Mapping[str, Any]) -> None:
        """Add a refusal, or the transcript and the id of a sound, or a piece of them."""
        refusal = message.get("refusal")
        sound = message.get("audio")
        if refusal and isinstance(refusal, str):
            self.refusals.append(refusal)
        if isinstance(sound, Mapping):
            id = sound.get("id")
            words = sound.get("transcript")
            self.sound = self.sound or (id if isinstance(id, str) else "")
            self.transcript += [clean_text(words)] if isinstance(words, str) else []

    @property
    def words(self) -> list[str]:
        """The words that the client got, in pieces, since joining them takes longer each time."""
        return self.pieces or self.refusals or self.transcript

    @property
    def visible_text(self) -> str:
        """The text that the client was shown."""
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
        return not (
            self.calls
            or self.refusals
            or self.sound
            or strip_invisible(text).strip()
            or strip_invisible(self.visible_text).strip()
        )

    @property
    def complete(self) -> bool:
        """Whether it came to its own end."""
        return self.finish_reason not in CUT_OFF

    @property
    def finish_reason(self) -> str:
        """The reason for the end, as the client sees it: an answer is complete even if the block after it was cut."""
        reason = self.end.get("finish_reason") or ("tool_calls" if self.calls else "stop")
        inline = self.held is not None and self.held.inline is not None
        return "stop" if reason == "length" and inline else str(reason)

    def _show(self, text: str) -> str:
        if text:
            text = self.separator + text
            self.separator = ""
            self.pieces.append(text)
        return text


class ReplyStream:
    """A reply that comes in chunks, over all rounds."""

    def __init__(self, frame: Mapping[str, Any]) -> None:
        """`frame` has the default values of the fields around the choices."""
        self.choices: dict[int, Choice] = {}
        self.frame: dict[str, Any] = {}
        self._usual = {**frame, "object": "chat.completion.chunk"}
        self.usages: list[Any] = [None]

    @property
    def first(self) -> Choice:
        return self._choice_at(0)

    def _choice_at(self, index: int) -> Choice:
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = Choice(index)
        return choice

    def feed(self, chunk: Mapping[str, Any]) -> dict[str, Any] | None:
        """The chunk as the client may see it; None if nothing of it may be shown now."""
        self.usages[-1] = chunk.get("usage") or self.usages[-1]
        frame = {name: value for name, value in chunk.items() if name not in ("choices", "usage")}
        if chunk["choices"]:  # before them, a server may send a chunk without id and model
            self.frame = self.frame or fill_frame(frame, self._usual)
        choices = [passed_choice for choice in chunk["choices"] if (passed_choice := self._pass_choice(choice))]
        return {**frame, **self.frame, "choices": choices} if choices else None

    def _pass_choice(self, choice: Mapping[str, Any]) -> dict[str, Any] | None:
        state = self._choice_at(choice["index"])
        delta = {name: value for name, value in choice["delta"].items() if name not in ("role", "content")}
        state.add_refusal_or_sound(delta)
        for part in delta.get("tool_calls") or ():
            if isinstance(part, dict):
                state.add_call(part)
        if isinstance(delta.get("function_call"), dict):
            state.add_call({"index": -1, "function": delta["function_call"]})
        text = state.feed(choice["delta"].get("content") or "")
        others = {name: value for name, value in choice.items() if name not in ("delta", "finish_reason")}
        delta = {name: value for name, value in delta.items() if value is not None}
        if not state.has_begun:
            delta = {"role": "assistant", "content": text, **delta}
        elif text:
            delta = {"content": text, **delta}
        if choice.get("finish_reason") is not None:
            already_sent = ("logprobs",) if delta else ()  # with the last word, and not again with the end
            state.end = {name: value for name, value in others.items() if name not in already_sent}
            state.end["finish_reason"] = choice["finish_reason"]
        if not delta and not (others.get("logprobs") and not state.end):
            return None
        state.has_begun = True
        return {**others, "delta": delta, "finish_reason": None}

    def finish(self) -> None:
        """End the round."""
        for choice in (self.first, *self.choices.values()):
            if choice.held is None:
                choice.finish()

    def start_round(self) -> None:
        """Prepare for another round of the model."""
        self.usages.append(None)
        for choice in self.choices.values():
            choice.start_round()

    def last_chunks(self) -> list[dict[str, Any]]:
        """The chunks that end the reply."""
        chunks = []
        self.frame = self.frame or self._usual
        for choice in sorted(self.choices.values(), key=lambda choice: choice.index):
            text = choice.show_rest()
            if text or not choice.has_begun:
                delta = {"content": text} if choice.has_begun else {"role": "assistant", "content": text}
                chunks.append(self._chunk({"index": choice.index, "delta": delta, "finish_reason": None}))
            chunks.append(
                self._chunk({"index": choice.index, **choice.end, "delta": {}, "finish_reason": choice.finish_reason})
            )
        return chunks

    def usage_chunk(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        """The chunk with the usage of the reply."""
        return {**self.frame, "choices": [], "usage": dict(usage)}

    def _chunk(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.frame, "choices": [dict(choice)]}


class CompleteReply:
    """A reply that came in one piece: the client gets that of the last round."""

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.reply = reply
        self.choices = [self._read_choice(choice) for choice in reply["choices"]]

    @property
    def first(self) -> Choice:
        return self.choices[0]

    def _read_choice(self, choice: Mapping[str, Any]) -> Choice:
        message = choice["message"]
        state = Choice(choice["index"], end=dict(choice))
        state.add_refusal_or_sound(message)
        for part in message.get("tool_calls") or ():
            if isinstance(part, dict):
                state.add_call({**part, "index": len(state.calls)})
        if isinstance(message.get("function_call"), dict):
            state.add_call({"index": -1, "function": message["function_call"]})
        state.feed(message.get("content") or "")
        state.finish()
        return state

    def build_reply(self, frame: Mapping[str, Any], usage: Mapping[str, Any]) -> dict[str, Any]:
        """The reply as the client sees it."""
        usual = {**frame, "object": "chat.completion"}
        choices = []
        for state, choice in zip(self.choices, self.reply["choices"], strict=True):
            state.show_rest()
            message = {"role": "assistant", **choice["message"]}
            if message.get("content") is not None:
                message["content"] = state.visible_text
            choices.append({**choice, "message": message, "finish_reason": state.finish_reason})
        return {**fill_frame(self.reply, usual), "choices": choices, "usage": dict(usage)}


def fill_frame(frame: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """A frame with defaults for the fields that clients rely on."""
    return {**usual, **{name: value for name, value in frame.items() if value or name not in usual}}


def sum_usages(usages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of the usages of several rounds, in all the detail that a server gives."""
    total: dict[str, Any] = {}
    for usage in usages:
        for name, value in usage.items():
            if isinstance(value, Mapping):
                before = total.get(name)
                total[name] = sum_usages([before if isinstance(before, Mapping) else {}, value])
            elif isinstance(value, int | float) and not isinstance(value, bool):
                before = total.get(name, 0)
                total[name] = value + (before if isinstance(before, int | float) else 0)
            elif name not in total:
                total[name] = value
    return total
