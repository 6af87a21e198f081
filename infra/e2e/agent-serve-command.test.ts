import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeScenario } from '@agentgym/scenario/engine'
import { runCli } from '@agentgym/testkit/command-line'
import { type LanguageModelServer, startLanguageModel } from '@agentgym/testkit/language-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import support from '../../plugins/customer-support/src/index.ts'
import pendulum from '../../plugins/pendulum/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-serve-model-'))
let model: LanguageModelServer

beforeAll(async () => {
  writeRandomAgent(join(home, 'support'), 'support', describeScenario(support))
  writeRandomAgent(join(home, 'balancer'), 'balancer', describeScenario(pendulum))
  model = await startLanguageModel(({ body }) =>
    body.tool_choice === 'none' ? { text: 'Done.' } : { calls: [{ name: 'lookup_user', arguments: {} }] },
  )
})
afterAll(async () => {
  await model.close()
  rmSync(home, { recursive: true })
})

const ticket = { ticket: 'I was charged twice', found: [0, 0, 0, 0, 0], done: [0, 0, 0, 0, 0, 0], calls: [0] }

it('serves an agent beside a language model, and logs what that chooses', async () => {
  const environment = { AGENTGYM_LLM_KEY: 'llm secret' }
  const words = ['agent', 'serve', './support', '--port', '0', '--json', '--threshold', '1', '--log', 'choices.jsonl']
  let said: unknown
  const { status, stderr } = await runCli(
    [...words, '--llm-base-url', `${model.url}/`, '--llm-model', 'scripted-1', '--done-after', 'close_ticket'],
    {
      cwd: home,
      environment,
      onLine: async (line, interrupt) => {
        const { url } = JSON.parse(line)
        const tools = [
          { type: 'function', function: { name: 'lookup_user' } },
          { type: 'function', function: { name: 'refund' } },
        ]
        const body = { model: './support', messages: [{ role: 'user', content: JSON.stringify(ticket) }], tools }
        const headers = { 'content-type': 'application/json' }
        said = await (
          await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
        ).json()
        interrupt()
      },
    },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(said).toMatchObject({ choices: [{ message: { tool_calls: [{ function: { name: 'lookup_user' } }] } }] })
  expect(model.asked).toMatchObject([{ key: 'llm secret', body: { model: 'scripted-1' } }])
  const log = join(home, 'choices.jsonl')
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { reason: 'unsure', agent: './support', observation: ticket, language_model: { calls: [{ name: 'lookup_user' }] } },
  ])
  expect(statSync(log).mode & 0o777).toBe(0o600)
})

it.each([
  [['./support', '--threshold', '0.5'], /--threshold needs a language model/],
  [['./support', '--threshold', '2'], /not a number from 0 to 1/],
  [['./support', '--llm-base-url', 'http://127.0.0.1:1/v1'], /needs --llm-model/],
  [['./support', '--llm-base-url', 'localhost', '--llm-model', 'm'], /no address of http/],
  [['./balancer', '--llm-base-url', 'http://127.0.0.1:1/v1', '--llm-model', 'm'], /picks no tools/],
])('refuses %j', async (words, message) => {
  const { status, stdout, stderr } = await runCli(['agent', 'serve', '--port', '0', ...words], { cwd: home })
  expect(status).toBe(2)
  expect(stdout + stderr).toMatch(message)
})
