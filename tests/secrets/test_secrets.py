"""G10: secrets stay where they were pasted. Each mode of the setting `secrets`, and everything that reads a memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from engine_doubles import CountingEmbedder
from outages import without_file
from pasted_secrets import SECRETS, drafts, pasted_texts, secrets_in
from raw_tables import change, path_of, rows_of

from everword import Draft, InvalidInput, Memory, SecretMark, SecretRefused
from everword.config import Settings
from everword.context.reply_markers import InlineTiers, render_inline
from everword.errors import ModelBusy
from everword.memory.transfer import TABLES, copy_store
from everword.model import Batch
from everword.testing import ScriptedLLM
from everword.topics.stored_topics import decode_pack
from everword.wiring import open_store

COUNT = len(SECRETS)
PASSWORD = "tr0ub4dor&3x"
TOLD = f"My password is {PASSWORD} since last week."
MASKED = "My password is [secret: password] since last week."
SMALL: dict[str, Any] = {"window_turns": 11, "level_episodes": 2, "active_episodes": 2}


def raw_rows(url: str, *left_out: str) -> str:
    """All rows of the tables of a store but for some, and what is packed in them."""
    tables = [table for table in (*TABLES, "answers") if table not in left_out]
    packs = (
        [] if url.startswith("json:") else [decode_pack(bytes(row["packed"])) for row in rows_of(url, "topic_packs")]
    )
    return repr([packs, *(rows_of(url, table) for table in tables)])


def read_everything(memory: Memory, user: str) -> dict[str, object]:
    """What a program can read of a memory, but for the messages of the conversation in which they were said."""
    other = memory.conversation("elsewhere", user=user)
    chat = memory.conversation("chat", user=user)
    queries = ("password", "the OpenAI key", "my card number", "tulips")
    hits = [hit for query in queries for hit in memory.search(query, user=user, limit=50, kinds=("message", "fact"))]
    facts = memory.facts(user=user)
    topics = chat.topics(faded=True)
    return {
        "hits": [asdict(hit) for hit in hits],
        "contexts": [other.context(query).messages for query in queries],
        "receipts": [asdict(other.context(query).receipt) for query in queries],
        "facts": [*facts, *memory.refused_facts(user=user)],
        "sources": [asdict(message) for fact in facts for message in memory.why(fact.id, user=user)],
        "profile": memory.profile(user=user),
        "answers": [asdict(memory.ask(query, user=user)) for query in queries],
        "topics": [topics, *(chat.get_full_topic_history(topic.id) for topic in topics)],
        "topic contexts": [chat.get_topic_context(topic.id) for topic in topics],
        "episodes": chat.episodes(),
        "standalone": chat.standalone("and the second one?"),
        "digests": memory.digests(),
        "export": [asdict(message) for message in memory.export()],
        "stats": memory.stats(),
        "audit": memory.audit(),
    }


@pytest.mark.every_store
def test_ten_pasted_secrets_are_nowhere_but_in_their_own_conversation(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """G10: by the built-in rules, on every store."""
    caplog.set_level(logging.DEBUG)
    embedder = CountingEmbedder()
    with Memory(store_url, embedder=embedder, **SMALL) as memory:
        chat = memory.conversation("chat", user="alex")
        added = chat.extend(drafts())
        marked = [entry.message for entry in added if entry.message.secrets]
        assert [message.content for message in marked] == pasted_texts(), "`add` says what it found"
        channel = memory.conversation("channel")
        channel.extend(Draft("user", text, author="alex") for text in pasted_texts())
        channel.add("user", "It was a fine day with much wind.", author="kim")
        memory.settle()
        read = read_everything(memory, "alex") | {"channel": channel_readings(memory)}
        assert {name: found for name, value in read.items() if (found := secrets_in(value))} == {}
        assert "[secret: " in str(read["hits"]) + str(read["contexts"]), "or nothing was found at all"
        recent = [message.content for message in chat.history(limit=30)]
        assert recent == [draft.content for draft in drafts()]
        last = chat.context("What did I just say?").messages
        assert secrets_in(last) == list(SECRETS)[-len(secrets_in(last)) :] != [], (
            "recent messages are as they were said"
        )
        assert sum(memory.stats().secrets.values()) == 2 * COUNT
        assert memory.verify().ok
    assert secrets_in(raw_rows(store_url, "messages")) == []
    assert len(secrets_in(raw_rows(store_url))) == COUNT, "the log keeps what was said"
    assert secrets_in(embedder.texts) == []
    assert secrets_in(caplog.text) == []


def channel_readings(memory: Memory) -> list[object]:
    """What another conversation and the digests show of a channel."""
    with_kim = memory.conversation("kim's", user="kim")
    return [with_kim.context("What about the password in the channel?").messages, memory.digests(week=True)]


def test_no_prompt_for_memory_work_holds_a_secret(store_url: str) -> None:
    """G10: a model is asked for facts, tiers, titles, summaries, digests and answers. The one that replies reads its
    own conversation."""
    model = ScriptedLLM(default=ModelBusy("later"))
    chat_model = ScriptedLLM(default="I see.")
    embedder = CountingEmbedder()
    options = SMALL | {"batch_seconds": 0}
    with Memory(store_url, chat=chat_model, memory=model, embedder=embedder, **options) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(drafts())
        chat.reply(TOLD)
        chat.command(f"Everword, remember that {TOLD}")
        memory.remember(f"Alex has the token {'ghp_' + 'q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM'}", user="alex")
        memory.forget(f"that the password is {PASSWORD}", user="alex")
        channel = memory.conversation("channel")
        channel.extend(Draft("user", text, author="alex") for text in pasted_texts())
        memory.settle()
        memory.digests()
        memory.ask(f"Is {TOLD}", user="alex")
        chat.standalone(f"and is it {PASSWORD}? my password is {PASSWORD}")
        chat.add_user_message(f"Again: {TOLD}")
        memory.settle()
    prompts = [str(request.messages) for request in model.requests]
    assert len(prompts) >= 10
    assert [secrets_in(prompt) for prompt in prompts if secrets_in(prompt)] == []
    assert any("[secret: " in prompt for prompt in prompts)
    assert secrets_in(embedder.texts) == []
    assert secrets_in(str(chat_model.requests[0].messages)) != []
    assert secrets_in(raw_rows(store_url, "messages")) == []


def test_what_a_model_writes_with_its_reply_keeps_no_secret(store_url: str) -> None:
    """G10: tiers that come with a reply repeat the message, and a reply may repeat the secret itself."""
    block = render_inline(InlineTiers(f"password = {PASSWORD}", f"The password is {PASSWORD}.", "key = value", ""))
    long_text = f"{TOLD} " + "The tulips near the old windmill are in flower again this year. " * 12
    model = ScriptedLLM([f"Your password is {PASSWORD}.\n{block}", f"It was {PASSWORD}, I think."])
    with Memory(store_url, chat=model) as memory:
        chat = memory.conversation("chat", user="alex")
        reply = chat.reply(long_text)
        assert PASSWORD in reply.text
        chat.add("user", f"No, {PASSWORD} is what I had before.")
        chat.reply("What was it again?")
        plain = chat.add("user", "I mean the old one.", platform_id="p9")
        assert chat.edit("p9", f"I mean {PASSWORD}").secrets[0].kind == "password"
        assert plain.secrets == ()
        assert PASSWORD in chat.history()[-1].content
        memory.settle()
        assert secrets_in(memory.conversation("other", user="alex").context("my password?").messages) == []
    assert secrets_in(raw_rows(store_url, "messages", "changes")) == []


# -- the modes


@pytest.mark.every_store
def test_redact_writes_a_placeholder_and_nothing_else(store_url: str) -> None:
    """G10: not by adding, editing, importing, nor by holding a message; the store's files never had it."""
    with Memory(store_url, secrets="redact") as memory:
        chat = memory.conversation("chat", user="alex")
        message = chat.add("user", TOLD, metadata={"call": {"password": "hunter2xyz"}}, platform_id="p1")
        assert (message.content, message.metadata) == (MASKED, {"call": {"password": "[secret: password]"}})
        assert message.secrets[0] == SecretMark("password", 15, 33)
        again = chat.extend([Draft("user", TOLD, platform_id="p1")], on_edit="version")
        assert [entry.kept for entry in again] == ["known"]
        assert chat.edit(1, "No, my password is s3cond-one!").content == "No, my password is [secret: password]"
        memory.remember("Alex has the password th1rd-one!", user="alex")
        memory.settle()
        assert memory.stats().secrets == {"password": 2}
        assert memory.verify().ok
    found = raw_rows(store_url)
    assert [word for word in (PASSWORD, "hunter2xyz", "s3cond-one!", "th1rd-one!") if word in found] == []


