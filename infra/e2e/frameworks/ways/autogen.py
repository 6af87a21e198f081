"""AutoGen (autogen-agentchat), by way of chat completions."""

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from desk import BASE_URL, MODEL, Ticket

INFO = {
    "family": ModelFamily.UNKNOWN,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "vision": False,
}


async def play(ticket: Ticket) -> str:
    client = OpenAIChatCompletionClient(model=MODEL, base_url=BASE_URL, api_key="none", model_info=INFO)
    agent = AssistantAgent("clerk", client, tools=ticket.functions(), max_tool_iterations=20)
    result = await agent.run(task=ticket.observation)
    return result.messages[-1].to_text()
