import type { Migration } from './migration.ts'

/** A README's HTML, made once when its version is published: making it anew for every reader takes milliseconds. */
export const readmeHtml: Migration = {
  name: '0005-readme-html',
  statements: [
    `create table readme_html (
      version_id uuid constraint readme_html_pkey primary key
        constraint readme_html_version_id_fkey references versions (id),
      rendering integer not null,
      html text not null
    )`,
  ],
}
