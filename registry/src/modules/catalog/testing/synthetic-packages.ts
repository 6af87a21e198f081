/** A package as the benchmark makes them up: enough of one to be searched, listed and shown. */
export type SyntheticPackage = {
  name: string
  kind: 'scenario' | 'agent'
  visibility: 'public' | 'private'
  price_minor: number
  title: string
  summary: string
  category: string
  difficulty: string
  algorithm: string
  /** Of an agent: its scenario, and whether it meets the targets. */
  trained_on: string | null
  solved: boolean | null
  keywords: string[]
  quality: number
  downloads: number
  updated_at: string
  readme: string
}

const syllables = ['ka', 'ro', 'mi', 'ten', 'lo', 'vu', 'sha', 'per', 'qui', 'zan', 'bel', 'dor']
/** A word with that many syllables, by its number. */
const madeWord = (at: number, length: number): string =>
  Array.from({ length }, (_, digit) => syllables[Math.floor(at / syllables.length ** digit) % syllables.length]).join(
    '',
  )

const realSubjects =
  `cart pole maze grid tower drone crane lift ticket support warehouse robot arm walker hopper glider rocket
  lander market auction trader inventory shelf queue elevator traffic signal bus train taxi parking battery solar wind
  turbine grid heater boiler valve reactor pump pipeline network router packet cache compiler database index query
  scheduler cluster kernel browser form calendar mail meeting invoice refund triage clinic dosage patient surgery chess
  go checkers hex poker bridge snake tetris pong breakout puzzle sudoku crossword lights blocks stack sort path river
  island forest fire harvest crop irrigation herd fish bee ant swarm flock racing karting drift rally goal keeper penalty
  tennis table archery dart pendulum acrobot reacher pusher slide gripper welding assembly painting cutting knitting`
    .split(/\s+/)
    .filter(Boolean)
/** A thousand things that packages are about, the first ones most. */
const subjects = [
  ...realSubjects,
  ...Array.from({ length: 1000 - realSubjects.length }, (_, index) => madeWord(index, 3)),
]
const qualifiers =
  `simple classic sparse dense noisy stochastic partial hidden delayed continuous discrete large tiny multi
  hard easy fast slow safe constrained hierarchical cooperative competitive procedural random balanced adaptive robust
  curriculum offline online visual textual symbolic physical`
    .split(/\s+/)
    .filter(Boolean)
const common =
  `the a of to and in is for with on by an agent policy reward observation action episode step environment learns
  training evaluation return state task scenario seed baseline trained model success each every from at most least
  balancing controlling scheduling planning navigating routing answering picking placing moving avoiding reaching`
    .split(/\s+/)
    .filter(Boolean)
const categories =
  `control games operations support robotics finance energy networking planning language health education`
    .split(/\s+/)
    .filter(Boolean)
const difficulties = ['beginner', 'intermediate', 'advanced', 'expert']
const algorithms = ['ppo', 'grpo', 'a2c', 'dqn']

/** Uniform in [0, 1); the same seed gives the same packages (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Names in a few thousand scopes; words, categories and downloads follow power laws, as in real registries: a few
 * hundred packages have most downloads, a few words are nearly everywhere; 3% are private, 7% cost money. READMEs of 40
 * to some 900 words: half common to all READMEs, a third about the package's topic, the rest rare words.
 */
export function* syntheticPackages(count: number, seed: number): Generator<SyntheticPackage> {
  const random = seededRandom(seed)
  const pick = <Item>(items: readonly Item[], skew = 1): Item => items[Math.floor(random() ** skew * items.length)]
  const newestMs = Date.UTC(2026, 10, 1)
  const scenarios: string[] = []
  for (let index = 0; index < count; index++) {
    const [qualifier, subject, other] = [pick(qualifiers, 1.5), pick(subjects, 1.5), pick(subjects)]
    const kind = random() < 0.6 ? 'scenario' : 'agent'
    const algorithm = pick(algorithms, 2.5)
    const suffix = kind === 'agent' ? `-${algorithm}` : ''
    const own = [qualifier, subject, other]
    const words = () => {
      const from = random()
      if (from < 0.5) return pick(common, 2)
      if (from < 0.8) return pick(own)
      return from < 0.82 ? pick(subjects) : rareWord(random)
    }
    const readmeWords = 40 + Math.floor(60 * Math.exp(1.1 * gaussian(random)))
    const name = `@${scopeName(Math.floor(random() ** 3 * 4000))}/${qualifier}-${subject}-${other}${suffix}-${index.toString(36)}`
    // Most agents are trained on a few scenarios. By the index, so that everything else stays as it was.
    const trainedOn = scenarios[Math.floor(((index * 0.618) % 1) ** 3 * scenarios.length)] ?? null
    if (kind === 'scenario') scenarios.push(name)
    yield {
      name,
      kind,
      trained_on: kind === 'agent' ? trainedOn : null,
      solved: kind === 'agent' ? index % 3 === 0 : null,
      visibility: random() < 0.03 ? 'private' : 'public',
      price_minor: random() < 0.07 ? 100 * (1 + Math.floor(random() ** 2 * 200)) : 0,
      title: `${capital(qualifier)} ${subject} ${other}`,
      summary: capital(Array.from({ length: 8 + Math.floor(random() * 14) }, words).join(' ')),
      category: pick(categories, 2),
      difficulty: pick(difficulties, 1.7),
      algorithm,
      keywords: [subject, other, pick(categories), kind].slice(0, 1 + Math.floor(random() * 4)),
      quality: Math.max(0, Math.min(100, Math.round(62 + 18 * gaussian(random)))),
      downloads: Math.floor(3 * random() ** -0.9) - 3,
      updated_at: new Date(newestMs - Math.floor(random() ** 1.5 * 3 * 365 * 86_400_000)).toISOString(),
      readme: readme(Math.min(900, readmeWords), words),
    }
  }
}

function scopeName(index: number): string {
  return `${subjects[index % subjects.length]}-${qualifiers[index % qualifiers.length]}-${index.toString(36)}`
}

/** What people type: names, two or three words, the beginning of one, words that are nearly everywhere. */
export function* syntheticQueries(seed: number): Generator<string> {
  const random = seededRandom(seed)
  const pick = <Item>(items: readonly Item[], skew = 1): Item => items[Math.floor(random() ** skew * items.length)]
  while (true) {
    const kind = random()
    if (kind < 0.3) yield pick(subjects, 1.2)
    else if (kind < 0.55) yield `${pick(qualifiers)} ${pick(subjects)}`
    else if (kind < 0.7) yield `${pick(subjects)} ${pick(subjects)} ${pick(common)}`
    else if (kind < 0.85) yield pick([...realSubjects, ...qualifiers]).slice(0, 3 + Math.floor(random() * 3))
    else if (kind < 0.93) yield `@${scopeName(Math.floor(random() ** 3 * 4000))}/`
    else if (kind < 0.98) yield rareWord(random)
    else yield pick(['agent', 'policy', 'reward', 'training'])
  }
}

function readme(length: number, word: () => string): string {
  const lines = ['# About', '']
  for (let written = 0; written < length; written += 20) {
    lines.push(`${Array.from({ length: 20 }, word).join(' ')}.`)
    if (written % 100 === 80) lines.push('', `## ${capital(word())} ${word()}`, '')
  }
  lines.push('', '```sh', 'agentgym train .', '```', '')
  return lines.join('\n')
}

/** One of some twenty thousand that look like words. */
function rareWord(random: () => number): string {
  return madeWord(Math.floor(random() ** 2 * syllables.length ** 4), 4)
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
