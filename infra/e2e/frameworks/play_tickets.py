"""Plays every ticket through a framework: `python play_tickets.py WAY`. Prints the last answer of each as JSON."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys

from desk import tickets


async def main(way: str) -> None:
    play = importlib.import_module(f"ways.{way}").play
    print(json.dumps([await play(ticket) for ticket in tickets()]))


asyncio.run(main(sys.argv[1]))
