import type { Phrases } from './phrases.ts'

export const billingInquiry: Phrases = {
  slots: {
    bill: ['invoice', 'bill', 'statement', 'invoice {invoice}', 'bill {invoice}'],
    explain: ['explain', 'clarify', 'break down', 'help me understand', 'tell me about'],
    odd: ['higher than usual', 'different from last month', 'more than I expected', 'not what the pricing page says'],
    line: ['line item', 'tax line', 'seat fee', 'subscription fee', 'pro rata amount', 'usage fee'],
  },
  train: {
    request: [
      'Can you {explain} the {line} on my {bill}?',
      'My {bill} is {odd}, why is that?',
      'I have a question about my {bill} from {date}.',
      'Why does the {bill} show a {line} of {amount}?',
      'Please {explain} how the {line} is calculated.',
      'I do not understand the {bill} that I received on {date}.',
      'What is the {line} on the latest {bill}?',
      'The amount on my {bill} is {odd}.',
      'Which plan am I being billed for? The {bill} says {amount}.',
      'Our accountant asks what the {line} means on {bill}.',
      'When is my next {bill} due, and how much will it be?',
      'Could someone {explain} my monthly subscription {bill}?',
      'I noticed a {line} that was never on the {bill} before.',
      'Is tax included in the {amount} on my {bill}?',
      'What exactly are we billed every month? I see {amount}.',
      'Would you kindly {explain} the billing of our plan?',
    ],
    detail: [
      'We have the same number of seats as last month.',
      'I only want to know what the fee is for.',
      'Our bookkeeping needs an explanation of the amounts.',
      'The pricing page shows a lower monthly price.',
      'I compared it with the previous statement.',
      'Did the billing cycle change?',
      'The tax rate looks unfamiliar too.',
    ],
  },
  held: {
    request: [
      'Quick billing question: where does the {line} come from?',
      'Bookkeeping flagged our {bill}: {odd}. Why?',
      'Would you {explain} what we are billed each month?',
      'Looking at {bill}, I see {amount} as a {line} and wonder what it means.',
      'How was the {line} calculated this cycle? It is {odd}.',
      'Our monthly statement shows a {line} that nobody here can explain.',
    ],
    detail: [
      'An explanation of the fee is all we need.',
      'The seats and the plan are the same as before.',
      'The previous invoice had a lower amount.',
      'Is that the monthly price with tax?',
    ],
  },
}
