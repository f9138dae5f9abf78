"""What a coding agent runs at each of its events: passes the event on to the service, and prints what it answers.

A host waits for this program at every prompt, so it is small: it imports only a few modules of the standard library,
and is run as a file (`python -IS hook.py HOST EVENT`), without looking for packages. The service (`service.py`) has the
memory open; the first event starts it. Whatever fails, here or there, the host goes on: nothing is printed, the exit
code is 0, and after `PATIENCE` seconds nobody is waited for, not even a service that is starting. An event that the
service did not take is left in its folder, and read when it comes.
"""

import json
import os
import socket
import sys
import time

PATIENCE = 0.2  # seconds that a host waits, beside the start of this program; EVERWORD_HOOK_SECONDS changes it
PAUSE = 0.02
MOST = 1_000_000  # characters of an event that are passed on
MOST_LEFT = 1_000  # events that are left for the service while it cannot be had
LONGEST_SOCKET = 100  # bytes of a socket's path: systems allow 104 or more
ANSWERED = ("session", "prompt")  # events to which something is added


def folder() -> str:
    """Where the agents' memory, its socket and its log are. Nobody else may read it."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.environ.get("EVERWORD_AGENTS") or os.path.join(data, "everword")


def socket_path(home: str) -> str:
    path = os.path.join(home, "hook.sock")
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    import hashlib
    import tempfile

    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return os.path.join(tempfile.gettempdir(), f"everword-{os.getuid()}-{name}.sock")


def build() -> str:
    """Which version of the program this is: a service of another one is to end."""
    return str(os.stat(__file__).st_mtime_ns)


def main(arguments: list[str]) -> None:
    """Handle one event; never raises, and never takes long."""
    try:
        host, event = arguments
        begin = time.monotonic()
        payload = json.loads(sys.stdin.read(MOST) or "{}")
        request = {"id": os.urandom(12).hex(), "build": build(), "time": time.time()}
        request |= {"host": host, "event": event, "payload": payload}
        home = folder()
        os.umask(0o077)
        os.makedirs(home, mode=0o700, exist_ok=True)
        answer = send(home, request, begin)
        if answer is None:
            leave(home, request)
        elif text := answer.get("text"):
            name = payload.get("hook_event_name") or event
            print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}))
    except Exception as error:  # noqa: BLE001 - the host is not to be disturbed by anything
        print(f"everword: {type(error).__name__}", file=sys.stderr)


def send(home: str, request: dict, begin: float) -> "dict | None":  # type: ignore[type-arg]
    """The service's answer; None if it did not take the event in time."""
    line = json.dumps(request).encode() + b"\n"
    end, is_service_called = begin + float(os.environ.get("EVERWORD_HOOK_SECONDS", PATIENCE)), False
    while time.monotonic() < end:
        try:
            answer = ask(socket_path(home), line, end)
        except (FileNotFoundError, ConnectionError):
            if not is_service_called:
                start_service(home)
                is_service_called = True
            answer = {"state": "absent"}
        except OSError:  # it takes too long
            return None
        if answer.get("state") == "done":
            return answer
        if answer.get("state") == "away":
            return None
        time.sleep(PAUSE)
    return None


def ask(path: str, line: bytes, end: float) -> dict:  # type: ignore[type-arg]
    if os.stat(path).st_uid != os.getuid():
        raise OSError("the socket of the hook belongs to another user")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(max(end - time.monotonic(), 0.001))
        connection.connect(path)
        connection.sendall(line)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
            connection.settimeout(max(end - time.monotonic(), 0.001))
    if not parts:
        raise ConnectionError
    answer = json.loads(b"".join(parts))
    return answer if isinstance(answer, dict) else {}


def start_service(home: str) -> None:
    """Start the service, which outlives this program and its host."""
    import subprocess  # takes as long to import as all else

    with open(os.path.join(home, "hook.log"), "ab") as log:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "everword.agents.service", home],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            start_new_session=True,
        )


def leave(home: str, request: dict) -> None:  # type: ignore[type-arg]
    """Leave an event for the service; it is told by its id whether it had it already."""
    place = os.path.join(home, "left")
    os.makedirs(place, mode=0o700, exist_ok=True)
    if len(os.listdir(place)) < MOST_LEFT:
        path = os.path.join(place, f"{time.time_ns()}-{request['id']}.json")
        with open(path + "~", "w", encoding="utf-8") as file:
            json.dump(request, file)
        os.replace(path + "~", path)


if __name__ == "__main__":
    main(sys.argv[1:])
