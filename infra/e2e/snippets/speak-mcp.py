"""Speaks to the MCP server in server.py over its standard streams: speak-mcp.py OBSERVATIONS; prints the actions."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.executable, args=["server.py"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        (tool,) = (await session.list_tools()).tools
        (parameter,) = tool.inputSchema["required"]
        actions = []
        for observation in json.loads(sys.argv[1]):
            answer = await session.call_tool(tool.name, {parameter: observation})
            assert not answer.isError, answer
            actions.append(json.loads(answer.content[0].text))
        print(json.dumps(actions))


asyncio.run(main())
