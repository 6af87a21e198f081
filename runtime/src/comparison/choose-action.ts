import type { SpaceDescription } from '@agentgym/contract'
import { actionLeaves } from '@agentgym/scenario/engine'
import { choiceWords, type Seen } from '../env-server/language/read-action.ts'

/** Picks one of several words, at least two. */
type Choose = (question: string, words: readonly string[]) => Promise<string>

/** Numbers are picked from so many, evenly spaced within their bounds. */
const NUMBERS = 11

/**
 * An action made of single choices, each among what is legal: the tool, then each of its arguments. It has the form that
 * `actionRow` reads. Where one word is left, nothing is asked.
 */
export function chooseAction(space: SpaceDescription, seen: Seen, choose: Choose): Promise<unknown> {
  const ask = async (path: string, words: readonly string[], component: number | null) => {
    const legal = component === null ? undefined : seen.legal?.[component]
    const left = legal === undefined ? words : words.filter((_, i) => legal[i] ?? true)
    if (left.length === 1) return left[0]
    return choose(path === '' ? 'Which action is best now?' : `Which value is best for ${path}?`, left)
  }
  return chosen(space, { path: '', component: 0, seen, ask })
}

type Place = {
  /** Of the argument, such as `refund.order`; empty for the action itself. */
  path: string
  /** The first categorical one of the space, in `seen.legal`. */
  component: number
  seen: Seen
  /** `component` is null for numbers, which are always legal. */
  ask(path: string, words: readonly string[], component: number | null): Promise<string>
}

async function chosen(space: SpaceDescription, place: Place): Promise<unknown> {
  const { path, component, seen, ask } = place
  switch (space.type) {
    case 'discrete': {
      const word = await ask(path, choiceWords(space, seen.observation), component)
      return space.labels === undefined && space.list === undefined ? Number(word) : word
    }
    case 'multiDiscrete': {
      const values: number[] = []
      for (const [i, n] of space.nvec.entries()) {
        const words = Array.from({ length: n }, (_, value) => String(value))
        values.push(Number(await ask(`${path}[${i}]`, words, component + i)))
      }
      return values
    }
    case 'box': {
      const values: number[] = []
      for (const [i, low] of space.low.entries()) {
        const words = spacedNumbers(low ?? -1, space.high[i] ?? 1, space.integer === true)
        values.push(Number(await ask(space.low.length === 1 ? path : `${path}[${i}]`, words, null)))
      }
      return space.shape.length === 0 ? values[0] : values
    }
    case 'dict':
      return chosenDict(space, place)
    default:
      return null
  }
}

/** Of branches, the choice and the entry that it names. */
async function chosenDict(
  { entries, choice }: Extract<SpaceDescription, { type: 'dict' }>,
  place: Place,
): Promise<Record<string, unknown>> {
  let next = place.component
  const placed = entries.map(({ name, space }) => {
    const component = next
    for (const { counts } of actionLeaves(space)) next += counts.length
    return { name, space, component }
  })
  const action: Record<string, unknown> = {}
  const chooser = placed.find(({ name }) => name === choice)
  if (chooser !== undefined) {
    action[chooser.name] = await chosen(chooser.space, { ...place, component: chooser.component })
  }
  for (const { name, space, component } of placed) {
    if (name === choice || (chooser !== undefined && name !== action[chooser.name])) continue
    const path = place.path === '' ? name : `${place.path}.${name}`
    action[name] = await chosen(space, { ...place, path, component })
  }
  return action
}

function spacedNumbers(low: number, high: number, integer: boolean): string[] {
  const numbers = Array.from({ length: NUMBERS }, (_, i) => low + ((high - low) * i) / (NUMBERS - 1))
  return [...new Set(numbers.map((value) => String(integer ? Math.round(value) : Number(value.toPrecision(4)))))]
}
