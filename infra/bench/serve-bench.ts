import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadAgent } from '@agentgym/agent'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'
import { atFixedRate, percentile, request } from './http-load.ts'

type Say = (line: string) => void

const ticket = {
  ticket: 'I was charged twice for my subscription, please give me my money back',
  ...{ found: [0, 0, 0, 0, 0], done: [0, 0, 0, 0, 0, 0], calls: [0] },
}
const BATCH = 4_096
const SECONDS = 5
/** Requests that wait for an answer at once. */
const CLIENTS = 32

/**
 * Decisions of an agent with a text and eleven tools: in a program, one at a time and in batches, and over HTTP from
 * `agentgym agent serve`, which shares the cores with its clients.
 */
export async function serveBenchmark(folder: string, say: Say): Promise<Figure[]> {
  say('training customer-support, 20,000 steps …')
  const plugin = join(import.meta.dirname, '../../plugins/customer-support')
  const scenario = await loadScenario(plugin)
  const agentFolder = join(folder, 'support')
  await train({
    scenario,
    plan: resolvePlan(scenario, { set: { steps: '20000' } }),
    seed: 1,
    out: agentFolder,
    onEvent: () => {},
  })
  return [...(await inProgram(agentFolder, say)), ...(await overHttp(agentFolder, say))]
}

async function inProgram(folder: string, say: Say): Promise<Figure[]> {
  say('decisions in a program …')
  const agent = await loadAgent(folder)
  const mask = agent.labels?.map(() => true)
  const single: number[] = []
  for (let i = 0; i < 20_000; i++) {
    const startMs = performance.now()
    agent.act(ticket, { mask })
    // The first ones compile.
    if (i >= 2_000) single.push((performance.now() - startMs) * 1_000)
  }
  const many = Array.from({ length: BATCH }, () => ticket)
  const masks = many.map(() => mask)
  const rates: number[] = []
  for (let i = 0; i < 40; i++) {
    const startMs = performance.now()
    agent.actBatch(many, { masks })
    if (i >= 5) rates.push((BATCH / (performance.now() - startMs)) * 1_000)
  }
  agent.dispose()
  return [
    figure('one_decision', 'one decision in a program, median', percentile(single, 0.5), 'µs', 100, true),
    figure('batched_decisions', 'decisions in batches, one thread, median', percentile(rates, 0.5), '/s', 100_000),
  ]
}

async function overHttp(folder: string, say: Say): Promise<Figure[]> {
  const root = join(import.meta.dirname, '../..')
  const child = spawn(join(root, 'agentgym'), ['agent', 'serve', folder, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const { url, models } = JSON.parse(line) as { url: string; models: { name: string }[] }
    const questions = [{ type: 'choice', name: 'tool', choices: [{ value: 'refund' }, { value: 'escalate' }] }]
    const body = JSON.stringify({ model: models[0].name, input: JSON.stringify(ticket), questions })
    const headers = { 'content-type': 'application/json' }
    const decide = () => request(`${url}/v1/decisions`, { method: 'POST', headers, body })
    say('decisions over HTTP, as many as it can …')
    await asOftenAs(1_000, decide)
    const perSecond = await asOftenAs(SECONDS * 1_000, decide)
    say('decisions over HTTP, 500 a second …')
    const times = await atFixedRate({ perSecond: 500, requests: 500 * SECONDS }, decide)
    return [
      figure('http_decisions', `POST /v1/decisions, ${CLIENTS} clients`, perSecond, '/s', 2_000),
      figure('http_p99', 'POST /v1/decisions at 500/s, 99th percentile', percentile(times, 0.99), 'ms', 10, true),
    ]
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** Requests a second with all clients waiting for their answers, for so many milliseconds. */
async function asOftenAs(milliseconds: number, ask: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  let answered = 0
  const client = async () => {
    while (performance.now() - startMs < milliseconds) {
      await ask()
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (answered / (performance.now() - startMs)) * 1_000
}

function figure(id: string, what: string, value: number, unit: string, bar: number, lower = false): Figure {
  return { id, what, value, unit, bar, ...(lower ? { lower } : {}) }
}
