"""The facts view: what users say about themselves and others, as rows with the time and the speaker of each fact.

Facts come only from messages of users: what an assistant says, and what memory itself put into a context, is no source.
The memory model reads batches of lines, each batch in one call, with the lines before it and what is known of the
people. Rules read what states nothing, what is very old, and everything if there is no model. What waits
for the model is read by rules meanwhile (`first_facts`); the model's reading takes the place of theirs, message by
message. What was found is weighed against the known facts in one transaction under the person's lock: also with
concurrent writers, a key with a single value has one active fact, and all others are history. What somebody asked to be
forgotten stays forgotten, even if the facts are rebuilt. What is shown to the model as known is what those who hear the
conversation may see, so that nothing private comes back as something said before many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from everword.facts import findings, prompts, stored_facts
from everword.facts.english.finder import find_facts
from everword.facts.rules import deciding as rules
from everword.facts.rules.deciding import align_fact
from everword.facts.rules.fact_relevance import value_with_dates
from everword.facts.rules.grounding import NEAR, ReadLine, is_worth_reading
from everword.facts.rules.keys_and_values import SlotFacts, has_same_value, holds_several_values, is_known
from everword.facts.rules.person_shift import first_person
from everword.facts.rules.remembered_statements import matching_facts, parse_statement, target_statement
from everword.follow.faults import TABLE as SET_ASIDE
from everword.follow.faults import set_aside_rows
from everword.follow.model_calls import TaskRunner
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.log.access import Viewer, is_claim, may_take_back
from everword.log.append_and_read import cursor_of, cursors_of, read_channel_names, set_cursor, warn_of_damage
from everword.log.events import fact_events, note_events
from everword.model import Fact, Filter, FoundFact, Message, RefusalKind, Statement
from everword.model.log import own_notes
from everword.ports import Telemetry, Tx
from everword.text.addressing import SEVERAL
from everword.text.sentences import first_words
from everword.text.terms import analyse

FACTS = "facts"
"""The name of the view."""
MAX_LINES = 48
"""Messages that are read in one call."""
MAX_CHARACTERS = 16_000
"""Characters of all messages in one call."""
MAX_KNOWN = 10
"""Facts that are shown as known in one call: those the lines speak of, then the most important."""
LONGEST_PAUSE = timedelta(hours=6)
"""From a message to the next, if it is shown as what came before."""
MAX_VALUE = 50  # characters of a known value
SPOKEN = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class ReadingScene:
    """What is around the messages of a run: those before them, the assistant's last words, names, and what is known, by
    the person whose memory it is in."""

    before: Sequence[Message] = ()
    last_reply: str = ""
    names: Mapping[str, str] | None = None
    known: Mapping[str, Sequence[Fact]] | None = None
    in_group: bool = False


def reading_scene(tx: Tx, run: Run, asks: bool) -> ReadingScene:
    """The scene of a run. Without a model only two things count: the assistant's last words, whether they are repeated,
    and the message before, whether it was a question."""
    last_reply = last_reply_before(tx, run)
    if not run.messages:
        return ReadingScene(last_reply=last_reply)
    first = run.messages[0]
    failed_turns = {row.turn for row in set_aside_rows(tx, FACTS, run.place)}  # they would make others fail, too
    before = [message for message in messages_before(tx, first) if message.turn not in failed_turns]
    in_group = is_said_in_group(tx, (*before, *run.messages))
    if not asks:
        return ReadingScene(before[-1:], last_reply, in_group=in_group)
    people = {message.author for message in (*before, *run.messages) if message.role == "user"}
    owners = sorted({owner_of(message) for message in run.messages if message.role == "user"})
    viewers = {owner: viewer_of_lines(tx, first, owner) for owner in owners}
    known = {
        owner: [fact for fact in known_before(tx, run, owner) if viewer.sees(fact)] for owner, viewer in viewers.items()
    }
    viewer = viewers[owners[0]] if len(owners) == 1 else Viewer(channel=first.conversation)
    names = stored_facts.names_in_context(tx, first.space, people, viewer, run.messages)
    return ReadingScene(before, last_reply, names, known, in_group)


def is_said_in_group(tx: Tx, messages: Sequence[Message]) -> bool:
    """Whether messages are from a channel in which three people or more have spoken lately."""
    last = messages[-1]
    if not stored_facts.is_channel(tx, last.space, last.conversation):
        return False
    authors = {message.author for message in messages if message.role == "user" and message.is_lasting}
    return len(authors) >= SEVERAL or read_channel_names(tx, last.space, last.conversation, last.turn + 1).is_group


def known_before(tx: Tx, run: Run, person: str) -> list[Fact]:
    """The facts about a person that held before the messages of a run, as far as the model has read them: it would
    leave out as known what only rules have read, and may fail again on what it failed on."""
    facts = stored_facts.facts_of(tx, run.lag.space, person)
    read_upto = cursors_of(tx, FACTS, sorted({(fact.space, fact.conversation) for fact in facts}))
    failed_rows = tx.rows(SET_ASIDE, where={"space": run.lag.space, "view": FACTS})
    failed_turns = {(row["conversation"], row["turn"]) for row in failed_rows}
    times = {message.id: message.time for message in run.messages}

    def is_read(fact: Fact) -> bool:
        """Whether the model has read a message that says it."""
        is_unread = fact.turn > read_upto[fact.space, fact.conversation]
        is_unread = is_unread or (fact.conversation, fact.turn) in failed_turns
        return not is_unread or (len(fact.sources) > 1 and fact.recorded_at < run.messages[0].time)

    def is_ended_in_run(fact: Fact) -> bool:
        return fact.sources[-1] in times and fact.retired_at == times[fact.sources[-1]]

    held_facts = [fact for fact in facts if is_read(fact) and (fact.active or is_ended_in_run(fact))]
    return [fact if fact.active else reactivate_fact(fact) for fact in held_facts]


def viewer_of_lines(tx: Tx, message: Message, owner: str) -> Viewer:
    """Who may see what is shown beside the lines: in a channel all who read it, in a chat its owner."""
    if stored_facts.is_channel(tx, message.space, message.conversation):
        return Viewer(channel=message.conversation)
    return stored_facts.viewer_alone(tx, message.space, owner)


def owner_of(message: Message) -> str:
    """In whose memory the facts of a message are."""
    return message.user or message.author


def messages_before(tx: Tx, first: Message) -> list[Message]:
    """The last messages before one, oldest first; not those of long before, which it neither answers nor continues."""
    if first.turn == 1:
        return []
    where = Filter(first.space, conversation=first.conversation)
    messages = tx.messages(where, upto=first.turn - 1, limit=NEAR, newest=True, damaged=warn_of_damage)
    near = [message for message in messages if message.is_lasting and first.time - message.time <= LONGEST_PAUSE]
    return sorted(near, key=lambda message: message.turn)


def last_reply_before(tx: Tx, run: Run) -> str:
    """The assistant's last message before a run, or an empty text."""
    if not run.messages or run.messages[0].turn == 1:
        return ""
    first = run.messages[0]
    where = Filter(first.space, conversation=first.conversation, role="assistant")
    replies = tx.messages(where, upto=first.turn - 1, limit=1, newest=True, damaged=warn_of_damage)
    return replies[0].content if replies and replies[0].is_lasting else ""


