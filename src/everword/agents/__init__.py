"""Coding agents (Claude Code, Codex, Gemini CLI, OpenCode) with a memory of their project, through their own hooks."""
