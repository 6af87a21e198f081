import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentTarball, goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import type { Database } from '../../core/database/database.ts'
import { describeVersion, describeVersions } from '../packages/describe-versions.ts'
import { readTarball } from '../packages/read-tarball.ts'
import { renameTarball } from '../packages/rename-tarball.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { createOrganization, type RunServer, runIn, startRunServer, tokenOf } from './test/run-server.ts'
import { mustTakeTurn } from './testing/train.ts'

const limits = { tarballBytes: 2 ** 24, unpackedBytes: 2 ** 26, files: 100, ratio: 200 }

describe('a tarball under another name', () => {
  it('keeps all files except name and version in package.json, deterministically', async () => {
    const original = agentTarball({ description: 'kept' })
    const renamed = await renameTarball(original, { name: '@ada/solver', version: '2.0.0' }, limits)
    expect(await renameTarball(original, { name: '@ada/solver', version: '2.0.0' }, limits)).toEqual(renamed)
    const [before, after] = [await readTarball(original, limits), await readTarball(renamed, limits)]
    expect(after.manifest).toEqual({ ...before.manifest, name: '@ada/solver', version: '2.0.0' })
    expect(after.files.map(({ path }) => path).sort()).toEqual(before.files.map(({ path }) => path).sort())
    expect([after.readme, after.model?.hash, after.agentJson]).toEqual([
      before.readme,
      before.model?.hash,
      before.agentJson,
    ])
  })

  it('is refused for invalid tarballs', async () => {
    const request = { name: '@ada/solver', version: '2.0.0' }
    await expect(renameTarball(Buffer.from('nothing'), request, limits)).rejects.toMatchObject({
      code: 'tarball_not_gzip',
    })
  })
})

