import type { Rng } from '@agentgym/scenario'

export type Ticket = { intent: Intent; text: string }

type Wordings = {
  tool: string
  /** Whether the order must be looked up before. */
  needsOrder: boolean
  train: string[]
  eval: string[]
}

/** By the tool that resolves a ticket. No content word is in both lists of one intent; `wordings.test.ts` holds to that. */
export const wordings = {
  refund: {
    tool: 'Pays a purchase back.',
    needsOrder: true,
    train: [
      'I want my money back for the {product}.',
      'Please refund order {number}.',
      'Can I get a refund on the {product}?',
      'Refund my purchase of the {product}, please.',
      'Give me back what I paid for the {product}.',
      'I would like my payment for order {number} returned.',
    ],
    eval: [
      'Kindly reimburse me.',
      'The amount should be credited to my card again.',
      'I am asking for reimbursement.',
      'You have to compensate me for the cost.',
    ],
  },
  track: {
    tool: 'Tells where a parcel is.',
    needsOrder: true,
    train: [
      'Where is my parcel?',
      'The package with the {product} has not arrived.',
      'Please track order {number}.',
      'When will my delivery come?',
      'I am still waiting for the {product} to be delivered.',
      'Has order {number} shipped yet?',
    ],
    eval: [
      'The courier never showed up.',
      'My goods are overdue.',
      'What happened to the consignment? Nothing is here so far.',
      'How long until the postman brings it?',
    ],
  },
  cancel: {
    tool: 'Cancels an order.',
    needsOrder: true,
    train: [
      'Cancel order {number}.',
      'I no longer want the {product}.',
      'Please stop my order of the {product} before it ships.',
      'I ordered the {product} by mistake, cancel it.',
      'Call off the purchase of the {product}.',
    ],
    eval: [
      'I changed my mind, do not send anything.',
      'I hereby withdraw from the transaction.',
      'Scrap the request that I placed this morning.',
      'Abort what I bought, it has not been dispatched.',
    ],
  },
  replace: {
    tool: 'Replaces a damaged product.',
    needsOrder: true,
    train: [
      'The {product} arrived broken.',
      'My {product} is damaged.',
      'The {product} does not work.',
      'There is a crack in the {product}.',
      'The {product} is defective.',
    ],
    eval: [
      'It came shattered.',
      'The item is faulty.',
      'It stopped functioning after unboxing.',
      'This thing was smashed when I opened it.',
    ],
  },
  invoice: {
    tool: 'Sends an invoice.',
    needsOrder: true,
    train: [
      'Send me the invoice for order {number}.',
      'I need a receipt for the {product}.',
      'Where can I download my bill?',
      'An invoice copy for the {product}, please.',
      'I need the bill of order {number} for my taxes.',
    ],
    eval: [
      'My accountant asks for proof of what was charged.',
      'Provide a VAT statement.',
      'I am missing the paperwork for bookkeeping.',
      'Could you issue a document that shows the expense?',
    ],
  },
  dispute: {
    tool: 'Reverses a double charge.',
    needsOrder: true,
    train: [
      'I was charged twice for the {product}.',
      'My card was billed two times for order {number}.',
      'There is a double payment on order {number}.',
      'You took the money twice.',
      'I see two charges for one {product}.',
    ],
    eval: [
      'A duplicate debit shows up at my bank.',
      'The same sum was withdrawn again.',
      'My statement has a repeated transaction.',
      'The identical amount left my wallet a second time.',
    ],
  },
  password: {
    tool: 'Sends a link for a new password.',
    needsOrder: false,
    train: [
      'I forgot my password.',
      'I cannot log in to my account.',
      'Please reset my password.',
      'My login does not work.',
      'I am locked out of my account.',
    ],
    eval: [
      'Authentication keeps failing.',
      'I require fresh credentials.',
      'The site rejects my secret code.',
      'Signing in is impossible.',
    ],
  },
  address: {
    tool: 'Changes an address.',
    needsOrder: false,
    train: [
      'Change my delivery address.',
      'I moved to a new house.',
      'Please update my address.',
      'Send my orders to my new home.',
      'Correct the street in my address.',
    ],
    eval: [
      'I live elsewhere now.',
      'The postcode on file is outdated.',
      'We have a different residence since Monday.',
      'From today on, ship to another place.',
    ],
  },
  human: {
    tool: 'Connects to a person.',
    needsOrder: false,
    train: [
      'Let me speak to a person.',
      'I want to talk to an agent.',
      'Connect me with a human.',
      'Call me, I do not want to talk to a bot.',
      'Give me a manager.',
    ],
    eval: [
      'Is anybody real there?',
      'Put an employee on the line.',
      'I would rather chat with your staff.',
      'Have a supervisor phone us.',
    ],
  },
  close: {
    tool: 'Closes an account.',
    needsOrder: false,
    train: [
      'Delete my account.',
      'Please close my account.',
      'Remove all my data.',
      'I want to unsubscribe and erase everything.',
      'Take my account off your site.',
    ],
    eval: [
      'Terminate my membership.',
      'I wish to leave this service for good.',
      'Wipe my personal information.',
      'Deregister the profile, I am not coming again.',
    ],
  },
} satisfies Record<string, Wordings>

export type Intent = keyof typeof wordings
export const intents = Object.keys(wordings) as Intent[]

const products = [
  'coffee grinder',
  'lamp',
  'desk chair',
  'pair of headphones',
  'rain jacket',
  'kettle',
  'backpack',
  'keyboard',
  'bicycle pump',
  'tent',
  'blender',
  'camera',
  'sofa',
  'watch',
  'toaster',
  'printer',
]
const names = ['Ada', 'Ben', 'Chen', 'Dora', 'Emil', 'Fatima', 'Goran', 'Hana', 'Ivan', 'June', 'Kofi', 'Lena']
const greetings = ['Hello.', 'Hi,', 'Good morning.', 'Dear team,', '']
const closings = ['Thanks, {name}', 'Best regards, {name}', '{name}', 'Thank you!', '']

/** A ticket of either set; greetings, names and order numbers are those of both. */
export function writeTicket(split: 'train' | 'eval', rng: Rng): Ticket {
  const intent = rng.pick(intents)
  const sentence = rng
    .pick<string>(wordings[intent][split])
    .replace('{product}', rng.pick(products))
    .replace('{number}', `${10_000 + rng.int(90_000)}`)
  const closing = rng.pick(closings).replace('{name}', rng.pick(names))
  return { intent, text: [rng.pick(greetings), sentence, closing].filter((part) => part !== '').join(' ') }
}
