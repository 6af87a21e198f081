import type { entitlementListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import { Badge } from '../../components/badge.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { MarketFrame } from './market-frame.tsx'
import { OlderLink } from './older-link.tsx'
import { OrderLink } from './orders-page.tsx'

type LicencesPageProps = { list: z.infer<typeof entitlementListSchema>; account: string }

/** What somebody, and the organisations that they belong to, have bought the right to. */
export function LicencesPage({ list: { entitlements, next_cursor: next }, account }: LicencesPageProps) {
  return (
    <MarketFrame title="Licences" path="/licences" account={account} needs="viewer" all>
      {entitlements.length === 0 ? (
        <EmptyState title="No licences" command="agentgym buy @seller/package">
          What you have bought the right to stands here. What is free needs none.
        </EmptyState>
      ) : (
        <Table
          caption="Licences"
          rows={entitlements}
          columns={[
            {
              title: 'Package',
              heading: true,
              cell: (licence) => <a href={packageAddress(licence.package)}>{licence.package}</a>,
            },
            { title: 'Kind', wide: true, cell: ({ kind }) => <Badge>{kind}</Badge> },
            { title: 'Versions', cell: ({ covers }) => <span class="mono">{covers}</span> },
            { title: 'Holder', cell: ({ holder }) => holder },
            { title: 'Receipt', cell: ({ order }) => <OrderLink id={order} /> },
            { title: 'Since', wide: true, cell: ({ granted_at: at }) => <Time at={at} /> },
          ]}
        />
      )}
      <OlderLink path="/licences" account={account} cursor={next} />
    </MarketFrame>
  )
}
