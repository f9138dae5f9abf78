"""What one needs to test a program that uses recollect, or an adapter written for it.

`clock` stands still until told; `llm` is a model that says what it was told to say; `contract` holds what every store
must do, as a class to inherit; `postgres` starts a real server for the length of a test run; `faults` makes a disk
refuse. Only `contract` needs pytest.
"""

from __future__ import annotations

from recollect.testing.clock import FrozenClock
from recollect.testing.llm import ScriptedLLM

__all__ = ["FrozenClock", "ScriptedLLM"]
