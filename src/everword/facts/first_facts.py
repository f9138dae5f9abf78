"""The first reading of facts: rules read at once what waits until the memory model reads it.

The model reads batches, and the next may be hours away. Until then, what the rules found stands. The facts view then
reads the same messages with the model and drops what was found in them before, so nothing is there twice; what the
rules are sure of stays (`reconcile_facts`). This view has a cursor of its own and stores into the tables of the facts
view: of a message that the facts view has read, it stores nothing.
"""

from __future__ import annotations

from dataclasses import replace

from everword.facts.view import FACTS, READING, Extraction, FactsView
from everword.follow.view import SaveResult
from everword.log.append_and_read import cursor_of
from everword.ports import Tx


class FirstFactsView(FactsView):
    """Reads facts by rules, ahead of the model."""

    name = "first_facts"

    @property
    def has_model(self) -> bool:
        return False

    def save(self, tx: Tx, result: Extraction) -> SaveResult | None:
        run = result.run
        tx.lock(READING, *run.place)
        read_upto = cursor_of(tx, FACTS, *run.place)
        unread_run = replace(run, messages=[message for message in run.messages if message.turn > read_upto])
        facts = [(message, found) for message, found in result.facts_by_message if message.turn > read_upto]
        return super().save(tx, replace(result, run=unread_run, facts_by_message=facts))
