import { observationLeaves, tokenize, WORD } from '@agentgym/scenario/engine'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import type { ScenarioDescription } from '../vector-environment.ts'

/** Words of one text of the observation that are told apart by a person and not by an agent. */
export type SharedTokens = {
  leaf: string
  /** How many different words were seen. */
  words: number
  vocabulary: number
  /** Words with the same token, those of the most frequent words first. */
  groups: string[][]
  /** A size in which no two of the words share a token; null if none of those that were tried. */
  betterVocabulary: number | null
}

/** What a stranger's texts may cost: new words after that many are not looked at. */
const MOST_WORDS = 20_000
const MOST_TEXTS = 50_000
const LONGEST_WORD = 40
/** Sizes that are tried, up to a table of embeddings of so many rows. */
const SIZE_STEP = 16
const LARGEST_SIZE = 16_384

/** Which words the texts of observations have: those that are read as tokens, without a sentence encoder. */
export class SeenWords {
  readonly #leaves: (TextLeaf | null)[]

  constructor({ observation }: ScenarioDescription) {
    this.#leaves = observationLeaves(observation)
      .filter(({ kind }) => kind === 'text')
      .map(({ name, size, counts: [vocabulary], encoder }) =>
        encoder === undefined ? new TextLeaf(name, size, vocabulary) : null,
      )
  }

  /** `watchTexts` of the environments that are noted. */
  get watching(): 'all' | false {
    return this.#leaves.some((leaf) => leaf !== null) ? 'all' : false
  }

  note(environment: SandboxedEnvironment): void {
    if (!this.watching) return
    for (const { now, final } of environment.allTexts()) {
      this.#leaves.forEach((leaf, i) => {
        leaf?.note(now[i])
        leaf?.note(final[i])
      })
    }
  }

  sharedTokens(): SharedTokens[] {
    return this.#leaves.flatMap((leaf) => leaf?.shared() ?? [])
  }
}

class TextLeaf {
  readonly #name: string
  readonly #maxTokens: number
  readonly #vocabulary: number
  readonly #texts = new Set<string>()
  readonly #counts = new Map<string, number>()

  constructor(name: string, maxTokens: number, vocabulary: number) {
    this.#name = name
    this.#maxTokens = maxTokens
    this.#vocabulary = vocabulary
  }

  note(text: string | undefined): void {
    if (text === undefined || this.#texts.size >= MOST_TEXTS || this.#texts.has(text)) return
    this.#texts.add(text)
    const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? []
    for (const word of words.slice(0, this.#maxTokens)) {
      if (word.length > LONGEST_WORD || (this.#counts.size >= MOST_WORDS && !this.#counts.has(word))) continue
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1)
    }
  }

  shared(): SharedTokens[] {
    const words = [...this.#counts].sort(([, a], [, b]) => b - a).map(([word]) => word)
    const groups = sharingIn(words, this.#vocabulary)
    if (groups.length === 0) return []
    return [
      {
        ...{ leaf: this.#name, words: words.length, vocabulary: this.#vocabulary, groups },
        betterVocabulary: sizeFor(words, this.#vocabulary),
      },
    ]
  }
}

function sharingIn(words: readonly string[], vocabulary: number): string[][] {
  const byToken = Map.groupBy(words, (word) => tokenize(word, { maxTokens: 1, vocabulary })[0])
  return [...byToken.values()].filter(({ length }) => length > 1)
}

/** The smallest size from this one on. Of many words, some share a token in any size, so none is tried. */
function sizeFor(words: readonly string[], vocabulary: number): number | null {
  const likely = words.length ** 2 / (2 * LARGEST_SIZE)
  if (likely > 10) return null
  const first = Math.ceil(Math.max(vocabulary, words.length) / SIZE_STEP) * SIZE_STEP
  for (let size = first; size <= LARGEST_SIZE; size += SIZE_STEP) {
    if (sharingIn(words, size).length === 0) return size
  }
  return null
}
