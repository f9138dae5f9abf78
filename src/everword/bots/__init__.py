"""Bots for chat platforms: a core that knows no platform, and one module for each platform.

The core (`bot`, with what it uses) takes and gives values of `platforms`. `telegram` and `discord` turn what their
platform sends into such values, and send what the bot says. All memory is kept and asked through `AsyncMemory`.
"""
