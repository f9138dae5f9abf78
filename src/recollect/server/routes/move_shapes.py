"""Moves on the wire, typed as all else in `shapes`."""

from __future__ import annotations

from pydantic import Field

from recollect import model
from recollect.server.routes.shapes import Id, RequestBody, answer_model, with_example

# -- requests


class MoveIn(RequestBody):
    """Where to move a conversation: to another id, to another user, or both."""

    model_config = with_example(user="alex", dry_run=True)

    to: Id | None = Field(None, description="The new id of the conversation.")
    user: Id | None = Field(None, description="The user whose chat it is from now on.")
    dry_run: bool = Field(False, description="Only say what would move.")


class UserMergeIn(RequestBody):
    """The user that another one becomes."""

    model_config = with_example(into="alex", dry_run=True)

    into: Id = Field(description="The user who has all of it from now on.")
    dry_run: bool = Field(False, description="Only say what would move.")


# -- answers

Move = answer_model(model.Move)
