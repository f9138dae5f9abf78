"""Writes the hooks of everword into the settings of coding agents, and takes them out again.

A hook is known by the path of `hook.py` in its command: nothing else in a host's settings is changed, and a file that
is not JSON is left as it is. The command ends with exit code 0 whatever happens, since hosts take others for a refusal.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from everword.agents import hook
from everword.errors import ConfigError

MARK = "everword/agents/hook.py"
SECONDS = 5  # after which a host ends a hook: it has given up by itself long before


@dataclass(frozen=True, slots=True)
class Host:
    """A coding agent: the file with its hooks, below a project or the home folder, and its names for the events."""

    name: str
    file: str
    events: dict[str, str]
    timeout: int = SECONDS  # in the host's own unit


HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude",
            ".claude/settings.json",
            {
                "SessionStart": "session",
                "UserPromptSubmit": "prompt",
                "PostToolUse": "tool",
                "Stop": "turn",
                "PreCompact": "turn",
            },
        ),
        Host(
            "codex",
            ".codex/hooks.json",
            {"SessionStart": "session", "UserPromptSubmit": "prompt", "PostToolUse": "tool", "Stop": "turn"},
        ),
        Host(
            "gemini",
            ".gemini/settings.json",
            {"SessionStart": "session", "BeforeAgent": "prompt", "AfterTool": "tool", "AfterAgent": "turn"},
            timeout=SECONDS * 1_000,
        ),
        Host("opencode", ".opencode/plugin/everword.js", {}),
    )
}


def command_for(host: str, event: str) -> str:
    """The shell command of a hook."""
    return f"{shlex.quote(sys.executable)} -IS {shlex.quote(hook.__file__)} {host} {event}; exit 0"


def install(host: Host, folder: Path) -> Path:
    """Add the hooks to a host's settings below a folder; returns the file. What was there before stays."""
    path = folder / host.file
    if path.suffix == ".js":
        source = Path(__file__).with_name("opencode.js").read_text(encoding="utf-8")
        text = source.replace('"@COMMAND@"', json.dumps(command_for(host.name, "EVENT")))
    else:
        settings = without_hooks(read_settings(path))
        hooks = settings.setdefault("hooks", {})
        for name, event in host.events.items():
            entry = {"type": "command", "command": command_for(host.name, event), "timeout": host.timeout}
            hooks.setdefault(name, []).append({"hooks": [entry]})
        text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_plugin(folder: Path) -> list[Path]:
    """Write a plug-in of Claude Code below a folder: its description, the hooks, and a command a file."""
    host = HOSTS["claude"]
    hooks = {
        name: [{"hooks": [{"type": "command", "command": command_for(host.name, event), "timeout": host.timeout}]}]
        for name, event in host.events.items()
    }
    about = {
        "name": "everword",
        "version": version("everword"),
        "description": "A memory of your projects, from session to session",
    }
    files = {
        ".claude-plugin/plugin.json": json.dumps(about, indent=2) + "\n",
        "hooks/hooks.json": json.dumps({"hooks": hooks}, indent=2) + "\n",
    }
    command = f"{shlex.quote(sys.executable)} -m everword hook"
    for page in sorted(Path(__file__).with_name("plugin").glob("*.md")):
        files[f"commands/{page.name}"] = page.read_text(encoding="utf-8").replace("@COMMAND@", command)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def uninstall(host: Host, folder: Path) -> bool:
    """Take the hooks out again; False if there were none."""
    path = folder / host.file
    if not path.exists() or MARK not in path.read_text(encoding="utf-8", errors="replace"):
        return False
    if path.suffix == ".js":
        path.unlink()
        return True
    settings = without_hooks(read_settings(path))
    if settings:
        path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        path.unlink()
    return True


def read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON, so the file was not changed: {error}") from error
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks", {}), dict):
        raise ConfigError(f"{path} does not contain a JSON object of settings, so the file was not changed")
    return settings


def without_hooks(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hooks, and without what is empty then."""
    hooks = {}
    for name, groups in settings.get("hooks", {}).items():
        groups = [group for group in groups if MARK not in json.dumps(group)]
        if groups:
            hooks[name] = groups
    others = {key: value for key, value in settings.items() if key != "hooks"}
    return others | ({"hooks": hooks} if hooks else {})
