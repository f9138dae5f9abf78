"""`everword open`: a server on loopback for the store of the working folder, and its address for the browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
from prepared_programs import PreparedProgram

from everword import Memory


def test_it_shows_the_store_of_the_working_folder_until_it_is_ended(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "everword.db"), followers=False) as memory:
        memory.conversation("letters", user="alex").add("user", "The lamp is in the drawer.")
    environment = os.environ | {"EVERWORD_FOLLOWERS": "false"}
    command = [sys.executable, "-m", "everword", "open", "--no-browser"]
    with PreparedProgram(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as process:
        assert process.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert url is not None
        page = httpx2.get(f"{url[0]}web/conversation?id=letters", timeout=60)
        settings = httpx2.get(f"{url[0]}web/settings", timeout=60)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert "The lamp is in the drawer." in page.text
    assert "EVERWORD_FOLLOWERS" in settings.text
