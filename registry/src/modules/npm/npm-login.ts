import { AgentGymError } from '@agentgym/contract'
import type { Context } from 'hono'
import { recordAudit } from '../../core/access/audit.ts'
import type { Scope } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Env } from '../../core/http/env.ts'
import type { Services } from '../../core/services.ts'
import { createDeviceCode, pollSeconds, redeemDeviceCode, revokeToken } from '../accounts/index.ts'
import { tokenNeeded } from './npm-errors.ts'

/** Scopes for npm's commands: install, publish, dist-tag, deprecate. */
const npmScopes: Scope[] = ['packages:publish']

/** `npm login` opens the first address in the browser and polls the second until the user has decided: the device login. */
export async function startLogin({ database, config }: Services, c: Context<Env>): Promise<Response> {
  await limitRate(database, `device-code:${clientNetwork(c.get('ip'))}`, { limit: 60, windowSeconds: 600 })
  const { deviceCode, userCode } = await createDeviceCode(database.query, { name: 'npm', scopes: npmScopes })
  return c.json({
    loginUrl: `${config.publicUrl}/device?user_code=${userCode}`,
    doneUrl: `${config.publicUrl}/npm/-/v1/done?code=${deviceCode}`,
  })
}

/** 202 until the user decides. */
export async function finishLogin(services: Services, c: Context<Env>): Promise<Response> {
  const answer = await redeemDeviceCode(services, c.req.query('code') ?? '', c.get('ip'))
  if (!('failure' in answer)) return c.json({ token: answer.token.token, username: answer.username })
  if (answer.failure === 'authorization_pending' || answer.failure === 'slow_down')
    return c.json({}, 202, { 'retry-after': String(pollSeconds) })
  throw new AgentGymError({
    code: answer.failure,
    message: answer.failure === 'access_denied' ? 'The login was denied.' : 'The login has expired.',
    hint: 'Run `npm login` again.',
  })
}

/** `npm logout` revokes only the token that it sends. */
export async function logOut({ database }: Services, c: Context<Env>): Promise<Response> {
  const actor = c.get('actor')
  if (actor === null || actor.tokenId === null) throw tokenNeeded()
  const { accountId, tokenId } = actor
  await database.transaction(async (query) => {
    if ((await revokeToken(query, accountId, tokenId)).length > 0)
      await recordAudit(query, { actor, action: 'token.revoke', subject: `token:${tokenId}`, ip: c.get('ip') })
  })
  return c.json({ ok: true })
}

/** Login with a username and password, as in older npm versions. */
export function passwordLogin(publicUrl: string): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message: 'This registry does not accept passwords through npm.',
    hint: `Run \`npm login --auth-type=web --registry=${publicUrl}/npm/\`, or \`agentgym login\`.`,
  })
}
