"""Microsoft Agent Framework, by way of responses, which its OpenAIChatClient speaks."""

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatClient
from desk import BASE_URL, MODEL, Ticket


async def play(ticket: Ticket) -> str:
    client = OpenAIChatClient(MODEL, base_url=BASE_URL, api_key="none")
    # Nothing is stored, so each request has the whole conversation.
    options = {"store": False}
    agent = Agent(client, tools=[tool(each) for each in ticket.functions()], default_options=options)
    return (await agent.run(ticket.observation)).text
