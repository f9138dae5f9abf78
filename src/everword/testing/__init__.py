"""Helpers to test a program that uses everword, or an adapter written for it.

`clock` is a clock that a test moves; `llm` is a model with scripted replies; `contract` holds the tests that every
store must pass, as a class to inherit; `postgres` starts a real server for a test run; `faults` simulates a full disk.
Only `contract` needs pytest.
"""

from __future__ import annotations

from everword.testing.clock import FrozenClock
from everword.testing.llm import ScriptedLLM

__all__ = ["FrozenClock", "ScriptedLLM"]
