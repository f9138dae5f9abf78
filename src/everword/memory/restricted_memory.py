"""What somebody with rights may ask of a memory, send to it and be shown of it.

`memory.seen_by(access)` is a memory that shows and changes only what one caller may. Server, tools, bots and pages hold
nothing else, so that none of them has a check to forget. A key needs the rights of an operation, in a space that it
opens. A key of one user gets that user's memory: what the user said, and what was said in channels they have spoken in,
but not what others said of them in private. What they may not see does not exist for them, so an answer is narrowed by
what it holds, whichever operation gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from everword.errors import Forbidden
from everword.facts.stored_facts import hears_channel
from everword.log.access import PROGRAM, Access, Viewer
from everword.log.checks_and_seals import check_items
from everword.log.operation_declarations import Operation
from everword.memory.operations.facts import missing_fact
from everword.memory.operations.people import check_display_names
from everword.memory.runtime import Runtime
from everword.model import Added, Batch, Draft, Fact, FactChange, Forgotten, Hit, Message, RefusedFact
from everword.ports import Tx

OWN_ID = "a user's key cannot choose message ids, which are unique in the whole space; send a `platform_id` instead"
NAMED_MESSAGE = "this key is for one user, so `message` must be left out; give the text"


# -- what may be asked


def check_call(access: Access, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What an operation of a memory is called with; raises Forbidden if this access may not do that."""
    values = operation.arguments(args, kwargs)
    access.check_operation(operation.name)
    if "space" in values:
        values["space"] = access.resolve_space(values["space"])
    if operation.about_all:
        access.check_unbound()
        if "space" not in values:
            access.check_all_spaces()
    elif "user" in values and "{id}" not in operation.path:  # whose a named conversation is says its scope
        values["user"] = access.resolve_user(values["user"])
    if values.get("speaker") is not None:
        access.check_user(values["speaker"])
    if values.get("message") is not None and access.is_bound:
        raise Forbidden("not_you", NAMED_MESSAGE)
    return values


# -- what may be sent


async def add_batches(runtime: Runtime, batches: Iterable[Batch], access: Access) -> list[list[Added]]:
    """Add messages for whoever has this access, all of them in one transaction, and wake the views."""
    own_batches: list[Batch] = check_items("batches", batches, Batch)
    if access is not PROGRAM:
        own_batches = [own_batch(access, batch) for batch in own_batches]
        metadatas = [draft.metadata for batch in own_batches for draft in batch.drafts]
        for space in {batch.space for batch in own_batches}:
            await check_display_names(runtime, access, space, *metadatas)
    results = await runtime.append_messages(own_batches)
    runtime.wake(*{batch.space for batch in own_batches})
    now = runtime.parts.clock.now()
    return [
        [
            replace(
                addition,
                message=addition.message.as_said
                if access.is_reader
                else message_as_sent(addition.message.as_said, draft, batch.user, now),
            )
            for draft, addition in zip(batch.drafts, additions, strict=True)
        ]
        for batch, additions in zip(own_batches, results, strict=True)
    ]


def own_batch(access: Access, batch: Batch) -> Batch:
    """A batch by this access; a key of one user accepts only messages by and to that user."""
    for draft in batch.drafts:
        if draft.id is not None and access.is_bound:
            raise Forbidden("not_you", OWN_ID)
        if draft.user is not None:
            access.check_user(draft.user)
        if draft.author is not None and draft.role == "user":
            access.check_user(draft.author)
    space = access.resolve_space(batch.space)
    return replace(batch, space=space, user=access.resolve_user(batch.user), by=access.key_id)


def message_as_sent(message: Message, draft: Draft, user: str | None, now: datetime) -> Message:
    """A message with what its request said of it, and of what is stored only its place, its id and what became of it:
    for a key that may not read. Secrets are marked in a text that this request brought, and in no other."""
    expires_at = draft.expires_at
    return Message(
        space=message.space,
        conversation=message.conversation,
        turn=message.turn,
        id=message.id,
        role=draft.role,
        author=draft.author or draft.user or user or draft.role,
        user=draft.user or user,
        content=draft.content,
        time=draft.time or now,
        platform_id=draft.platform_id,
        metadata=draft.metadata,
        expires_at=now + expires_at if isinstance(expires_at, timedelta) else expires_at,
        kept=message.kept,
        degraded=message.degraded,
        secrets=message.secrets if message.kept in ("new", "edited") else (),
        reply_to=draft.reply_to,
    )


# -- what may be shown


async def narrow_answer(runtime: Runtime, space: str, answer: Any, viewer: Viewer) -> Any:
    """An answer without what the viewer may not see."""
    if isinstance(answer, Fact):
        if not viewer.sees(answer):
            raise missing_fact(space, answer.user, answer.id)
    elif isinstance(answer, FactChange):
        return replace(answer, retired=tuple(fact for fact in answer.retired if viewer.sees(fact)))
    elif isinstance(answer, Forgotten):
        return replace(answer, facts=tuple(fact for fact in answer.facts if viewer.sees(fact)))
    elif isinstance(answer, list):
        kept = [item for item in answer if is_shown(viewer, item)]
        messages = [item for item in kept if isinstance(item, Message)]
        return await visible_messages(runtime, space, messages, viewer) if messages else kept
    return answer


async def visible_messages(runtime: Runtime, space: str, messages: Sequence[Message], viewer: Viewer) -> list[Message]:
    places = sorted({message.conversation for message in messages})

    def read_heard_channels(tx: Tx) -> set[str]:
        return {place for place in places if hears_channel(tx, space, place, viewer)}

    channels = await runtime.read(read_heard_channels)
    return [
        message
        for message in messages
        if viewer.person in (message.user, message.author) or message.conversation in channels
    ]


def is_shown(viewer: Viewer, item: Any) -> bool:
    """Whether an item of a list may be shown: what was said of a person in private may not."""
    if isinstance(item, Hit):
        return item.fact is None or viewer.sees(item.fact)
    return viewer.sees(item) if isinstance(item, Fact | RefusedFact) else True