def read_lines(
    messages: Sequence[Message], scene: ReadingScene, may_state: Mapping[int, bool]
) -> list[tuple[Message, ReadLine]]:
    """The messages as lines, with the assistant's words before each; those that may state facts are new."""
    names = scene.names or {}
    last_reply = scene.last_reply
    lines: list[tuple[Message, ReadLine]] = []
    for message in messages:
        if not message.is_lasting or message.role not in SPOKEN:
            continue
        shown = (last_reply,) if last_reply and message.role == "user" else ()
        if message.role == "assistant":
            last_reply = message.content
        speaker = names.get(message.author, message.author)
        is_new = may_state.get(message.turn, False)
        line = ReadLine(speaker, message.content, message.time, message.role, is_new, shown, scene.in_group)
        lines.append((message, line))
    return lines


def batch_lines(lines: Sequence[tuple[Message, ReadLine]]) -> list[list[tuple[Message, ReadLine]]]:
    """The lines in batches that fit one call each, in order."""
    batches: list[list[tuple[Message, ReadLine]]] = []
    characters = 0
    for message, line in lines:
        size = len(line.text)
        if not batches or len(batches[-1]) == MAX_LINES or characters + size > MAX_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append((message, line))
        characters += size
    return batches


def known_lines(scene: ReadingScene, lines: Iterable[ReadLine]) -> tuple[str, ...]:
    """What is known of the people, a line for each: what the lines speak of, then the most important. The category of a
    known key, and of a statement, goes without saying."""
    all_facts = [fact for facts in (scene.known or {}).values() for fact in facts]
    if not all_facts:
        return ()
    terms = {term for line in lines for term in analyse(line.text, "en").terms}

    def rank(fact: Fact) -> tuple[bool, float, str]:
        words = analyse(f"{fact.key} {fact.value}", "en").terms
        return terms.isdisjoint(words), -fact.importance, fact.id

    names = scene.names or {}
    by_person: dict[str, list[str]] = {}
    for fact in sorted(all_facts, key=rank)[:MAX_KNOWN]:
        name = names.get(fact.user, fact.user)
        person = f"{fact.subject} ({name})" if fact.subject else name
        category = "" if fact.key == fact.category or is_known(fact.category, fact.key) else f"{fact.category} "
        shown_fact = replace(fact, value=first_words(fact.value, MAX_VALUE))
        by_person.setdefault(person, []).append(f"{category}{fact.key}: {value_with_dates(shown_fact)}")
    return tuple(f"{person}: {'; '.join(entries)}" for person, entries in by_person.items())


