/**
 * Hunks of code, in a small Scala: what a reviewer reads. Each subject has faulty and correct hunks that share most of their words;
 * what tells them apart is how the words are put together with the lines before the change.
 */
import { fillIn, type Rng } from '@agentgym/scenario'

/** Kinds of findings. The last one is minor: worth a comment, but no reason to hold the change back. */
export const kinds = [
  'off_by_one',
  'missing_null_check',
  'sql_injection',
  'secret_in_code',
  'breaking_change',
  'debug_output',
] as const
export type Kind = (typeof kinds)[number]

export function isSerious(kind: Kind): boolean {
  return kind !== 'debug_output'
}

/** Lines before and after the change. */
export type Hunk = { readonly before: string; readonly after: string }

export type Split = 'train' | 'eval'

const hunk = (before: string, after: string): Hunk => ({ before, after })

export const templates: Record<Kind, { readonly faulty: readonly Hunk[]; readonly correct: readonly Hunk[] }> = {
  off_by_one: {
    faulty: [
      hunk('', 'for (i <- 0 to {nouns}.length)\n  {verb}({nouns}(i))'),
      hunk('{nouns}.foreach({verb})', 'for (i <- 0 to {nouns}.length)\n  {verb}({nouns}(i))'),
      hunk('for (i <- 0 until {nouns}.length)', 'for (i <- 0 to {nouns}.length)'),
    ],
    correct: [
      hunk('', 'for (i <- 0 until {nouns}.length)\n  {verb}({nouns}(i))'),
      hunk('{nouns}.foreach({verb})', 'for (i <- 0 until {nouns}.length)\n  {verb}({nouns}(i))'),
      hunk('for (i <- 0 to {nouns}.length)', 'for (i <- 0 until {nouns}.length)'),
    ],
  },
  missing_null_check: {
    faulty: [
      hunk('', 'val {noun} = {nouns}.find(id).get\n{verb}({noun})'),
      hunk('{nouns}.find(id).foreach({verb})', '{verb}({nouns}.find(id).get)'),
      hunk('val {noun} = {nouns}.find(id).getOrElse(fallback)', 'val {noun} = {nouns}.find(id).get'),
    ],
    correct: [
      hunk('', 'val {noun} = {nouns}.find(id).getOrElse(fallback)\n{verb}({noun})'),
      hunk('{verb}({nouns}.find(id).get)', '{nouns}.find(id).foreach({verb})'),
      hunk('val {noun} = {nouns}.find(id).get', 'val {noun} = {nouns}.find(id).getOrElse(fallback)'),
    ],
  },
  sql_injection: {
    faulty: [
      hunk('', 'db.run("select * from {nouns} where {field} = " concat {field})'),
      hunk('', 'db.run("delete from {nouns} where {field} = " concat {field})'),
      hunk(
        'db.run(sql"update {nouns} set {field} = ?", bind({field}))',
        'db.run("update {nouns} set {field} = " concat {field})',
      ),
    ],
    correct: [
      hunk('', 'db.run(sql"select * from {nouns} where {field} = ?", bind({field}))'),
      hunk('', 'db.run(sql"delete from {nouns} where {field} = ?", bind({field}))'),
      hunk(
        'db.run("update {nouns} set {field} = " concat {field})',
        'db.run(sql"update {nouns} set {field} = ?", bind({field}))',
      ),
    ],
  },
  secret_in_code: {
    faulty: [
      hunk('', 'val client = Client(token = "{secret}")'),
      hunk('', 'val {noun}Key = "{secret}"'),
      hunk('connect(user, password = env("{noun}"))', 'connect(user, password = "{secret}")'),
    ],
    correct: [
      hunk('', 'val client = Client(token = env("{noun}"))'),
      hunk('', 'val {noun}Key = env("{noun}")'),
      hunk('connect(user, password = "{secret}")', 'connect(user, password = env("{noun}"))'),
    ],
  },
  // Faulty unless the change raises the major version.
  breaking_change: {
    faulty: [
      hunk('public def {verb}(id: Id)', 'public def {verb}(id: Id, {field}: Text)'),
      hunk('public def {verb}(id: Id, {field}: Text)', 'public def {verb}(id: Id)'),
    ],
    correct: [
      hunk('public def {verb}(id: Id)', 'public def {verb}(id: Id, {field}: Text = default)'),
      hunk('private def {verb}(id: Id)', 'private def {verb}(id: Id, {field}: Text)'),
      hunk('private def {verb}(id: Id, {field}: Text)', 'private def {verb}(id: Id)'),
    ],
  },
  debug_output: {
    faulty: [
      hunk('', '{verb}({noun})\nprintln("debug", {noun})'),
      hunk('log.info("{verb}", {noun})', 'println("debug", {noun})'),
      hunk('{verb}({noun})', 'println("debug here")\n{verb}({noun})'),
    ],
    correct: [
      hunk('', '{verb}({noun})\nlog.info("{verb}", {noun})'),
      hunk('println("debug", {noun})', 'log.info("{verb}", {noun})'),
      hunk('{verb}({noun})', 'log.info("{verb} starts")\n{verb}({noun})'),
    ],
  },
}

