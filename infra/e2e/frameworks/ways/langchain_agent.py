"""LangChain 1.x, by way of chat completions."""

from desk import BASE_URL, MODEL, Ticket
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI


async def play(ticket: Ticket) -> str:
    tools = [StructuredTool.from_function(function) for function in ticket.functions()]
    agent = create_agent(ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key="none"), tools)
    result = agent.invoke({"messages": [("user", ticket.observation)]}, {"recursion_limit": 50})
    return result["messages"][-1].text
