import { setTimeout as delay } from 'node:timers/promises'
import { AgentGymError, exampleObservation, type JsonObservation, spaceLeaves } from '@agentgym/contract'
import { wholeMask } from '@agentgym/contract/protocols'
import { z } from 'zod'
import type { DeployedAgent } from './deployment-folder.ts'

export type SampleCall = { observation: JsonObservation; action: unknown; label: string | null; milliseconds: number }

/** How long a container may take to start. */
const PATIENCE_MS = 60_000

const decisionSchema = z.object({ action: z.unknown(), label: z.string().nullable() })

export type Address = { url: string; key: string | undefined }

/**
 * Waits until a server answers its health check, and asks it for one decision. `whyEnded` says why it never will: what it
 * has printed. Throws `deployment_failed`.
 */
export async function tryDeployment(
  agent: DeployedAgent,
  { url, key }: Address,
  whyEnded: () => Promise<string | null> = async () => null,
): Promise<SampleCall> {
  await awaitHealth(url, whyEnded)
  const observation = exampleObservation(spaceLeaves(agent.manifest.scenario.observation), null)
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const mask = wholeMask(agent.manifest.scenario.action)
  const body = JSON.stringify({ model: agent.name, observation, mask })
  const started = performance.now()
  const response = await fetch(`${url}/act`, { method: 'POST', headers, body })
  const text = await response.text()
  const milliseconds = performance.now() - started
  const decision = decisionSchema.safeParse(response.ok ? JSON.parse(text) : undefined)
  if (!decision.success) throw deploymentFailed(`answers a sample call with ${response.status}: ${text.slice(0, 500)}`)
  const { action, label } = decision.data
  return { observation, action, label, milliseconds }
}

async function awaitHealth(url: string, whyEnded: () => Promise<string | null>): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const healthy = await fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    )
    if (healthy) return
    const ended = await whyEnded()
    if (ended !== null) throw deploymentFailed(`ended before it answered: ${ended.slice(-2_000)}`)
    if (performance.now() > until)
      throw deploymentFailed(`does not answer ${url}/healthz after ${PATIENCE_MS / 1_000} s`)
    await delay(100)
  }
}

export function deploymentFailed(what: string, hint?: string): AgentGymError {
  return new AgentGymError({
    code: 'deployment_failed',
    message: `The deployed server ${what}`,
    hint: hint ?? 'Fix what it says, and deploy again.',
  })
}
