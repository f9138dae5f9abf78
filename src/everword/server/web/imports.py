"""Import by upload: a file is looked at first, and what is in it is kept when somebody says so.

An upload lies in a folder that only the server can read, beside a note of how far it is: so the workers of one server,
and a server that was started again, know of it. It belongs to the key that sent it, and to one space. A message is kept
once, however often a file is imported: an import that ended early is started again and goes on. Uploads are removed
when they are done, or after a day.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from everword.errors import EverwordError, InvalidInput, NotFound
from everword.formats import FORMATS, BadRecord, Reader, Record, open_records
from everword.log.append_and_read import TITLE_KEYS
from everword.memory.transfer import ImportProgress, batch_records, import_batch
from everword.model.people import clean_name
from everword.server import ServerOptions
from everword.server.access import Caller, caller_for
from everword.server.keys import IMPORT
from everword.server.problems import Problem, problem_of
from everword.server.web.pages import (
    KIND,
    UNREADABLE,
    Form,
    check_origin,
    check_token,
    likely_person,
    redirect,
    show_page,
    suggest_conversations,
    view_of,
)

MULTIPART = "multipart/form-data"
MAX_UPLOADS = 20  # that a server keeps at a time
KEPT_SECONDS = 86_400.0
QUIET_SECONDS = 30.0  # after which an import that says nothing is taken to have ended
LOOK_SECONDS = 3.0  # for which a file is looked at before its import
LOOK_RECORDS = 20_000
MAX_UNPACKED = 4 << 30  # bytes of the files in an archive
SHOWN = 60  # conversations of a preview
SHOWN_BAD = 20  # records that could not be read
FIELDS = 12  # of the form
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")

router = APIRouter(include_in_schema=False)
UploadId = Annotated[str, Query(max_length=32)]


@dataclass(slots=True)
class Preview:
    """A conversation of a file: its title, how many messages were seen, and when they were said."""

    title: str
    messages: int = 0
    first: str = ""
    last: str = ""


@dataclass(slots=True)
class Upload:
    """A file that was sent, what is in it, and how far its import is."""

    id: str
    key: str
    space: str
    name: str
    format: str = ""
    user: str | None = None
    assistant: str = ""
    timezone: str | None = None
    size: int = 0
    state: str = "new"  # then "running", and at the end "done" or "failed"
    noted_at: float = 0.0
    seen: int = 0
    is_whole: bool = False  # whether all of the file was looked at
    conversations: int = 0
    previews: list[Preview] = field(default_factory=list)
    percent: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    bad_count: int = 0
    problem: str = ""

    @property
    def shown_state(self) -> str:
        """The state; of an import whose process has ended, "stopped"."""
        is_quiet = self.state == "running" and time.time() - self.noted_at > QUIET_SECONDS
        return "stopped" if is_quiet else self.state


class UploadFolder:
    """Where uploads lie. Its name is known to whoever has the secret of the server, and to nobody else."""

    def __init__(self, options: ServerOptions) -> None:
        name = sha256(b"uploads" + options.session_secret).hexdigest()[:24]
        self.path = Path(tempfile.gettempdir(), f"everword-{name}")

    def make(self) -> None:
        self.path.mkdir(mode=0o700, exist_ok=True)
        status = self.path.lstat()
        is_ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if not is_ours or self.path.is_symlink():
            raise Problem(
                503,
                "no_folder",
                "another user of this system owns the folder for uploads; the server's log has the details",
            )

    def data(self, id: str) -> Path:
        return self.path / f"{id}.data"

    def note(self, upload: Upload) -> None:
        """Write down how far an upload is: whole or not at all."""
        upload.noted_at = time.time()
        temporary = self.path / f"{upload.id}.{token_hex(4)}.tmp"
        temporary.write_text(json.dumps(asdict(upload)), encoding="utf-8")
        temporary.replace(self.path / f"{upload.id}.json")

    def find(self, id: str, caller: Caller) -> Upload:
        """An upload of the caller; those of others are not there."""
        upload = self.read(self.path / f"{id}.json") if UPLOAD_ID.fullmatch(id) else None
        if upload is None or (upload.key, upload.space) != (caller.access.key_id, caller.space):
            raise NotFound("there is no upload with this ID; uploads are removed after the import, or after one day")
        return upload

    def read(self, path: Path) -> Upload | None:
        with suppress(OSError, ValueError, TypeError):
            values = json.loads(path.read_text(encoding="utf-8"))
            previews = [Preview(**preview) for preview in values.pop("previews")]
            return Upload(**values, previews=previews)
        return None

    def drop(self, id: str) -> None:
        for path in self.path.glob(f"{id}.*"):
            path.unlink(missing_ok=True)

    def uploads(self) -> list[Upload]:
        return [upload for path in self.path.glob("*.json") if (upload := self.read(path)) is not None]

    def make_room(self) -> None:
        """Remove what is a day old; raises if there is no room left."""
        now = time.time()
        uploads = self.uploads()
        for upload in uploads:
            if now - upload.noted_at > KEPT_SECONDS:
                self.drop(upload.id)
        if sum(now - upload.noted_at <= KEPT_SECONDS for upload in uploads) >= MAX_UPLOADS:
            raise Problem(429, "too_many", f"{MAX_UPLOADS} uploads are waiting: import or remove some of them first")


def folder_of(caller: Caller) -> UploadFolder:
    return UploadFolder(caller.request.app.state.options)


def open_upload(folder: UploadFolder, upload: Upload) -> Reader:
    reader = open_records(
        folder.data(upload.id),
        upload.format or None,
        user=upload.user,
        assistant_ids=[id.strip() for id in upload.assistant.split(",") if id.strip()],
        timezone=upload.timezone,
    )
    if (reader.total_bytes or 0) > MAX_UNPACKED:
        reader.close()
        raise InvalidInput("file", "is larger than 4 GiB when unpacked; import the file with `everword import`")
    return reader


# -- looking at a file


def look_into(folder: UploadFolder, upload: Upload) -> None:
    """Note what is in a file: all of it, or what can be read of it in some seconds."""
    previews: dict[str, Preview] = {}
    end = time.monotonic() + LOOK_SECONDS
    with open_upload(folder, upload) as reader:
        upload.format = reader.format
        upload.is_whole = True
        for record in reader:
            if isinstance(record, BadRecord):
                upload.bad_count += 1
                upload.bad = [*upload.bad, f"{record.where}: {record.reason}"][:SHOWN_BAD]
            else:
                upload.seen += 1
                note_record(previews, record)
            if upload.seen + upload.bad_count >= LOOK_RECORDS or time.monotonic() > end:
                upload.is_whole = False
                break
    upload.conversations = len(previews)
    upload.previews = sorted(previews.values(), key=lambda preview: preview.last, reverse=True)[:SHOWN]


def note_record(previews: dict[str, Preview], record: Record) -> None:
    preview = previews.setdefault(record.conversation, Preview(""))
    metadata = record.draft.metadata or {}
    preview.title = preview.title or clean_name(*(metadata.get(key) for key in TITLE_KEYS))
    preview.messages += 1
    if isinstance(record.draft.time, datetime):
        day = record.draft.time.date().isoformat()
        preview.first = min(preview.first or day, day)
        preview.last = max(preview.last, day)


# -- the import itself


async def run_import(caller: Caller, folder: UploadFolder, upload: Upload) -> None:
    """Keep what is in a file, and note after each batch how far it is."""
    totals = ImportProgress()
    try:
        reader = await asyncio.to_thread(open_upload, folder, upload)
        try:
            batches = batch_records(reader, totals)
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:
                await import_batch(caller.memory, batch, upload.space, totals, "refuse")
                note_progress(upload, reader, totals)
                await asyncio.to_thread(folder.note, upload)
        finally:
            await asyncio.to_thread(reader.close)
        upload.state = "done"
    except EverwordError as error:
        upload.state = "failed"
        upload.problem = name_file(problem_of(error).detail, folder, upload)
    folder.data(upload.id).unlink(missing_ok=upload.state == "done")
    folder.note(upload)


def note_progress(upload: Upload, reader: Reader, totals: ImportProgress) -> None:
    upload.percent = min(100, 100 * reader.bytes_read // max(reader.total_bytes or 0, 1))
    names = ("read", "new", "known", "refused", "erased", "expired", "secret")
    upload.counts = {name: getattr(totals, name) for name in names}
    upload.bad = totals.bad[:SHOWN_BAD]
    upload.bad_count = totals.bad_count


# -- pages


@router.get(IMPORT)
async def show_import(caller: Annotated[Caller, caller_for("add_messages")]) -> Response:
    """Where a file is chosen, and what was sent before."""
    folder = folder_of(caller)
    uploads = [
        upload
        for upload in await asyncio.to_thread(folder.uploads)
        if (upload.key, upload.space) == (caller.access.key_id, caller.space)
    ]
    uploads.sort(key=lambda upload: -upload.noted_at)
    lines = await suggest_conversations(caller) if caller.access.may("conversations") else []
    values = {"formats": FORMATS, "uploads": uploads, "me": caller.access.user or likely_person(lines)}
    return show_page(caller, "import.html", section="Import", **values)


async def read_upload(request: Request) -> FormData:
    """The form with the file. Where it comes from is looked at before it is read."""
    check_origin(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (MULTIPART, KIND):
        raise Problem(415, "media_type", UNREADABLE)
    form = await request.form(max_files=1, max_fields=FIELDS, max_part_size=4_096)
    try:
        check_token(request, text_in(form, "token"))
    except Problem:
        await form.close()
        raise
    return form


def text_in(form: FormData, name: str) -> str:
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


@router.post(IMPORT)
async def send_file(caller: Annotated[Caller, caller_for("add_messages")]) -> Response:
    """Take a file and look into it. Nothing is kept in the memory yet."""
    form = await read_upload(caller.request)
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise InvalidInput("file", "is missing; choose the export that you want to import")
        upload = upload_in(caller, form, file.filename)
        await asyncio.to_thread(keep_file, folder_of(caller), upload, file)
    finally:
        await form.close()
    return redirect(view_of(caller).link("/web/import/file", id=upload.id))


def upload_in(caller: Caller, form: FormData, name: str) -> Upload:
    """What is asked for in a form with a file of this name."""
    return Upload(
        token_hex(16),
        caller.access.key_id,
        caller.space,
        clean_name(os.path.basename(name))[:120] or "upload",
        format=text_in(form, "format"),
        user=caller.access.resolve_user(text_in(form, "user") or None),
        assistant=text_in(form, "assistant"),
        timezone=text_in(form, "timezone") or None,
    )


def keep_file(folder: UploadFolder, upload: Upload, file: UploadFile) -> None:
    """Put a file into the folder, and look into it; one that cannot be read is removed again."""
    folder.make()
    folder.make_room()
    try:
        with open(folder.data(upload.id), "xb", opener=open_privately) as target:
            shutil.copyfileobj(file.file, target)
        upload.size = folder.data(upload.id).stat().st_size
        look_into(folder, upload)
        folder.note(upload)
    except BaseException as error:
        folder.drop(upload.id)
        if isinstance(error, EverwordError):
            raise Problem(422, "import_failed", name_file(str(error), folder, upload)) from None
        raise


def name_file(text: str, folder: UploadFolder, upload: Upload) -> str:
    """A text with the name of a file in place of the path of our copy, which is nobody's business."""
    return text.replace(str(folder.data(upload.id)), f"the file “{upload.name}”")


