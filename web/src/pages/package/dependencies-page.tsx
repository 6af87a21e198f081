import type { Dependents, VersionDetails } from '@agentgym/contract'
import { EmptyState } from '../../components/empty-state.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { type Column, Table } from '../../components/table.tsx'
import { dependenciesOf } from './version-facts.ts'

type Dependency = { name: string; range: string; what: string }

const columns: Column<Dependency>[] = [
  { title: 'Package', heading: true, cell: ({ name }) => <PackageName name={name} /> },
  { title: 'Range', cell: ({ range }) => <code>{range}</code> },
  { title: 'For', cell: ({ what }) => what },
]

/** What a version needs, and what needs it. */
export function DependenciesTab({ details, dependents }: { details: VersionDetails; dependents: Dependents }) {
  const { name, agent } = details
  const rows: Dependency[] = [
    ...(agent === null ? [] : [{ name: agent.scenario.name, range: agent.scenario.version, what: 'trained on it' }]),
    ...dependenciesOf(details).map(([dependency, range]) => ({ name: dependency, range, what: 'installed with it' })),
  ]
  return (
    <>
      <section class="package-section" aria-labelledby="needs">
        <h2 id="needs">What it needs</h2>
        {rows.length === 0 ? (
          <p class="dim">Nothing: all that version {details.version} runs is in it.</p>
        ) : (
          <Table rows={rows} columns={columns} caption={`What ${name} needs`} />
        )}
      </section>
      <Needed dependents={dependents} />
    </>
  )
}

function Needed({ dependents: { name, agents, packages } }: { dependents: Dependents }) {
  const rows: Dependency[] = [
    ...agents.map((one) => ({ name: one.name, range: one.scenario_version, what: `trained: ${one.version}` })),
    ...packages.map((one) => ({ name: one.name, range: one.range, what: `installs it: ${one.version}` })),
  ]
  return (
    <section class="package-section" aria-labelledby="needed">
      <h2 id="needed">What needs it</h2>
      {rows.length === 0 ? (
        <EmptyState title="Nothing needs it yet">
          Agents that were trained on it and verified stand here, and packages that name it as a dependency.
        </EmptyState>
      ) : (
        <Table rows={rows} columns={columns} caption={`What needs ${name}`} />
      )}
    </section>
  )
}

/** A scoped name may be a package of this server; where it is none, its page says so. */
function PackageName({ name }: { name: string }) {
  if (!/^@[^/]+\/[^/]+$/.test(name)) return <code>{name}</code>
  return (
    <a class="mono" href={packageAddress(name)}>
      {name}
    </a>
  )
}
