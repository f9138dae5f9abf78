"""The topics of a conversation for programs without an event loop: one line each, as in `sync`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recollect.model import ChatMessage
from recollect.model.topics import Topic, TopicHit, TopicMessage, TopicStats
from recollect.rules.topics.topics import IMPORTANCE

if TYPE_CHECKING:
    from recollect.engine.conversation import AsyncConversation
    from recollect.engine.private_loop import LoopThread


class BlockingTopicalConversation:
    """The part of a conversation that knows about topics."""

    _inner: AsyncConversation
    _private: LoopThread

    def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        """Keep a user's message and give it to its topic, which it may open or bring back. Returns the topic.

        `importance`, from 0 to 1, is what the topic is worth to whoever says it.
        """
        return self._private.wait(self._inner.add_user_message(text, importance, author=author, time=time))

    def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Keep a reply and give it to the topic it follows. Returns the topic."""
        return self._private.wait(self._inner.add_assistant_message(text, time=time))

    def topics(self, *, faded: bool = False) -> list[Topic]:
        """What is talked about, the most present first; with `faded`, also what has left the active set."""
        return self._private.wait(self._inner.topics(faded=faded))

    def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """What to send of a topic: its summary, if it has one, and the messages of its active set. Without an id, of
        the topic that is being talked of; empty if nothing was said yet."""
        return self._private.wait(self._inner.get_topic_context(topic_id))

    def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        """Every message of a topic, in order; without `include_compressed`, only those of its active set."""
        return self._private.wait(self._inner.get_full_topic_history(topic_id, include_compressed))

    def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """A topic in figures; without an id, the one that is being talked of."""
        return self._private.wait(self._inner.get_topic_stats(topic_id))

    def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """The topics of this conversation that a query is about, best first, faded ones too: by what was said in
        them, by their titles and by their tags."""
        return self._private.wait(self._inner.search_topics(query, limit=limit))

    def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Make two topics one: the other becomes part of the first, which is returned. `undo_merge` takes it out."""
        return self._private.wait(self._inner.merge_topics(topic_id, other))

    def undo_merge(self, topic_id: str) -> Topic:
        """Take a topic out of the one it has become part of, by itself or by `merge_topics`; the two stay apart from
        now on. Returns it."""
        return self._private.wait(self._inner.undo_merge(topic_id))

    def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Give a topic tags of your own, or with `remove` take them away. They are searched, and outlive a rebuild."""
        return self._private.wait(self._inner.tag_topic(topic_id, *tags, remove=remove))

    def feedback(self, topic_id: str, score: int) -> Topic:
        """Say that a topic matters (+1) or does not (-1): its importance moves, and with it how long it stays."""
        return self._private.wait(self._inner.feedback(topic_id, score))