BACKLOG = 2_000
"""Turns from the end of a conversation that a model reads, oldest first; older ones of an import are read by rules."""
READ_BY_RULES = 512
"""Messages that rules read at once, at most: other writers of a file wait for a tenth of a second."""
LOCK = "facts"
READING = "reading"
"""The lock of a conversation that two views read for facts: what the model has read is not read by rules after it."""
LASTING_REFUSALS: frozenset[RefusalKind] = frozenset({"unsure", "unimportant", "about_assistant", "incomplete"})
"""Refusals that no rewording mends."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts found in a run, by message, what was refused, and how far they are final."""

    run: Run
    facts_by_message: Sequence[tuple[Message, tuple[FoundFact, ...]]]
    refusals: Sequence[findings.RefusedFinding]
    progress: SaveResult | None


class FactsView:
    """Reads facts out of users' messages."""

    name = "facts"
    ordered = False

    def __init__(self, asking: TaskRunner, calls: StoreCalls, telemetry: Telemetry) -> None:
        self._asking = asking
        self._calls = calls
        self._telemetry = telemetry
        self._slots_in_transactions = findings.SlotsInTransactions()

    @property
    def at_once(self) -> int:
        """Messages of one conversation: two calls of a model, or what rules read in a moment."""
        return 2 * MAX_LINES if self.has_model else READ_BY_RULES

    @property
    def has_model(self) -> bool:
        """Whether it asks a model."""
        return self._asking.has_model

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Extraction]:
        asks = self.has_model
        scenes = await self._calls.read(lambda tx: [reading_scene(tx, run, asks) for run in runs])
        return [await self._read_run(run, scene) for run, scene in zip(runs, scenes, strict=True)]

    async def _read_run(self, run: Run, scene: ReadingScene) -> Extraction:
        """Read the messages of a run, a batch of lines in a call; by rules, once the model is away."""
        may_state = {message.turn: may_state_facts(message) for message in run.messages}
        context = read_lines(scene.before, scene, {})
        lines = read_lines(run.messages, scene, may_state)
        facts_by_message: list[tuple[Message, tuple[FoundFact, ...]]] = []
        refusals: list[findings.RefusedFinding] = []
        outage: str | None = None
        unread_turn = 0
        for batch in batch_lines(lines):
            inputs = prompts.ReadingInputs(
                tuple(line for _, line in (*context, *batch)), known_lines(scene, (line for _, line in batch))
            )
            asks = outage is None and self._asks_about(run, batch, inputs)
            reply, batch_outage = await self._read_batch(inputs, asks)
            if batch_outage is not None:
                outage = batch_outage
                unread_turn = batch[0][0].turn
            messages = [message for message, _ in (*context, *batch)]
            facts_by_message += facts_of_reply(reply, messages, scene)
            refusals += [self._count_refused(messages[fact.place], fact) for fact in reply.refused]
            context = [(message, replace(line, is_new=False)) for message, line in batch[-NEAR:]]
        if outage is None:
            return Extraction(run, facts_by_message, refusals, None)
        upto = max((message.turn for message in run.messages if message.turn < unread_turn), default=run.lag.done)
        progress = SaveResult(upto, max(len(facts_by_message), 1), outage)
        return Extraction(run, facts_by_message, refusals, progress)

    def _count_refused(self, message: Message, refused: prompts.RefusedInLine) -> findings.RefusedFinding:
        self._telemetry.count("refused", kind=self.name, outcome=refused.refusal.kind)
        return findings.RefusedFinding(message, refused.fact, refused.refusal)

    def _asks_about(self, run: Run, batch: Sequence[tuple[Message, ReadLine]], inputs: prompts.ReadingInputs) -> bool:
        is_recent = batch[-1][0].turn > run.lag.turns - BACKLOG
        return self.has_model and is_recent and is_worth_reading(inputs.lines)

    async def _read_batch(self, inputs: prompts.ReadingInputs, asks: bool) -> tuple[prompts.ReadingReply, str | None]:
        """What is found in a batch of lines, and if the model is unavailable, why."""
        if not asks:
            reply: prompts.ReadingReply = await self._asking.run(prompts.reading.offline, inputs)
            return reply, None
        answer = await self._asking.ask(prompts.reading, inputs)
        if answer.outage is not None or not answer.reply.refused:
            return answer.reply, answer.outage
        return await self._ask_about_refused(inputs, answer.reply), None

    async def _ask_about_refused(
        self, inputs: prompts.ReadingInputs, reply: prompts.ReadingReply
    ) -> prompts.ReadingReply:
        """Ask once about what was refused: what the model corrects is added, all else stays refused."""
        doubtful = tuple(fact for fact in reply.refused if fact.refusal.kind not in LASTING_REFUSALS)
        if not doubtful:
            return reply
        repaired = (await self._asking.ask(prompts.fact_repair, prompts.RepairInputs(inputs.lines, doubtful))).reply
        return prompts.ReadingReply(
            (*reply.facts, *repaired.facts), prompts.refused_after_repair(reply.refused, repaired)
        )

    def save(self, tx: Tx, result: Extraction) -> SaveResult | None:
        space, conversation = result.run.place
        stored_facts.note_people(tx, result.run.messages)
        if self.has_model:
            tx.lock(READING, space, conversation)
        store_facts(
            tx,
            space,
            conversation,
            result.facts_by_message,
            read_again=filter(may_state_facts, result.run.messages) if self.has_model else (),
            from_commands=facts_from_commands(tx, result.run.messages),
            decided=findings.changes_in(tx, result.run.messages),
            known_slots=self._slots_in_transactions.slots_in(tx),
        )
        store_refusals(tx, space, conversation, result.refusals)
        return result.progress


