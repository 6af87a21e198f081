import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { fullTier } from '@agentgym/testkit/tier'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goodEntries } from '../../../../../testdata/tarballs/good-package.ts'
import { archive, gzip } from '../../../../../testdata/tarballs/tar-writer.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import { publishVersion } from '../publish-version.ts'
import { createActor } from '../testing/publishing.ts'
import { DocumentRenderer } from './render-documents.ts'
import { rendering, unrendered } from './version-documents.store.ts'

/** Takes minutes to render: it runs into the time limit. */
const hostile = ']'.repeat(100_000)
const uploads = 30

describeOnEngines('READMEs after their versions were accepted, on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    services.documents = new DocumentRenderer()
  })
  afterAll(async () => {
    await backgroundSettled()
    await database.close()
    await services.remove()
  })

  const upload = async (actor: Actor, readme: string, { number = 0, renders = true } = {}) => {
    const [name, version] = [`@${actor.username}/maze`, `1.0.${number}`]
    const [manifest, , ...rest] = goodEntries({ name, version })
    const tarball = gzip(archive([manifest, { path: 'package/README.md', body: readme }, ...rest]))
    const asleep = new DocumentRenderer()
    asleep.wake = () => {}
    const documents = renders ? services.documents : asleep
    await publishVersion({ ...services, documents }, { actor, name, version, tarball, ip: null })
  }
  const rendered = (actor: Actor) =>
    database.query
      .selectFrom('readme_html')
      .innerJoin('versions', 'versions.id', 'version_id')
      .select(['html', 'rendering'])
      .where('published_by', '=', actor.accountId)
      .execute()
  const countOf = async (actor: Actor) => (await rendered(actor)).filter((row) => row.rendering === rendering).length
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  it('is shown as plain text until rendered, by another process after a crash', async () => {
    const ada = await createActor(database)
    await upload(ada, '# A <b>', { renders: false })
    expect(await rendered(ada)).toEqual([{ html: '<pre dir="auto"># A &#60;b&#62;</pre>', rendering: unrendered }])
    const { query } = database
    const lease = (ends: string) =>
      sql`update readme_html set leased_until = now() + ${ends}::interval where rendering = ${unrendered}`.execute(
        query,
      )
    await lease('1 minute')
    services.documents.wake(services)
    await backgroundSettled()
    expect(await countOf(ada), 'another process renders it').toBe(0)
    // Which has died.
    await lease('-1 second')
    services.documents.wake(services)
    await backgroundSettled()
    expect(await rendered(ada)).toEqual([{ html: '<h1 dir="auto">A </h1>', rendering }])
  })

  it('stays plain text if its tarball is missing, without a retry', async () => {
    const ada = await createActor(database)
    await upload(ada, '# A', { renders: false })
    await services.documents.wake({ ...services, objects: { ...services.objects, get: async () => undefined } })
    await backgroundSettled()
    expect(await rendered(ada)).toEqual([{ html: '<pre dir="auto"># A</pre>', rendering }])
  })

  it(`${uploads} hostile READMEs of an account delay neither uploads nor pages of another`, {
    tags: fullTier,
    timeout: 120_000,
  }, async () => {
    const [mallory, ada, bob] = [await createActor(database), await createActor(database), await createActor(database)]
    // None of them waits for another: they are all accepted before most of them are rendered.
    for (let number = 0; number < uploads; number++) await upload(mallory, hostile, { number })
    for (const actor of [ada, bob]) {
      const before = await countOf(mallory)
      expect(before, 'the hostile ones still wait').toBeLessThan(uploads)
      await upload(actor, `# Of ${actor.username}`)
      await until(async () => (await countOf(actor)) === 1)
      // One is being rendered at any time, and the next has its turn.
      expect((await countOf(mallory)) - before).toBeLessThanOrEqual(3)
      expect((await rendered(actor))[0].html).toBe(`<h1 dir="auto">Of ${actor.username}</h1>`)
    }
    await backgroundSettled()
    expect(await countOf(mallory)).toBe(uploads)
    for (const { html } of await rendered(mallory)) expect(html).toMatch(/^<pre /)
  })

  it('of several accounts are rendered in turns', async () => {
    const people = [await createActor(database), await createActor(database), await createActor(database)]
    for (const [index, actor] of people.entries())
      for (let number = 0; number < 3 - index; number++) await upload(actor, `# ${number}`, { number, renders: false })
    services.documents.wake(services)
    await backgroundSettled()
    for (const [index, actor] of people.entries()) expect(await countOf(actor)).toBe(3 - index)
  })
})
