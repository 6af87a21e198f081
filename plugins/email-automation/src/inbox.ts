/** A shared inbox on one morning: three messages, their senders, the teams and the calendar, generated from random numbers. */
import { drawFailures, type Failures, oneHot, RecordStore, type Rng, withDistinctIds } from '@agentgym/scenario'
import {
  type Day,
  days,
  lengths,
  type Matter,
  matters,
  minutesOf,
  type Part,
  parts,
  type Request,
  writeMessage,
} from './wordings.ts'

export const labels = ['bulk', 'finance', 'fraud', 'meeting', 'urgent', 'support', 'sales', 'legal'] as const
export const templates = ['troubleshooting', 'price list', 'trial offer'] as const
export const questions = ['purchase order', 'details'] as const
export const topics = ['accounts', 'engineering', 'sales', 'legal'] as const
export type Label = (typeof labels)[number]
export type Template = (typeof templates)[number]
export type Question = (typeof questions)[number]
type Topic = (typeof topics)[number]

/** What the customer database knows of a sender. */
export type Sender = { customer: boolean; premium: boolean; approvedVendor: boolean; european: boolean }

export type Message = {
  id: string
  matter: Matter
  text: string
  request: Request
  sender: Sender
  /** Seconds after the start by which the message must have left the inbox. */
  due: number
  failures: Failures<'look_up_sender' | 'schedule'>
}

export type Team = { id: string; topic: Topic; european: boolean; onDuty: boolean }
/** A morning or an afternoon of the week, and how many minutes of it are free in one piece. */
export type Slot = { id: string; day: Day; part: Part; minutes: number }

export type Inbox = { messages: readonly Message[]; teams: readonly Team[]; calendar: RecordStore<Slot> }

export const MESSAGES = 3
export const TEAMS = 8
/** Slots that the calendar shows at once: a part of each day. */
export const SLOTS = 5

/** Seconds that a call takes, the reading and writing of a language model included. */
export const seconds = {
  open: 2,
  look_up_sender: 6,
  check_calendar: 5,
  label: 1,
  reply: 8,
  forward: 3,
  schedule: 4,
  ask: 6,
  archive: 1,
}
/** A database that does not answer is given up after this long. */
export const TIMEOUT_SECONDS = 10

export const needsSender: readonly Matter[] = ['invoice', 'outage', 'price', 'legal']

export function generateInbox(rng: Rng): Inbox {
  const slots = days.flatMap((day) =>
    parts.map((part) => ({
      id: `${day.slice(0, 3)}-${part === 'afternoon' ? 'pm' : 'am'}-${100 + rng.int(900)}`,
      ...{ day, part, minutes: rng.pick([0, ...lengths.map((length) => minutesOf[length])]) },
    })),
  )
  // Each message is about two days of its own, so that no booking takes another one's place.
  const halves = rng.shuffle(parts)
  const order = rng.shuffle(days)
  let due = 0
  const messages = Array.from({ length: MESSAGES }, (_, i) => {
    const part = halves[i % 2]
    const pair = i === 2 ? [order[2], order[3]] : [order[0], order[1]]
    const draft = draftMessage(pair, part, slots, rng)
    due += workSeconds(draft)
    // A wasted look-up often makes a message late, and the wrong order nearly always does.
    return { ...draft, due: due + 3 + rng.int(7) }
  })
  return {
    messages: rng.shuffle(withDistinctIds(messages)),
    teams: generateTeams(rng),
    calendar: new RecordStore(slots),
  }
}

/** One message in four asks for a meeting. */
const frequent: readonly Matter[] = [...matters, 'meeting']

/** A message, and a meeting for it that fits on one of two days. */
function draftMessage(pair: readonly Day[], part: Part, slots: Slot[], rng: Rng): Omit<Message, 'due'> {
  const matter = rng.pick(frequent)
  const failures = drawFailures({ look_up_sender: 0.2, schedule: 0.3 }, rng)
  const length = rng.pick(lengths)
  const minutes = minutesOf[length]
  const request = { numbered: rng() < 0.6, days: pair, part, length }
  const options = slots.filter((slot) => pair.includes(slot.day) && slot.part === part)
  if (!options.some((slot) => slot.minutes >= minutes)) rng.pick(options).minutes = minutes
  const customer = rng() < 0.6
  const sender = {
    ...{ customer, premium: customer && rng() < 0.5 },
    ...{ approvedVendor: rng() < 0.6, european: rng() < 0.5 },
  }
  const text = writeMessage(matter, request, rng)
  return { id: `m${1_000 + rng.int(9_000)}`, matter, text, request, sender, failures }
}

/** How long the message takes if every call is right. */
function workSeconds({ matter, sender, request, failures }: Omit<Message, 'due'>): number {
  const { open, label, reply, forward, ask, archive } = seconds
  const lookUp = seconds.look_up_sender + (failures.look_up_sender ? TIMEOUT_SECONDS : 0)
  const bookOnce = seconds.check_calendar + seconds.schedule
  const book = failures.schedule ? 2 * bookOnce : bookOnce
  switch (matter) {
    case 'newsletter':
      return open + label + archive
    case 'meeting':
      return open + label + book
    case 'unclear':
      return open + ask
    case 'invoice':
      if (!sender.approvedVendor) return open + lookUp + label + archive
      return open + lookUp + (request.numbered ? label + forward : ask)
    case 'outage':
      return open + lookUp + label + (sender.premium ? forward : reply)
    case 'price':
      return open + lookUp + label + reply
    case 'legal':
      return open + lookUp + label + forward
  }
}

/** A team for each topic and region, as the directory lists them. For three topics one region is off duty, and the other stands in. */
function generateTeams(rng: Rng): Team[] {
  const shortHanded = rng.shuffle(topics).slice(0, 3)
  const teams = topics.flatMap((topic) => {
    const absent = shortHanded.includes(topic) ? rng.pick(['Europe', 'America']) : 'none'
    return ['Europe', 'America'].map((region) => ({
      ...{ id: `${topic}-${100 + rng.int(900)}`, topic },
      ...{ european: region === 'Europe', onDuty: region !== absent },
    }))
  })
  return withDistinctIds(teams)
}

export const teamFeatures = ({ topic, european, onDuty }: Team) => [
  ...oneHot(topics, topic),
  european ? 1 : -1,
  onDuty ? 1 : -1,
]
/** Whether the open message names the day, as mail programs mark dates; the minutes that are free. */
export const slotFeatures = ({ day, minutes }: Slot, message: Message | null) => [
  message?.matter === 'meeting' && message.request.days.includes(day) ? 1 : 0,
  minutes / 90,
]
