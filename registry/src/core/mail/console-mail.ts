import type { Log, Mail } from '../services.ts'

/**
 * Mail for trying things out: into the log, links and all. The only place where a secret is written on purpose, so it has
 * to be asked for.
 */
export function consoleMail(log: Log): Mail {
  return {
    send: async ({ to, subject, text }) => log.info('mail', { to, subject, text }),
  }
}
