"""OpenAI Agents, with streams of responses."""

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from desk import BASE_URL, MODEL, Ticket
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def play(ticket: Ticket) -> str:
    client = AsyncOpenAI(base_url=BASE_URL, api_key="none")
    model = OpenAIResponsesModel(model=MODEL, openai_client=client)
    agent = Agent(name="clerk", model=model, tools=[function_tool(each) for each in ticket.functions()])
    result = Runner.run_streamed(agent, ticket.observation, max_turns=20)
    async for _ in result.stream_events():
        pass
    return result.final_output
