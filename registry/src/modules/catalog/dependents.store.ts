import type { Dependents } from '@agentgym/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import type { Queries } from '../../core/database/database.ts'
import { findReadablePackage } from '../packages/packages.store.ts'
import { visiblePackages } from './visible-packages.ts'

/** More nobody reads. */
const most = 100

/**
 * What needs a package, as far as the actor may know of it, the most downloaded first: agents that were verified on one of
 * its versions, and packages whose latest version names it as a dependency. Throws `package_not_found`, `package_taken_down`.
 */
export async function findDependents(query: Queries, actor: Actor | null, asked: string): Promise<Dependents> {
  const { id, name } = await findReadablePackage(query, actor, asked)
  const visible = visiblePackages(actor)
  const [agents, packages] = await Promise.all([trainedOn(query, id, visible), depending(query, name, visible)])
  return { name, agents, packages }
}

async function trainedOn(query: Queries, id: string, visible: RawBuilder<SqlBool>): Promise<Dependents['agents']> {
  const { rows } = await sql<Dependents['agents'][number]>`
    select name, version, title, scenario_version from (
      select distinct on (packages.id) packages.id, packages.name, packages.downloads, packages.title,
        versions.version, scenario.version as scenario_version
      from versions scenario
      join verifications verification
        on verification.scenario_version_id = scenario.id and verification.state = 'verified'
      join versions on versions.id = verification.version_id
      join packages on packages.id = versions.package_id
      where scenario.package_id = ${id}::uuid and versions.state = 'published' and versions.yanked_at is null and ${visible}
      order by packages.id, versions.published_at desc, verification.created_at desc
    ) agent
    order by downloads desc, id limit ${sql.lit(most)}`.execute(query)
  return rows
}

async function depending(query: Queries, name: string, visible: RawBuilder<SqlBool>): Promise<Dependents['packages']> {
  const { rows } = await sql<Dependents['packages'][number]>`
    select packages.name, versions.version, packages.title, versions.manifest -> 'dependencies' ->> ${name}::text as range
    from versions
    join packages on packages.id = versions.package_id and packages.latest_version = versions.version
    where versions.manifest -> 'dependencies' ? ${name}::text and ${visible}
    order by packages.downloads desc, packages.id limit ${sql.lit(most)}`.execute(query)
  return rows
}
