import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { ticketServer } from '../../test/mcp-tickets.process.ts'
import { commandWords, obtainMcpTools } from './obtain-tools.ts'

it.each([
  ['npx some-server', ['npx', 'some-server']],
  ['node "my server.js" --name \'two words\'', ['node', 'my server.js', '--name', 'two words']],
  ['a"b c"d', ['ab cd']],
  ['echo "say \\"hi\\"" $HOME; rm x | y', ['echo', 'say "hi"', '$HOME;', 'rm', 'x', '|', 'y']],
  ['', []],
])('the words of %j are %j: no shell reads them', (line, words) => {
  expect(commandWords(line)).toEqual(words)
})

const served = [
  { name: 'search-tickets', description: 'Search the open tickets', readOnly: true },
  { name: 'close-ticket', description: 'Close a ticket', readOnly: null },
  { name: 'snooze', description: 'Look again later', readOnly: null },
]

it('reads the tools of an MCP server in a process of its own', async () => {
  const script = fileURLToPath(new URL('../../test/mcp-tickets.process.ts', import.meta.url))
  const { tools, server } = await obtainMcpTools(`"${process.execPath}" "${script}"`)
  expect(server).toBe('ticket-desk')
  expect(tools).toMatchObject(served)
  expect(tools[1].schema).toMatchObject({ properties: { resolution: { enum: ['solved', 'duplicate'] } } })
})

it('reads the tools of an MCP server by streamable HTTP', async () => {
  const handler = createMcpHandler(ticketServer)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    )
    const body = request.method === 'POST' ? Buffer.concat(chunks) : undefined
    const answer = await handler.fetch(
      new Request(`http://localhost${request.url}`, { method: request.method, headers, body }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const { tools } = await obtainMcpTools(`http://127.0.0.1:${port}/mcp`)
    expect(tools).toMatchObject(served)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  }
})

it('shows why a server did not start', async () => {
  const failing = obtainMcpTools(`"${process.execPath}" -e "console.error('no token set'); process.exit(1)"`)
  await expect(failing).rejects.toMatchObject({
    code: 'server_unreachable',
    hint: expect.stringContaining('no token set'),
  })
  await expect(obtainMcpTools('no-such-command-here')).rejects.toMatchObject({ code: 'server_unreachable' })
})
