"""Bots for chat platforms: a core that knows no platform, and one thin adapter for each.

The core (`bot`, with what it uses) takes values of `events` and answers with values of `outgoing`. An adapter turns
what its platform sends into the former, and sends the latter. All memory is kept and asked through `AsyncMemory`.
"""