def facts_of_reply(
    reply: prompts.ReadingReply, messages: Sequence[Message], scene: ReadingScene
) -> list[tuple[Message, tuple[FoundFact, ...]]]:
    """The facts of each message, under the keys by which the same things are known."""
    facts_by_place: dict[int, list[FoundFact]] = {}
    for found in reply.facts:
        known_facts = (scene.known or {}).get(owner_of(messages[found.place]), ())
        asked_in = None if found.question is None else messages[found.question].id
        fact = replace(found.fact, asked_in=asked_in)
        facts_by_place.setdefault(found.place, []).append(align_fact(fact, known_facts))
    return [
        (messages[place], attribute_to_author(messages[place], facts))
        for place, facts in sorted(facts_by_place.items())
    ]


def attribute_to_author(message: Message, facts: Sequence[FoundFact]) -> tuple[FoundFact, ...]:
    """The facts with the author as subject of "I", if the message is in the memory of another user."""
    if message.user in (None, message.author):
        return tuple(facts)
    return tuple(replace(fact, subject=fact.subject or message.author) for fact in facts)


def may_state_facts(message: Message) -> bool:
    """Whether a message may state facts: a person's words that do not expire, and no command to the memory."""
    is_of_person = message.role == "user" and not message.is_of_bot
    return is_of_person and message.is_lasting and command_of(message) is None


