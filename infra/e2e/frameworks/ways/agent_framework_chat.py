"""Microsoft Agent Framework, by way of chat completions."""

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient
from desk import BASE_URL, MODEL, Ticket


async def play(ticket: Ticket) -> str:
    client = OpenAIChatCompletionClient(MODEL, base_url=BASE_URL, api_key="none")
    agent = Agent(client, tools=[tool(each) for each in ticket.functions()])
    return (await agent.run(ticket.observation)).text