def test_refuse_names_the_kind_and_the_place_and_never_the_secret(store_url: str) -> None:
    with Memory(store_url, secrets="refuse") as memory:
        chat = memory.conversation("chat", user="alex")
        refusals: list[Callable[[], object]] = [
            lambda: chat.add("user", TOLD),
            lambda: chat.add("user", "see the call", metadata={"call": {"password": PASSWORD}}),
            lambda: chat.extend([Draft("user", "hello"), Draft("user", TOLD)]),
            lambda: memory.add_many([Batch("default", "chat", "alex", [Draft("user", TOLD)])]),
            lambda: memory.remember(TOLD, user="alex"),
            lambda: memory.add_fact("identity", "password", PASSWORD, user="alex"),
            lambda: chat.add_user_message(TOLD),
            lambda: chat.command(f"Everword, remember that {TOLD}"),
        ]
        errors = []
        for attempt in refusals:
            with pytest.raises(SecretRefused) as refused:
                attempt()
            errors.append(str(refused.value))
        assert [error for error in errors if PASSWORD in error or "password" not in error] == []
        assert errors[0].startswith("content: contains a secret (password, characters 16 to 27)")
        assert "call/password in the metadata" in errors[1]
        assert errors[2].startswith("message 2: content: ")
        assert chat.history() == []
        chat.add("user", "hello", platform_id="p1")
        with pytest.raises(SecretRefused):
            chat.edit("p1", TOLD)
        with pytest.raises(SecretRefused):
            chat.extend([Draft("user", TOLD, platform_id="p1")], on_edit="version")
        assert [message.content for message in chat.history()] == ["hello"]
    assert PASSWORD not in raw_rows(store_url)


