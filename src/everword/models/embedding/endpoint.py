"""Vectors from any OpenAI-compatible `/embeddings` endpoint.

An endpoint is not trusted to answer well: the count, order, width and every number of a reply are checked
before one vector is used, and each vector is scaled to length one here. Every failure becomes an
`EmbedderError` that says what to do. The key is handed to the client and kept nowhere else; it is in no message
and no repr.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from everword.errors import EmbedderError, EmbedderRefused, InvalidInput, MissingExtra
from everword.masking import keep_out_of_texts, keep_password_out_of_texts
from everword.models.chat.openai import replace_surrogates
from everword.ports import Vectors

BATCH = 64  # texts a request
TIMEOUT = 30.0  # seconds a try
RETRIES = 2  # after the first try; the client waits longer before each
PROBE = "width"
REFUSED = (400, 413, 422)  # HTTP: something about the request itself, such as a text that is too long


class EndpointEmbedder:
    """`width` is the width of the model's vectors. If it is not known, `await ready()` asks the endpoint once.

    Until then `width` and `identity` raise. A blank text gets a row of zeros and is not sent.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        model: str,
        width: int | None = None,
        batch: int = BATCH,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        if batch < 1:
            raise InvalidInput("batch", "must be at least 1")
        if width is not None and width < 1:
            raise InvalidInput("width", "must be at least 1")
        address = _public_address(base_url)
        keep_password_out_of_texts(base_url)
        keep_out_of_texts(key)
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "an embedding endpoint") from None
        self._openai = openai
        # The client refuses an empty key, but a local server often needs none. Plain text: a Secret formats as stars.
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=str(key) or "none", timeout=timeout, max_retries=retries
        )
        self._address = address
        self._model = model
        self._width = width
        self._batch = batch

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._address!r}, model={self._model!r}, width={self._width})"

    @property
    def identity(self) -> str:
        return f"endpoint/{self._model}/{self.width}"

    @property
    def width(self) -> int:
        if self._width is None:
            raise EmbedderError(
                f"the length of the vectors of {self._model} is not known; give `width`, or await ready() first"
            )
        return self._width

    async def ready(self) -> None:
        """Find out the width, by asking for one vector if it was not given."""
        if self._width is None:
            await self._request_vectors([PROBE])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        await self.ready()
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), self._batch):
            batch = places[start : start + self._batch]
            vectors[batch] = await self._request_vectors([replace_surrogates(texts[place]) for place in batch])
        return vectors

    async def close(self) -> None:
        await self._client.close()

    async def _request_vectors(self, texts: list[str]) -> Vectors:
        try:
            create = self._client.embeddings.create
            reply = await create(model=self._model, input=texts, encoding_format="float")
        except (self._openai.OpenAIError, ValueError) as error:
            # Not chained: the client's error repeats what the server said, which may hold the key.
            kind = EmbedderRefused if getattr(error, "status_code", None) in REFUSED else EmbedderError
            raise kind(f"{self._model} at {self._address}: {self._advice(error)}") from None
        return self._parse_vectors(reply, len(texts))

    def _parse_vectors(self, reply: object, count: int) -> Vectors:
        rows = getattr(reply, "data", None)
        if not isinstance(rows, list) or len(rows) != count:
            answer = f"{len(rows)} vectors" if isinstance(rows, list) else "no list of vectors"
            raise self._nonsense_error(f"{answer} for {count} texts")
        try:
            by_index = {getattr(row, "index", None): getattr(row, "embedding", None) for row in rows}
            if set(by_index) != set(range(count)):
                raise self._nonsense_error("vectors that are not numbered like the texts")
            vectors = np.array([by_index[index] for index in range(count)], dtype=np.float64)
        except (TypeError, ValueError):
            raise self._nonsense_error("vectors of unequal width, or not of numbers") from None
        if vectors.ndim != 2 or not vectors.size:
            raise self._nonsense_error("vectors that are not lists of numbers")
        if self._width is not None and vectors.shape[1] != self._width:
            raise EmbedderError(
                f"{self._model} at {self._address} returned vectors of length {vectors.shape[1]}, not "
                f"{self._width}. Set `width` to {vectors.shape[1]}, or use the model that made the stored vectors"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._nonsense_error("numbers that are not finite, or only zeros")
        self._width = vectors.shape[1]
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def _nonsense_error(self, answer: str) -> EmbedderError:
        return EmbedderError(
            f"{self._model} at {self._address} answered with {answer}: "
            "check that the address is an OpenAI-compatible API and the model an embedding model"
        )

    def _advice(self, error: Exception) -> str:
        """What happened and what to do, in our own words: the server's may repeat the key or the texts."""
        api = self._openai
        if isinstance(error, api.APITimeoutError):
            return "no answer in time; try again, or allow more time"
        if isinstance(error, api.APIConnectionError):
            return "cannot be reached; check the address and that the server runs"
        if isinstance(error, api.AuthenticationError | api.PermissionDeniedError):
            return f"refused the key (HTTP {error.status_code}); check the key and its rights"
        if isinstance(error, api.NotFoundError):
            return "knows no such model or path (HTTP 404); check the model and the address (often …/v1)"
        if isinstance(error, api.RateLimitError):
            return "too many requests or no credit left (HTTP 429); wait, or check the account"
        if isinstance(error, api.APIStatusError):
            if error.status_code < 500:
                return f"refused (HTTP {error.status_code}); check the model and the texts' length"
            return f"failed (HTTP {error.status_code}); try again later"
        return "answered with something that is not JSON; check that the address is an OpenAI-compatible API"


def _public_address(base_url: str) -> str:
    """The address without what may be secret in it: user, password, query."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput("base_url", "must be an address like https://host/v1")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
