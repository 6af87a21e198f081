import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentGymError, deviceCodeSchema, deviceTokenSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { CommandIo } from '../command-io.ts'
import { callApi } from '../registry/registry-api.ts'
import type { Connection } from './connection.ts'
import { cliScopes, type NewToken, tokenName } from './log-in.ts'

export type DeviceCode = z.infer<typeof deviceCodeSchema>

/** RFC 8628: what `slow_down` adds to the interval. */
const slowDownSeconds = 5

/** Logs in through the browser: `show` tells the user where to go and which code to compare; then this waits for them. */
export async function tokenByBrowser(
  server: string,
  options: { show(code: DeviceCode): void; signal: AbortSignal },
): Promise<NewToken> {
  const connection: Connection = { server, token: null, tokenSource: null }
  const code = await callApi(connection, {
    method: 'POST',
    path: '/v1/device-codes',
    json: { name: tokenName(), scopes: cliScopes },
    answer: deviceCodeSchema,
    signal: options.signal,
  })
  options.show(code)
  let intervalSeconds = code.interval
  for (;;) {
    await sleep(intervalSeconds * 1000, undefined, { signal: options.signal })
    try {
      const { token, id, expires_at } = await callApi(connection, {
        method: 'POST',
        path: '/v1/device-codes/token',
        json: { device_code: code.device_code },
        answer: deviceTokenSchema,
        signal: options.signal,
      })
      return { token, id, expiresAt: expires_at }
    } catch (error) {
      const reason = error instanceof AgentGymError ? error.code : undefined
      // A server that restarts is worth waiting for: the code is still good.
      if (reason !== 'authorization_pending' && reason !== 'slow_down' && reason !== 'server_unreachable') throw error
      if (reason === 'slow_down') intervalSeconds += slowDownSeconds
    }
  }
}

/** Opens the page where there is a desktop to open it on; the address has been printed anyway. */
export function openBrowser(url: string, { environment }: CommandIo): void {
  const desktop = process.platform === 'darwin' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY)
  if (!desktop) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
