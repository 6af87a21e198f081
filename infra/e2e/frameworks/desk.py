"""The back end of held-out tickets, which the test serves over HTTP, for the agents of this folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Callable
from urllib.request import Request, urlopen

BASE_URL = os.environ["AGENTS_URL"]
MODEL = os.environ["AGENTS_MODEL"]
DESK_URL = os.environ["DESK_URL"]


@dataclass(frozen=True)
class Ticket:
    """One ticket: what the policy observes at first, and the tools, by name."""

    index: int
    observation: str
    tools: list[str]

    def call(self, name: str) -> str:
        """Calls a tool; returns the new observation, or at the end that the ticket is done."""
        with urlopen(Request(f"{DESK_URL}/{self.index}/{name}", method="POST")) as response:
            return response.read().decode()

    def function(self, name: str) -> Callable[[], str]:
        """The tool as a function without parameters, which frameworks read the schema of."""

        def tool() -> str:
            return self.call(name)

        tool.__name__ = name
        tool.__doc__ = f"Does {name} for the ticket."
        return tool

    def functions(self) -> list[Callable[[], str]]:
        return [self.function(name) for name in self.tools]


def tickets() -> list[Ticket]:
    with urlopen(DESK_URL) as response:
        return [Ticket(**ticket) for ticket in json.load(response)]
