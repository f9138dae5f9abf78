"""The settings in force and where each comes from. A secret is shown as set or empty, never as it is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from recollect.config import Secret, Settings, setting_sources
from recollect.masking import mask_credentials
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.keys import check_keeper
from recollect.server.web.pages import show_page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting: its value as it may be shown, where it comes from, and what it does."""

    name: str
    value: str
    source: str
    about: str

    @property
    def is_default(self) -> bool:
        return self.source == "default"


def shown_value(value: object) -> str:
    """A value without what is secret in it: an address may hold a password."""
    if isinstance(value, Secret):
        return "set" if value else ""
    return mask_credentials(str(value))


def setting_lines(settings: Settings) -> list[SettingLine]:
    sources = setting_sources(settings)
    return [
        SettingLine(
            field.name, shown_value(getattr(settings, field.name)), sources[field.name], field.metadata["about"]
        )
        for field in fields(settings)
    ]


@router.get("/web/settings")
async def show_settings(caller: Annotated[Caller, caller_for("settings")]) -> Response:
    check_keeper(caller.access)
    settings: Settings | None = caller.request.app.state.settings
    lines = [] if settings is None else setting_lines(settings)
    return show_page(caller, "settings.html", section="Settings", lines=lines, has_settings=settings is not None)
