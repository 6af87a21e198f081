import { accountAddress } from './market-frame.tsx'

type OlderLinkProps = { path: string; account: string; cursor: string | null; query?: Record<string, string> }

/** To the next page of a list that begins with the newest. */
export function OlderLink({ path, account, cursor, query = {} }: OlderLinkProps) {
  if (cursor === null) return null
  return (
    <p class="older">
      <a href={accountAddress(path, account, { ...query, cursor })} rel="next">
        Older ones
      </a>
    </p>
  )
}