def test_ids_in_metadata_stay_as_they_are(store_url: str) -> None:
    """Programs find their way by them, and nobody signs in with one."""
    session = "4f1d7a52-9c1e-4c36-8d6f-0f3c2a9be771"
    metadata = {"session": session, "reply_to": "1098765432109876543", "openai": {"tool_call_id": "call_9f86d081884c"}}
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alex").add("user", "The tulips are in flower.", metadata=metadata)
        assert memory.search("tulips", user="alex")[0].message.metadata == metadata


def test_keep_does_nothing(store_url: str) -> None:
    with Memory(store_url, secrets="keep") as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", TOLD).secrets == ()
        assert memory.search("password", user="alex")[0].message.content == TOLD
        assert memory.stats().secrets == {}


def test_a_setting_of_another_name_is_refused(store_url: str) -> None:
    with pytest.raises(Exception, match="secrets must be one of mask, redact, refuse, keep"):
        Memory(store_url, secrets="hide")


# -- what people tell by hand


def test_facts_by_hand_hold_no_secret_and_no_placeholder(store_url: str) -> None:
    with Memory(store_url) as memory:
        fact = memory.add_fact("identity", "location", "Delft", user="alex").fact
        assert fact is not None
        for value in (PASSWORD, "[secret: password]"):
            with pytest.raises(InvalidInput, match="secret") as refused:
                memory.add_fact("identity", "password", value, user="alex")
            assert PASSWORD not in str(refused.value)
        with pytest.raises(InvalidInput, match="placeholder"):
            memory.edit_fact(fact.id, "[secret: API key]", user="alex")
        assert [known.value for known in memory.facts(user="alex")] == ["Delft"]


def test_a_statement_a_name_and_a_tag_have_placeholders(store_url: str) -> None:
    key = "ghp_" + "q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM"
    with Memory(store_url) as memory:
        (statement,) = memory.remember(f"Alex's GitHub token is {key}", user="alex")
        assert "[secret: token]" in statement.text
        memory.add_name(key, user="alex")
        chat = memory.conversation("chat", user="alex")
        topic = chat.add_user_message("The tulips near the old windmill are in flower.")
        chat.tag_topic(topic.id, key)
        memory.settle()
    assert key not in raw_rows(store_url, "messages")


# -- edits, moves, copies, erasure


@pytest.mark.every_store
def test_a_marked_message_is_edited_moved_copied_and_erased_like_any_other(
    kind: str, addresses: Callable[[str, str], str]
) -> None:
    """G10: its marks follow it, the chain proves it with and without them."""
    url = addresses(kind, "memory")
    with Memory(url, **SMALL) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", TOLD, platform_id="p1", metadata={"note": f"password: {PASSWORD}"})
        chat.edit("p1", f"Now {TOLD}")
        assert [entry.kept for entry in chat.extend([Draft("user", f"Now {TOLD}", platform_id="p1")])] == ["known"]
        masked = list(memory.export(conversation="chat"))
        assert [entry.kept for entry in chat.extend([Draft("user", masked[0].content, platform_id="p1")])] == ["known"]
        memory.move_conversation("chat", to="talk")
        memory.merge_users("alex", into="sam")
        talk = memory.conversation("talk", user="sam")
        assert talk.history()[0].content == f"Now {TOLD}"
        assert memory.search("password", user="sam")[0].message.content == f"Now {MASKED}"
        memory.undo_move(memory.audit()[0].id)
        assert memory.verify().ok
        memory.settle()
    assert PASSWORD not in raw_rows(url, "messages", "changes")
    other = "json" if kind == "sqlite" else "sqlite"
    copy = addresses(other, "copy")
    source = open_store(url, Settings())
    target = open_store(copy, Settings())
    copy_store(source, target, lambda *_: None)
    source.close()
    target.close()
    with Memory(copy) as memory:
        (message,) = memory.conversation("talk", user="alex").history()
        assert (message.content, len(message.secrets)) == (f"Now {TOLD}", 2)
        assert PASSWORD not in str(memory.search("password", user="alex"))
        assert memory.verify().ok
        assert [one.content for one in memory.export(secrets=True)] == [f"Now {TOLD}"]
        memory.erase(user="alex")
        assert memory.verify().ok
        assert memory.stats().secrets == {}
    assert PASSWORD not in raw_rows(copy)
    assert PASSWORD.encode() not in path_of(copy).read_bytes()


