import type { Agent } from '@agentgym/agent'
import { createRng } from '@agentgym/scenario'
import { describeScenario } from '@agentgym/scenario/engine'
import support from '../../plugins/customer-support/src/index.ts'

const CALLS = 5
const { action } = describeScenario(support)
const words = action.type === 'discrete' ? (action.labels ?? []) : []

/** Twenty tickets of customer-support that training never sees. */
export const tickets = Array.from({ length: 20 }, (_, i) => 1_000_000 + 7_919 * i)

/** The back end of one held-out ticket: its tools return the new observation, as an application's would. */
export class Ticket {
  readonly called: string[] = []
  #done = false
  readonly #given
  readonly #state

  constructor(index: number) {
    this.#given = { rng: createRng(index), task: { split: 'eval' as const, index } }
    this.#state = support.reset(this.#given as never)
  }

  get observation(): string {
    return JSON.stringify(support.observe(this.#state as never))
  }

  /** After a few calls an application would stop, too: the weights are random. */
  get done(): boolean {
    return this.#done || this.called.length >= CALLS
  }

  call(name: string): string {
    this.called.push(name)
    const outcome = support.step(this.#state as never, words.indexOf(name) as never, this.#given as never)
    this.#done = (outcome as { terminated: boolean }).terminated
    return this.observation
  }
}

/** What the policy does with a ticket on its own. */
export function played(agent: Agent, index: number): string[] {
  const ticket = new Ticket(index)
  while (!ticket.done) ticket.call(agent.act(JSON.parse(ticket.observation)).label ?? '')
  return ticket.called
}
