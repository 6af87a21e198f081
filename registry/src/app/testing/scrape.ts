import { type Family, parseExposition, type Sample } from './parse-exposition.ts'

/** The metrics of a server's `/metrics`, validated against the format. */
export async function scrape(url: string): Promise<Map<string, Family>> {
  const response = await fetch(`${url}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics answers ${response.status}`)
  return parseExposition(await response.text())
}

/** Value of the one sample of that name with at least these labels. */
export function sampled(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number {
  const fits = (one: Sample) =>
    one.name === name && Object.entries(labels).every(([label, wanted]) => one.labels[label] === wanted)
  const found = [...families.values()].flatMap(({ samples }) => samples.filter(fits))
  if (found.length !== 1) throw new Error(`${found.length} samples are ${name} ${JSON.stringify(labels)}`)
  return found[0].value
}
