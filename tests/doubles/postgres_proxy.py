"""A wire to a PostgreSQL server that breaks at the worst moment: at a COMMIT.

The proxy listens on loopback and passes everything on. Told to, it breaks the next transaction that has named a given
table, in one of three ways: the COMMIT arrives and its answer does not ("answer"), the COMMIT itself never arrives
("question"), or it arrives long after the client has gone ("late", until `deliver` is called).
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

from sqlalchemy.engine import make_url

Break = Literal["answer", "question", "late"]
PATIENCE = 120.0  # seconds until a test that waits for something gives up
READY = b"Z"


class Line:
    """One connection: what the client says to the server, and what is answered."""

    def __init__(self, proxy: PostgresProxy, client: socket.socket, server: socket.socket) -> None:
        self.proxy, self.client, self.server = proxy, client, server
        self.started = False
        self.prepared: dict[bytes, str] = {}
        self.statements: list[str] = []  # of the transaction under way
        self.silent = threading.Event()  # nothing more goes back to the client
        for pump in (self.pass_on_questions, self.pass_on_answers):
            threading.Thread(target=pump, daemon=True).start()

    def pass_on_questions(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                message = read_message(self.client, typed=self.started)
                if self.started and self.is_commit(message):
                    way = self.proxy.next_break(self.statements)
                    self.statements = []
                    if way is not None:
                        self.break_at(message, way)
                        return
                self.started = True
                self.server.sendall(message)
        self.hang_up()

    def is_commit(self, message: bytes) -> bool:
        """Whether a message asks for a COMMIT: as text, or by the name of a statement that was prepared as one."""
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            statement = body.rstrip(b"\0").decode()
        elif kind == b"P":
            name, statement_text, _ = body.split(b"\0", 2)
            self.prepared[name] = statement_text.decode()
            return False
        elif kind == b"B":
            statement = self.prepared[body.split(b"\0", 2)[1]]
        else:
            return False
        self.statements = [] if statement.startswith("BEGIN") else [*self.statements, statement]
        return statement.rstrip().endswith("COMMIT")

    def break_at(self, commit: bytes, way: Break) -> None:
        if way == "answer":
            self.silent.set()
            self.server.sendall(commit)
            if commit[:1] == b"B":  # what is prepared is also executed, and asked to be answered
                for _ in range(3):
                    self.server.sendall(read_message(self.client, typed=True))
            return  # the other pump sees the answer, and hangs up
        if way == "late":
            self.silent.set()
            self.proxy.held = (self.server, commit)
            self.client.close()
            return
        self.hang_up()

    def pass_on_answers(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                answer = read_message(self.server, typed=True)
                if not self.silent.is_set():
                    self.client.sendall(answer)
                    continue
                self.proxy.unheard.append(answer)
                if answer[:1] == READY:
                    break
        if self.silent.is_set():
            self.proxy.answered.set()
        self.hang_up()

    def hang_up(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class PostgresProxy:
    """Listens as long as its `with` block, and refuses before; `url` is the same database by this wire."""

    def __init__(self, url: str, port: int = 0) -> None:
        self._address = make_url(url)
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind(("127.0.0.1", port))
        self.port: int = self._listening.getsockname()[1]
        self._armed: tuple[str, Break] | None = None
        self._lines: list[Line] = []
        self.broken = threading.Event()
        self.refusing = False
        self.refuse_after_break = False  # as if the server had gone with the connection
        self.held: tuple[socket.socket, bytes] | None = None
        self.unheard: list[bytes] = []  # what the server answered to a client that had gone
        self.answered = threading.Event()

    @property
    def url(self) -> str:
        plain = {"sslmode": "disable", "gssencmode": "disable"}
        address = self._address.set(host="127.0.0.1", port=self.port, query=plain)
        return address.render_as_string(hide_password=False)

    def break_commit(self, table: str, way: Break) -> None:
        """Break the COMMIT of the next transaction that names this table."""
        self.broken.clear()
        self._armed = (table, way)

    def next_break(self, statements: list[str]) -> Break | None:
        if self._armed is None or not any(self._armed[0] in statement for statement in statements):
            return None
        way = self._armed[1]
        self._armed = None
        self.refusing = self.refuse_after_break
        self.broken.set()
        return way

    def deliver(self) -> list[bytes]:
        """Hand over the COMMIT that was held back; what the server answered to it."""
        assert self.held is not None
        server, commit = self.held
        server.sendall(commit)
        assert self.answered.wait(PATIENCE)
        return self.unheard

    def hang_up(self) -> None:
        """The server is gone: nobody is connected, and nobody can connect."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes whoever waits there for a client
        self._listening.close()
        for line in self._lines:
            line.hang_up()

    def __enter__(self) -> Self:
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hang_up()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.refusing:
                    client.close()
                    continue
                self._lines.append(Line(self, client, self._connected()))

    def _connected(self) -> socket.socket:
        folder = self._address.query.get("host")
        port = self._address.port or 5432
        if isinstance(folder, str):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{folder}/.s.PGSQL.{port}")
            return server
        return socket.create_connection((self._address.host or "127.0.0.1", port))


def read_message(end: socket.socket, *, typed: bool) -> bytes:
    """One message: its type, except of the very first, its length, and its body."""
    head = read_exactly(end, 5 if typed else 4)
    (length,) = struct.unpack("!I", head[-4:])
    return head + read_exactly(end, length - 4)


def read_exactly(end: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = end.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data