/** Names in the code under review. Evaluation has others than training. */
export const names: Record<Split, { nouns: readonly string[]; verbs: readonly string[]; fields: readonly string[] }> = {
  train: {
    nouns: [
      ...['order', 'user', 'invoice', 'ticket', 'parcel', 'coupon', 'review', 'refund', 'vendor', 'basket', 'report'],
      ...['photo', 'session', 'device', 'message', 'booking', 'patient', 'lesson', 'recipe', 'route'],
      ...['album', 'bill', 'camera', 'donor', 'event', 'folder', 'guest', 'hotel', 'issue', 'letter'],
    ],
    verbs: [
      'send',
      'check',
      'store',
      'price',
      'merge',
      'sort',
      'notify',
      'archive',
      'load',
      'render',
      'sync',
      'close',
      'attach',
      'assign',
      'verify',
      'copy',
      'split',
    ],
    fields: [
      'name',
      'email',
      'amount',
      'status',
      'city',
      'title',
      'weight',
      'owner',
      'rank',
      'color',
      'phone',
      'code',
      'height',
      'county',
      'gender',
      'comment',
      'rating',
    ],
  },
  eval: {
    nouns: [
      ...['payment', 'member', 'contract', 'shipment', 'product', 'employee', 'article', 'sensor', 'account'],
      ...['voucher', 'tenant', 'flight', 'meter', 'driver', 'course'],
    ],
    verbs: ['publish', 'validate', 'export', 'track', 'cancel', 'refresh', 'collect', 'queue', 'print', 'rename'],
    fields: ['address', 'balance', 'label', 'region', 'size', 'score', 'category', 'number', 'currency', 'level'],
  },
}

/** A hunk of a subject, filled in with names. */
export function writeHunk(subject: Kind, faulty: boolean, split: Split, rng: Rng): Hunk {
  const noun = rng.pick(names[split].nouns)
  const wordings = {
    noun,
    nouns: `${noun}s`,
    verb: rng.pick(names[split].verbs),
    field: rng.pick(names[split].fields),
    secret: drawSecret(rng),
  }
  const { before, after } = rng.pick(templates[subject][faulty ? 'faulty' : 'correct'])
  return { before: fillIn(before, wordings, rng), after: fillIn(after, wordings, rng) }
}

/** What keys look like: a prefix that names their kind, and digits. */
function drawSecret(rng: Rng): string {
  return `${rng.pick(['sk-live', 'ghp', 'xoxb'])}-${rng.pick(digits)}-${rng.pick(digits)}-${rng.pick(digits)}`
}

const digits = ['7f3a', 'c0de', '91be', '4d20', 'e8a6', '05bf', 'b37c', 'fa19', '62d8', 'a4e1', '3c9f', 'd75b']
