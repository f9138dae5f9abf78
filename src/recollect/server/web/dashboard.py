"""Puts the dashboard's pages into the application."""

from __future__ import annotations

from fastapi import FastAPI

from recollect.memory.inspection.topics import TopicOrders
from recollect.server.door.sign_ins import SignIns, table_beside
from recollect.server.routing import add_routes
from recollect.server.web import (
    context_lab,
    conversations,
    episodes,
    facts,
    integrity,
    keys,
    messages,
    overview,
    people,
    reference,
    removal,
    replies,
    search_lab,
    settings,
    sign_in,
    topics,
)
from recollect.server.web.pages import show_problem

ROUTERS = (
    sign_in.router,
    overview.router,
    conversations.router,
    messages.router,
    context_lab.router,
    replies.router,
    search_lab.router,
    people.router,
    facts.router,
    topics.router,
    episodes.router,
    integrity.router,
    removal.router,
    keys.router,
    settings.router,
    reference.router,
)


def mount(app: FastAPI) -> None:
    app.state.problem_page = show_problem
    app.state.sign_ins = SignIns(table_beside(app.state.options.rates))
    app.state.figures = overview.FigureCache(app.state.memory)
    app.state.topic_orders = TopicOrders()
    for router in ROUTERS:
        add_routes(app, router)
