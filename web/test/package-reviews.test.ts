import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientOf, openPublisher } from './publish-sampled.ts'

const page = '/packages/@acme/maze/reviews'
const hostile = `<script>alert(1)</script>"'>\nsecond line`

let site: TestSite
let owner: TestBrowser
let reader: TestBrowser
beforeAll(async () => {
  site = await openTestSite()
  const publisher = await openPublisher(site)
  owner = publisher.owner
  await publisher.publish('maze', null)
  // Who has downloaded what is free may review it.
  reader = await site.browserOf('reader')
  const program = await clientOf(site, reader, ['packages:read'])
  const { data } = await program.GET('/v1/packages/{scope}/{name}/versions/{version}', {
    params: { path: { scope: '@acme', name: 'maze', version: '1.0.0' } },
  })
  await (await program.send(data?.tarball ?? '')).arrayBuffer()
})
afterAll(() => site.close())

// In a session: what strangers read may be some seconds old.
const idOfReview = async () => /id="review-([0-9a-f-]{36})"/.exec((await reader.get(page)).text)?.[1] ?? ''

describe('reviews, by forms alone', () => {
  it('anonymous visitors can read, and need a login to write', async () => {
    const { text } = await site.browser().get(page)
    expect(text).toContain('No reviews yet')
    expect(text).toContain('href="/login?next=%2Fpackages%2F%40acme%2Fmaze%2Freviews"')
    expect(text).not.toContain('action="/packages/@acme/maze/reviews"')
  })

  it('a refused one keeps its text, with the reason', async () => {
    const other = await site.browserOf('other')
    const { status, text } = await other.submit(page, page, { stars: '2', text: 'Not for me' })
    expect(status).toBe(403)
    expect(text).toContain('role="alert"')
    expect(text).toMatch(/<textarea[^>]*>Not for me<\/textarea>/)
    expect(text).toMatch(/<option value="2" selected/)
    const empty = await reader.submit(page, page, { stars: '4', text: ' ' })
    expect(empty.status).toBe(422)
    expect(empty.text).toContain('id="field-text-wrong"')
  })

  it('is written, escaped, changed, answered and withdrawn', async () => {
    const written = await reader.submit(page, page, { stars: '4', text: hostile })
    expect([written.status, written.headers.get('location')]).toEqual([303, page])
    const { text } = await (await site.browserOf('somebody')).get(page)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;')
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('4 of 5 stars')
    expect((await reader.get(page)).text).toContain('Edit your review')
    await reader.submit(page, page, { stars: '5', text: 'Better than I thought' })

    const id = await idOfReview()
    const answer = `${page}/${id}/reply`
    // Only the seller sees the reply form, and only the seller can reply.
    expect((await reader.get(page)).text).not.toContain(`action="${answer}"`)
    const token = await reader.formToken(page)
    expect((await reader.post(answer, { form_token: token, [`reply-${id}`]: 'I am the seller' })).status).toBe(403)
    const answered = await owner.submit(page, answer, { [`reply-${id}`]: 'Thanks' })
    expect(answered.status).toBe(303)
    expect((await reader.get(page)).text).toMatch(/review-reply[\s\S]*Thanks/)
    await owner.submit(page, answer, { [`reply-${id}`]: '' })
    expect((await reader.get(page)).text).not.toContain('Thanks')

    const withdraw = `${page}/${id}/withdraw`
    expect((await owner.get(page)).text).not.toContain(`action="${withdraw}"`)
    const stolen = await owner.post(withdraw, { form_token: await owner.formToken(page) })
    expect(stolen.status).toBe(404)
    expect((await reader.submit(page, withdraw, {})).status).toBe(303)
    expect(await idOfReview()).toBe('')
  })

  it('a form without its token does nothing', async () => {
    const { status } = await reader.post(page, { version: '1.0.0', stars: '1', text: 'planted' })
    expect(status).toBe(403)
    expect(await idOfReview()).toBe('')
  })
})

describe('reports', () => {
  const report = '/packages/@acme/maze/report'

  it('reach the operators; a refused one keeps its text', async () => {
    expect((await site.browser().get(report)).headers.get('location')).toBe(`/login?next=${encodeURIComponent(report)}`)
    const refused = await reader.submit(report, report, { reason: 'spam', text: '' })
    expect(refused.status).toBe(422)
    expect(refused.text).toMatch(/<option value="spam" selected/)
    const sent = await reader.submit(report, report, { reason: 'malicious', text: 'It mines coins' })
    expect(sent.headers.get('location')).toBe(`${report}?sent=1`)
    expect((await reader.get(`${report}?sent=1`)).text).toContain('Report sent')
    const operator = await site.browserOf('operator')
    const { reports } = (await (await operator.api('GET', '/v1/reports')).json()) as { reports: object[] }
    expect(reports).toMatchObject([
      { package: '@acme/maze', reason: 'malicious', text: 'It mines coins', by: 'reader' },
    ])
  })

  it('that hide a review lead its author to an appeal', async () => {
    const author = await site.browserOf('author')
    const program = await clientOf(site, author, ['packages:read'])
    const path = { scope: '@acme', name: 'maze', version: '1.0.0' }
    const { data } = await program.GET('/v1/packages/{scope}/{name}/versions/{version}', { params: { path } })
    await (await program.send(data?.tarball ?? '')).arrayBuffer()
    await author.submit(page, page, { stars: '1', text: 'Not good' })
    const [, review = ''] = /id="review-([0-9a-f-]{36})"/.exec((await author.get(page)).text) ?? []
    const operator = await site.browserOf('operator')
    const reported = await owner.api('POST', '/v1/reports', {
      package: '@acme/maze',
      review,
      reason: 'spam',
      text: 'It is.',
    })
    const { id } = (await reported.json()) as { id: string }
    await operator.api('POST', `/v1/reports/${id}/decision`, { decision: 'upheld', reason: 'An <i>advert</i>' })
    const appeal = `/packages/@acme/maze/appeal?review=${review}`
    const { text } = await author.get(page)
    expect(text).toContain('An &lt;i&gt;advert&lt;/i&gt;')
    expect(text).toContain(`href="${appeal}"`)
    expect((await owner.get(page)).text).not.toContain(`href="${appeal}"`)
    const sent = await author.submit(appeal, '/packages/@acme/maze/appeal', { review, text: 'It is no advert.' })
    expect(sent.headers.get('location')).toBe(appeal)
    expect((await author.get(appeal)).text).toContain('Your appeal was sent')
    expect((await operator.get('/operator/moderation')).text).toContain('review appealed')
  })
})
