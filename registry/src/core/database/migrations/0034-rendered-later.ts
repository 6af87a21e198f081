import type { Migration } from './migration.ts'

/** READMEs are rendered after their versions were accepted: until then, a row has rendering 0 and the README as plain text. */
export const renderedLater: Migration = {
  name: '0034-rendered-later',
  statements: [
    // Of the process that renders it; after that, another one may.
    'alter table readme_html add column leased_until timestamptz(3)',
    'create index readme_html_unrendered_idx on readme_html (version_id) where rendering = 0',
  ],
}
