export type Form = { [key: string]: string | Form }

/** A body as Stripe's clients send it: `line_items[0][price_data][currency]=usd`. */
export function parseForm(body: string): Form {
  const form: Form = {}
  for (const [name, value] of new URLSearchParams(body)) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '')
    let place = form
    for (const key of keys.slice(0, -1)) {
      place[key] ??= {}
      place = place[key] as Form
    }
    place[keys.at(-1) ?? ''] = value
  }
  return form
}
