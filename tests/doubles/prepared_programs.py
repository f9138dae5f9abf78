"""Programs that start at once: forked from a process that has imported already what they import.

A `PreparedProgram` is a `subprocess.Popen` of a command in Python, with streams, signals and an exit status of its own.
Only what Python does before the first line of a program is not done anew: to import everword and the libraries of
models and servers takes longer than most of what tests ask of a program. After the last line it waits for threads, runs
what was registered for the end and writes what was printed, but does not take apart what was imported. How it is to
start a program for real, with other encodings, options of Python or a bare environment, is for `subprocess.Popen`
itself.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import inspect
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any, AnyStr

IMPORTED = (
    "openai",
    "uvicorn",
    "everword.cli.main",
    "everword.cli.chat",
    "everword.models.embedding.local",
    "everword.models.chat.openai",
    "everword.server.app",
    "everword.stores.postgres",
    "everword.stores.sqlite",
    "first_use",
    "everword.wiring",
)
STARTED_FOR_REAL = ("PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONWARNINGS")  # with one of these in its environment
PR_SET_CHILD_SUBREAPER = 36  # of Linux: whether orphans among one's descendants become one's own children
LENGTH = struct.Struct("!I")
STREAMS = 3


class PreparedProgram(subprocess.Popen[AnyStr]):
    """`subprocess.Popen`, but for how the process comes to be."""

    def _execute_child(self, *arguments: Any) -> None:
        execute = super()._execute_child  # type: ignore[misc]
        options = inspect.signature(execute).bind(*arguments).arguments
        environment = dict(os.environ if options["env"] is None else options["env"])
        if sys.platform != "linux" or any(name in environment for name in STARTED_FOR_REAL):
            execute(*arguments)
            return
        python, *command = map(str, options["args"])
        assert python == sys.executable
        ends = [options[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        streams = [place if end == -1 else end for place, end in enumerate(ends)]
        folder = os.path.abspath(options["cwd"] or ".")
        self.pid = program_server().fork({"command": command, "folder": folder, "environment": environment}, streams)
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(options[name] for name in pipes))  # type: ignore[attr-defined]


class ProgramServer:
    """The process that programs are forked from, as this process sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, str(Path(__file__)), str(theirs.fileno())]
            one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process with several is not to be forked
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=one_thread)
        atexit.register(self.close)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()

    def fork(self, request: dict[str, Any], streams: list[int]) -> int:
        """The id of a new process, a child of this one."""
        text = json.dumps(request).encode()
        with self._lock:
            adopt_orphans(True)
            try:
                socket.send_fds(self._socket, [LENGTH.pack(len(text))], streams)
                self._socket.sendall(text)
                return int(LENGTH.unpack(receive(self._socket, LENGTH.size))[0])
            finally:
                adopt_orphans(False)


@cache
def program_server() -> ProgramServer:
    return ProgramServer()


def adopt_orphans(does_adopt: bool) -> None:
    """Whether orphans among the descendants of this process become its children, and not those of the first process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(does_adopt), 0, 0, 0)


def receive(connection: socket.socket, size: int) -> bytes:
    text = b""
    while len(text) < size:
        part = connection.recv(size - len(text))
        if not part:
            raise EOFError
        text += part
    return text


# -- in the process that programs are forked from


def serve(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork a process for each request, until nobody asks any more. Returns, with the request and the streams that came
    with it, in a forked one."""
    while True:
        header, streams, _, _ = socket.recv_fds(connection, LENGTH.size, STREAMS)
        if not header:
            sys.exit()
        header += receive(connection, LENGTH.size - len(header))
        request: dict[str, Any] = json.loads(receive(connection, LENGTH.unpack(header)[0]))
        reader, writer = os.pipe()
        parent = os.fork()
        if parent == 0:
            pid = os.fork()
            if pid == 0:
                return request, streams
            os.write(writer, LENGTH.pack(pid))
            os._exit(0)
        os.waitpid(parent, 0)  # from now on the program is a child of whoever asked
        connection.sendall(os.read(reader, LENGTH.size))
        for end in (*streams, reader, writer):
            os.close(end)


def take_streams(streams: list[int]) -> None:
    """These are the standard streams of this process, and it has no other files open."""
    above = [os.dup(stream) if stream < STREAMS else stream for stream in streams]
    for place, stream in enumerate(above):
        os.dup2(stream, place, inheritable=True)
    os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    if sys.stdout.isatty():
        sys.stdout.reconfigure(line_buffering=True)


def run(request: dict[str, Any]) -> None:
    """Do what Python does with such a command line."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    kind, *arguments = request["command"]
    if kind == "-m":
        sys.path[0] = request["folder"]
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.path[0] = ""
        sys.argv = ["-c", *arguments[1:]]
        exec(arguments[0], {"__name__": "__main__"})
    else:
        sys.path[0] = str(Path(kind).parent)
        sys.argv = [kind, *arguments]
        runpy.run_path(kind, run_name="__main__")


def end(status: int) -> None:
    """End as Python does, but do not free what was imported: that takes longer than what most programs do."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(status)  # nobody reads it any more: Python knows what to say
    os._exit(status)


def prepare_and_serve(descriptor: int) -> tuple[dict[str, Any], list[int]]:
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as connection:
        return serve(connection)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is pressed is for the tests
    asked, given = prepare_and_serve(int(sys.argv[1]))
    take_streams(given)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 0
    try:
        run(asked)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):  # Python prints it
            raise
        status = ended.code or 0
    end(status)
