"""Integrity: proving the log whole while one looks on, what retention would remove, and who removed what.

A proof reads every message, so its page is sent as it goes: each step replaces the one before, the last is the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response, StreamingResponse

from recollect.errors import RecollectError
from recollect.log import tables as log
from recollect.model import Verification
from recollect.server.door.access import Caller, caller_for
from recollect.server.problems import problem_of
from recollect.server.web.forms import Form
from recollect.server.web.overview import figures_for
from recollect.server.web.pages import HEADERS, environment, show_page, view_of

TICK = 0.3  # seconds between two steps
LINES = 30  # of the audit
MAX_FAULTS = 200  # that are shown
GAP = Markup("<!-- steps -->")  # where the steps of a proof go

router = APIRouter(include_in_schema=False)


def may_verify(caller: Caller) -> bool:
    """Whether the key may prove the log whole, which is about all spaces."""
    return caller.access.spaces is None and not caller.access.is_bound


@router.get("/web/integrity")
async def show_integrity(caller: Annotated[Caller, caller_for("audit")]) -> Response:
    """What can be proved and removed, and what was removed."""
    retention = None
    lines = []
    if not caller.access.is_bound:
        retention = await caller.memory.retain(dry_run=True, space=caller.space)
        lines = await caller.memory.audit(limit=LINES, space=caller.space)
    values = {"retention": retention, "lines": lines, "may_verify": may_verify(caller)}
    return show_page(caller, "integrity.html", section="Integrity", **values)


@router.post("/web/integrity/verify")
async def verify(caller: Annotated[Caller, caller_for("verify")], form: Form) -> Response:
    """Prove the log whole, in all spaces, and show how far it is."""
    caller.access.check_unbound()
    caller.access.check_all_spaces()
    figures = await figures_for(caller)
    total = 0 if figures is None else figures.stats.messages + figures.stats.erased
    frame = environment().get_template("verify.html").render(view=view_of(caller), section="Integrity", gap=GAP)
    head, _, foot = frame.partition(GAP)
    return StreamingResponse(stream_proof(caller, head, foot, total), headers=HEADERS, media_type="text/html")


async def stream_proof(caller: Caller, head: str, foot: str, total: int) -> AsyncIterator[str]:
    checked_count = 0

    def note(count: int) -> None:
        nonlocal checked_count
        checked_count = count

    yield head
    proof = asyncio.ensure_future(caller.memory.runtime.read(lambda tx: log.verify(tx, note)))
    while not proof.done():
        yield render_step(checked_count, max(total, checked_count))
        with suppress(TimeoutError, RecollectError):
            await asyncio.wait_for(asyncio.shield(proof), TICK)
    error = proof.exception()
    if isinstance(error, RecollectError):
        yield render_result(None, problem_of(error).detail)
    else:
        yield render_result(proof.result(), "")
    yield foot


def render_step(count: int, total: int) -> str:
    return environment().get_template("verify_step.html").render(checked=count, total=total)


def render_result(proof: Verification | None, problem: str) -> str:
    template = environment().get_template("verify_result.html")
    faults = () if proof is None else proof.faults[:MAX_FAULTS]
    return template.render(proof=proof, faults=faults, problem=problem)
