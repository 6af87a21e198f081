/**
 * Sentences in which customers write. `request` says what the customer wants, `detail` adds a circumstance. `{slot}` is
 * filled from `slots` or, for `{name}`, `{date}` and so on, from the ticket.
 *
 * `held` sentences are for evaluation only: no training ticket contains one. They are new sentences made mostly of words
 * that the training sentences teach, as a new customer's would be.
 */
export type Phrases = {
  slots: Record<string, readonly string[]>
  train: { request: readonly string[]; detail: readonly string[] }
  held: { request: readonly string[]; detail: readonly string[] }
}

export const passwordReset: Phrases = {
  slots: {
    signIn: ['log in', 'sign in', 'login', 'get into my account', 'log into the dashboard', 'sign into my profile'],
    forgot: [
      'forgot my password',
      'lost my password',
      'cannot remember my password',
      'no longer know my login password',
    ],
    locked: ['locked out', 'shut out of my account', 'stuck at the login screen', 'unable to sign in'],
    link: ['reset link', 'password reset link', 'link to choose a new password', 'recovery link', 'reset mail'],
  },
  train: {
    request: [
      'I {forgot} and now I am {locked}.',
      'I cannot {signIn}, it keeps saying wrong password.',
      'Could you send me a {link}?',
      'Need a {link} as soon as you can, I am {locked}.',
      'I tried to {signIn} this morning and my password is rejected.',
      'I {forgot}, how do I get a {link}?',
      'My password stopped working and I am {locked}.',
      'Your site says my credentials are invalid when I {signIn}.',
      'I would like to reset my password, I am {locked}.',
      'The {link} never arrived and I still cannot {signIn}.',
      'I changed phones and {forgot}, so I am {locked}.',
      'How can I reset my login? I {forgot}.',
      'Forgotten password again, please mail the {link}.',
      'I typed my password five times and got {locked}.',
      'Wrong password again! Please reset it so that I can {signIn}.',
      'Nobody on our team remembers the password, we are {locked}.',
    ],
    detail: [
      'The password page just says try again.',
      'I did not change my login or my username.',
      'I checked my spam folder for the reset mail, nothing there.',
      'My browser used to remember the password for me.',
      'After three wrong attempts the login form froze.',
      'The username is my usual email address.',
      'It says the password and the username do not match.',
    ],
  },
  held: {
    request: [
      'Hello? Wrong password, wrong password, wrong password. I want to {signIn}!',
      'Is there any way to choose another password? I {forgot} over the holidays.',
      'Being {locked} is no fun, kindly mail a {link} to me.',
      'Since yesterday I am {locked}; the form calls my password invalid.',
      'Where do I find the {link}? Without it I never {signIn} again.',
      'My colleague changed our login and now nobody remembers the password.',
    ],
    detail: [
      'I attempted it in another browser, same wrong password.',
      'No reset mail in my inbox yet.',
      'My username is right, only the password is not.',
      'The login screen froze when I typed it again.',
    ],
  },
}

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

