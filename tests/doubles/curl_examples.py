"""The curl commands of the docs, sent as they stand: by curl where there is one, and always by hand, over a socket.

By hand, a command is read as curl would read it and the same request is made. An option that is not known here fails
the test: whoever writes it into the docs teaches it to this module.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from http.client import HTTPConnection
from urllib.parse import urlsplit

Sender = Callable[[str], str]


def by_curl(code: str) -> str:
    """What curl printed."""
    run = subprocess.run(["sh", "-ec", code.replace("curl ", "curl --fail-with-body ")], capture_output=True, text=True)
    assert run.returncode == 0, f"{code}\n{run.stdout}{run.stderr}"
    return run.stdout


def by_hand(code: str) -> str:
    """What curl would have printed."""
    method, url, headers, body = request_of(code)
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port)
    try:
        connection.request(method, url[url.index(address.path) :], body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    assert answer.status < 400, f"{code}\n{text}"
    return text


def request_of(code: str) -> tuple[str, str, dict[str, str], bytes | None]:
    """The method, the address, the headers and the body that a command means."""
    words = iter(shlex.split(code.replace("\\\n", " ")))
    assert next(words) == "curl", code
    method, url, headers = "", "", dict[str, str]()
    body: bytes | None = None
    for word in words:
        if word in ("-s", "-sN"):
            continue
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            assert body is None, f"only one -d is known here: {code}"
            body = next(words).encode()
            assert not body.startswith(b"@"), code
            headers = {"Content-Type": "application/x-www-form-urlencoded"} | headers
        else:
            assert not word.startswith("-"), f"an option that is not known here: {word}"
            assert not url, f"only one address is known here: {code}"
            url = word
    return method or ("GET" if body is None else "POST"), url, {"Accept": "*/*"} | headers, body


SENDERS: list[Sender] = [by_hand, *([by_curl] if shutil.which("curl") else [])]
