/** `2026-11-28 06:33 UTC`: on receipts, where an age would be another one tomorrow. */
export function Moment({ at }: { at: string }) {
  return <time datetime={at}>{shownMoment(at)}</time>
}

/** The API's sentences with the moments in them as they are shown here. */
export function withMoments(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, shownMoment)
}

function shownMoment(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}
