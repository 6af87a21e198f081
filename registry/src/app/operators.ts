import { AgentGymError } from '@agentgym/contract'
import type { Database } from '../core/database/database.ts'
import { openDatabase } from '../core/database/open-database.ts'
import {
  accountExists,
  addOperator,
  createOperator,
  listAccounts,
  removeOperator,
  resetSecondFactor,
  setEmail,
} from '../modules/accounts/index.ts'
import { namingOutages } from './operating/with-installation.ts'
import { readSettings, type ServeOptions } from './settings/read-settings.ts'

/** The operations of `agentgym operator` on the database itself, for servers without an operator who can log in. */
export type Operators = {
  exists(username: string): Promise<boolean>
  /** Makes an existing user an operator. Throws `account_not_found`. */
  add(username: string): Promise<void>
  /** Creates an account that is an operator. Throws `name_invalid`, `name_taken`, `email_taken`. */
  create(account: { username: string; email: string; password: string }): Promise<void>
  /** Throws `account_not_found`, `last_operator`. */
  remove(username: string): Promise<void>
  /** Throws `account_not_found`. */
  resetSecondFactor(username: string): Promise<void>
  /** Throws `account_not_found`, `email_taken`. */
  setEmail(username: string, email: string): Promise<void>
  list(): Promise<{ username: string; email: string | null; disabled: boolean }[]>
}

/**
 * Opens the database that `agentgym serve` would open with the same settings, does `work`, and closes it. Throws
 * `config_invalid`, `database_unavailable`, and `database_in_use` while a server runs on the embedded database.
 */
export async function withOperators<Result>(
  options: Pick<ServeOptions, 'data' | 'environment'>,
  work: (operators: Operators) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(readSettings(options).database).catch((error: unknown) => {
    if (!(error instanceof AgentGymError) || error.code !== 'database_in_use') throw error
    throw new AgentGymError({ ...error.toReport(), hint: 'Stop the server on this folder first.' }, { cause: error })
  })
  try {
    return await namingOutages(() => work(operatorsOf(database)))
  } finally {
    await database.close()
  }
}

function operatorsOf(database: Database): Operators {
  return {
    exists: (username) => accountExists(database, username),
    add: async (username) => {
      await addOperator(database, null, { username, ip: null })
    },
    create: async (account) => {
      await createOperator(database, account)
    },
    remove: (username) => removeOperator(database, null, { username, ip: null }),
    resetSecondFactor: async (username) => {
      await resetSecondFactor(database, null, { username, ip: null })
    },
    setEmail: async (username, email) => {
      await setEmail(database, null, { username, email, ip: null })
    },
    list: async () => {
      const found = await listAccounts(database.query, { operators: true, limit: 1_000 })
      return found.map(({ username, email, disabled_at }) => ({ username, email, disabled: disabled_at !== null }))
    },
  }
}