def test_a_phrase_that_is_a_secret_can_be_deleted(store_url: str) -> None:
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alex").add("user", TOLD)
        assert memory.delete(query=PASSWORD).messages == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
def test_another_process_reads_the_same_placeholders(store_url: str) -> None:
    """G10: marks are in the store. A program that does not look for secrets itself shows none that are marked."""
    with Memory(store_url) as memory, Memory(store_url, secrets="keep") as other:
        memory.conversation("chat", user="alex").add("user", TOLD)
        other.settle()
        assert other.search("password", user="alex")[0].message.content == MASKED
        assert other.conversation("chat", user="alex").history()[0].content == TOLD


# -- old secrets


@pytest.mark.every_store
def test_redaction_leaves_no_older_version_and_the_chain_holds(store_url: str) -> None:
    """G10: messages of before, their older versions, and all that was made of them."""
    with Memory(store_url, secrets="keep", **SMALL) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(drafts())
        chat.add("user", f"{TOLD} My name is Alex.", platform_id="p1")
        chat.edit("p1", "My name is Alex.")
        memory.remember(TOLD, user="alex")
        memory.settle()
        assert secrets_in(raw_rows(store_url, "messages")) != []
    with Memory(store_url, **SMALL) as memory:
        preview = memory.redact(dry_run=True)
        assert (preview.messages, preview.id, preview.conversations) == (COUNT + 2, "", {"chat": 11, "profile:alex": 1})
        assert memory.redact(user="nobody", dry_run=True).messages == 0
        redaction = memory.redact()
        assert (redaction.messages, redaction.kinds) == (preview.messages, preview.kinds)
        assert memory.redact().messages == 0
        assert memory.verify().ok
        memory.settle()
        chat = memory.conversation("chat", user="alex")
        last = chat.history(versions=True)[-1]
        assert (last.content, last.versions) == ("My name is Alex.", ())
        assert "Alex" in [fact.value for fact in memory.facts(user="alex")]
        assert memory.audit()[0].kind == "redact"
        assert [entry.kept for entry in chat.extend([Draft("user", "My name is Alex.", platform_id="p1")])] == ["known"]
        assert secrets_in([asdict(message) for message in memory.export(secrets=True)]) == []
        assert memory.verify().ok
    assert secrets_in(raw_rows(store_url)) == []


def test_what_comes_again_after_a_redaction_is_known_and_stays_out(store_url: str) -> None:
    """G10: a platform that delivers the message again does not bring the secret back."""
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", TOLD, platform_id="p1")
        memory.redact()
        again = chat.extend([Draft("user", TOLD, platform_id="p1")], on_edit="version")
        assert [(entry.kept, entry.message.content) for entry in again] == [("known", MASKED)]
    assert PASSWORD not in raw_rows(store_url)


def test_tampering_with_a_redacted_message_is_noticed(store_url: str) -> None:
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alex").add("user", TOLD)
        memory.redact()
    change(store_url, "messages", lambda rows: rows[0].update(content="My password is [secret: nothing]."))
    with Memory(store_url) as memory:
        assert [fault.problem for fault in memory.verify().faults] == ["is not what its last change made of it"]


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("mode", ["mask", "redact"])
def test_held_messages_are_treated_like_written_ones(store_url: str, mode: str) -> None:
    """G10: while the store takes nothing, what is held is shown in its own conversation, and written as it would be."""
    store = open_store(store_url, Settings(busy_seconds=1))
    with Memory(store, hold_messages=100, followers=False, secrets=mode) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "The tulips near the old windmill are in flower.")
        with without_file(store):
            held = chat.add("user", TOLD)
            assert held.degraded is not None
            assert held.content == (TOLD if mode == "mask" else MASKED)
            other = memory.conversation("other", user="alex")
            assert PASSWORD not in str(other.context("my password").messages)
            assert PASSWORD not in str(memory.search("password", user="alex"))
        memory.settle()
        assert chat.history()[-1].content == held.content
        assert memory.verify().ok
    assert (PASSWORD in raw_rows(store_url)) == (mode == "mask")
