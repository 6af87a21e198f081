"""Where AgentGym keeps its files on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def agentgym_home() -> Path:
    """`AGENTGYM_HOME`, or `.agentgym` in the user's home."""
    named = os.environ.get("AGENTGYM_HOME")
    return Path(named).absolute() if named else Path(os.environ.get("HOME") or Path.home()) / ".agentgym"