def store_facts(
    tx: Tx,
    space: str,
    conversation: str,
    facts_by_message: Iterable[tuple[Message, Sequence[FoundFact]]],
    *,
    from_commands: Iterable[tuple[str, Message, Sequence[FoundFact]]] = (),
    decided: Iterable[findings.DecidedFacts] = (),
    read_again: Iterable[Message] = (),
    known_slots: findings.SlotsByPerson | None = None,
) -> list[rules.Action]:
    """Weigh found facts against the known ones, and store the result. They are about their speaker; those
    `from_commands` and those `decided` by hand are about the person named with them. What an earlier reading found in a
    message goes, also in one of those `read_again` in which nothing is found now. `known_slots` has what was read
    before, and takes what is read now."""
    known_slots = {} if known_slots is None else known_slots
    audience = conversation if stored_facts.is_channel(tx, space, conversation) else None
    by_person: dict[tuple[str, str], list[tuple[Message, FoundFact]]] = {}
    for person, message, facts in (*((owner_of(m), m, facts) for m, facts in facts_by_message), *from_commands):
        by_person.setdefault((person, audience or ""), []).extend((message, fact) for fact in facts)
    changes_by_person: dict[tuple[str, str], list[findings.DecidedFacts]] = {}
    for change in decided:
        place = (change.person, change.audience or "")
        changes_by_person.setdefault(place, []).append(change)
        by_person.setdefault(place, []).extend((change.message, fact) for fact in change.facts)
    messages_by_person: dict[tuple[str, str], list[Message]] = {}
    for message in read_again:
        messages_by_person.setdefault((owner_of(message), audience or ""), []).append(message)
    actions: list[rules.Action] = []
    # Always in the same order, so that writers do not deadlock.
    for place in sorted(by_person.keys() | messages_by_person.keys()):
        person, heard_in = place
        new = NewFacts(by_person.get(place, ()), changes_by_person.get(place, ()), messages_by_person.get(place, ()))
        if new.times:
            tx.lock(LOCK, space, person)
            slots = known_slots.setdefault((space, person), findings.PersonSlots(tx, space, person))
            actions += store_facts_of(tx, space, person, heard_in or None, new, slots)
    return actions


def store_refusals(tx: Tx, space: str, conversation: str, refusals: Iterable[findings.RefusedFinding]) -> None:
    """Store what was refused, for each person in whose messages it was found."""
    audience = conversation if stored_facts.is_channel(tx, space, conversation) else None
    by_person: dict[str, list[findings.RefusedFinding]] = {}
    for refusal in refusals:
        by_person.setdefault(owner_of(refusal.message), []).append(refusal)
    for person in sorted(by_person):
        tx.lock(LOCK, space, person)
        findings.record_refusals(tx, person, audience, by_person[person])


@dataclass(frozen=True, slots=True)
class NewFacts:
    """What is new of a person: the facts that were found, changes by hand, and the messages that were read again."""

    found: Sequence[tuple[Message, FoundFact]]
    changes: Sequence[findings.DecidedFacts] = ()
    read_again: Sequence[Message] = ()

    @property
    def times(self) -> list[datetime]:
        messages = [message for message, _ in self.found] + [change.message for change in self.changes]
        return [message.time for message in (*messages, *self.read_again)]


def store_facts_of(
    tx: Tx, space: str, person: str, audience: str | None, new: NewFacts, known_slots: findings.PersonSlots
) -> list[rules.Action]:
    slots = findings.record_findings(tx, person, audience, new.found, known_slots, new.read_again)
    for slot in findings.slots_denied(tx, space, person, [id for change in new.changes for id in change.finding_ids]):
        slots.setdefault(slot, ([], False))
    new_changes = frozenset(change.message.id for change in new.changes)
    return weigh_slots(tx, space, person, slots, max(new.times), known_slots, new_changes)


def withdraw_facts(tx: Tx, space: str, person: str, message: Message, finding_ids: Collection[str] = ()) -> None:
    """Weigh what is known of a person again, without what was found in a message and without its
    denial of the findings with these ids."""
    slots = findings.drop_findings(tx, person, message) | findings.slots_denied(tx, space, person, finding_ids)
    findings_by_slot = {slot: (findings.findings_of(tx, space, person, slot), True) for slot in sorted(slots)}
    weigh_slots(tx, space, person, findings_by_slot, message.time)


