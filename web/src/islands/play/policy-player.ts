import { agentManifestSchema, type RecordedStep, recordedEpisodeLimits } from '@agentgym/contract'
import { z } from 'zod'
import type { PolicyRequest } from '../frame/policy-messages.ts'
import { runtimeAddress } from '../frame/runtime-address.ts'
import { readPackageFiles } from './read-package-files.ts'
import { readReply } from './read-reply.ts'
import type { SandboxedWorker } from './sandboxed-worker.ts'

/** ONNX Runtime is compiled, and the model read, on a machine that may be slow. */
const loadMs = 60_000

const decisionSchema = z.strictObject({
  action: z.array(z.number()).max(4_096),
  likely: z
    .array(z.strictObject({ choice: z.int().nonnegative(), probability: z.number().min(0).max(1) }))
    .max(recordedEpisodeLimits.likely)
    .nullable(),
})

export type Decision = { action: number[]; likely: RecordedStep['likely'] }

/** An agent whose model is computed in a sandboxed worker. Chooses as the server's evaluation does: the likeliest action. */
export class PolicyPlayer {
  readonly #worker: SandboxedWorker

  private constructor(worker: SandboxedWorker) {
    this.#worker = worker
  }

  /** `hash`: of the scenario's bundle, on which the agent must have been trained. Throws an Error that says why not. */
  static async load(
    worker: SandboxedWorker,
    { tarball, hash }: { tarball: string; hash: string },
  ): Promise<PolicyPlayer> {
    const [files, wasm] = await Promise.all([readPackageFiles(tarball), bytesOf(runtimeAddress)])
    const model = files.get('model.onnx')
    const manifest = agentManifestSchema.safeParse(
      JSON.parse(new TextDecoder().decode(files.get('agent.json') ?? new Uint8Array())),
    )
    if (model === undefined || !manifest.success) throw new Error('The agent’s package cannot be read.')
    const { policy: spec, scenario } = manifest.data
    if (scenario.hash !== hash) throw new Error('The agent was trained on another version of this scenario.')
    if (spec.observation.some(({ encoder }) => encoder !== undefined))
      throw new Error('The agent reads sentences by a text encoder, which does not run in a page.')
    const request: PolicyRequest = { do: 'load', runtime: wasm, model, spec }
    readReply(await worker.ask(request, { limitMs: loadMs, transfer: [wasm, model.buffer] }))
    return new PolicyPlayer(worker)
  }

  async decide(request: Omit<Extract<PolicyRequest, { do: 'decide' }>, 'do'>): Promise<Decision> {
    const reply = decisionSchema.parse(readReply(await this.#worker.ask({ do: 'decide', ...request })))
    return { action: reply.action, likely: reply.likely ?? undefined }
  }

  close(): void {
    this.#worker.close()
  }
}

async function bytesOf(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address)
  if (!response.ok) throw new Error('The runtime of agents could not be loaded.')
  return response.arrayBuffer()
}