def open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@router.get("/web/import/file")
async def show_upload(caller: Annotated[Caller, caller_for("add_messages")], id: UploadId) -> Response:
    """What is in a file, how far its import is, or what came of it."""
    upload = await asyncio.to_thread(folder_of(caller).find, id, caller)
    return show_page(caller, "upload.html", section="Import", upload=upload)


@router.get("/web/import/progress")
async def show_progress(caller: Annotated[Caller, caller_for("add_messages")], id: UploadId) -> Response:
    """The same without the frame of a page, for a script that asks again and again."""
    upload = await asyncio.to_thread(folder_of(caller).find, id, caller)
    return show_page(caller, "upload_state.html", upload=upload)


@router.post("/web/import/start")
async def start_import(caller: Annotated[Caller, caller_for("add_messages")], form: Form) -> Response:
    """Keep what is in a file; its page shows how far that is."""
    folder = folder_of(caller)
    upload = await asyncio.to_thread(folder.find, form.required_text("id"), caller)
    if upload.shown_state not in ("running", "done"):
        upload.state = "running"
        upload.problem = ""
        await asyncio.to_thread(folder.note, upload)
        tasks: set[asyncio.Task[Any]] = caller.request.app.state.imports
        task = asyncio.create_task(run_import(caller, folder, upload))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    return redirect(view_of(caller).link("/web/import/file", id=upload.id))


@router.post("/web/import/drop")
async def drop_upload(caller: Annotated[Caller, caller_for("add_messages")], form: Form) -> Response:
    """Remove an upload; what was imported of it stays."""
    folder = folder_of(caller)
    upload = await asyncio.to_thread(folder.find, form.required_text("id"), caller)
    await asyncio.to_thread(folder.drop, upload.id)
    return redirect(view_of(caller).link(IMPORT))
