import {
  type Connection,
  type Credentials,
  credentialsPath,
  findConnection as findOwnConnection,
} from '@agentgym/agent/packages'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import { proxyFor } from '../proxies/find-proxy.ts'
import { writePrivateFile } from './write-private-file.ts'

export { agentGymHome, type Connection, defaultServer, readCredentials } from '@agentgym/agent/packages'

/** The server and the token to use, as every program of AgentGym finds them. */
export async function findConnection({ io }: CommandContext, server?: string): Promise<Connection> {
  const connection = await findOwnConnection(io, server)
  // An invalid proxy is reported here, not as a server that does not answer.
  proxyFor(connection.server, io.environment)
  return connection
}

export async function writeCredentials(credentials: Credentials, io: CommandIo): Promise<void> {
  await writePrivateFile(credentialsPath(io), `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
}
