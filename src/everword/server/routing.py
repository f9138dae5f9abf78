"""How the routes of a router become routes of the application."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Serve the routes of a router as they are.

    `include_router` gives them what an application adds (a prefix, tags, dependencies): for that it reads the signature
    of every route again, in each application, at its first request. Ours add nothing, and it took a third of a second.
    """
    app.router.routes.extend(router.routes)
