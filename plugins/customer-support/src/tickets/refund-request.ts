import type { Phrases } from './phrases.ts'

export const refundRequest: Phrases = {
  slots: {
    refund: ['refund', 'money back', 'full refund', 'reimbursement', 'refund of {amount}'],
    charged: ['charged twice', 'double charged', 'charged after cancelling', 'charged by mistake', 'overcharged'],
    bought: ['ordered the wrong plan', 'upgraded by accident', 'cancelled on {date}', 'bought it in error'],
    want: ['I want', 'I would like', 'we request', 'I am asking for', 'please issue', 'I need'],
  },
  train: {
    request: [
      'I was {charged}, {want} a {refund}.',
      '{want} a {refund} for {invoice}.',
      'I {bought}, can I have my money back?',
      'My card was {charged} on {date}. Please return the money.',
      'How do I get a {refund}? I {bought}.',
      'Please give me my money back, I was {charged}.',
      'You took {amount} from my card although I {bought}.',
      'We were {charged} and expect a {refund}.',
      'I {bought} and {want} a {refund}.',
      'Refund please! I was {charged}.',
      'The product is not for us, {want} a {refund}.',
      'I returned the order, when will I see the {refund} on my card?',
      'Can you reverse the payment of {amount}? I {bought}.',
      'I {bought}, so please reimburse {amount}.',
      'My money back please, I never used the product.',
      'I cancelled, yet the card was charged. Where is my {refund}?',
    ],
    detail: [
      'The money should go back to the same card.',
      'My bank shows the payment twice.',
      'I cancelled before the trial ended.',
      'I have not used the product at all.',
      'I will dispute it with my bank otherwise.',
      'The cancellation mail is attached.',
      'It was a mistake on my side, sorry.',
    ],
  },
  held: {
    request: [
      'Money back, please: I {bought} and never used it.',
      'A {refund} is what I am after, since I was {charged}.',
      'Kindly return {amount} to my card, I was {charged}.',
      'Can the payment be reversed? I {bought}.',
      'I cancelled and was still {charged}, so where is my {refund}?',
      'Whom do I ask to reimburse me? I {bought} by mistake.',
    ],
    detail: [
      'My bank can confirm that the card was charged.',
      'Send the money to the card I paid with.',
      'I cancelled in time and did not use it.',
      'The order was an accident.',
    ],
  },
}
