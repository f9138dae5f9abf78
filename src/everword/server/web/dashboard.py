"""Puts the dashboard's pages into the application."""

from __future__ import annotations

from fastapi import FastAPI

from everword.memory.inspection import TopicOrders
from everword.server.door.rates import SignIns, table_beside
from everword.server.routing import add_routes
from everword.server.web import administration, conversations, labs, open_pages, overview, people
from everword.server.web.pages import show_problem

MODULES = (open_pages, overview, conversations, labs, people, administration)


def mount(app: FastAPI) -> None:
    app.state.problem_page = show_problem
    app.state.sign_ins = SignIns(table_beside(app.state.options.rates))
    app.state.figures = overview.FigureCache(app.state.memory)
    app.state.topic_orders = TopicOrders()
    for module in MODULES:
        add_routes(app, module.router)
