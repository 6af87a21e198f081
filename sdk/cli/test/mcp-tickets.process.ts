/** An MCP server of the official package with three tools, on stdin and stdout. */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

export function ticketServer(): McpServer {
  const server = new McpServer({ name: 'ticket-desk', version: '1.0.0' })
  const done = { content: [{ type: 'text' as const, text: 'done' }] }
  server.registerTool(
    'search-tickets',
    {
      description: 'Search the open tickets',
      inputSchema: z.object({ query: z.string() }),
      annotations: { readOnlyHint: true },
    },
    () => done,
  )
  server.registerTool(
    'close-ticket',
    {
      description: 'Close a ticket',
      inputSchema: z.object({ ticket_id: z.string(), resolution: z.enum(['solved', 'duplicate']) }),
    },
    () => done,
  )
  server.registerTool(
    'snooze',
    { description: 'Look again later', inputSchema: z.object({ hours: z.number().int().min(1).max(48) }) },
    () => done,
  )
  return server
}

if (import.meta.main) serveStdio(ticketServer)
