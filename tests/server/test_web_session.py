"""Sessions and tokens of the dashboard: what was signed here counts, until it is over, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from page_reader import faults_in

from everword.config import Secret, Settings
from everword.model import Budget, Receipt, Section
from everword.server.keys import LASTS, MOST_ENDED, EndedSessions, Sessions, read_cookie
from everword.server.web import administration, labs, open_pages, pages

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
KEY = "0123456789abcdef"
STATIC = Path(pages.__file__).parent / "static"
TEMPLATES = Path(pages.__file__).parent / "templates"
MOST_BYTES = 135_000  # of all that pages load
MOST_SENT = 50_000  # of it as it is sent, compressed


def test_a_session_is_read_back_until_it_is_over() -> None:
    sessions = Sessions(b"secret")
    begun = sessions.begin(KEY, NOW)
    value = sessions.cookie_value(begun)
    assert sessions.read(value, NOW) == begun
    assert sessions.read(value, NOW + LASTS - timedelta(seconds=1)) == begun
    assert sessions.read(value, NOW + LASTS) is None


def test_a_session_that_was_changed_or_signed_elsewhere_is_none() -> None:
    sessions = Sessions(b"secret")
    value = sessions.cookie_value(sessions.begin(KEY, NOW))
    assert Sessions(b"other").read(value, NOW) is None
    for place in range(0, len(value), 5):
        changed = value[:place] + ("0" if value[place] != "0" else "1") + value[place + 1 :]
        assert sessions.read(changed, NOW) is None
    for forged in ("", value[:-1], value + "0", f"{KEY}.9999999999.{'a' * 22}.{'0' * 64}", value.upper()):
        assert sessions.read(forged, NOW) is None


def test_each_session_has_a_token_of_its_own() -> None:
    sessions = Sessions(b"secret")
    first = sessions.begin(KEY, NOW)
    second = sessions.begin(KEY, NOW)
    assert sessions.accepts_token(first, sessions.token(first))
    for wrong in (sessions.token(second), sessions.token(None), "", "\u00e9", sessions.cookie_value(first)):
        assert not sessions.accepts_token(first, wrong)


def test_of_two_cookies_none_is_read() -> None:
    assert read_cookie("a=b; everword_session=x; c=d") == "x"
    assert read_cookie("everword_session=x; everword_session=y") == ""
    assert read_cookie("") == ""


@pytest.mark.parametrize(
    "path", ["https://evil.example", "//evil.example", "/\\evil.example", "/v1/export", "javascript:1", "/web/x\n", ""]
)
def test_after_signing_in_one_goes_to_a_page_of_ours(path: str) -> None:
    assert open_pages.own_path(path) == "/"


def test_after_signing_in_one_comes_back_to_the_page_one_asked_for() -> None:
    for path in ("/", "/?space=a", "/web/person?id=a"):
        assert open_pages.own_path(path) == path


def test_a_day_is_the_same_day_in_every_zone_and_a_moment_is_shown_in_that_of_the_viewer() -> None:
    day = '<time datetime="2026-05-01" data-show="date">2026-05-01</time>'
    assert pages.write_moment(NOW.date()) == pages.write_moment(NOW.replace(hour=0), day=True) == day
    assert 'data-show="day">2026-05-01<' in pages.write_moment(NOW, day=True)
    assert 'data-show="minute">2026-05-01 00:00<' in pages.write_moment(NOW.replace(hour=0))


def test_a_context_is_split_at_the_fences_that_the_builder_wrote() -> None:
    text = "MEMORY\nhow to\n\n=== WHAT IS KNOWN ===\n- name: Al\n=== OTHER ===\n=== END WHAT IS KNOWN ===\n\nthe end"
    parts = list(labs.split_system(text))
    assert [part.section for part in parts] == ["system", "profile", "system"]
    assert "=== OTHER ===" in parts[1].text
    assert "".join(part.text for part in parts).replace("\n", "") == text.replace("\n", "")


def test_the_bar_of_a_context_is_as_long_as_its_sections_together() -> None:
    sections = (Section("system", 30), Section("profile", 0), Section("recent", 60))
    shares = list(labs.section_shares(Receipt("estimate", Budget(), 100, sections)))
    assert [(share.name, share.width) for share in shares] == [("system", 30.0), ("recent", 60.0), ("joints", 10.0)]
    assert [share.start for share in shares] == [0.0, 30.0, 90.0]


def test_secrets_are_never_shown_and_each_setting_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERWORD_CHAT_URL", "https://al:hunter2@host/v1?api_key=hunter2")
    loaded = Settings.load(store="postgresql://al:hunter2@host/db", chat_key=Secret("hunter2"))
    lines = {line.name: line for line in administration.setting_lines(loaded)}
    assert not any("hunter2" in f"{line}" for line in lines.values())
    assert lines["chat_key"].value == "set"
    assert lines["store"].source == "argument"
    assert lines["chat_url"].source == "EVERWORD_CHAT_URL"
    assert lines["space"].is_default


def test_what_pages_load_is_what_was_published_and_little() -> None:
    for line in (STATIC / "VENDORED.txt").read_text().splitlines()[2:]:
        name, version, _, digest, *source = line.split()
        assert sha256((STATIC / name).read_bytes()).hexdigest() == digest
        assert source[:2] == ["npm", "package"]
        assert f"{version}," in source
    loaded = [path for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".svg")]
    assert sum(path.stat().st_size for path in loaded) < MOST_BYTES
    assert sum(len(open_pages.compress_file(path)) for path in loaded) < MOST_SENT


def test_templates_escape_everything_and_run_nothing_inline() -> None:
    assert pages.environment().autoescape is True
    for template in TEMPLATES.iterdir():
        text = template.read_text()
        assert "|safe" not in text.replace(" ", ""), template.name
        assert "autoescape" not in text, template.name
        assert " style=" not in text, template.name
    rendered = pages.environment().from_string("<p title='{{ x }}'>{{ x }}</p>").render(x="<script>'\"")
    assert faults_in(rendered) == []


def test_ended_sessions_are_known_until_their_time_is_over_and_never_grow_without_bound() -> None:
    sessions = Sessions(b"secret")
    first = sessions.begin(KEY, NOW)
    other = sessions.begin(KEY, NOW)
    ended = EndedSessions().add(first, NOW)
    assert ended.includes(first)
    assert not ended.includes(other)
    later = NOW + LASTS
    assert list(ended.add(sessions.begin(KEY, later), later).seconds) != [first.nonce]
    for _ in range(MOST_ENDED):
        ended = ended.add(sessions.begin(KEY, NOW), NOW)
    assert len(ended.seconds) < MOST_ENDED
    assert ended.includes(other)  # too many to name: all that began by then
    assert not ended.includes(sessions.begin(KEY, NOW + timedelta(seconds=1)))
