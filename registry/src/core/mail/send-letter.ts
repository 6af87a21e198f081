import type { Mail } from '../services.ts'

type Letter = {
  to: { username: string; email: string }
  subject: string
  /** After the greeting. */
  paragraphs: string[]
}

/** Mails a user: a greeting by name, then the paragraphs. */
export async function sendLetter(mail: Mail, { to, subject, paragraphs }: Letter): Promise<void> {
  await mail.send({ to: to.email, subject, text: [`Hello ${to.username},`, ...paragraphs].join('\n\n') })
}
