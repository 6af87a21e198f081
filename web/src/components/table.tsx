import type { Child } from 'hono/jsx'

export type Column<Row> = {
  title: string
  cell: (row: Row) => Child
  /** Right-aligned. */
  numeric?: boolean
  /** The row's header cell. */
  heading?: boolean
  /** Hidden on narrow screens. */
  wide?: boolean
}

/** Rows to compare. The table scrolls sideways when it must; the page never does. */
export function Table<Row>({ rows, columns, caption }: { rows: Row[]; columns: Column<Row>[]; caption: string }) {
  return (
    <section class="table-scroll" aria-label={caption} tabindex={0}>
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) =>
                column.heading ? (
                  <th scope="row" class={cellClass(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={cellClass(column)}>{column.cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function cellClass<Row>({ numeric, wide }: Column<Row>): string | undefined {
  const names = [numeric && 'numeric', wide && 'wide-only'].filter(Boolean).join(' ')
  return names === '' ? undefined : names
}
