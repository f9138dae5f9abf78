"""Helpers to test a program that uses everword, or an adapter written for it.

`doubles` has a clock that a test moves and a model with scripted replies; `contract` holds the tests that every store
must pass, as a class to inherit; `serving` has a server on loopback. Only `contract` needs pytest.
"""

from __future__ import annotations

from everword.testing.doubles import FrozenClock, ScriptedLLM

__all__ = ["FrozenClock", "ScriptedLLM"]
