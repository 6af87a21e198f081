import { type ChildProcess, fork } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createToken, type Database, openDatabase, syntheticQueries } from '@agentgym/registry/benchmarks'
import { request } from '../http-load.ts'

/** A user with a session of the site and a token for everything. */
export type Visitor = { id: string; username: string; cookie: string; token: string }
type Buyer = Visitor & { /** A package for which the user has no license. */ wants: string }
type Seller = Visitor & { /** The package that sells best. */ sells: string }

/** A database of one size and the server on it, with what is asked of them. */
export type Side = {
  size: 'small' | 'large'
  database: Database
  url: string
  /** Popular and rare ones. */
  packages: string[]
  publishers: string[]
  queries: string[]
  laterPage: string
  topScenario: string
  /** Those with most runs, orders and calls. */
  top: Visitor
  run: string
  person: Visitor
  buyers: Buyer[]
  seller: Seller
  topSeller: Seller
  operator: Visitor
  called: { name: string; caller: string }
  close(): Promise<void>
}

const shown = 40

/** Starts a server on a database that is filled, once it has done what it does at its start. */
export async function openSide(size: Side['size'], url: string, folder: string): Promise<Side> {
  const database = await openDatabase({ url, statementMs: 600_000 })
  const server = await startServer(url, folder)
  const close = async () => {
    await database.close()
    server.process.kill('SIGKILL')
    if (server.process.exitCode === null) await once(server.process, 'exit')
  }
  try {
    await atRest(database)
    return { size, database, url: server.url, close, ...(await readSubjects(database, server.url)) }
  } catch (error) {
    await close()
    throw error
  }
}

async function startServer(url: string, folder: string): Promise<{ url: string; process: ChildProcess }> {
  const environment = {
    ...process.env,
    ...{
      DATABASE_URL: url,
      AGENTGYM_LOG_LEVEL: 'error',
      AGENTGYM_MAX_OPEN_RUNS: '1000000',
      AGENTGYM_MAX_OPEN_CHECKS: '100000',
    },
  }
  const server = fork(new URL('../site-server.process.ts', import.meta.url), [folder], { env: environment })
  const [message] = (await once(server, 'message')) as [{ url: string }]
  return { url: message.url, process: server }
}

/** Scheduled tasks that are due run at the start: they are not what is measured. */
async function atRest(database: Database): Promise<void> {
  for (let quiet = 0; quiet < 5; ) {
    const { rows } = await database.execute(`select count(*)::int as busy from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`)
    quiet = Number(rows[0].busy) === 0 ? quiet + 1 : 0
    await delay(1_000)
  }
}

async function readSubjects(database: Database, url: string) {
  const names = async (statement: string) => (await database.execute(statement)).rows.map(({ name }) => String(name))
  const one = async (statement: string) => (await names(statement))[0]
  const every = (table: string) =>
    `select name from (select *, row_number() over (order by n) as place, count(*) over () as number from seed.${table}) ranked
      where place in (select 1 + i * number / ${shown} from generate_series(0, ${shown - 1}) as i) order by md5(name)`
  const sellers = `select owner.username as name from orders join accounts owner on owner.id = seller_id group by 1`
  const queries = syntheticQueries(1)
  const person = await visitor(database, 'seed-500')
  const seller = await visitor(database, await one(`${sellers} having count(*) >= 100 order by count(*), 1 limit 1`))
  const topSeller = await visitor(database, await one(`${sellers} order by count(*) desc limit 1`))
  const sells = ({ id }: Visitor) =>
    one(
      `select name from orders join packages on packages.id = package_id where seller_id = '${id}' group by 1 order by count(*) desc limit 1`,
    )
  const operator = await visitor(database, 'seed-501')
  await database.execute('update accounts set operator = true where id = $1', [operator.id])
  return {
    packages: await names(every('packages')),
    // With as many packages on either side.
    publishers: await names(`select username as name from packages join accounts on accounts.id = owner_id group by 1
      having count(*) between 10 and 20 order by md5(username) limit ${shown}`),
    queries: Array.from({ length: shown }, () => String(queries.next().value)),
    laterPage: await laterPage(url),
    topScenario:
      await one(`select trained_on as name from seed.packages where trained_on in (select name from seed.packages)
      group by 1 order by count(*) desc limit 1`),
    top: await visitor(database, 'seed-1'),
    run: await one(`select training_runs.id::text as name from training_runs join accounts on accounts.id = owner_id
      where username = 'seed-1' and state = 'completed' order by training_runs.created_at desc limit 1`),
    person,
    buyers: await Promise.all(
      Array.from({ length: shown }, async (_, n) => {
        const buyer = await visitor(database, `seed-${600 + n}`)
        const wants = await one(`select name from seed.offers join packages using (id) where id not in (
          select package_id from orders where buyer_id = '${buyer.id}') order by n desc limit 1`)
        return { ...buyer, wants }
      }),
    ),
    seller: { ...seller, sells: await sells(seller) },
    topSeller: { ...topSeller, sells: await sells(topSeller) },
    operator,
    called: {
      name: await one('select name from seed.agents join packages using (id) order by n limit 1'),
      caller: 'seed-1',
    },
  }
}

const everything = [
  'packages:read',
  'packages:manage',
  'training:start',
  'training:view',
  'market:buy',
  'market:sell',
  'worker',
] as const
/** As lucia makes them. */
const sessionDigits = 'abcdefghijklmnopqrstuvwxyz234567'

async function visitor(database: Database, username: string): Promise<Visitor> {
  const { rows } = await database.execute('select id::text from accounts where username = $1', [username])
  const id = String(rows[0].id)
  const { token } = await createToken(database.query, {
    accountId: id,
    name: 'bench',
    scopes: everything,
    expiresAt: null,
  })
  const session = Array.from({ length: 40 }, () => sessionDigits[randomInt(sessionDigits.length)]).join('')
  await database.execute(`insert into sessions (id, user_id, expires_at) values ($1, $2, now() + interval '30 days')`, [
    createHash('sha256').update(session).digest('hex'),
    id,
  ])
  return { id, username, token, cookie: `agentgym_session=${session}` }
}

/** The tenth page of all packages. */
async function laterPage(url: string): Promise<string> {
  let path = '/packages'
  for (let turned = 0; turned < 9; turned++) {
    const next = /href="(\/packages\?[^"]*cursor=[^"]*)"/.exec(await request(url + path))?.[1]
    if (next === undefined) return path
    path = next.replaceAll('&amp;', '&')
  }
  return path
}
