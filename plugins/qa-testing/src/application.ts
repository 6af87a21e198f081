/**
 * The application under test: screens with a form each, which store records by their rules. A release may have a fault on a screen:
 * what the form then does differs from its specification for some inputs.
 */

export const screens = ['sign_in', 'search', 'basket', 'payment', 'profile'] as const
export type Screen = (typeof screens)[number]

/** Classes of inputs: an ordinary value, one at a limit of the form, one that it must refuse, and one that is sent twice. */
export const inputs = ['typical', 'limit', 'invalid', 'twice'] as const
export type Input = (typeof inputs)[number]

export const kinds = ['crash', 'lost_data', 'wrong_limit', 'missing_validation', 'duplicate'] as const
export type Kind = (typeof kinds)[number]

/** The inputs by which a kind of fault shows. */
export const shownBy: Record<Kind, readonly Input[]> = {
  crash: inputs,
  lost_data: ['typical', 'limit'],
  wrong_limit: ['limit'],
  missing_validation: ['invalid'],
  duplicate: ['twice'],
}

export const severities = ['minor', 'blocking'] as const
export type Severity = (typeof severities)[number]

/** Crashes and lost data block a release anywhere, other faults where users sign in or pay. */
export function severityOf(kind: Kind, screen: Screen): Severity {
  const costly = screen === 'sign_in' || screen === 'payment'
  return kind === 'crash' || kind === 'lost_data' || costly ? 'blocking' : 'minor'
}

/** What a form has done with an input: how often it has stored it, and whether as it was entered. */
export type Outcome = {
  answer: 'accepted' | 'refused' | 'crashed'
  stored: number
  intact: boolean
}

/** A fault shows where its screen and one of its inputs meet. */
export type Fault = { kind: Kind; screen: Screen; input: Input }

export class Application {
  /** Highest value that the form of a screen accepts. */
  readonly #limits: Readonly<Record<Screen, number>>
  readonly #faults: readonly Fault[]
  /** Values that the screens have stored. */
  readonly #records: Record<Screen, number[]> = { sign_in: [], search: [], basket: [], payment: [], profile: [] }

  constructor(limits: Readonly<Record<Screen, number>>, faults: readonly Fault[]) {
    this.#limits = limits
    this.#faults = faults
  }

  limitOf(screen: Screen): number {
    return this.#limits[screen]
  }

  recordsOf(screen: Screen): readonly number[] {
    return this.#records[screen]
  }

  /** What is entered for a class of inputs; NaN is no number at all. */
  valueFor(screen: Screen, input: Input): number {
    const limit = this.#limits[screen]
    return { typical: Math.ceil(limit / 2), limit, invalid: Number.NaN, twice: Math.ceil(limit / 2) }[input]
  }

  /** Fills the form in and sends it; `glitch` is what goes wrong this once, without a fault. */
  submit(screen: Screen, input: Input, glitch: Kind | null = null): Outcome {
    const fault = this.#faults.find((each) => each.screen === screen && each.input === input)
    const wrong = glitch ?? fault?.kind ?? null
    const value = this.valueFor(screen, input)
    const limit = this.#limits[screen] - (wrong === 'wrong_limit' ? 1 : 0)
    if (wrong === 'crash') return { answer: 'crashed', stored: 0, intact: false }
    if (!(value <= limit) && wrong !== 'missing_validation') return { answer: 'refused', stored: 0, intact: true }
    const records = this.#records[screen]
    const before = records.length
    if (wrong === 'lost_data') records.push(0)
    else records.push(value)
    // The second request has the same number as the first, and is ignored.
    if (input === 'twice' && wrong === 'duplicate') records.push(value)
    return { answer: 'accepted', stored: records.length - before, intact: wrong !== 'lost_data' }
  }

  /** What the specification asks for. */
  expected(screen: Screen, input: Input): Outcome {
    const accepted = this.valueFor(screen, input) <= this.#limits[screen]
    return { answer: accepted ? 'accepted' : 'refused', stored: accepted ? 1 : 0, intact: true }
  }
}

export function isAsExpected(actual: Outcome, expected: Outcome): boolean {
  return actual.answer === expected.answer && actual.stored === expected.stored && actual.intact === expected.intact
}
