"""A filter for a reply on its way to the user: it holds back everything that is not for the user.

A model's reply may carry markers, and ends in a block with the tiers of the exchange:

    <recollect>
    …
    </recollect>

Neither is ever shown, in whole or in part, however the stream was cut into chunks: the output of all `feed`s and of
`finish`, joined, is `markers.strip` of the whole input. Everything else comes out once, in order, and as soon as no
further character could make it part of a marker: a single bracket waits for one character, white space for the word
after it.

The block may be written in any case, with spaces in its tags, without its closing tag, or as a code block fenced
with ```recollect. Text after it is not shown, since models that go on after their last line only repeat themselves;
markers there count. Markers in the block do not count: it quotes the user. But a small model may write the block first
and its answer after it: so that text is kept, for a reply that has nothing else to show.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.context.rules.requests_for_more import Cutter, ParsedReply, strip


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The end of a reply: what is still to be shown, and what was held back.

    `markers.text` is all that was shown, from the first chunk on. `inline` is the content of the last block that
    carries tiers, None if there was none. `after` is the text behind the blocks, without markers; it was not shown.
    """

    text_to_show: str
    markers: ParsedReply
    inline: str | None
    after: str = ""


class ReplyFilter:
    """A filter for one reply: `feed` it each chunk, show what it returns, then `finish` once."""

    def __init__(self) -> None:
        self._cutter = Cutter()
        self._shown: list[str] = []

    def feed(self, chunk: str) -> str:
        """The text that may be shown now."""
        text = self._cutter.feed(chunk)
        self._shown.append(text)
        return text

    def finish(self) -> ReplyEnd:
        """The rest of the text after the last chunk, and everything that was held back."""
        last_text = self._cutter.finish()
        inline, outside = self._cutter.inline()
        return ReplyEnd(
            last_text, self._cutter.result("".join(self._shown) + last_text), inline, strip(outside).strip()
        )
