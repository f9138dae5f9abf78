"""A web app with a chat that remembers each visitor: uvicorn --app-dir examples web_app:app

A visitor is known by a random cookie. In your app, take the user from your own login instead: whoever can choose the
user can read that user's memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from pydantic import BaseModel

from everword import AsyncConversation, AsyncMemory, EverwordError

COOKIE = "visitor"
PAGE = """<!doctype html><meta charset="utf-8"><title>Chat</title>
<style>body { font: 16px sans-serif; max-width: 40em; margin: 2em auto } #log p { white-space: pre-wrap }</style>
<div id="log"></div><form><input name="text" size="50" autofocus autocomplete="off"> <button>Send</button></form>
<script>
function say(text) {  // as text, never as HTML
  const line = document.createElement("p"); line.textContent = text
  return document.querySelector("#log").appendChild(line) }
document.querySelector("form").onsubmit = async event => {
  event.preventDefault(); const text = event.target.text.value; event.target.reset(); say("You: " + text)
  const line = say("Bot: "), headers = { "Content-Type": "application/json" }
  const answer = await fetch("chat", { method: "POST", headers, body: JSON.stringify({ text }) })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part; !(part = await reader.read()).done;) line.textContent += part.value }
</script>"""


class Question(BaseModel):
    text: str


def create_app(memory: AsyncMemory) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with memory:  # one memory for the whole process
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/")
    async def show_page(request: Request) -> HTMLResponse:
        page = HTMLResponse(PAGE)
        if COOKIE not in request.cookies:
            page.set_cookie(COOKIE, uuid4().hex, max_age=365 * 86400, httponly=True, samesite="strict")
        return page

    @app.post("/chat")
    async def answer(question: Question, request: Request) -> StreamingResponse:
        visitor = request.cookies.get(COOKIE) or uuid4().hex
        chat = memory.conversation(visitor, user=visitor)
        return StreamingResponse(stream_reply(chat, question.text), media_type="text/plain; charset=utf-8")

    return app


async def stream_reply(chat: AsyncConversation, text: str) -> AsyncIterator[str]:
    try:
        async for piece in chat.stream(text):
            yield piece
    except EverwordError as error:
        yield f"({error})"


app = create_app(AsyncMemory("web.db"))
