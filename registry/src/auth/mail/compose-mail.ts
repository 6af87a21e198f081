import { createTransport } from 'nodemailer'

/** A message as it goes over the wire, header and all (RFC 5322). */
export async function composeMail(message: {
  from: string
  to: string
  subject: string
  text: string
}): Promise<Buffer> {
  const { message: composed } = await createTransport({ streamTransport: true, buffer: true }).sendMail(message)
  if (!Buffer.isBuffer(composed)) throw new Error('nodemailer gave a stream in spite of `buffer`')
  return composed
}
