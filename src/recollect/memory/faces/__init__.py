"""The face of a memory: what a program can ask of it, wherever it is.

`AsyncMemory` has this face over a store, `AsyncClient` over a server; `Memory` and `Client` are the same, blocking.
What a method does is written here once: classes that have the face inherit the docstrings, their blocking twins copy
them.
"""

from recollect.memory.faces.conversation import ConversationFace
from recollect.memory.faces.docstrings import documented_as
from recollect.memory.faces.documents import DocumentsFace
from recollect.memory.faces.memory import MemoryFace

__all__ = ["ConversationFace", "DocumentsFace", "MemoryFace", "documented_as"]
