import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { unyankVersion, yankVersion } from '../../src/modules/packages/change-versions.ts'
import { resolveVersion } from '../../src/modules/packages/resolve-version.ts'
import { type HttpRegistry, type Json, openHttpRegistry, type Served } from './http-registry.ts'
import { integrityOf, packScenario, publishDocument } from './scenario-package.ts'

describeOnEngines('field cases on $kind', ({ open }) => {
  let database: Database
  let registry: HttpRegistry

  beforeAll(async () => {
    database = await open()
    registry = await openHttpRegistry(database)
  })
  afterAll(async () => {
    await registry.close()
    await database.close()
  })

  describe('B25: the forms of a scoped name', () => {
    beforeAll(() => registry.publish({ name: '@acme/forms', version: '1.0.0' }))
    const forms = ['@acme/forms', '@acme%2fforms', '@acme%2Fforms']

    it('name one package for reading and tags', async () => {
      const [first, ...others] = await Promise.all(
        forms
          .flatMap((form) => [form, form.toUpperCase().replace('%2F', '%2f')])
          .map((form) => registry.json(`/${form}`)),
      )
      expect(first).toMatchObject({ name: '@acme/forms', 'dist-tags': { latest: '1.0.0' } })
      for (const other of others) expect(other).toEqual(first)
      for (const form of forms) {
        expect(await registry.json(`/${form}/1.0.0`)).toMatchObject({ version: '1.0.0' })
        expect(await registry.json(`/-/package/${form}/dist-tags`)).toMatchObject({ latest: '1.0.0' })
        const tarball = await registry.ask(`/${form}/-/forms-1.0.0.tgz`)
        expect(integrityOf(new Uint8Array(await tarball.arrayBuffer()))).toBe(
          ((first as unknown as Served).versions['1.0.0'].dist as { integrity: string }).integrity,
        )
        const tagged = await registry.ask(`/-/package/${form}/dist-tags/stable`, {
          as: 'acme',
          method: 'PUT',
          body: '"1.0.0"',
        })
        expect(tagged.status).toBe(200)
      }
    })

    it('work for publishing', async () => {
      for (const [index, form] of forms.entries()) {
        const scenario = { name: '@acme/forms', version: `2.0.${index}` }
        const body = publishDocument(scenario, await packScenario(scenario))
        expect((await registry.ask(`/${form}`, { as: 'acme', method: 'PUT', body })).status, form).toBe(201)
      }
    })

    it('match nothing when doubly encoded', async () => {
      for (const path of ['/@acme%252fforms', '/@acme%252Fforms/1.0.0', '/@acme%252fforms/-/forms-1.0.0.tgz']) {
        const response = await registry.ask(path, { as: 'acme' })
        expect([path, response.status]).toEqual([path, 404])
        expect(await response.json()).toMatchObject({ error: expect.any(String) })
      }
    })
  })

  describe('B26: latest', () => {
    const name = '@acme/latest'
    beforeAll(async () => {
      for (const version of ['1.0.0', '2.0.0', '2.1.0-rc.1', '1.0.1']) await registry.publish({ name, version })
    })

    it('moves neither to a prerelease nor backwards', async () => {
      expect((await registry.packument(name))['dist-tags'].latest).toBe('2.0.0')
    })

    it('can be set explicitly, like other tags', async () => {
      await registry.publish({ name, version: '3.0.0-beta.1' }, 'beta')
      expect((await registry.packument(name))['dist-tags']).toMatchObject({ beta: '3.0.0-beta.1', latest: '2.0.0' })
      const moved = await registry.ask(`/-/package/${name}/dist-tags/latest`, {
        as: 'acme',
        method: 'PUT',
        body: '"1.0.1"',
      })
      expect(moved.status).toBe(200)
      expect((await registry.packument(name))['dist-tags'].latest).toBe('1.0.1')
    })

    it('never becomes a prerelease by a yank (spare), and is removed without a stable version', async () => {
      const only = '@acme/yanked'
      for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1']) await registry.publish({ name: only, version })
      await yankVersion(registry.services, registry.change(only), '1.1.0')
      expect((await registry.packument(only))['dist-tags'].latest).toBe('1.0.0')
      await yankVersion(registry.services, registry.change(only), '1.0.0')
      expect((await registry.packument(only))['dist-tags']).toEqual({ rc: '2.0.0-rc.1' })
      expect((await registry.ask(`/${only}/latest`)).status).toBe(404)
      await unyankVersion(registry.services, registry.change(only), '1.1.0')
      expect((await registry.packument(only))['dist-tags'].latest).toBe('1.1.0')
    })
  })

  describe('B29: casing', () => {
    const name = '@acme/secret'
    beforeAll(async () => {
      const scenario = { name, version: '1.0.0' }
      const document = JSON.parse(publishDocument(scenario, await packScenario(scenario))) as Json
      const body = JSON.stringify({ ...document, access: 'restricted' })
      expect((await registry.ask(`/${name}`, { as: 'acme', method: 'PUT', body })).status).toBe(201)
      await registry.pass(name, '1.0.0')
    })

    it('does not create another name', async () => {
      const scenario = { name: '@acme/Secret', version: '1.0.0' }
      for (const as of ['acme', 'mallory']) {
        const response = await registry.put(scenario, as)
        expect([422, 403]).toContain(response.status)
        expect(await response.json()).toMatchObject({ code: 'name_invalid' })
      }
    })

    it('does not bypass privacy, or lock out members', async () => {
      for (const form of ['@acme/secret', '@ACME/secret', '@acme/SECRET', '@Acme%2fSecret']) {
        for (const path of [
          `/${form}`,
          `/${form}/1.0.0`,
          `/${form}/-/secret-1.0.0.tgz`,
          `/-/package/${form}/dist-tags`,
        ]) {
          for (const as of [undefined, 'mallory']) {
            const response = await registry.ask(path, { as })
            expect([path, as, response.status]).toEqual([path, as, 404])
            // Identical to the response for a missing name.
            const nobody = await registry.ask(path.replace(/secret/gi, 'nobody'), { as })
            expect((await response.text()).replaceAll(/secret/gi, 'nobody').toLowerCase()).toBe(
              (await nobody.text()).toLowerCase(),
            )
          }
          expect([path, (await registry.ask(path, { as: 'acme' })).status]).toEqual([path, 200])
        }
      }
    })

    it('and private names do not appear in others’ search (spare)', async () => {
      const names = async (as?: string) => {
        const { objects } = (await registry.json('/-/v1/search?text=secret', { as })) as {
          objects: { package: Json }[]
        }
        return objects.map((object) => object.package.name)
      }
      expect(await names()).toEqual([])
      expect(await names('mallory')).toEqual([])
      expect(await names('acme')).toEqual([name])
    })
  })

  it('B30: each version has its own README, unchanged', async () => {
    const name = '@acme/readme'
    const first = '# 版本一 — é ü 🐢 مرحبا\n\n<script>alert(1)</script>\n'
    await registry.publish({ name, version: '1.0.0', readme: first })
    await registry.publish({ name, version: '2.0.0', readme: '# Two\n' })
    expect(await registry.json(`/${name}/1.0.0`)).toMatchObject({ version: '1.0.0', readme: first })
    expect(await registry.json(`/${name}/latest`)).toMatchObject({ version: '2.0.0', readme: '# Two\n' })
    expect((await registry.packument(name)).readme).toBe('# Two\n')
  })

  it('a yanked version is skipped by ranges and found by its number, in npm and the API', async () => {
    const name = '@acme/gone'
    for (const version of ['1.0.0', '1.1.0']) await registry.publish({ name, version })
    await yankVersion(registry.services, registry.change(name), '1.1.0')
    const { versions } = await registry.packument(name)
    expect(versions['1.1.0'].deprecated).toMatch(/yanked/)
    expect((await resolveVersion(registry.services, null, name, '^1.0.0')).version).toBe('1.0.0')
    expect((await resolveVersion(registry.services, null, name, '1.1.0')).version).toBe('1.1.0')
    expect((await registry.ask(`/${name}/-/gone-1.1.0.tgz`)).status).toBe(200)
  })

  it('`workspace:` is refused in published packages (spare)', async () => {
    const response = await registry.put({
      name: '@acme/linked',
      version: '1.0.0',
      fields: { dependencies: { '@acme/walls': 'workspace:^' } },
    })
    expect([response.status, await response.json()]).toEqual([
      422,
      { code: 'package_dependency_forbidden', error: expect.stringContaining('workspace:') },
    ])
    expect((await registry.ask('/@acme/linked', { as: 'acme' })).status).toBe(404)
  })

  it('a publish can be repeated after a server error (spare)', async () => {
    const scenario = { name: '@acme/retried', version: '1.0.0' }
    const objects = join(registry.services.folder, 'objects')
    await rename(objects, `${objects}-away`)
    await writeFile(objects, 'not a folder')
    const failed = await registry.put(scenario)
    expect([failed.status, (await failed.json()) as Json]).toEqual([
      500,
      expect.objectContaining({ code: 'internal_error' }),
    ])
    expect((await registry.ask('/@acme/retried', { as: 'acme' })).status).toBe(404)
    await rename(objects, `${objects}-file`)
    await rename(`${objects}-away`, objects)
    expect((await registry.put(scenario)).status).toBe(201)
    // Also where the answer was lost, and not the publish.
    expect((await registry.put(scenario)).status).toBe(201)
    expect((await registry.put({ ...scenario, readme: '# Something else' })).status).toBe(409)
  })
})
