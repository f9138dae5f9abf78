"""The dashboard: pages that show, explain and correct a memory, made on the server, with the rights of the REST routes.

A page uses the engine's public methods and nothing else. What people and models said is text: every template escapes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import FastAPI

from everword.memory.dashboard_data import TopicOrders
from everword.server.rates import IN_ALL, Rates, SignIns, table_beside
from everword.server.web import administration, conversations, home, imports, labs, open_pages, people
from everword.server.web.pages import show_problem

ROUTERS = tuple(module.router for module in (open_pages, home, administration, conversations, labs, people, imports))


def prepare(app: FastAPI) -> None:
    """Give the application what the pages share."""
    app.state.problem_page = show_problem
    app.state.sign_ins = SignIns(Rates(IN_ALL, table_beside(app.state.options.rates)))
    app.state.figures = administration.FigureCache(app.state.memory)
    app.state.topic_orders = TopicOrders()
    app.state.imports = set[asyncio.Task[Any]]()
