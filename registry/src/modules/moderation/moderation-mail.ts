import { inBackground } from '../../core/scheduled-tasks/in-background.ts'
import type { Services } from '../../core/services.ts'

type Message = { subject: string; paragraphs: string[] }
type Mailing = Pick<Services, 'database' | 'mail' | 'config' | 'log'>

/** Mails a user, or the owners of an organisation. Does not wait for the mail to go. */
export function mailAccount(services: Mailing, accountId: string, message: Message): void {
  inBackground(services.log, 'a mail about moderation', async () => {
    const { query } = services.database
    const people = await query
      .selectFrom('accounts')
      .select(['username', 'email'])
      .where('disabled_at', 'is', null)
      .where('email', 'is not', null)
      .where(({ or, eb, selectFrom }) =>
        or([
          eb('id', '=', accountId),
          eb(
            'id',
            'in',
            selectFrom('memberships')
              .select('user_id')
              .where('organisation_id', '=', accountId)
              .where('role', '=', 'owner'),
          ),
        ]),
      )
      .execute()
    await sendAll(services, people, message)
  })
}

export function mailOperators(services: Mailing, message: Message): void {
  inBackground(services.log, 'a mail to operators', async () => {
    const { operator } = services.config
    const people = await services.database.query
      .selectFrom('accounts')
      .select(['username', 'email'])
      .where('disabled_at', 'is', null)
      .where('email', 'is not', null)
      .where(({ or, eb }) =>
        or([eb('operator', '=', true), ...(operator === undefined ? [] : [eb('username', '=', operator)])]),
      )
      .execute()
    await sendAll(services, people, message)
  })
}

async function sendAll(
  { mail }: Mailing,
  people: { username: string; email: string | null }[],
  { subject, paragraphs }: Message,
): Promise<void> {
  for (const { username, email } of people) {
    if (email === null) continue
    await mail.send({ to: email, subject, text: [`Hello ${username},`, ...paragraphs].join('\n\n') })
  }
}
