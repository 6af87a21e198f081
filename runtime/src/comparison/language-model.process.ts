import { pathToFileURL } from 'node:url'
import { serveJob } from '../sandbox/job-process.ts'

export type LanguageModelJob = {
  /** Folder in which the engine is installed. */
  engine: string
  /** The model's file. */
  model: string
}

export type LanguageModelRequest = { document: string; question: string; choices: string[] }

/** Of node-llama-cpp, which is no dependency of ours, what is used here. */
type Engine = {
  getLlama(options: object): Promise<{
    loadModel(options: { modelPath: string }): Promise<{ createDecisionContext(options: object): Promise<Decisions> }>
  }>
  LlamaLogLevel: { error: string }
}
type Decisions = {
  decideWithMeta(
    document: string,
    questions: { action: { type: 'choice'; instructions: string; criteria: Record<string, null> } },
    options: { onOverflow: 'truncateDocument' },
  ): Promise<{ answers: { action: { choice: string } }; tokenUsage: { input: number } }>
}

/** Tokens that the model sees at once: a longer observation is cut at its end. */
const CONTEXT = 4_096

/** Answers one question at a time on one core, as an agent does, until its supervisor ends it. */
serveJob<LanguageModelJob, null>(async ({ engine, model }, channel) => {
  const entry = new URL('node_modules/node-llama-cpp/dist/index.js', pathToFileURL(`${engine}/`))
  const { getLlama, LlamaLogLevel } = (await import(entry.href)) as Engine
  const llama = await getLlama({
    ...{ build: 'never', gpu: false, maxThreads: 1 },
    ...{ logLevel: LlamaLogLevel.error, progressLogs: false },
  })
  const loaded = await llama.loadModel({ modelPath: model })
  const decisions = await loaded.createDecisionContext({ contextSize: CONTEXT, parallelQuestions: 1, threads: 1 })
  const decide = async ({ document, question, choices }: LanguageModelRequest) => {
    const criteria = Object.fromEntries(choices.map((choice) => [choice, null]))
    const before = performance.now()
    const { answers, tokenUsage } = await decisions.decideWithMeta(
      document,
      { action: { type: 'choice', instructions: question, criteria } },
      { onOverflow: 'truncateDocument' },
    )
    return { choice: answers.action.choice, ms: performance.now() - before, tokens: tokenUsage.input }
  }
  // The first one loads what all others need.
  await decide({ document: 'A light is red.', question: 'What is best?', choices: ['go', 'wait'] })
  channel.lockDown()
  const { promise: failed, reject } = Promise.withResolvers<null>()
  channel.onMessage((request) => {
    decide(request as LanguageModelRequest)
      .then((chosen) => channel.send({ kind: 'chosen', ...chosen }))
      .catch(reject)
  })
  await channel.send({ kind: 'ready' })
  return failed
})
