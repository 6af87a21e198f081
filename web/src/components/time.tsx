import { usePage } from '../layout/page-context.ts'

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** How long ago, with the moment itself for whoever points at it. */
export function Time({ at }: { at: string }) {
  const { nowMs } = usePage()
  return (
    <time datetime={at} title={`${at.slice(0, 16).replace('T', ' ')} UTC`}>
      {ageOf(at, nowMs)}
    </time>
  )
}

/** `3 days ago`; `just now` within a minute, and for clocks that differ a little. */
export function ageOf(at: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(at)) / 1000
  const step = steps.find(([, length]) => seconds >= length)
  return step === undefined ? 'just now' : relative.format(-Math.floor(seconds / step[1]), step[0])
}
