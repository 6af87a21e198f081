import type { LevelEvaluation, ListedPackage } from '@agentgym/contract'
import type { Criterion } from '@agentgym/contract/metrics'
import { describe, expect, it } from 'vitest'
import type { FormFailure } from '../src/app/form.ts'
import { unbuiltAssets } from '../src/app/site-assets.ts'
import type { Html } from '../src/app/visit.ts'
import { Badge, Seal } from '../src/components/badge.tsx'
import { Button, Command, Tabs } from '../src/components/controls.tsx'
import { Field, Form } from '../src/components/form.tsx'
import { LevelTable } from '../src/components/level-table.tsx'
import { Notice } from '../src/components/messages.tsx'
import { Metric, Metrics } from '../src/components/metrics.tsx'
import { PackageList } from '../src/components/package-list.tsx'
import { Table } from '../src/components/table.tsx'
import { Count, Price, Rating, Time } from '../src/components/values.tsx'
import { type PageContext, usePage } from '../src/layout/page-context.ts'
import { renderPage } from '../src/layout/render-page.tsx'

const context = (more: Partial<PageContext> = {}): PageContext => ({
  address: '/',
  path: '/',
  account: null,
  theme: 'system',
  host: { publicUrl: 'http://localhost:4477', oauthProviders: [], currency: 'EUR', testMoney: false, version: '1.2.3' },
  assets: unbuiltAssets(),
  formToken: () => 'the-token',
  islands: new Set(),
  nowMs: Date.parse('2026-06-15T12:00:00Z'),
  ...more,
})

/** What stands in the page's <main>. */
function drawn(body: Html): string {
  const page = renderPage(body, { title: 'Test', frame: 'plain' }, context())
  return /<main[^>]*>([\s\S]*)<\/main>/.exec(page)?.[1] ?? ''
}

const hostile = `"><script>alert(1)</script>&`
const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;'