describeOnEngines('publishing a finished run on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  let own: string
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
    own = `@${server.training.ada.username}`
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const publish = (id: string, json: unknown, token = server.token) =>
    server.call('POST', `/v1/runs/${id}/publish`, { json, token })
  /** A run that has completed; each seed gives another agent. */
  const complete = async (more: Record<string, unknown> = {}, seed = 1, manifest: Record<string, unknown> = {}) => {
    const json = { scenario: server.training.scenario, ...more }
    const { id } = runIn(await server.call('POST', '/v1/runs', { json, token: server.token }))
    const turn = await mustTakeTurn(server.training)
    await turn.train(2, 1)
    const integrity = await turn.upload(agentTarball({ ...turn.job.run.publish, ...manifest }, { seed }))
    const { evaluation } = goodAgent
    await turn.end({ state: 'completed', steps: 2048, seconds: 1, evaluation, agent: { integrity } }, 1)
    return id
  }
  const runAt = async (id: string) => runIn(await server.call('GET', `/v1/runs/${id}`, { token: server.token }))

  it('creates a version with its learning curve, and links it to the run', async () => {
    const id = await complete()
    const name = `${own}/balancer`
    const answer = await publish(id, { name, visibility: 'private' })
    expect(answer).toMatchObject({
      status: 202,
      body: { name, version: '0.1.0', state: 'checking', url: `${server.url}/packages/${name}` },
    })
    expect((await runAt(id)).agent?.package).toEqual({ name, version: '0.1.0' })
    const { services, ada } = server.training
    const version = await describeVersion(services, ada, name, '0.1.0')
    expect(version).toMatchObject({
      state: 'checking',
      integrity: answer.body.integrity,
      manifest: { name, version: '0.1.0', agentgym: { kind: 'agent' } },
      agent: { model_hash: goodAgent.model_hash },
    })
    expect(version.learning_curve).toHaveLength(2)
    const strangers = describeVersion(services, null, name, '0.1.0')
    await expect(strangers).rejects.toMatchObject({ code: 'package_not_found' })
  })

  it('repeats the response, and uses the next version for another run', async () => {
    const [first, second] = [await complete(), await complete({}, 2)]
    const name = `${own}/again`
    const request = await publish(first, { name })
    expect((await publish(first, { name })).body).toEqual(request.body)
    expect((await publish(first, { name, version: '0.1.0' })).body).toEqual(request.body)
    expect((await publish(second, { name, version: '0.1.0' })).code).toBe('version_exists')
    expect((await publish(second, { name })).body).toMatchObject({ version: '0.1.1' })
    expect((await publish(first, { name, version: '3.0.0' })).body).toMatchObject({ version: '3.0.0' })
  })

  it('needs a written summary: that of the request, else that of the package', async () => {
    const bare = { description: undefined }
    const name = `${own}/described`
    const { scenario } = server.training
    const early = await server.call('POST', '/v1/runs', { json: { scenario, publish: { name } }, token: server.token })
    expect(early).toMatchObject({ status: 422, code: 'package_summary_missing' })
    const [first, second] = [await complete({}, 20, bare), await complete({}, 21, bare)]
    expect(await publish(first, { name })).toMatchObject({ status: 422, code: 'package_summary_missing' })
    expect((await publish(first, { name, summary: '[REPLACE: it]' })).code).toBe('package_summary_placeholder')
    expect((await publish(first, { name, summary: 'Finds the way out.' })).status).toBe(202)
    const { services, ada } = server.training
    expect((await describeVersion(services, ada, name, '0.1.0')).manifest).toMatchObject({
      description: 'Finds the way out.',
      agentgym: { kind: 'agent', summary: 'Finds the way out.' },
    })
    // Its latest version has been published since.
    await database.query.updateTable('packages').set({ summary: 'Finds it.' }).where('name', '=', name).execute()
    expect((await publish(second, { name })).status).toBe(202)
    expect((await describeVersion(services, ada, name, '0.1.1')).manifest.description).toBe('Finds it.')
    const third = await complete({ publish: { name: `${name}-too`, summary: 'Turns left.' } }, 22, bare)
    expect((await runAt(third)).agent?.package?.name).toBe(`${name}-too`)
    expect((await describeVersion(services, ada, `${name}-too`, '0.1.0')).manifest.description).toBe('Turns left.')
  })

  it('publishes once under concurrency; concurrent runs get different versions', async () => {
    const id = await complete()
    const name = `${own}/crowd`
    const answers = await Promise.all(Array.from({ length: 5 }, () => publish(id, { name })))
    expect(new Set(answers.map(({ body }) => body.version))).toEqual(new Set(['0.1.0']))
    const others = [await complete({}, 3), await complete({}, 4), await complete({}, 5)]
    const numbers = await Promise.all(others.map(async (other) => (await publish(other, { name })).body.version))
    expect(numbers.sort()).toEqual(['0.1.1', '0.1.2', '0.1.3'])
    const { versions } = await describeVersions(database.query, server.training.ada, name)
    expect(versions).toHaveLength(4)
  })

  it('another run’s reserved version is taken; its own is not', async () => {
    const name = `${own}/held`
    const json = {
      scenario: server.training.scenario,
      publish: { name, version: '0.1.0', summary: 'Finds the way out.' },
    }
    const id = await complete({}, 6)
    const waiting = runIn(await server.call('POST', '/v1/runs', { json, token: server.token }))
    expect((await publish(id, { name, version: '0.1.0' })).code).toBe('version_exists')
    expect((await publish(id, { name })).body).toMatchObject({ version: '0.1.1' })
    expect((await publish(waiting.id, { name })).code).toBe('run_has_no_agent')
    await server.call('POST', `/v1/runs/${waiting.id}/cancel`, { token: server.token })
  })

  it('refuses agents that cannot be published, without any write', async () => {
    const id = await complete({}, 7)
    const refusals: [string, Record<string, unknown>, number, string][] = [
      ['no scope', { name: 'solver' }, 422, 'name_invalid'],
      ["somebody else's scope", { name: '@nobody-at-all/solver' }, 403, 'forbidden'],
      ["a scenario's name", { name: server.training.scenario }, 409, 'package_kind_changed'],
      ['a look-alike', { name: `${own}/ma-ze` }, 409, 'name_taken'],
      ['no version', { name: `${own}/solver`, version: 'v1' }, 422, 'version_invalid'],
      ['a visibility that is none', { name: `${own}/solver`, visibility: 'secret' }, 422, 'request_invalid'],
    ]
    for (const [what, json, status, code] of refusals)
      expect({ what, ...(await publish(id, json)) }).toMatchObject({ what, status, code })
    expect((await runAt(id)).agent?.package).toBeNull()
    expect((await publish(id, { name: `${own}/solver` })).status).toBe(202)
    expect((await publish(id, { name: `${own}/solver`, version: '9.0.0', visibility: 'private' })).code).toBe(
      'package_visibility_fixed',
    )
  })

  it('requires both token scopes, and membership in both accounts', async () => {
    const { training } = server
    const id = await complete({}, 8)
    const name = `${own}/guarded`
    for (const scopes of [['training:view'], ['packages:publish']] as const)
      expect((await publish(id, { name }, await tokenOf(training, training.ada, scopes))).code).toBe('forbidden')
    const [eve, viewer] = [await createActor(database), await createActor(database)]
    expect((await publish(id, { name: `@${eve.username}/x` }, await tokenOf(training, eve))).code).toBe('run_not_found')
    const lab = await createOrganization(database, [
      [training.ada, 'member'],
      [viewer, 'viewer'],
    ])
    const labs = await complete({ account: lab.username }, 9)
    const asViewer = await publish(labs, { name: `@${viewer.username}/x` }, await tokenOf(training, viewer))
    expect(asViewer.code).toBe('forbidden')
    expect((await publish(labs, { name: `@${lab.username}/ours` })).status).toBe(202)
    const scopes = ['training:view', 'packages:publish'] as const
    expect((await publish(id, { name }, await tokenOf(training, training.ada, scopes))).status).toBe(202)
  })
})
