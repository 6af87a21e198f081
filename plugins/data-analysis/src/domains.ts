/** What tables are about: the columns of each and the words that people use for them. */

export type CategoryColumn = {
  /** The column's heading, then other words for it. */
  names: readonly string[]
  labels: readonly string[]
}
export type MeasureColumn = {
  names: readonly string[]
  /** Values are from this to three times this. */
  least: number
}
export type Domain = {
  /** What a row is, in the plural. */
  rows: string
  key: string
  categories: readonly [CategoryColumn, CategoryColumn]
  /** The table that can be joined, and its column. */
  lookup: { table: string; column: CategoryColumn }
  measures: readonly [MeasureColumn, MeasureColumn]
}

export const domains: readonly Domain[] = [
  {
    rows: 'orders',
    key: 'order',
    categories: [
      {
        names: ['city', 'town'],
        labels: ['Leeds', 'York', 'Derby', 'Bath', 'Hull', 'Exeter', 'Truro', 'Wells'],
      },
      {
        names: ['product', 'article'],
        labels: ['Lamp', 'Kettle', 'Chair', 'Jacket', 'Desk', 'Phone', 'Clock', 'Mirror'],
      },
    ],
    lookup: {
      table: 'customers',
      column: {
        names: ['segment', 'clientele'],
        labels: ['Retail', 'Wholesale', 'Student', 'Public', 'Charity', 'Startup', 'Hotel', 'Clinic'],
      },
    },
    measures: [
      { names: ['revenue', 'turnover', 'takings'], least: 40 },
      { names: ['quantity', 'pieces', 'units'], least: 3 },
    ],
  },
  {
    rows: 'deliveries',
    key: 'parcel',
    categories: [
      {
        names: ['depot', 'warehouse'],
        labels: ['North', 'South', 'Harbor', 'Airport', 'Valley', 'Bridge', 'Hill', 'Lake'],
      },
      {
        names: ['carrier', 'haulier'],
        labels: ['Swift', 'Falcon', 'Atlas', 'Comet', 'Orion', 'Pegasus', 'Hermes', 'Argo'],
      },
    ],
    lookup: {
      table: 'routes',
      column: {
        names: ['zone', 'territory'],
        labels: ['Coast', 'Inland', 'Island', 'Border', 'Metro', 'Rural', 'Alpine', 'Delta'],
      },
    },
    measures: [
      { names: ['weight', 'load', 'mass'], least: 2 },
      { names: ['delay', 'lateness', 'overrun'], least: 10 },
    ],
  },
  {
    rows: 'tickets',
    key: 'ticket',
    categories: [
      {
        names: ['team', 'squad'],
        labels: ['Red', 'Blue', 'Green', 'Amber', 'Violet', 'Silver', 'Gold', 'Coral'],
      },
      {
        names: ['topic', 'subject'],
        labels: ['Billing', 'Login', 'Outage', 'Refunds', 'Setup', 'Export', 'Privacy', 'Mobile'],
      },
    ],
    lookup: {
      table: 'accounts',
      column: {
        names: ['plan', 'subscription'],
        labels: ['Free', 'Basic', 'Pro', 'Business', 'Enterprise', 'Trial', 'Legacy', 'Nonprofit'],
      },
    },
    measures: [
      { names: ['waiting', 'queueing', 'backlog'], least: 8 },
      { names: ['handling', 'effort', 'labor'], least: 12 },
    ],
  },
]

/** The words for a column, its heading first: the data dictionary. */
export function namesOf({ key, categories, lookup, measures }: Domain, column: number): readonly string[] {
  return [[key], ...[...categories, lookup.column, ...measures].map(({ names }) => names)][column]
}