def weigh_slots(
    tx: Tx,
    space: str,
    person: str,
    slots: Mapping[str, tuple[list[findings.Finding], findings.Reweigh]],
    when: datetime,
    known_slots: findings.PersonSlots | None = None,
    new_changes: Collection[str] = (),
) -> list[rules.Action]:
    """Weigh the findings of slots, as `record_findings` returns them, and store what follows from them. `new_changes`
    are the ids of changes by hand that are weighed for the first time."""
    forget_requests = forget_requests_of(tx, space, person)
    is_changed_by_hand = findings.has_changes(tx, space, person)
    known_slots = known_slots or findings.PersonSlots(tx, space, person)
    known_slots.read_facts(slots)
    changes = stored_facts.statements_of(tx, space, person, kind=stored_facts.DENIAL) if is_changed_by_hand else []
    pairs: list[tuple[Fact | None, Fact | None]] = []
    all_actions: list[rules.Action] = []
    for slot, weighing in slots.items():
        slot_facts = known_slots.facts(slot)
        slot_findings, reweigh = findings.with_denials(tx, person, slot, weighing, changes, known_slots, new_changes)
        facts_before, actions = weigh_slot(slot_facts, slot_findings, reweigh, person)
        all_actions += actions
        if forget_requests.statements or is_changed_by_hand:  # they may be about any fact of the slot
            facts_before = {**slot_facts.by_id, **facts_before}
            facts = {id: retire_if_forgotten(fact, forget_requests) for id, fact in slot_facts.by_id.items()}
            change_ids = (
                findings.changes_behind(tx, space, person, facts.values()) if is_changed_by_hand else frozenset()
            )
            for fact in findings.name_retirements(facts, change_ids).values():
                slot_facts.put(fact)
        pairs += changes_since(tx, space, person, facts_before, slot_facts)
    note_events(tx, space, fact_events(pairs, when))
    changed_facts = [fact for _, fact in pairs if fact is not None]
    stored_facts.put_facts(tx, changed_facts)
    retired_facts = [fact for fact in changed_facts if not fact.active]
    retire_contradicted_statements(tx, space, person, retired_facts, when)
    for fact in filter(is_public_name, changed_facts):
        stored_facts.put_name(tx, space, person, "alias", fact.value, fact.said_at)
    return all_actions


def changes_since(
    tx: Tx, space: str, person: str, facts_before: Mapping[str, Fact | None], slot_facts: SlotFacts
) -> list[tuple[Fact | None, Fact | None]]:
    """The facts of a slot that are not as they were, each as it was before and as it is; those that are gone are
    removed."""
    for id in facts_before.keys() - slot_facts.by_id.keys():
        tx.remove("facts", {"space": space, "user_id": person, "id": id})
    pairs = [(fact_before, slot_facts.by_id.get(id)) for id, fact_before in facts_before.items()]
    return [(fact_before, fact) for fact_before, fact in pairs if fact != fact_before]


def is_public_name(fact: Fact) -> bool:
    """Whether a fact is a name that may be used in public: the person said it themselves in a channel."""
    is_own_name = fact.key == "name" and fact.subject is None and not is_claim(fact)
    return is_own_name and fact.active and fact.audience is not None


def retire_contradicted_statements(
    tx: Tx, space: str, person: str, retired_facts: Sequence[Fact], when: datetime
) -> None:
    """Retire the statements that say the same as facts that were retired: the speaker's newer word wins, whether it
    came as a statement or as a fact."""
    if not retired_facts:
        return
    candidates = [statement for statement in stored_facts.statements_of(tx, space, person) if statement.said_at <= when]
    if not candidates:
        return
    active_senses = {
        fact_sense(fact)
        for category, keys in findings.keys_of_slots({findings.slot_of(fact) for fact in retired_facts})
        for fact in stored_facts.facts_of(tx, space, person, category=category, key=keys)
        if fact.active
    }
    lost_senses = {fact_sense(fact) for fact in retired_facts} - active_senses
    stored_facts.put_statements(
        tx,
        [
            replace(statement, active=False, retired_at=when, retired_by=retired_facts[0].retired_by)
            for statement in candidates
            if any(
                (statement.speaker, fact.category, fact.key, fact.value.casefold()) in lost_senses
                for fact in parse_statement(stored_facts.name_in_statement(tx, statement), statement.text).facts
            )
        ],
    )


def fact_sense(fact: Fact) -> tuple[str, str, str, str]:
    """Who said a fact, and what it says."""
    return fact.speaker, fact.category, fact.key, fact.value.casefold()


def weigh_slot(
    slot_facts: SlotFacts, slot_findings: Sequence[findings.Finding], reweigh: findings.Reweigh, person: str
) -> tuple[dict[str, Fact | None], list[rules.Action]]:
    """Weigh findings of a slot, and put the result among its facts. Returns the facts that this may have changed as
    they were before, and the actions that led to it."""
    if not reweigh:
        return findings.weigh_findings(slot_facts, slot_findings, person)
    new_facts = SlotFacts()
    facts_before, actions = findings.weigh_findings(new_facts, slot_findings, person)
    stale_ids = (
        slot_facts.by_id.keys() if reweigh is True else {findings.id_of(finding, person) for finding in slot_findings}
    )
    facts_before |= {id: slot_facts.by_id[id] for id in stale_ids if id in slot_facts.by_id}
    for id in facts_before.keys() - new_facts.by_id.keys():
        slot_facts.remove(id)
    for fact in new_facts.by_id.values():
        slot_facts.put(fact)
    return facts_before, actions


