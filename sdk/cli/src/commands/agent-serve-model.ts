import { closeSync, openSync, writeSync } from 'node:fs'
import type { AgentServerOptions, ServedAgent, ServedChoice, ToolPolicyRules } from '@agentgym/agent/server'
import { AgentGymError, namingFile } from '@agentgym/contract'
import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { wholeNumber } from '../option-values.ts'

/** Options of `agentgym agent serve` for a language model beside the agents. */
export type LanguageModelFlags = {
  llmBaseUrl?: string
  llmModel?: string
  llmTimeout: number
  mode: NonNullable<ToolPolicyRules['mode']>
  keep: number
  threshold: number
  otherTools: string[]
  doneAfter: string[]
  maxCalls?: number
  log?: string
}

export function addLanguageModelOptions(command: Command): Command {
  const positive = { least: 1, greatest: 10_000 }
  return command
    .option(
      '--llm-base-url <URL>',
      'OpenAI-compatible server of a language model, which writes texts and decides where the agent does not; its key is in AGENTGYM_LLM_KEY',
    )
    .option('--llm-model <NAME>', 'what that server calls the model')
    .option('--llm-timeout <SECONDS>', 'how long it may be silent', wholeNumber('llm-timeout', positive), 120)
    .addOption(
      new Option(
        '--mode <MODE>',
        'pick: the agent picks the tool; narrow: the language model picks among --keep; advise: among all',
      )
        .choices(['pick', 'narrow', 'advise'])
        .default('pick'),
    )
    .option('--keep <N>', 'with narrow: how many tools are kept', wholeNumber('keep', positive), 1)
    .option('--threshold <P>', 'the language model picks where the agent is less confident', probability, 0)
    .option('--other-tools <NAMES>', 'tools that the agent may ignore, separated by commas', names, [])
    .option('--done-after <NAMES>', 'tools that end the work: the next answer is text', names, [])
    .option(
      '--max-calls <N>',
      'tool calls after a message of the user; the next answer is text (default with a language model: 50)',
      wholeNumber('max-calls', positive),
    )
    .option(
      '--log <FILE>',
      'append each choice of the language model as a line of JSON, with what the agent would have picked',
    )
}

/** What the options say, and what has to be closed at the end. Throws `usage_invalid`, `config_invalid`. */
export async function openLanguageModel(
  flags: LanguageModelFlags,
  agents: readonly ServedAgent[],
  context: CommandContext,
): Promise<{ options: AgentServerOptions; close(): void }> {
  const { llmBaseUrl: baseUrl, llmModel: model, llmTimeout, mode, keep, threshold, otherTools, doneAfter } = flags
  const rules = { mode, keep, threshold, otherTools, doneAfter, maxCalls: flags.maxCalls }
  if (baseUrl === undefined) {
    refuseWithoutModel(flags)
    return { options: { rules }, close() {} }
  }
  if (model === undefined)
    throw invalid('--llm-base-url needs --llm-model', 'Add --llm-model NAME, as its server calls it.')
  for (const { name, agent } of agents) {
    if ((agent.labels ?? []).length > 0) continue
    throw invalid(
      `${name} picks no tools, so the language model would answer everything`,
      'Serve it without --llm-base-url.',
    )
  }
  const key = context.io.environment.AGENTGYM_LLM_KEY?.trim() || undefined
  const log = flags.log === undefined ? undefined : await openLog(context.resolve(flags.log))
  const languageModel = { baseUrl, model, key, timeoutMs: llmTimeout * 1_000 }
  return { options: { rules, languageModel, onChoice: log?.write }, close: () => log?.close() }
}

/** Users' words are in it: nobody else may read it. */
async function openLog(path: string) {
  const file = await namingFile(path, async () => openSync(path, 'a', 0o600))
  let isBroken = false
  return {
    write(choice: ServedChoice) {
      try {
        writeSync(file, `${JSON.stringify(choice)}\n`)
        isBroken = false
      } catch (error) {
        // Serving goes on; said once, not at every request.
        if (!isBroken) console.error(`The log ${path} cannot be written: ${(error as Error).message}`)
        isBroken = true
      }
    },
    close: () => closeSync(file),
  }
}

function refuseWithoutModel({ llmModel, mode, keep, threshold, otherTools, log }: LanguageModelFlags): void {
  const given = Object.entries({
    '--llm-model': llmModel !== undefined,
    '--mode': mode !== 'pick',
    '--keep': keep !== 1,
    '--threshold': threshold !== 0,
    '--other-tools': otherTools.length > 0,
    '--log': log !== undefined,
  }).find(([, isGiven]) => isGiven)
  if (given === undefined) return
  throw invalid(`${given[0]} needs a language model`, 'Add --llm-base-url URL and --llm-model NAME.')
}

function probability(text: string): number {
  const value = /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  if (value >= 0 && value <= 1) return value
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--threshold is ${JSON.stringify(text.slice(0, 100))}, which is not a number from 0 to 1`,
    hint: 'Give a probability, such as --threshold 0.8.',
    data: { field: 'threshold', value: text.slice(0, 100) },
  })
}

function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

function invalid(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message, hint })
}
