"""The memory over HTTP: REST under `/v1`, a drop-in OpenAI endpoint, MCP; and who may enter.

Needs the extra `[server]`. Nothing here is imported by the library itself: `recollect serve` does it.
"""
