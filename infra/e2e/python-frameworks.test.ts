// @module-tag full
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { agentServer, type Listening, listenAgents } from '@agentgym/agent/server'
import { describeScenario } from '@agentgym/scenario/engine'
import { type LanguageModelServer, startLanguageModel } from '@agentgym/testkit/language-model'
import { pythonEnvironment, runPython } from '@agentgym/testkit/python'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import support from '../../plugins/customer-support/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { codeBlocks } from '../checks/markdown.ts'
import { readRepositoryFile } from '../checks/repository-files.ts'
import { played, Ticket, tickets } from './held-out-tickets.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-frameworks-'))
const folder = join(import.meta.dirname, 'frameworks')
/** What a framework would send home, and where it would write. */
const offline = { CREWAI_DISABLE_TELEMETRY: 'true', OTEL_SDK_DISABLED: 'true', HOME: home }
let agent: Agent
let agents: Listening
let model: LanguageModelServer
let desk: Server
let open: Ticket[]

beforeAll(async () => {
  agent = await loadAgent(writeRandomAgent(join(home, 'support'), 'support', describeScenario(support)).folder)
  model = await startLanguageModel(() => ({ text: 'Done.' }))
  const languageModel = { baseUrl: model.url, model: 'scripted-1' }
  const served = ['support', '@ann/support'].map((name) => ({ name, version: null, agent }))
  agents = await listenAgents(agentServer(served, { languageModel }), { host: '127.0.0.1', port: 0 })
  desk = createServer((request, response) => response.end(answerOfDesk(request.url ?? '/')))
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await agents.close()
  await model.close()
  desk.close()
  agent.dispose()
  rmSync(home, { recursive: true })
})

/** `/` lists the tickets, `/3/refund` calls a tool of the fourth. */
function answerOfDesk(path: string): string {
  const [, index, tool] = path.split('/')
  if (tool === undefined)
    return JSON.stringify(open.map(({ observation }, i) => ({ index: i, observation, tools: agent.labels })))
  const ticket = open[Number(index)]
  const observation = ticket.call(tool)
  return ticket.done ? 'The ticket is done.' : observation
}

async function play(environment: string, way: string): Promise<void> {
  open = tickets.map((index) => new Ticket(index))
  const python = await pythonEnvironment(environment)
  const { port } = desk.address() as AddressInfo
  const variables = { AGENTS_URL: `${agents.url}/v1`, AGENTS_MODEL: 'support', DESK_URL: `http://127.0.0.1:${port}` }
  const said = await runPython(python, [join(folder, 'play_tickets.py'), way], {
    environment: { ...variables, ...offline },
  })
  expect(JSON.parse(lastLine(said))).toEqual(
    tickets.map(() => (way === 'openai_decisions' ? 'The ticket is done.' : 'Done.')),
  )
  expect(open.map(({ called }) => called)).toEqual(tickets.map((index) => played(agent, index)))
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

describe('twenty held-out tickets are handled by the same tools in the same order through', {
  timeout: 600_000,
}, () => {
  const streamed = ['langchain_streamed', 'openai_agents_streamed', 'agent_framework_responses']
  it.each([
    ...['langchain_agent', 'openai_agents', 'agent_framework_chat', 'autogen', 'openai_decisions'],
    ...(isLong ? streamed : []),
  ])('%s', (way) => play('frameworks', way))

  it('crew_ai', () => play('crewai', 'crew_ai'))
})

describe('the examples of docs/frameworks.md', { timeout: 600_000 }, () => {
  const examples = codeBlocks(readRepositoryFile('docs/frameworks.md')).filter(({ language }) => language === 'python')

  it('have about ten lines', () => {
    expect(examples).toHaveLength(6)
    for (const { text } of examples) expect(text.split('\n').filter(Boolean).length).toBeLessThanOrEqual(14)
  })

  it.each(examples.map(({ text }) => [/^from (\w+)/m.exec(text.replace('import asyncio', ''))?.[1] ?? '', text]))(
    'run as they are pasted: %s',
    async (framework, text) => {
      model.asked.length = 0
      const python = await pythonEnvironment(framework === 'crewai' ? 'crewai' : 'frameworks')
      const pasted = text.replace('http://127.0.0.1:4480/v1', `${agents.url}/v1`)
      expect(pasted).not.toBe(text)
      const said = lastLine(await runPython(python, ['-c', pasted], { environment: offline }))
      // The policy calls the tool; the language model is asked for the text after it alone.
      if (framework === 'openai') expect(said).toMatch(/^(close_ticket|send_email) 0\.\d+$/)
      else expect(said).toBe('Done.')
      expect(model.asked).toHaveLength(framework === 'openai' ? 0 : 1)
    },
  )
})
