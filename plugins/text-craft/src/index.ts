/**
 * Make a thing from recipes that have to be looked up first: read what it is made of, and what that is made of, gather what needs no
 * recipe, and craft from the bottom up. Names and recipes are new in each task.
 *
 * After Prasad et al. (2023), "ADaPT: As-Needed Decomposition and Planning with Language Models", which introduces TextCraft.
 */
import { box, createRng, defineToolScenario, dict, list, pointer, text, tool } from '@agentgym/scenario'
import { type Book, callsNeeded, drawBook, ITEMS, type Item } from './book.ts'

const MAX_CALLS = 40
/** Calls beyond those that are needed. */
const SPARE_CALLS = 4
const TRAIN_BOOKS = 20_000
const HELD_OUT_BOOKS = 1_000_000_000
const FEATURES = 5
const PROGRESS = 0.1
const MISTAKE = -0.1

type Bench = {
  book: Book
  /** Names of items whose recipe has been read, or which have turned out to have none. */
  read: Set<string>
  /** Names of what is there. */
  inventory: string[]
  callsLeft: number
  /** What the last call has brought. */
  message: string
}

export default defineToolScenario({
  observation: dict({
    message: text({ maxTokens: 24, vocabulary: 512 }),
    /** Wanted, needed by a recipe that has been read, read, can be gathered, can be crafted now. */
    items: list({ slots: ITEMS, features: FEATURES }),
    /** Calls left; how many needed items there are to read about, to gather and to craft. */
    counts: box({ shape: [4], low: 0, high: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_BOOKS, eval: HELD_OUT_BOOKS },

  start({ task }): Bench {
    const book = drawBook(createRng(task.split === 'train' ? task.index : TRAIN_BOOKS + task.index))
    const callsLeft = callsNeeded(book) + SPARE_CALLS
    return { book, read: new Set(), inventory: [], callsLeft, message: `Craft: ${book.goal}.` }
  },

  tools: {
    read: tool({
      description: 'Look the recipe of an item up',
      parameters: { item: pointer('items') },
      allowed: (bench: Bench) => ({ item: namesOf(bench, ({ name }) => !bench.read.has(name)) }),
      run(bench: Bench, { item }) {
        const useful = isNeeded(bench, item) && !bench.read.has(item)
        bench.read.add(item)
        const { inputs } = itemNamed(bench, item)
        return end(
          bench,
          useful,
          inputs.length === 0 ? `${item} can be gathered.` : `${item} is made of ${inputs.join(', ')}.`,
        )
      },
    }),
    gather: tool({
      description: 'Gather an item that needs no recipe',
      parameters: { item: pointer('items') },
      allowed: (bench: Bench) => ({ item: namesOf(bench, ({ inputs }) => inputs.length === 0) }),
      run(bench: Bench, { item }) {
        if (itemNamed(bench, item).inputs.length > 0) return end(bench, false, `${item} cannot be gathered.`)
        const useful = isNeeded(bench, item)
        bench.inventory.push(item)
        return end(bench, useful, `Gathered ${item}.`)
      },
    }),
    craft: tool({
      description: 'Craft an item of what its recipe says, which is used up; the recipe must have been read',
      parameters: { item: pointer('items') },
      allowed: (bench: Bench) => ({ item: namesOf(bench, ({ name }) => canCraft(bench, name)) }),
      run(bench: Bench, { item }) {
        if (!canCraft(bench, item)) return end(bench, false, `${item} cannot be crafted yet.`)
        const useful = isNeeded(bench, item)
        for (const input of itemNamed(bench, item).inputs) bench.inventory.splice(bench.inventory.indexOf(input), 1)
        bench.inventory.push(item)
        return end(bench, useful, `Crafted ${item}.`)
      },
    }),
  },

  observe(bench) {
    return {
      message: bench.message,
      items: bench.book.items.map(({ name, inputs }) => ({
        id: name,
        features: [
          name === bench.book.goal,
          isNeeded(bench, name),
          bench.read.has(name),
          inputs.length === 0,
          canCraft(bench, name),
        ].map(Number),
      })),
      counts: [
        bench.callsLeft / MAX_CALLS,
        ...[
          namesOf(bench, ({ name, inputs }) => isNeeded(bench, name) && inputs.length > 0 && !bench.read.has(name)),
          namesOf(bench, ({ name, inputs }) => isNeeded(bench, name) && inputs.length === 0),
          namesOf(bench, ({ name }) => isNeeded(bench, name) && canCraft(bench, name)),
        ].map(({ length }) => length / ITEMS),
      ],
    }
  },

  /** Crafts what can be crafted, gathers what can be gathered, and reads on. */
  oracle(bench) {
    const needed = bench.book.items.filter(({ name }) => isNeeded(bench, name))
    const ready = needed.find(({ name }) => canCraft(bench, name))
    if (ready !== undefined) return { tool: 'craft', arguments: { item: ready.name } }
    const raw = needed.find(({ inputs }) => inputs.length === 0)
    if (raw !== undefined) return { tool: 'gather', arguments: { item: raw.name } }
    const unread = needed.find(({ name }) => !bench.read.has(name))
    return { tool: 'read', arguments: { item: unread?.name ?? bench.book.goal } }
  },

  outcome: (bench) => (isDone(bench) ? 1 : 0),
  metrics: ({ book, callsLeft }) => ({ depth: book.depth, spare_calls: callsLeft }),
})

/** Ends a call. */
function end(bench: Bench, useful: boolean, message: string) {
  bench.callsLeft -= 1
  bench.message = `Craft: ${bench.book.goal}. ${message}`
  return { right: useful, reward: useful ? PROGRESS : MISTAKE, done: isDone(bench) || bench.callsLeft === 0 }
}

function isDone({ inventory, book }: Bench): boolean {
  return inventory.includes(book.goal)
}

function namesOf({ book }: Bench, accepts: (item: Item) => boolean): string[] {
  return book.items.filter(accepts).map(({ name }) => name)
}

function itemNamed({ book }: Bench, name: string): Item {
  const item = book.items.find((each) => each.name === name)
  if (item === undefined) throw new Error(`no item ${name}`)
  return item
}

/** Whether it is the goal, or missing for a recipe that has been read and is needed itself. */
function isNeeded(bench: Bench, name: string): boolean {
  const { book, inventory, read } = bench
  if (inventory.includes(name)) return false
  return (
    name === book.goal ||
    book.items.some((item) => read.has(item.name) && item.inputs.includes(name) && isNeeded(bench, item.name))
  )
}

function canCraft({ book, inventory, read }: Bench, name: string): boolean {
  const inputs = book.items.find((item) => item.name === name)?.inputs ?? []
  return inputs.length > 0 && read.has(name) && inputs.every((input) => inventory.includes(input))
}
