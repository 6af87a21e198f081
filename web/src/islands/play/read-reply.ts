import { z } from 'zod'

/** The longest message of a fault that a page shows. */
const longestMessage = 300

const faultSchema = z.object({ fault: z.object({ message: z.string() }) })

/** What a worker replied with. A fault, or what cannot be read, is thrown as an Error with a message for the visitor. */
export function readReply(text: string): unknown {
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw new Error('its reply cannot be read')
  }
  const failed = faultSchema.safeParse(reply)
  if (failed.success) throw new Error(failed.data.fault.message.slice(0, longestMessage))
  return reply
}
