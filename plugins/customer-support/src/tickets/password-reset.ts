import type { Phrases } from './phrases.ts'

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
