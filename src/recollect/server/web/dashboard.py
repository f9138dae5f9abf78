"""Puts the dashboard's pages into the application."""

from __future__ import annotations

from fastapi import FastAPI

from recollect.server.web import conversations, messages, overview, sign_in
from recollect.server.web.pages import show_problem

ROUTERS = (sign_in.router, overview.router, conversations.router, messages.router)


def mount(app: FastAPI) -> None:
    app.state.problem_page = show_problem
    app.state.figures = overview.FigureCache(app.state.memory)
    for router in ROUTERS:
        app.include_router(router)
