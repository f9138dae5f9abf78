"""Changes of facts and questions on the wire, typed as all else in `shapes`."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field, StringConstraints

from recollect import model
from recollect.model import FactCategory
from recollect.server.routes.shapes import Id, RequestBody, answer_model, with_example

Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]

# -- requests


class FactIn(RequestBody):
    """A fact that somebody adds by hand."""

    model_config = with_example(category="identity", key="city", value="Delft", valid_from="2026-03-01")

    category: FactCategory
    key: Short
    value: Short
    valid_from: date | None = Field(None, description="The day from which it is so; now if left out.")
    valid_to: date | None = Field(None, description="The day on which it ends.")
    subject: Short | None = Field(None, description='Whom it is about, if not the person: "brother".')
    speaker: Id | None = Field(None, description="Who adds it: the person themselves, if nobody is named.")


class FactEditIn(RequestBody):
    """Another value for a fact."""

    model_config = with_example(value="Delft")

    value: Short
    valid_from: date | None = Field(None, description="The day from which the new value is so; now if left out.")
    valid_to: date | None = Field(None, description="The day on which it ends.")
    speaker: Id | None = Field(None, description="Who edits it: the person themselves, if nobody is named.")


class AskIn(RequestBody):
    """A question about a person."""

    model_config = with_example(question="What does she like?")

    question: str
    conversation: Id | None = Field(None, description="The channel it is asked in: only what was said there answers.")


# -- answers

FactChange = answer_model(model.FactChange)
MemoryAnswer = answer_model(model.MemoryAnswer)
RefusedFact = answer_model(model.RefusedFact)
