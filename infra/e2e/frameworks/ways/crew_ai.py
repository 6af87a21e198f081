"""CrewAI, by way of chat completions."""

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from desk import BASE_URL, MODEL, Ticket


async def play(ticket: Ticket) -> str:
    llm = LLM(model=f"openai/{MODEL}", base_url=BASE_URL, api_key="none")
    tools = [tool(each.__name__)(each) for each in ticket.functions()]
    clerk = Agent(role="clerk", goal="Solve the ticket", backstory="You work at a help desk", llm=llm, tools=tools)
    # CrewAI puts words of its own around a task, so the observation is a block of JSON.
    description = f"Solve the ticket.\n```json\n{ticket.observation}\n```"
    task = Task(description=description, expected_output="What was done", agent=clerk)
    return str(await Crew(agents=[clerk], tasks=[task]).kickoff_async())
