/** What people write to the shared inbox of a company that sells software, by the matter of the message. */
import { fillIn, type Rng, typeInHaste } from '@agentgym/scenario'

export const matters = ['newsletter', 'invoice', 'meeting', 'outage', 'price', 'legal', 'unclear'] as const
export type Matter = (typeof matters)[number]

export const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'] as const
export type Day = (typeof days)[number]

export const parts = ['morning', 'afternoon'] as const
export type Part = (typeof parts)[number]

/** How long a meeting takes, and how people say it. */
export const lengths = ['30 minutes', '60 minutes', '90 minutes'] as const
export type Length = (typeof lengths)[number]
export const minutesOf: { readonly [Each in Length]: number } = { '30 minutes': 30, '60 minutes': 60, '90 minutes': 90 }
const lengthWords: { readonly [Each in Length]: readonly string[] } = {
  '30 minutes': ['half an hour', 'thirty minutes', '30 minutes'],
  '60 minutes': ['one full hour', 'sixty minutes', '60 minutes'],
  '90 minutes': ['ninety minutes', '90 minutes'],
}

const requests: Record<Matter, readonly string[]> = {
  newsletter: [
    'Our {month} newsletter is out: ten trends in {industry}',
    'Last chance: {percent} off all seats at the {industry} conference',
    'Webinar invitation: the future of {industry}, register now',
    'Special offer for subscribers, only until Sunday',
    'You receive this digest because you subscribed. Unsubscribe at any time',
  ],
  invoice: [
    'Please find our invoice for {goods} attached',
    'Attached is the bill for the {goods} that we delivered in {month}',
    'Our invoice over {amount} for {goods} is due in two weeks',
    'We have billed {amount} for {goods}; kindly arrange the transfer',
    'Payment reminder: the invoice for {goods} is still open',
  ],
  meeting: [
    'Could we meet on {day} or {other} {part} for {length}?',
    'Can you do a call on {day} {part} or {other}? It takes {length}',
    'Let us talk on {day} or {other}, in the {part}, {length} should do',
    'I would like to book {length} of your time, {day} or {other} {part}',
    'Is {day} or {other} {part} good for an appointment of {length}?',
  ],
  outage: [
    'Your service has been down since {clock} and our staff cannot work',
    'Every request fails with error 500 since {clock}',
    'The dashboard is not reachable any more, we only see a blank page',
    'Nothing loads after the update this morning, the app crashes at once',
    'Our integration stopped at {clock}; all calls time out',
  ],
  price: [
    'How much is the {plan} plan for a team of our size?',
    'Could you send me your current pricing?',
    'What would {plan} cost per seat and year?',
    'We are comparing vendors: please quote {plan} for us',
    'Is there a discount if we pay {plan} yearly?',
  ],
  legal: [
    'Our lawyers will claim damages for breach of contract',
    'This is a formal notice under section {section} of the agreement',
    'We demand that you stop to process our personal data, see the attached court order',
    'Unless you settle the claim, we will file a lawsuit',
    'I request a copy of all data about me under the privacy act, article {section}',
  ],
  unclear: [
    'It still does not do what we discussed',
    'Something is odd again, please have a look',
    'As I said, that thing needs to be different',
    'Can you fix it like the last time?',
    'We have the same matter as my colleague mentioned',
  ],
}

const values = {
  industry: ['logistics', 'retail', 'healthcare', 'finance', 'education'],
  goods: ['office chairs', 'cleaning', 'cloud hosting', 'catering', 'translations', 'laptops'],
  month: ['January', 'March', 'May', 'July', 'October', 'December'],
  plan: ['Starter', 'Team', 'Business', 'Enterprise'],
  percent: ['10 %', '20 %', '30 %'],
} as const

const orderNumbers = [
  'Your purchase order number is PO-{digits}',
  'It refers to purchase order PO-{digits}',
  'Purchase order: PO-{digits}',
]
const withoutOrder = [
  'Bank details are on the letterhead',
  'Thank you for your business',
  'We accept transfers and cards',
  '',
]
const greetings = ['Hello,', 'Hi,', 'Good morning,', 'Dear all,', 'Hi team,', '']
const asides = [
  'I hope you are well.',
  'Sorry for the short notice.',
  'I tried to phone you earlier.',
  'This came up with my colleagues.',
  'I am traveling this week.',
  '',
  '',
  '',
  '',
  '',
]
const closings = ['Best, {name}', 'Regards, {name}', 'Thanks', '{name}', '']
const names = ['Ada', 'Hugo', 'Ines', 'Jonas', 'Kavya', 'Luca', 'Mei', 'Nora']

/** What a message asks for, beyond its matter. */
export type Request = {
  /** Of an invoice: whether it names the purchase order. */
  numbered: boolean
  /** Of a meeting: two days on which it could be, the part of the day, and how long it takes. */
  days: readonly Day[]
  part: Part
  length: Length
}

/** The text of a message, as typed. */
export function writeMessage(
  matter: Matter,
  { numbered, days: [day, other], part, length }: Request,
  rng: Rng,
): string {
  const wordings = {
    ...values,
    ...{ day, other, part, length: lengthWords[length] },
    amount: `$${100 + rng.int(9_900)}`,
    clock: `${6 + rng.int(6)}:${10 + rng.int(50)}`,
    section: String(2 + rng.int(30)),
    digits: String(1_000 + rng.int(9_000)),
    name: rng.pick(names),
  }
  const detail = matter === 'invoice' ? rng.pick(numbered ? orderNumbers : withoutOrder) : ''
  const sentences = [
    rng.pick(greetings),
    withFullStop(rng.pick(requests[matter])),
    detail,
    rng.pick(asides),
    rng.pick(closings),
  ]
  return typeInHaste(fillIn(sentences.filter((sentence) => sentence !== '').join(' '), wordings, rng), rng)
}

function withFullStop(sentence: string): string {
  return sentence.endsWith('?') ? sentence : `${sentence}.`
}
