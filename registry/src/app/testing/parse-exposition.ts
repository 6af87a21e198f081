export type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { type: string; help: string; samples: Sample[] }

/**
 * A strict parser for Prometheus's text format 0.0.4, written independently so that it finds faults of the writer's
 * library: every family has a help and a type, then its samples, once; no two samples of one name have the same labels.
 * Throws if the text violates that.
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: [name: string, family: Family] | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (.*)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line)
    if (help !== null) {
      if (families.has(help[1])) throw new Error(`${help[1]} comes twice`)
      current = [help[1], { help: help[2], type: '', samples: [] }]
      families.set(...current)
    } else if (type !== null) {
      if (current?.[0] !== type[1] || current[1].type !== '') throw new Error(`a type out of place: ${line}`)
      current[1].type = type[2]
    } else {
      const sample = parseSample(line)
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(key)) throw new Error(`a sample comes twice: ${line}`)
      seen.add(key)
      const suffixes = current?.[1].type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['', '_sum', '_count']
      if (!suffixes.some((suffix) => sample.name === current?.[0] + suffix))
        throw new Error(`a sample outside of its family: ${line}`)
      current?.[1].samples.push(sample)
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') holdHistogram(name, family)
  return families
}

function parseSample(line: string): Sample {
  const head = /^([a-zA-Z_:][\w:]*)/.exec(line)
  if (head === null) throw new Error(`no sample: ${line}`)
  const labels: Record<string, string> = {}
  let at = head[0].length
  if (line[at] === '{') {
    at++
    const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(,|\})/y
    for (let end = ','; end !== '}'; ) {
      label.lastIndex = at
      const found = label.exec(line)
      if (found === null) throw new Error(`no labels: ${line}`)
      if (Object.hasOwn(labels, found[1])) throw new Error(`a label comes twice: ${line}`)
      labels[found[1]] = found[2].replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
      at = label.lastIndex
      end = found[3]
    }
  }
  const value = /^ (NaN|[+-]?Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(line.slice(at))
  if (value === null) throw new Error(`no value: ${line}`)
  return { name: head[1], labels, value: Number(value[1].replace('Inf', 'Infinity')) }
}

/** Buckets of each series only grow, and the last, `+Inf`, is the count. */
function holdHistogram(name: string, { samples }: Family): void {
  const series = new Map<string, number[]>()
  for (const { name: sample, labels, value } of samples) {
    const { le, ...rest } = labels
    const key = JSON.stringify(Object.entries(rest).sort())
    if (sample === `${name}_bucket`) series.set(key, [...(series.get(key) ?? []), value])
    if (sample === `${name}_count` && series.get(key)?.at(-1) !== value)
      throw new Error(`${name}: +Inf is not the count`)
  }
  for (const values of series.values())
    if (values.some((value, index) => value < (values[index - 1] ?? 0))) throw new Error(`${name}: buckets shrink`)
}
