"""LangChain 1.x, with streams of chat completions."""

from desk import BASE_URL, MODEL, Ticket
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI


async def play(ticket: Ticket) -> str:
    tools = [StructuredTool.from_function(function) for function in ticket.functions()]
    model = ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key="none", streaming=True)
    last = {}
    for last in create_agent(model, tools).stream(
        {"messages": [("user", ticket.observation)]}, {"recursion_limit": 50}, stream_mode="values"
    ):
        pass
    return last["messages"][-1].text