# -- requests to forget


@dataclass(frozen=True, slots=True)
class ForgetRequests:
    """The requests to forget something about a person, the person's name, and what the person may see."""

    statements: Sequence[Statement]
    name: str
    viewer: Viewer


def forget_requests_of(tx: Tx, space: str, person: str) -> ForgetRequests:
    statements = stored_facts.statements_of(tx, space, person, kind=stored_facts.FORGET)
    if not statements:
        return ForgetRequests((), person, Viewer(person))
    return ForgetRequests(
        statements, stored_facts.own_name(tx, space, person), stored_facts.viewer_alone(tx, space, person)
    )


def retire_if_forgotten(fact: Fact, requests: ForgetRequests) -> Fact:
    """The fact, retired if a request by somebody who may make it came after the fact was said; it does not matter when
    the message is read."""
    for request in requests.statements:
        if fact.active and fact.said_at <= request.said_at and is_meant(fact, request, requests):
            return retire_fact(fact, request.id, request.said_at)
    return fact


def is_meant(fact: Fact, request: Statement, requests: ForgetRequests) -> bool:
    """Whether a request to forget applies to this fact. The request lists the facts it retired: if there are several,
    any other fact has to say exactly the same as the request."""
    name = requests.name
    if fact.id in request.sources:
        return True
    if not may_take_back(request.speaker, fact, requests.viewer):
        return False
    if len(request.sources) > 1 and not says_exactly(fact, request.text, name):
        return False
    return bool(matching_facts([fact], request.text, name=name))


def says_exactly(fact: Fact, request_text: str, name: str) -> bool:
    candidates = parse_statement(name, target_statement(name, request_text)).facts
    return any(
        (candidate.subject, candidate.category, candidate.key) == (fact.subject, fact.category, fact.key)
        and has_same_value(fact, candidate)
        for candidate in candidates
    )


def retire_fact(fact: Fact, by: str, when: datetime) -> Fact:
    """The fact as forgotten: it stays stored, with an end of its validity."""
    end = max(when, fact.valid_from) if fact.valid_from else when
    return replace(fact, active=False, valid_to=end, retired_at=when, retired_by=by)


def reactivate_fact(fact: Fact) -> Fact:
    """The fact as active again."""
    return replace(fact, active=True, valid_to=None, retired_at=None, retired_by=None)


def is_replaced(fact: Fact, facts: Iterable[Fact]) -> bool:
    """Whether another active value by the same speaker has replaced a fact."""
    slot = (fact.speaker, fact.category, fact.key, fact.subject)
    return not holds_several_values(fact.category, fact.key) and any(
        other.active and (other.speaker, other.category, other.key, other.subject) == slot for other in facts
    )


def facts_from_commands(tx: Tx, messages: Iterable[Message]) -> list[tuple[str, Message, list[FoundFact]]]:
    """The facts in the statements that messages asked to remember, with the person each is about."""
    return [
        (statement.user, message, facts_in_statement(stored_facts.name_in_statement(tx, statement), statement, message))
        for message, statement in stored_facts.statements_in(tx, messages)
    ]


def facts_in_statement(name: str, statement: Statement, message: Message) -> list[FoundFact]:
    """The facts in a statement. An explicit "remember" corrects what was said before."""
    facts = find_facts(first_person(name, statement.text), message.time.date())
    return [replace(fact, corrects=True) for fact in facts]


def mark_command_read(tx: Tx, command: Message) -> None:
    """Move the view's cursor past a command that was carried out, if the cursor is just before it."""
    position = (FactsView.name, command.space, command.conversation)
    if command_of(command) is not None and cursor_of(tx, *position) == command.turn - 1:
        stored_facts.note_people(tx, [command])
        set_cursor(tx, *position, command.turn)


def command_of(message: Message) -> str | None:
    """The command that a message in the log was, or None."""
    command = own_notes(message.metadata).get("command")
    return command if isinstance(command, str) else None