export const apiIntegration: Phrases = {
  slots: {
    call: ['API call', 'request to the API', 'REST request', 'webhook call', 'call from our integration'],
    fails: ['fails with a 401', 'returns 403 forbidden', 'gets unauthorized', 'comes back with a 500', 'times out'],
    client: ['SDK', 'integration', 'webhook', 'script', 'backend', 'Python client', 'connector'],
    key: ['API key', 'access token', 'API token', 'client secret', 'developer key'],
  },
  train: {
    request: [
      'Every {call} {fails} since {date}.',
      'Our {client} stopped talking to your API, each {call} {fails}.',
      'The {key} in our {client} does not seem to be accepted.',
      'We are building a {client} and the endpoint {fails}.',
      'Which header does the {key} go in? My {call} {fails}.',
      'I get an error when the {client} hits the orders endpoint.',
      'Our developer says the {key} is refused by the API.',
      'The {client} worked in the sandbox, but in production the {call} {fails}.',
      'Please check why the API {fails} for our {client}.',
      'Is the API down? My {client} {fails}.',
      'I pasted the {key} into the {client} and the {call} {fails}.',
      'Authentication for the {client} broke, the {call} {fails}.',
      'The JSON response of the endpoint is an error, our {call} {fails}.',
      'Integrating your API: the first {call} {fails}.',
      'Does the {key} expire? The {call} {fails} in production.',
      'According to the API docs this should work, yet the {call} {fails}.',
      'What is wrong with my {call}? The {key} is right.',
      'All endpoints return an error, whatever {key} I send.',
    ],
    detail: [
      'The curl example from the developer docs does the same.',
      'The HTTP status is in our developer console.',
      'Nothing changed in the code of the client.',
      'The endpoint version is v2 and the payload is JSON.',
      'The rate limit header looks fine.',
      'I can share the request id and the response body.',
      'Our bot sends about ten requests a minute.',
    ],
  },
  held: {
    request: [
      'Help with the API please: {call} {fails}, and the docs do not say why.',
      'Our {client} is broken in production, the endpoint {fails}.',
      'Deployed the {client} on {date}, since then the {key} is not accepted.',
      'Does the {key} expire? The {client} {fails} on all endpoints.',
      'I am a developer and my {call} {fails}, any idea?',
      'What could make a {call} return an error when the {key} is right?',
    ],
    detail: [
      'The response body is JSON with an error status.',
      'Same code, same endpoint, same payload as before.',
      'I tried curl with the same header too.',
      'The developer console shows the requests.',
    ],
  },
}

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

export const dataMigration: Phrases = {
  slots: {
    move: ['migrate', 'move', 'transfer', 'import', 'bring over'],
    data: ['our customer records', 'all our data', 'our contacts', '40,000 rows', 'our history', 'the whole database'],
    source: ['our old system', 'Salesforce', 'a CSV export', 'a spreadsheet', 'another vendor', 'our legacy CRM'],
    broken: ['stuck at 60 percent', 'incomplete', 'full of duplicates', 'missing columns', 'garbled'],
  },
  train: {
    request: [
      'We want to {move} {data} from {source}.',
      'How do we {move} {data} out of {source}?',
      'The migration of {data} is {broken}.',
      'After the import from {source}, {data} are {broken}.',
      'I started to {move} {data} on {date} and it is {broken}.',
      'Please help us {move} {data} to the new workspace.',
      'Our import of {source} is {broken}, can you look at it?',
      'We are switching from {source} and need {data} moved.',
      'Which format should {source} have to {move} {data}?',
      'Half of the rows from {source} were skipped by the importer.',
      'The migration wizard says mapping failed for {data}.',
      'We plan to {move} {data} next week, what do we have to prepare?',
      'The migrated data from {source} look {broken}.',
      'Importing {source}: the file is uploaded, the records are {broken}.',
      'The importer does not match the columns of {source}.',
      'What is the best way to get {data} into your product? We {move} them from {source}.',
    ],
    detail: [
      'The field mapping in the wizard is correct.',
      'The file has about twenty columns in UTF-8.',
      'We must keep the created dates of all records.',
      'We would like to finish the migration before the end of the month.',
      'The old database will be switched off soon.',
      'There are attachments in the export as well.',
      'We already did a dry run with a hundred rows.',
    ],
  },
  held: {
    request: [
      'Our team leaves {source} this month and has to {move} {data}.',
      'What is the best way to {move} {data}? They sit in {source}.',
      'Data import trouble: the records from {source} are {broken}.',
      'Columns do not match when we {move} {data}.',
      'The importer skipped rows, so {data} came out {broken}.',
      'We need a plan to {move} {data} with all attachments from {source}.',
    ],
    detail: [
      'The export has hundreds of columns and attachments.',
      'The mapping in the migration wizard looks right.',
      'We did a dry run with some rows before.',
      'The legacy database closes soon.',
    ],
  },
}

/** Sentences that say nothing about the kind of ticket. */
export const small = {
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
