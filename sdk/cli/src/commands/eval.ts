import { AgentGymError, type AgentManifest, type Evaluation } from '@agentgym/contract'
import type { BuiltScenario } from '@agentgym/runtime'
import { createLogUpdate } from 'log-update'
import type { CommandContext, Runtime } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { findBuiltIn, unscopedName } from '../targets/built-in-scenarios.ts'
import { installExact, obtainScenarioFolder } from '../targets/obtain-scenario.ts'
import { resolveAgentFolder } from '../targets/resolve-agent.ts'
import { displayPath } from '../terminal/display-path.ts'
import { fitText } from '../terminal/fit-text.ts'
import { formatCount, formatDuration } from '../terminal/format-figures.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { evaluationLines } from '../training-view/evaluation-lines.ts'

export type EvalFlags = { episodes?: number; seed?: number; scenario?: string }

/** `agentgym eval`: plays an agent on held-out episodes in the sandbox and holds it against the success criteria. */
export async function evaluate(target: string, flags: EvalFlags, context: CommandContext): Promise<void> {
  const folder = await resolveAgentFolder(target)
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  const scenario = await scenarioOf(manifest.scenario, flags.scenario, runtime, context)
  const { terminal } = context
  const played = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 240)
  const episodes =
    flags.episodes === undefined ? 'held-out episodes' : `${formatCount(flags.episodes)} held-out episodes`
  context.say(
    `${terminal.symbols.next} Evaluate ${safeText(displayPath(folder))} on ${terminal.paint.bold(played)}, ${episodes}`,
  )

  const progress = evaluationProgress(context)
  const interrupt = cancelOnInterrupt(() => {})
  let evaluation: Evaluation
  try {
    const play = (played: BuiltScenario | undefined) =>
      runtime.evaluateAgent({
        agent: folder,
        scenario: played,
        episodes: flags.episodes,
        seed: flags.seed,
        signal: interrupt.signal,
        onProgress: progress.update,
      })
    evaluation = await play(scenario).catch(async (error) => {
      // An agent from elsewhere: the registry has the version that it was trained on, or nobody has.
      const missing = scenario === undefined && error instanceof AgentGymError && error.code === 'scenario_mismatch'
      const folder = missing ? await installExact(manifest.scenario, context) : undefined
      if (folder === undefined) throw error
      return play(await runtime.loadScenario(folder))
    })
  } finally {
    interrupt.release()
    progress.close()
  }
  context.sayJson(evaluation)
  for (const line of evaluationLines(evaluation, terminal)) context.say(line)
  const again = `agentgym info ${shellQuote(displayPath(folder))}`
  context.say(`${terminal.symbols.next} How it was trained: ${terminal.paint.accent(again)}`)
}

/**
 * The scenario to play: the one that was named, else the built-in that the agent was trained on. Otherwise undefined:
 * the runtime then takes the bundle that this machine remembers, or says what is missing.
 */
async function scenarioOf(
  { name, hash }: AgentManifest['scenario'],
  target: string | undefined,
  runtime: Runtime,
  context: CommandContext,
): Promise<BuiltScenario | undefined> {
  if (target !== undefined) return runtime.loadScenario(await obtainScenarioFolder(target, context))
  // A built-in that somebody has published under another scope is the same scenario when its bundle is.
  const builtIn = (await findBuiltIn(name)) ?? (await findBuiltIn(unscopedName(name)))
  const built = builtIn && (await runtime.buildScenario(builtIn.folder))
  return built?.hash === hash ? built : undefined
}

function evaluationProgress({ terminal, json, stdout }: CommandContext) {
  if (json || !terminal.live) return { update: () => {}, close: () => {} }
  const draw = createLogUpdate(stdout)
  const started = performance.now()
  let last = 0
  return {
    update: (done: number, total: number) => {
      const now = performance.now()
      if (now - last < 100 && done < total) return
      last = now
      const seconds = (now - started) / 1000
      const left = done > 0 && done < total ? `, ${formatDuration((seconds / done) * (total - done))} left` : ''
      const figures = `  ${formatCount(done)} / ${formatCount(total)} episodes${left}`
      const width = terminal.columns() - 1
      const room = width - figures.length
      draw(
        room < 8
          ? fitText(figures.trim(), width)
          : progressBar(done / Math.max(total, 1), Math.min(40, room), terminal) + figures,
      )
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}
