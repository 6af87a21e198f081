import type { Migration } from './migration.ts'

/** Which versions name a package among their dependencies. */
export const dependents: Migration = {
  name: '0011-dependents',
  statements: [`create index versions_dependencies_idx on versions using gin ((manifest -> 'dependencies'))`],
}
