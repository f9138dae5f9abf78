"""LangGraph's checkpointer: the state of a thread, after each step, as documents that outlive the process.

A checkpoint and its pending writes are documents below one namespace for each thread; what is larger than a document is
kept in pieces. They belong to the `user_id` of the run's configuration, and `memory.erase(user=…)` removes them with
all else of that person. So a thread is one person's: a run that names another `user_id` is refused.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory, run_async, run_blocking, run_shielded
from everword.documents import CHECKPOINTS
from everword.errors import MissingExtra, ScopeError
from everword.memory.memory import MemoryFace
from everword.memory.operations.documents import MAX_LIMIT, DocumentsFace
from everword.model import Change, Document

try:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        CheckpointTuple,
        get_checkpoint_id,
        get_checkpoint_metadata,
        writes_sort_key,
    )
except ImportError:
    raise MissingExtra("langgraph", "the checkpointer for LangGraph") from None

PIECE = 700_000  # characters of one document
CHECKPOINT = "checkpoint"
Fields = Mapping[str, Any]
Namespace = tuple[str, ...]


class EverwordSaver(BaseCheckpointSaver[int]):
    """A LangGraph checkpointer in a memory: `builder.compile(checkpointer=EverwordSaver(memory))`.

    With a `Memory` the blocking and the asynchronous methods work; with an `AsyncMemory` the asynchronous ones.
    """

    def __init__(self, memory: AnyMemory, *, space: str | None = None, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._memory = memory
        self._space = space

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        return run_blocking(self._memory, partial(self._read_tuple, config))

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        return await run_async(self._memory, partial(self._read_tuple, config))

    def list(
        self, config: Any, *, filter: dict[str, Any] | None = None, before: Any = None, limit: int | None = None
    ) -> Iterator[CheckpointTuple]:
        yield from run_blocking(self._memory, partial(self._read_tuples, config, filter, before, limit))

    async def alist(
        self, config: Any, *, filter: dict[str, Any] | None = None, before: Any = None, limit: int | None = None
    ) -> AsyncIterator[CheckpointTuple]:
        for item in await run_async(self._memory, partial(self._read_tuples, config, filter, before, limit)):
            yield item

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return run_blocking(self._memory, partial(self._put, config, checkpoint, metadata))

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await run_shielded(self._memory, partial(self._put, config, checkpoint, metadata))

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        run_blocking(self._memory, partial(self._put_writes, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await run_shielded(self._memory, partial(self._put_writes, config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        run_blocking(self._memory, partial(self._delete_thread, thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        await run_shielded(self._memory, partial(self._delete_thread, thread_id))

    # -- the documents

    async def _put(self, config: RunnableConfig, checkpoint: Fields, metadata: Any, memory: MemoryFace) -> Any:
        documents = memory.documents(space=self._space)
        thread, head = await self._find_thread(config, documents)
        id = checkpoint["id"]
        fields = {
            "parent": get_checkpoint_id(config),
            "ns": checkpoint_ns(config),
            "metadata": self._pack(get_checkpoint_metadata(config, metadata)),
        }
        owner = owner_of(config, head)
        latest = id if head is None else max(id, head.value["latest"])
        await documents.apply(
            [
                *split_document((*thread, id), CHECKPOINT, fields, self._pack(checkpoint), owner),
                Change(thread[:2], thread[2], {"latest": latest}, owner, ()),
            ]
        )
        return build_config(thread[1], checkpoint_ns(config), id)

    async def _put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
        memory: MemoryFace,
    ) -> None:
        documents = memory.documents(space=self._space)
        thread, head = await self._find_thread(config, documents)
        namespace = (*thread, config["configurable"]["checkpoint_id"])
        changes: list[Change] = []
        for place, (channel, value) in enumerate(writes):
            number = WRITES_IDX_MAP.get(channel, place)
            key = f"{task_id}~{number}"
            if number < 0 or await documents.get(namespace, key) is None:  # what was written once stays
                fields = {"task": task_id, "path": task_path, "number": number, "channel": channel}
                changes += split_document(namespace, key, fields, self._pack(value), owner_of(config, head))
        if changes:
            await documents.apply(changes)

    async def _delete_thread(self, thread_id: str, memory: MemoryFace) -> None:
        documents = memory.documents(space=self._space)
        everything = await documents_below((CHECKPOINTS, thread_id), documents)
        await documents.apply([Change(document.namespace, document.key, None) for document in everything])

    async def _read_tuple(self, config: RunnableConfig, memory: MemoryFace) -> CheckpointTuple | None:
        documents = memory.documents(space=self._space)
        thread, head = await self._find_thread(config, documents)
        id = get_checkpoint_id(config) or (head.value["latest"] if head else None)
        return None if id is None else self._tuple_of(await documents_below((*thread, id), documents))

    async def _read_tuples(
        self,
        config: RunnableConfig | None,
        filter: Fields | None,
        before: RunnableConfig | None,
        limit: int | None,
        memory: MemoryFace,
    ) -> Sequence[CheckpointTuple]:
        documents = memory.documents(space=self._space)
        prefix: Namespace = (CHECKPOINTS,)
        if config is not None:
            thread, _ = await self._find_thread(config, documents)
            has_ns = config["configurable"].get("checkpoint_ns") is not None
            prefix = thread if has_ns else thread[:2]
        groups: dict[Namespace, list[Document]] = {}
        for document in await documents_below(prefix, documents):
            groups.setdefault(document.namespace, []).append(document)
        first = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        tuples: list[CheckpointTuple] = []
        for namespace in sorted(groups, key=lambda namespace: namespace[-1], reverse=True):
            id = namespace[-1]
            if len(namespace) < 4 or (first and id != first) or (end and id >= end):
                continue
            item = self._tuple_of(groups[namespace])
            if item is not None and all(item.metadata.get(name) == value for name, value in (filter or {}).items()):
                tuples.append(item)
        return tuples if limit is None else tuples[:limit]

    async def _find_thread(self, config: RunnableConfig, documents: DocumentsFace) -> tuple[Namespace, Document | None]:
        """The namespace of a run's checkpoints, and the document that says which is the latest."""
        fields = config["configurable"]
        thread_id = str(fields["thread_id"])
        number = hashlib.sha256(checkpoint_ns(config).encode()).hexdigest()[:16]
        head = await documents.get((CHECKPOINTS, thread_id), number)
        user = fields.get("user_id")
        if head is not None and user is not None and head.user != str(user):
            owner = "no user" if head.user is None else "another user"
            raise ScopeError(
                f"the thread {thread_id!r} belongs to {owner}, and a thread can have only one user; use "
                "another thread_id"
            )
        return (CHECKPOINTS, thread_id, number), head

    # -- a checkpoint

    def _tuple_of(self, documents: Sequence[Document]) -> CheckpointTuple | None:
        """A checkpoint from its documents; None if there is only what was written to it."""
        blobs = {document.key: document for document in documents}
        head = blobs.get(CHECKPOINT)
        if head is None:
            return None
        _, thread_id, _, id = head.namespace
        ns, parent = head.value["ns"], head.value["parent"]
        writes = [document for document in documents if "task" in document.value]
        writes.sort(key=lambda write: writes_sort_key(*(write.value[name] for name in ("path", "task", "number"))))
        return CheckpointTuple(
            build_config(thread_id, ns, id),
            self._unpack(joined_text(head, blobs)),
            self._unpack(head.value["metadata"]),
            build_config(thread_id, ns, parent) if parent else None,
            [(w.value["task"], w.value["channel"], self._unpack(joined_text(w, blobs))) for w in writes],
        )

    def _pack(self, value: Any) -> str:
        kind, data = self.serde.dumps_typed(value)
        return f"{kind}:{b64encode(zlib.compress(data)).decode()}"

    def _unpack(self, text: str) -> Any:
        kind, _, data = text.partition(":")
        return self.serde.loads_typed((kind, zlib.decompress(b64decode(data))))


def split_document(namespace: Namespace, key: str, fields: Fields, text: str, owner: str | None) -> list[Change]:
    """The documents of a value: the first has its fields, and each a piece of the text."""
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    first = Change(namespace, key, {**fields, "pieces": len(pieces), "text": pieces[0]}, owner, ())
    others = [
        Change(namespace, f"{key}~{place}", {"text": piece}, owner, ()) for place, piece in enumerate(pieces) if place
    ]
    return [first, *others]


def joined_text(head: Document, documents: Mapping[str, Document]) -> str:
    others = (documents[f"{head.key}~{place}"].value["text"] for place in range(1, head.value["pieces"]))
    return str(head.value["text"]) + "".join(others)


async def documents_below(prefix: Namespace, documents: DocumentsFace) -> Sequence[Document]:
    everything: list[Document] = []
    while page := await documents.search(prefix, limit=MAX_LIMIT, offset=len(everything)):
        everything += page
    return everything


def owner_of(config: RunnableConfig, head: Document | None) -> str | None:
    user = config["configurable"].get("user_id")
    return str(user) if user is not None else head.user if head else None


def checkpoint_ns(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns") or "")


def build_config(thread_id: str, ns: str, id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": id}}
