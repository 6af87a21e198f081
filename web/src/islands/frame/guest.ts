// The worker that runs a scenario's bundle: the guest engine and the harness of the server's isolates, in a realm that has
// nothing but the language. Its replies are JSON texts of numbers and of texts that the harness has cut; they are written by
// hand, since the bundle may have replaced what `JSON.stringify` calls.
import './guest-port.ts' // First: the harness takes the rest from the realm.
import {
  allocateBuffers,
  BOARD_LENGTH,
  type EnvironmentBuffers,
  PENDING,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import { FAULT, harness } from '@agentgym/scenario/harness'
import type { GuestRequest } from './guest-messages.ts'
import { CompiledFunction, listenTo, nextTurn, send } from './guest-port.ts'

const { parse, stringify } = JSON
const Memory = ArrayBuffer
const Actions = Float32Array
const MOST_EPISODES = 1_000_000_000

let buffers: EnvironmentBuffers | undefined
let queue: Promise<void> | undefined

listenTo((request) => {
  const before = queue
  queue = answerAfter(before, request as GuestRequest)
})
send('{}')

async function answerAfter(before: Promise<void> | undefined, request: GuestRequest): Promise<void> {
  await before
  send(await answer(request))
}

async function answer(request: GuestRequest): Promise<string> {
  switch (request.do) {
    case 'load':
      return load(request.source, request.seed)
    case 'begin':
      return (await settled(harness.restore(0, request.episode, new Actions(0)))) ?? seen(false)
    case 'step': {
      const { actions } = loaded()
      for (let i = 0; i < actions.length; i += 1) actions[i] = request.action[i]
      return (await settled(harness.step())) ?? seen(true)
    }
    case 'beat':
      return '{}'
  }
}

function load(source: string, seed: number): string {
  const board = new Int32Array(BOARD_LENGTH)
  let factory: (module: object, exports: object, require: unknown) => void
  try {
    factory = new CompiledFunction('module', 'exports', 'require', source) as typeof factory
  } catch {
    return '{"fault":{"message":"the bundle does not parse"}}'
  }
  if (harness.load(factory, board, { recordBuiltIns: false, logs: false }) === FAULT) return fault()
  const description = harness.description()
  const made = { ...allocateBuffers(1, parse(description).sizes, Memory), board }
  const started = harness.start({
    ...{ environments: 1, seed, split: 'eval', episodes: MOST_EPISODES, taskOrder: 'drawn', apartFrom: null },
    ...{ groupSize: 0, firstEnvironment: 0, watchTexts: true, watchScenes: true, watchObservations: false },
    buffers: made,
  })
  if (started === FAULT) return fault()
  buffers = made
  return `{"description":${description}}`
}

function loaded(): EnvironmentBuffers {
  if (buffers === undefined) throw new Error('nothing is loaded')
  return buffers
}

/** Lets promises settle; the fault, if that is what came of it. */
async function settled(status: number): Promise<string | null> {
  let now = status
  while (now === PENDING) {
    await nextTurn()
    now = harness.settle()
  }
  return now === FAULT ? fault() : null
}

function fault(): string {
  return `{"fault":${harness.fault()}}`
}

/** The rows after a reset or a step. */
function seen(stepped: boolean): string {
  const { observations, finalObservations, rewards, flags, masks, metrics } = loaded()
  const ended = stepped && (flags[0] & (TERMINATED | TRUNCATED)) !== 0
  if (harness.scene(ended) === FAULT) return fault()
  return `{"observation":${row(ended ? finalObservations : observations)},"reward":${stepped ? rewards[0] : 0},"flags":${
    stepped ? flags[0] : 0
  },"mask":${row(masks)},"metricNames":${ended ? harness.metricNames() : '[]'},"metrics":${ended ? row(metrics) : '[]'},"texts":${stringify(
    harness.watchedTexts(),
  )},"scene":${stringify(harness.sceneText())}}`
}

/** Numbers as JSON; null where one is not finite. */
function row(values: ArrayLike<number>): string {
  let text = ''
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]
    text += `${i === 0 ? '' : ','}${value - value === 0 ? value : 'null'}`
  }
  return `[${text}]`
}
