/**
 * Requests that an agent was logged with, and the tools that it called. What a request takes is what the logged agent did where it
 * solved it, without detours; tools answer and fail as they did in the log. The agent learns to do that with fewer calls.
 */
import {
  box,
  choice,
  defineToolScenario,
  dict,
  drawFailures,
  type Failures,
  fails,
  type Rng,
  text,
  tool,
} from '@agentgym/scenario'
import { type Arguments, type LoggedRequest, type LoggedTool, log, type Need } from './log.ts'
import { observationOf, type SeenCall } from './observe.ts'
import { type MadeUpValues, unmask } from './unmask.ts'

const train = log.requests.filter(({ heldOut }) => !heldOut)
const heldOut = log.requests.filter(({ heldOut }) => heldOut)
const names = log.tools.map(({ name }) => name)
const mostNeeds = Math.max(...log.requests.map(({ needs }) => needs.length))

type Work = {
  /** With made-up values in place of stand-ins, as are the results of calls. */
  request: string
  values: MadeUpValues
  missing: Need[]
  calls: SeenCall[]
  failures: Failures
  solved: boolean
}

export default defineToolScenario({
  observation: dict({
    // REPLACE: `text({ encoder: 'minilm' })` reads wordings that training has not seen, at some milliseconds each.
    request: text({ maxTokens: 48, vocabulary: 4096 }),
    calls: box({ shape: [names.length], low: -1, high: 1 }),
    result: text({ maxTokens: 24, vocabulary: 4096 }),
  }),
  // Room for failures and wrong calls.
  maxSteps: 2 * mostNeeds + 3,
  tasks: { train: train.length, eval: heldOut.length },
  rewards: { right: 0.5, wrong: -0.5, tokenSaving: 0.5, timeSaving: 0.5 },
  // What the logged agent spends on a request: what is saved is saved against it.
  baselines: { tokens: Math.max(1, log.logged.tokens), seconds: Math.max(0.001, log.logged.seconds) },

  start({ task, rng }): Work {
    const { request, needs }: LoggedRequest = (task.split === 'eval' ? heldOut : train)[task.index]
    const values: MadeUpValues = {}
    const failures = drawFailures(Object.fromEntries(log.tools.map(({ name, failures }) => [name, failures])), rng)
    return { request: unmask(request, values, rng), values, missing: [...needs], calls: [], failures, solved: false }
  },

  tools: {
    ...Object.fromEntries(log.tools.map((logged) => [logged.name, loggedTool(logged)])),
    [log.answer.name]: tool({
      description: 'Answer the user, which ends the episode',
      cost: { tokens: log.answer.tokens, seconds: log.answer.seconds },
      run(work: Work) {
        work.solved = work.missing.length === 0
        return { right: work.solved, done: true }
      },
    }),
  },

  observe: ({ request, calls }) => observationOf(request, calls, names),

  // The reward of the whole episode. Positive means solved.
  outcome: (work) => (work.solved ? 2 : -2),

  // A scripted player that knows what the request takes. Agents never see it.
  oracle({ missing }) {
    const [next] = missing
    return next === undefined ? { tool: log.answer.name } : { tool: next.tool, arguments: next.arguments }
  },
})

/** A logged tool: it answers a call that the request takes as it did then, and any other as it usually did. */
function loggedTool(logged: LoggedTool) {
  const { name, choices, tokens, seconds, calls } = logged
  return tool({
    description: `${name}, called ${calls} times in the log`,
    parameters: Object.fromEntries(Object.entries(choices).map(([field, values]) => [field, choice(values)])),
    cost: { tokens, seconds },
    run(work: Work, args: Arguments, { rng }) {
      // A call that failed is not wrong, and costs as much.
      if (fails(work.failures, name)) {
        work.calls.push({ tool: name, failed: true, result: '' })
        return {}
      }
      // In the logged order: a later call may depend on what an earlier one found. REPLACE: where it does not, let any order do.
      const [next] = work.missing
      const right = next !== undefined && next.tool === name && isSame(next.arguments, args)
      if (right) work.missing.shift()
      const result = unmask(right ? next.result : usualResult(logged, args, rng), work.values, rng)
      work.calls.push({ tool: name, failed: false, result })
      return { right }
    },
  })
}

function isSame(one: Arguments, other: Arguments): boolean {
  return Object.keys(one).every((field) => one[field] === other[field])
}

/** One of the results that were logged for these arguments, as likely as it was. */
function usualResult({ results }: LoggedTool, args: Arguments, rng: Rng): string {
  const fitting = results.filter((result) => isSame(result.arguments, args))
  let left = rng() * fitting.reduce((all, { count }) => all + count, 0)
  for (const { result, count } of fitting) {
    left -= count
    if (left < 0) return result
  }
  return ''
}
