import { readFileSync } from 'node:fs'
import path from 'node:path'
import { workerProtocol, workerProtocolHeader } from '@agentgym/contract'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), 'utf8')

/** Words of PromQL that are no metric where no bracket follows them. */
const keywords = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'inf',
])
/** Prometheus adds these itself. */
const ofPrometheus = { metrics: new Set(['up']), labels: new Set(['instance', 'job']) }

type Query = { metrics: string[]; labels: string[] }

/** What a query names: metrics, and labels in its matchers and groupings. */
function namesIn(expr: string): Query {
  const labels = [
    ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, matchers]) => [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]),
    ...[...expr.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, names]) => [
      ...names.matchAll(/(\w+)/g),
    ]),
  ].map(([, name]) => name)
  const bare = expr
    .replace(/\{[^}]*\}/g, '')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '')
    .replace(/\[[^\]]*\]/g, '')
  const metrics = [...bare.matchAll(/[a-zA-Z_:][\w:]*/g)]
    .filter(({ 0: word, index }) => !keywords.has(word) && !/^\s*\(/.test(bare.slice(index + word.length)))
    .map(([word]) => word)
  return { metrics, labels }
}

function alertQueries(): string[] {
  return [...read('alerts.yml').matchAll(/^\s+expr: (.+)$/gm)].map(([, expr]) => expr)
}

type Panel = { title: string; type: string; targets?: { expr: string }[] }
const panels: Panel[] = JSON.parse(read('dashboard.json')).panels

/** Names of samples at /metrics, and the labels that occur on each. */
let samples: Map<string, Set<string>>
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  const worker = {
    id: '3b241101-e2bb-4255-8caf-4136c566a962',
    name: 'worker-1',
    cores: 1,
    memory_bytes: 1,
    gpus: [],
    slots: 1,
    price_minor_per_hour: 0,
    usage: { cpu: 0.5, memory: 0.5, gpu: 0.5, gpu_memory: 0.5 },
  }
  const leased = await fetch(`${server.url}/v1/jobs/lease`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${server.workerToken}`,
      [workerProtocolHeader]: workerProtocol,
    },
    body: JSON.stringify({ kinds: ['train'], worker }),
  })
  expect(leased.status).toBe(204)
  const text = await (await fetch(`${server.url}/metrics`)).text()
  samples = new Map()
  for (const [, name, labels = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /gm)) {
    const known = samples.get(name) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label)
    samples.set(name, known)
  }
})
afterAll(() => server.remove())

function expectKnown(expr: string): void {
  const { metrics, labels } = namesIn(expr)
  expect(metrics, expr).not.toEqual([])
  for (const metric of metrics) {
    if (ofPrometheus.metrics.has(metric)) continue
    expect([...samples.keys()], `${metric} in ${expr}`).toContain(metric)
  }
  const known = new Set(metrics.flatMap((metric) => [...(samples.get(metric) ?? [])]))
  for (const label of labels)
    expect(known.has(label) || ofPrometheus.labels.has(label), `the label ${label} in ${expr}`).toBe(true)
}

describe('Prometheus queries match /metrics', () => {
  it('in every alert', () => {
    const queries = alertQueries()
    expect(queries).toHaveLength((read('alerts.yml').match(/- alert: /g) ?? []).length)
    for (const expr of queries) expectKnown(expr)
  })

  it('in every panel of the dashboard', () => {
    const shown = panels.filter(({ type }) => type !== 'row')
    expect(shown.length).toBeGreaterThan(15)
    for (const { title, targets = [] } of shown) {
      expect(targets, title).not.toEqual([])
      for (const { expr } of targets) expectKnown(expr)
    }
  })

  it('and in the complete table of the README', () => {
    const rows = [...read('README.md').matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name)
    const families = new Set([...samples.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, '')))
    const ours = [...families].filter((name) => !/^(process|nodejs)_/.test(name))
    expect(rows.toSorted()).toEqual(ours.toSorted())
  })
})

describe('the query parser', () => {
  it.each<[string, Query]>([
    ['up{job="agentgym"} == 0', { metrics: ['up'], labels: ['job'] }],
    [
      'histogram_quantile(0.95, sum by (le, route) (rate(a_bucket{method!="PUT"}[5m]))) > 0.5',
      { metrics: ['a_bucket'], labels: ['method', 'le', 'route'] },
    ],
    ['max by (kind) (a) > 0 and max by (kind) (b) == 0', { metrics: ['a', 'b'], labels: ['kind', 'kind'] }],
    ['sum(rate(a{status=~"5.."}[5m])) / sum(rate(b[5m]))', { metrics: ['a', 'b'], labels: ['status'] }],
  ])('finds the names in %s', (expr, names) => {
    expect(namesIn(expr)).toEqual(names)
  })

  it('reports a missing metric or label', () => {
    expect(() => expectKnown('max(training_jobs_finished_total)')).toThrow(/training_jobs_finished_total/)
    expect(() => expectKnown('max by (queue) (queue_length)')).toThrow(/the label queue/)
  })
})
