"""Open WebUI itself, which loads the filter from its database as it does for a chat: `make test-adapters`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

DATA = Path(tempfile.mkdtemp())
os.environ |= {"DATA_DIR": str(DATA), "STATIC_DIR": str(DATA / "static"), "WEBUI_SECRET_KEY": "of the tests"}
# As `open-webui serve` sets it; nothing is downloaded; no knowledge base, which the slim requirements leave out.
os.environ |= {"FROM_INIT_PY": "true", "OFFLINE_MODE": "true", "VECTOR_DB": "none"}

from open_webui.config import run_migrations  # noqa: E402, F401  it makes the database
from open_webui.models.functions import FunctionForm, FunctionMeta, Functions  # noqa: E402
from open_webui.utils.filter import get_filter_context, get_filter_functions, process_filter_functions  # noqa: E402
from open_webui.utils.plugin import load_function_module_by_id  # noqa: E402

from everword import Memory  # noqa: E402

FILTER = Path(__file__).parents[2] / "examples" / "open_webui_filter.py"


async def install() -> None:
    """Save the filter and switch it on for all models, as an administrator does."""
    content = FILTER.read_text(encoding="utf-8")
    _, kind, frontmatter, _ = await load_function_module_by_id("everword", content=content)
    assert kind == "filter"
    assert frontmatter["requirements"] == "everword"
    form = FunctionForm(id="everword", name="everword", content=content, meta=FunctionMeta(manifest=frontmatter))
    await Functions.insert_new_function("admin", kind, form)
    await Functions.update_function_by_id("everword", {"is_active": True, "is_global": True})


class Server:
    """What Open WebUI does with a message of a chat: filters, the model, filters again."""

    def __init__(self) -> None:
        self.app = SimpleNamespace(state=SimpleNamespace())

    async def say(self, chat: str, user: str, messages: list[dict[str, Any]], reply: str) -> str:
        """One turn; what the model was sent."""
        request = SimpleNamespace(app=self.app, state=SimpleNamespace())
        params = {"__user__": {"id": user, "name": user}, "__metadata__": {"chat_id": chat}, "__chat_id__": chat}
        filters = await get_filter_functions(request, {"id": "m"}, [])
        assert [function.id for function in filters] == ["everword"]
        form = {"model": "m", "messages": [dict(message) for message in messages], "metadata": params["__metadata__"]}
        context = get_filter_context(request)
        form, _ = await process_filter_functions(request, context, filters, "inlet", form, params)
        messages.append({"role": "assistant", "content": reply})
        body = {"model": "m", "chat_id": chat, "messages": [{"id": "x", "info": None, **m} for m in messages]}
        await process_filter_functions(request, None, filters, "outlet", body, params)
        assert form["messages"][-1] == messages[-2]
        return str(form["messages"])


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def test_a_second_chat_knows_what_the_first_was_told_and_nobody_else_s() -> None:
    async def use() -> None:
        await install()
        server = Server()
        await server.say("one", "alex", said("The dish I like most is ramen."), "Tasty!")
        await server.say("sam's", "sam", said("The dish I like most is haggis."), "Noted.")
        await server.say("temporary:1", "alex", said("The dish I like most is soup."), "Noted.")
        chat = [{"role": "system", "content": "Be brief."}, *said("What dish do I like?")]
        sent = await server.say("two", "alex", chat, "Ramen.")
        assert "most is ramen" in sent
        assert "Be brief." in sent
        assert "haggis" not in sent
        assert "soup" not in sent
        await server.say("two", "alex", [*chat, *said("Sure?")], "Yes.")

    asyncio.run(use())
    with Memory(str(DATA / "everword.db"), followers=False) as memory:
        kept = [message.content for message in memory.conversation("two", user="alex").history()]
    assert kept == ["What dish do I like?", "Ramen.", "Sure?", "Yes."]
