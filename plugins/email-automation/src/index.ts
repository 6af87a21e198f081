/**
 * A shared inbox: read the messages, the most urgent first, find out who wrote them, label them, and reply, forward, schedule,
 * archive or ask, each with arguments. Some tools fail, every call takes time, and some mistakes cannot be undone.
 */
import {
  answer,
  box,
  choice,
  defineToolScenario,
  dict,
  fails,
  list,
  oneHot,
  pointer,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import * as mail from './inbox.ts'
import { needsSender } from './inbox.ts'
import {
  type Call,
  dueLabel,
  fits,
  isHarmful,
  type LastCall,
  lastCall,
  mostUrgent,
  nextCall,
  type Work,
} from './procedure.ts'
import { type Length, lengths, minutesOf, parts } from './wordings.ts'

const MAX_CALLS = 24
const TRAIN_INBOXES = 100_000
const HELD_OUT_INBOXES = 1_000_000_000

export default defineToolScenario({
  observation: dict({
    /** What is known of the open message: facts of the sender, label, failure of the last call, time. */
    facts: box({ shape: [11 + mail.labels.length] }),
    message: text({ maxTokens: 48, vocabulary: 1024 }),
    /** Seconds left of each message that is still in the inbox, without the open one. */
    inbox: list({ slots: mail.MESSAGES, features: 1 }),
    teams: list({ slots: mail.TEAMS, features: mail.topics.length + 2 }),
    /** The part of each day of the week that was read; nothing before. */
    calendar: list({ slots: mail.SLOTS, features: 2 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_INBOXES, eval: HELD_OUT_INBOXES },
  rewards: { right: 0.5, wrong: -0.15, tokenSaving: 1, timeSaving: 1 },
  /** Three messages that a person reads and answers. */
  baselines: { tokens: 3_000, seconds: 540 },

  start({ task }): Work {
    const inbox = mail.generateInbox(taskRng(task, TRAIN_INBOXES))
    return {
      ...{ inbox, waiting: inbox.messages.map(({ id }) => id), open: null, label: null, senderKnown: false },

      ...{ slots: null, failed: null, clock: 0, handled: 0, late: 0, harm: 0 },
    }
  },

  tools: {
    open: tool({
      description: 'Open a message of the inbox and read it',
      cost: { tokens: 120, seconds: mail.seconds.open },
      parameters: { message: pointer('inbox') },
      run(work: Work, { message }) {
        const right = message === mostUrgent(work).id
        spend(work, mail.seconds.open)
        work.open = work.inbox.messages.find(({ id }) => id === message) ?? null
        work.label = null
        work.senderKnown = false
        work.slots = null
        return { right }
      },
    }),
    look_up_sender: tool({
      description: 'Look the sender up in the customer database: customer, plan, approved vendor, region. May time out',
      run(work: Work) {
        const right = isDue(work, 'look_up_sender')
        const timedOut = work.open !== null && fails(work.open.failures, 'look_up_sender')
        const took = timedOut ? mail.TIMEOUT_SECONDS : mail.seconds.look_up_sender
        spend(work, took)
        if (timedOut) work.failed = 'timeout'
        else work.senderKnown = true
        return { right, tokens: timedOut ? 20 : 60, seconds: took }
      },
    }),
    check_calendar: tool({
      description: 'Read how much of each morning, or of each afternoon, is free',
      cost: { tokens: 90, seconds: mail.seconds.check_calendar },
      parameters: { part: choice(parts) },
      run(work: Work, { part }) {
        const right =
          work.open?.matter === 'meeting' && part === work.open.request.part && work.slots?.[0].part !== part
        spend(work, mail.seconds.check_calendar)
        work.slots = work.inbox.calendar.all().filter((slot) => slot.part === part)
        return { right }
      },
    }),
    label: tool({
      description: 'Put a label on the open message, in place of the one that it has',
      cost: { tokens: 15, seconds: mail.seconds.label },
      parameters: { label: choice(mail.labels) },
      run(work: Work, args) {
        const call = nextCall(work)
        const right = call.tool === 'label' && call.arguments.label === args.label
        spend(work, mail.seconds.label)
        const first = work.label === null
        work.label = args.label
        // A label can be changed, so a wrong one costs its time only, and a correction is not paid.
        return right && first ? { right } : {}
      },
    }),
    reply: tool({
      description: 'Answer with a template. Cannot be undone',
      cost: { tokens: 150, seconds: mail.seconds.reply },
      parameters: { template: choice(mail.templates) },
      run: (work: Work, { template }) =>
        finish(work, 'reply', (call) => Number(call.tool === 'reply' && call.arguments.template === template)),
    }),
    forward: tool({
      description: 'Hand the message to a team. Cannot be undone',
      cost: { tokens: 40, seconds: mail.seconds.forward },
      parameters: { team: pointer('teams') },
      run: (work: Work, { team }) =>
        finish(work, 'forward', (call) => (call.tool === 'forward' ? likeness(work, team, call.arguments.team) : 0)),
    }),
    schedule: tool({
      description: 'Book a slot of the calendar and confirm it. Meets a conflict if someone else was faster',
      cost: { tokens: 60, seconds: mail.seconds.schedule },
      parameters: { slot: pointer('calendar'), length: choice(lengths) },
      run: schedule,
    }),
    ask: tool({
      description: 'Ask the sender for what is missing. Cannot be undone',
      cost: { tokens: 90, seconds: mail.seconds.ask },
      parameters: { question: choice(mail.questions) },
      run: (work: Work, { question }) =>
        finish(work, 'ask', (call) => Number(call.tool === 'ask' && call.arguments.question === question)),
    }),
    archive: tool({
      description: 'Archive the message without an answer. Cannot be undone',
      cost: { tokens: 10, seconds: mail.seconds.archive },
      run: (work: Work) => finish(work, 'archive', (call) => Number(call.tool === 'archive')),
    }),
  },

  observe(work) {
    const { inbox, waiting, open, label, senderKnown, slots, failed, clock } = work
    const sender = senderKnown ? open?.sender : undefined
    return {
      facts: [
        open ? 1 : 0,
        answer(sender?.customer),
        answer(sender?.premium),
        answer(sender?.approvedVendor),
        answer(sender?.european),
        slots === null ? 0 : slots[0].part === 'morning' ? 1 : -1,
        failed === 'timeout' ? 1 : 0,
        failed === 'conflict' ? 1 : 0,
        clock / 60,
        open ? (open.due - clock) / 60 : 0,
        waiting.length / mail.MESSAGES,
        ...oneHot(mail.labels, label),
      ],
      message: open?.text ?? '',
      inbox: inbox.messages
        .filter((message) => message !== open && waiting.includes(message.id))
        .map(({ id, due }) => ({ id, features: [(due - clock) / 60] })),
      teams: inbox.teams.map((team) => ({ id: team.id, features: mail.teamFeatures(team) })),
      calendar: (slots ?? []).map((slot) => ({ id: slot.id, features: mail.slotFeatures(slot, open) })),
    }
  },

  available({ open, senderKnown, slots }) {
    if (open === null) return ['open']
    const always = ['label', 'reply', 'forward', 'ask', 'archive'] as const
    return [
      ...always,
      ...(senderKnown ? [] : (['look_up_sender'] as const)),
      'check_calendar',
      ...(slots === null ? [] : (['schedule'] as const)),
    ]
  },

  oracle: nextCall,

  outcome(work) {
    if (work.harm > 0) return -3
    return isDone(work) ? 5 : 0
  },
  metrics: ({ handled, late, harm, waiting }) => ({
    handled: handled / mail.MESSAGES,
    on_time: 1 - (late + waiting.length) / mail.MESSAGES,
    harmless: harm === 0 ? 1 : 0,
  }),
})

function isDone({ waiting, handled, late, harm }: Work): boolean {
  return waiting.length === 0 && handled === mail.MESSAGES && late === 0 && harm === 0
}

function isDue(work: Work, tool: Call['tool']): boolean {
  return nextCall(work).tool === tool
}

/** Time passes, and what has failed before is history. */
function spend(work: Work, seconds: number): void {
  work.clock += seconds
  work.failed = null
}

/**
 * Moves the open message out of the inbox. The right tool pays, and so do the label and the arguments; `argumentsRight` is from
 * 0 to 1, where 1 is right. Without the rest of the procedure, none of it makes the message count as handled.
 */
function finish(work: Work, tool: LastCall['tool'], argumentsRight: (call: LastCall) => number) {
  const message = work.open
  if (message === null) return {}
  const due = lastCall(message, work)
  const rightTool = due.tool === tool
  const rightLabel = work.label === dueLabel(message)
  const share = rightTool ? argumentsRight(due) : 0
  const informed = work.senderKnown || !needsSender.includes(message.matter)
  spend(work, mail.seconds[tool])
  work.waiting = work.waiting.filter((id) => id !== message.id)
  work.open = null
  const right = rightTool && rightLabel && informed && share === 1
  const late = work.clock > message.due
  const harm = isHarmful(tool, message)
  if (right) work.handled += 1
  if (late) work.late += 1
  if (harm) work.harm += 1
  const reward = (rightTool ? 1 + Number(rightLabel) + share : -0.5) - (late ? 0.5 : 0) - (harm ? 1 : 0)
  return { right, reward, done: work.waiting.length === 0 }
}

/** How near a team is to the responsible one: topic, presence and region. */
function likeness({ inbox }: Work, team: string, responsible: string): number {
  if (team === responsible) return 1
  const [chosen, due] = [team, responsible].map((each) => inbox.teams.find(({ id }) => id === each))
  return (chosen?.topic === due?.topic ? 0.4 : 0) + (chosen?.onDuty ? 0.2 : 0)
}

function schedule(work: Work, { slot, length }: { slot: string; length: Length }) {
  const message = work.open
  const seen = work.slots?.find(({ id }) => id === slot)
  if (message === null || seen === undefined) return {}
  const { calendar } = work.inbox
  // Someone else books what is beyond the need, at the same moment.
  if (fails(message.failures, 'schedule')) {
    calendar.update(slot, seen.version, { minutes: Math.min(seen.minutes, minutesOf[message.request.length]) })
  }
  if (calendar.update(slot, seen.version, { minutes: Math.max(0, seen.minutes - minutesOf[length]) }) !== 'done') {
    spend(work, mail.seconds.schedule)
    work.failed = 'conflict'
    work.slots = null
    return { right: message.matter === 'meeting' && fits(seen, message) && length === message.request.length }
  }
  return finish(work, 'schedule', () => (fits(seen, message) ? 0.5 : 0) + (length === message.request.length ? 0.5 : 0))
}
