"""The decisions of the OpenAI SDK: no language model, and the program itself calls the tools."""

import json

from desk import BASE_URL, MODEL, Ticket
from openai import OpenAI


async def play(ticket: Ticket) -> str:
    client = OpenAI(base_url=BASE_URL, api_key="none")
    choices = [{"value": name} for name in ticket.tools]
    question = {"type": "choice", "name": "tool", "instructions": "Which tool is next?", "choices": choices}
    observation = ticket.observation
    while observation.startswith("{"):
        decision = client.decisions.create(model=MODEL, input=observation, questions=[question])
        observation = ticket.call(decision.answers[0].choice)
    return observation