describe('a table of levels', () => {
  const success = {
    ok: true,
    criteria: [
      { metric: 'won', target: 0.5, value: 0.6, ok: true },
      { metric: 'return_mean', target: 0, value: 1, ok: true },
    ],
  }
  const levels: LevelEvaluation[] = [
    { name: hostile, episodes: 1_200, return_mean: 0.25, metrics: { won: 0.75, stones: 9 } },
    { name: 'search', episodes: 1_200, return_mean: null, metrics: {} },
  ]

  it('has a row a level, with the return and the metrics of the criteria', () => {
    const html = drawn(<LevelTable evaluation={{ levels, success }} />)
    const cells = [...html.matchAll(/<t[hd](?: [^>]*)?>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell)
    expect(cells).toEqual(
      [
        ['Level', 'Episodes', 'Mean return', 'won'],
        [escaped, '1,200', '0.25', '75%'],
        ['search', '1,200', '–', '–'],
      ].flat(),
    )
    expect(drawn(<LevelTable evaluation={{ success }} />)).not.toContain('<table')
  })
})

describe('a form', () => {
  const failure: FormFailure = {
    status: 422,
    fields: { name: 'Too short.', 'limits.steps': 'Too many.' },
    message: null,
    hint: null,
  }

  it('is signed, and shows errors at their field, or above', () => {
    const html = drawn(
      <Form action="/things" failure={failure} fields={['name']}>
        <Field label="Name" name="name" value={hostile} failure={failure} help="As people call it." required />
      </Form>,
    )
    expect(html).toContain('<input type="hidden" name="form_token" value="the-token"/>')
    expect(html).toContain(`value="${escaped}"`)
    expect(html).toMatch(
      /<input id="field-name"[^>]* aria-invalid="true" aria-describedby="field-name-help field-name-wrong"/,
    )
    expect(html).toContain('<p class="field-message" id="field-name-wrong">Too short.</p>')
    expect(html).toMatch(/role="alert">.*<code>limits.steps<\/code> Too many\./)
    expect(html).not.toContain('<script')
  })

  it('shows general errors with a hint', () => {
    const whole = { ...failure, fields: {}, message: 'Not now.', hint: 'Try later.' }
    expect(drawn(<Form action="/things" failure={whole} />)).toMatch(/role="alert">.*Not now\. Try later\./)
  })

  it('never echoes a password', () => {
    expect(drawn(<Field label="Password" name="password" type="password" value="secret" />)).not.toContain('secret')
  })

  it('renders selects and text areas with their values', () => {
    const options = [
      { value: 'a', label: 'First' },
      { value: 'b', label: hostile },
    ]
    const html = drawn(
      <>
        <Field label="Choice" name="choice" options={options} value="b" />
        <Field label="Text" name="text" rows={4} value={`two\nlines ${hostile}`} />
      </>,
    )
    expect(html).toContain(`<option value="b" selected="">${escaped}</option>`)
    expect(html).toContain(`rows="4">two\nlines ${escaped}</textarea>`)
    expect(html).toContain('<label for="field-choice">')
    expect(html.match(/optional/g)).toHaveLength(4)
  })

  it('can be submitted with an empty choice', () => {
    const options = [
      { value: '', label: 'As before' },
      { value: 'a', label: 'Another' },
    ]
    const select = (some: typeof options) =>
      /<select[^>]*>/.exec(drawn(<Field label="Choice" name="choice" options={some} required />))?.[0]
    expect(select(options)).not.toContain('required')
    expect(select(options.slice(1))).toContain('required=""')
  })
})

describe('the vocabulary', () => {
  it('a table names its columns and rows', () => {
    const html = drawn(
      <Table
        caption="Agents"
        rows={[{ name: hostile, score: 475 }]}
        columns={[
          { title: 'Name', heading: true, cell: ({ name }) => name },
          { title: 'Return', numeric: true, cell: ({ score }) => score },
        ]}
      />,
    )
    expect(html).toContain(`<th scope="row">${escaped}</th>`)
    expect(html).toContain('<th scope="col" class="numeric">Return</th>')
    expect(html).toContain('<td class="numeric">475</td>')
  })

  it('tabs are links, one of them current', () => {
    const tabs = [
      { href: '/a', title: 'Readme' },
      { href: '/b', title: 'Versions', count: 3 },
    ]
    const html = drawn(<Tabs tabs={tabs} current="/b" label="Parts" />)
    expect(html).toContain('<a href="/a">Readme</a>')
    expect(html).toContain('<a href="/b" aria-current="page">Versions<span class="tabs-count">3</span></a>')
  })

  it('a seal shows eight characters of the signature', () => {
    const html = drawn(<Seal signature="AbCdEfGhIjKlMnOp" href="/packages/@a/b/verification" />)
    expect(html).toContain('<code>AbCdEfGh</code>')
    expect(html).not.toContain('AbCdEfGhI')
  })

  it('amounts are exact, and zero is Free', () => {
    expect(drawn(<Price minor={0} />)).toContain('Free')
    expect(drawn(<Price minor={9_007_199_254_740_991} />)).toContain('€90,071,992,547,409.91')
    expect(drawn(<Price minor={1250} currency="JPY" />)).toContain('¥1,250')
    expect(drawn(<Price minor={250} kind="per_run" />)).toMatch(/€2\.50.* per run/)
    expect(drawn(<Price minor={250} kind="free" />)).toContain('Free')
  })

  it('a rating shows the number of votes, and is omitted without any', () => {
    expect(drawn(<Rating rating={4.25} votes={1} />)).toContain('title="4.3 of 5 stars by 1 buyer"')
    expect(drawn(<Rating rating={null} votes={0} />)).toBe('')
  })

  it('numbers, times and metrics', () => {
    expect(drawn(<Count value={9_999} />)).toContain('>9,999<')
    expect(drawn(<Count value={1_234_567} />)).toContain('title="1,234,567">1.23M<')
    expect(drawn(<Time at="2026-06-13T12:00:00Z" />)).toContain('title="2026-06-13 12:00 UTC">2 days ago<')
    const html = drawn(
      <Metrics>
        <Metric label="Return" note="over 100 episodes">
          498.2
        </Metric>
      </Metrics>,
    )
    expect(html).toMatch(/<dt>Return<\/dt>.*498\.2.*over 100 episodes/s)
  })

  it('icons are hidden next to text, and labeled alone', () => {
    expect(drawn(<Notice kind="warning">Mind this.</Notice>)).toMatch(/role="status".*aria-hidden="true"/)
    expect(drawn(<Button href="/x">Go</Button>)).toBe('<a class="button button-quiet" href="/x">Go</a>')
    expect(
      drawn(
        <Button look="danger" name="do" value="it">
          Delete
        </Button>,
      ),
    ).toContain('type="submit" name="do" value="it"')
    expect(drawn(<Badge tone="bad">yanked</Badge>)).toContain('badge-bad">yanked<')
  })

  it('a command is selectable text; its copy button needs the script, which the page loads', () => {
    const islands = new Set<string>()
    const page = renderPage(<Command text={`npm i "${hostile}"`} />, { title: 'Test' }, context({ islands }))
    expect(page).toMatch(/<button class="command-copy" type="button" hidden=""/)
    expect(islands).toContain('copy')
    expect(page).toContain('<script type="module" src="/assets/copy-')
    expect(page).not.toContain('<script>alert')
  })
})

describe('a page', () => {
  it('escapes title and description', () => {
    const page = renderPage('body', { title: hostile, description: hostile, hidden: true }, context({ theme: 'dark' }))
    expect(page).toContain(`<title>${escaped} · AgentGym</title>`)
    expect(page).toContain(`<meta name="description" content="${escaped}"/>`)
    expect(page).toContain('<html lang="en" data-theme="dark">')
    expect(page).toContain('<meta name="robots" content="noindex"/>')
  })

  it('a component outside of a page is a bug, and a failed page does not affect the next', () => {
    const Bad = () => {
      throw new Error('cannot be drawn')
    }
    const Name = () => <b>{usePage().account?.username ?? 'nobody'}</b>
    expect(() => renderPage(<Bad />, { title: 'x' }, context({ formToken: () => 'leaked' }))).toThrow('cannot be drawn')
    expect(() => String(<Name />)).toThrow('outside of a page')
    const Late = async () => <b>late</b>
    expect(() => renderPage(<Late />, { title: 'x' }, context())).toThrow('asynchronous')
    expect(drawn(<Name />)).toBe('<b>nobody</b>')
  })
})

describe('a row of a list of packages', () => {
  const item: ListedPackage = {
    ...{ name: '@acme/maze', kind: 'scenario', visibility: 'public', title: 'Maze', summary: null, keywords: [] },
    ...{ price_minor: 0, price_kind: 'free', currency: 'EUR', rating: null, votes: 0, quality: 80, downloads: 3 },
    ...{ category: null, difficulty: 'beginner', algorithm: null, latest_version: '1.0.0' },
    ...{ created_at: '2026-06-15T11:35:00Z', updated_at: '2026-06-15T11:35:00Z', best_return: null },
  }
  const row = (best: ListedPackage['best_return'], more: Partial<ListedPackage> = {}) =>
    drawn(<PackageList packages={[{ ...item, ...more, best_return: best }]} label="Packages" />)
  const curve = [0, 4, 9].map((return_mean, index) => ({ steps: 1_000 * index, return_mean }))

  it("draws the best agent's learning curve, with its return", () => {
    const text = row({ agent: '@acme/"solver"', version: '1.0.0', return_mean: 487.25, curve })
    expect(text).toMatch(
      /title="@acme\/&quot;solver&quot;, on held-out episodes"><svg[\s\S]*<polyline[^>]*points="[\d., ]+"/,
    )
    expect(text).toMatch(/>487</)
  })

  it("shows an agent's scenario, and its episode instead of a curve", () => {
    const best = { agent: '@acme/solver', version: '1.0.0', return_mean: 487.25, curve }
    const text = row(best, { kind: 'agent', trained_on: '@acme/maze' })
    expect(text).toContain('trained on @acme/maze')
    expect(text).toMatch(/<img src="\/pictures\/@acme\/maze\/1\.0\.0"/)
    expect(text).not.toContain('<polyline')
  })

  it('says whether the targets are met, in the units of the metric', () => {
    const said = (...criteria: Criterion[]) => {
      const success = { ok: criteria.every(({ ok }) => ok), criteria }
      const text = row({ agent: '@acme/solver', version: '1.0.0', return_mean: 1, outcome: success, curve: [] })
      return text.slice(text.indexOf('outcome-word')).replaceAll(/<[^>]*>/g, '')
    }
    const solved = { metric: 'solved', target: 0.9, value: 0.9732, ok: true }
    expect(said(solved)).toContain('Solved  97% / 90%')
    const missed = { metric: 'return_mean', target: -110, value: -110.2, ok: false }
    expect(said(solved, missed)).toContain('Not solved  −110.2 / −110')
    expect(
      row({
        agent: 'a',
        version: '1.0.0',
        return_mean: 1,
        outcome: { ok: false, criteria: [{ ...missed, metric: '<b>' }] },
        curve: [],
      }),
    ).not.toContain('<b>')
  })

  it('draws nothing without data', () => {
    expect(row(null)).toContain('None yet')
    for (const best of [null, { agent: '@acme/solver', version: '1.0.0', return_mean: -3, curve: [] }])
      expect(row(best)).not.toContain('<polyline')
    expect(row({ agent: '@acme/solver', version: '1.0.0', return_mean: -3, curve: [] })).toMatch(/>-3<|>−3</)
  })
})
