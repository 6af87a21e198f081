/** Sentences that say nothing about the kind of ticket. */
export const smallTalk = {
  train: {
    greeting: ['Hi,', 'Hello,', 'Hi there,', 'Dear support team,', 'Good morning,', 'Hey,', 'Hello {agent},', ''],
    aside: [
      'I have been a customer since 2019.',
      'I wrote about this last week as well.',
      'This is rather urgent for us.',
      'I could not find anything in the help center.',
      'My boss is waiting for an answer.',
      'We really like the product otherwise.',
      'You can also reach me by phone.',
      'Our team has {number} people.',
      'I am in a different time zone, so please write back by email.',
      '',
      '',
      '',
    ],
    closing: [
      'Thanks, {name}',
      'Thank you! {name}',
      'Best regards, {name}',
      'Cheers, {name}',
      'Regards, {name}, {company}',
      '{name} from {company}',
      'Thanks in advance.',
      '',
    ],
  },
  held: {
    greeting: ['Good afternoon,', 'Hi team,', 'To whom it may concern,', 'Hey there,', ''],
    aside: [
      'We have been happy customers for years.',
      'It would be great to hear back today.',
      'The help center did not help me.',
      'I am writing on behalf of {company}.',
      '',
      '',
    ],
    closing: ['Many thanks, {name}', 'Kind regards, {name}, {company}', 'Best, {name}', 'Yours, {name}', ''],
  },
} as const
