// @module-tag full
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAgent } from '@agentgym/agent'
import { localModelLimits, sha256 } from '@agentgym/agent/engine'
import { readPackage } from '@agentgym/agent/packages'
import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { checkModelStructure, type ModelLimits, modelLimits } from '@agentgym/contract/model'
import { pythonEnvironment, runPytest } from '@agentgym/testkit/python'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { testRandom } from '../../runtime/src/policy/testing/policy-cases.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { badModels } from '../../testdata/models/bad-models.ts'
import { goodModel, goodModels, goodPolicy } from '../../testdata/models/good-models.ts'
import { heavyModels } from '../../testdata/models/heavy-models.ts'
import { mutateModel, shuffleFields } from '../../testdata/models/mutate-model.ts'
import { badTarballs } from '../../testdata/tarballs/bad-tarballs.ts'
import { agentTarball } from '../../testdata/tarballs/good-agent.ts'
import { goodTarball } from '../../testdata/tarballs/good-package.ts'
import { invalidCalls, invalidManifests } from './python/invalid-inputs.ts'

const semver = createRequire(join(import.meta.dirname, '../../sdk/agent/package.json'))('semver')

const home = mkdtempSync(join(tmpdir(), 'agentgym-python-untrusted-'))
afterAll(() => rmSync(home, { recursive: true }))
let python: string
beforeAll(async () => {
  python = await pythonEnvironment('agent')
})

/** The code of what TypeScript throws, or what it returns. */
async function outcome(act: () => unknown): Promise<unknown> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof AgentGymError)
      return { code: error.code, field: error.data.field ?? null, message: error.message }
    throw error
  }
}

async function comparePython(file: string, recorded: unknown): Promise<void> {
  const path = join(home, file.replace('.py', '.json'))
  writeFileSync(path, JSON.stringify(recorded))
  await runPytest(python, [`tests/${file}`], { environment: { AGENTGYM_TEST_RECORDED: path } })
}

describe('Python refuses what TypeScript refuses', { timeout: 300_000 }, () => {
  it('models, and gives ONNX Runtime the same bytes of the others', async () => {
    const mutated = Array.from({ length: 3_000 }, (_, seed) => ({
      ...{ name: `mutated ${seed}`, policy: goodPolicy },
      bytes: seed % 10 === 0 ? shuffleFields(goodModel(), seed) : mutateModel(goodModel(), seed),
    }))
    const heavy = heavyModels.flatMap(({ build, fits, tooMuch }) => [build(fits), build(tooMuch)])
    const bad = badModels.map(({ name, bytes }) => ({ name, bytes, policy: goodPolicy }))
    const cases: { name: string; bytes: Uint8Array; policy: PolicySpec }[] = [
      ...goodModels,
      ...heavy,
      ...bad,
      ...mutated,
    ]
    const walk = (limits: Partial<ModelLimits>) => (model: (typeof cases)[number]) =>
      outcome(() => sha256(checkModelStructure(model.bytes, { policy: model.policy }, limits)))
    const models = await Promise.all(
      cases.map(async (model) => ({
        ...{ name: model.name, policy: model.policy, bytes: Buffer.from(model.bytes).toString('base64') },
        ...{ local: await walk(localModelLimits)(model), published: await walk(modelLimits)(model) },
      })),
    )
    await comparePython('test_models.py', { limits: modelLimits, models })
  })

  it('tarballs, and reads the same files of the others', async () => {
    const good = [
      { name: 'good', bytes: goodTarball() },
      { name: 'agent', bytes: agentTarball() },
    ]
    const tarballs = await Promise.all(
      [...good, ...badTarballs].map(async ({ name, bytes }) => ({
        ...{ name, bytes: Buffer.from(bytes).toString('base64') },
        outcome: await outcome(async () =>
          Object.fromEntries([...(await readPackage(bytes))].map(([path, content]) => [path, sha256(content)])),
        ),
      })),
    )
    await comparePython('test_tarballs.py', tarballs)
  })

  it('versions that a range does not allow', async () => {
    const random = testRandom(1)
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]
    const number = () => pick(['0', '1', '2', '3', '10', 'x', '*', '01', ''])
    const partial = () =>
      `${pick(['', '', 'v'])}${[number(), number(), number()].slice(0, pick([1, 2, 3, 3])).join('.')}${pick(['', '', '-rc.1', '-alpha', '+b'])}`
    const comparator = () => `${pick(['', '', '^', '~', '>', '>=', '<', '<=', '=', '> ', '~>'])}${partial()}`
    const range = () =>
      pick([
        comparator,
        () => `${comparator()} ${comparator()}`,
        () => `${comparator()} || ${comparator()}`,
        () => `${partial()} - ${partial()}`,
        () => pick(['*', '', 'latest', 'next', '1.2.3 ||', '^', '>=']),
      ])()
    const versions = [
      '0.0.0',
      '0.0.1',
      '0.1.0',
      '0.2.3',
      '1.0.0-alpha',
      '1.0.0-rc.1',
      '1.0.0',
      '1.2.3',
      '1.10.0',
      '2.0.0-rc.1',
      '2.0.0',
      '3.1.1',
      '10.0.0',
    ]
    const ranges = Array.from({ length: 5_000 }, () => {
      const text = range()
      const valid = semver.validRange(text) !== null
      return { text, valid, allowed: valid ? versions.filter((version) => semver.satisfies(version, text)) : [] }
    })
    const odd = [
      '1.2',
      '1.2.3.4',
      'v1.2.3',
      '01.2.3',
      '1.2.3-',
      '1.2.3-01',
      '1.2.3-a.b+c',
      ' 1.2.3 ',
      '1.2.3+',
      '99999999999999999999.0.0',
    ]
    const sorted = semver.sort([
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.11',
      '1.0.0-beta.2',
      '1.0.0',
      '0.9.9',
      '1.0.0-1',
    ])
    await comparePython('test_versions.py', {
      ...{ versions, ranges, sorted },
      parsed: Object.fromEntries(odd.map((text) => [text, semver.parse(text)?.version ?? null])),
    })
  })

  it('observations, masks and states, in the same words', async () => {
    const calls = await Promise.all(
      invalidCalls.map(async ({ name, spaces, maskRequired, calls: given }) => {
        const folder = join(home, name)
        writeRandomAgent(folder, name, spaces, name === 'remembering', maskRequired)
        const agent = await loadAgent(folder)
        const outcomes = await Promise.all(
          given.map(async ({ observation, mask, state }) => ({
            ...{ observation, mask, state },
            outcome: await outcome(() => agent.act(observation, { mask, state }) && 'accepted'),
          })),
        )
        agent.dispose()
        return { folder, calls: outcomes }
      }),
    )
    await comparePython('test_invalid_calls.py', calls)
  })

  it('manifests', async () => {
    const folder = join(home, 'manifests')
    mkdirSync(folder)
    const manifests = await Promise.all(
      invalidManifests(folder).map(async ({ name, path }) => ({
        ...{ name, folder: path },
        outcome: await outcome(async () => (await loadAgent(path)) && 'accepted'),
      })),
    )
    await comparePython('test_manifests.py', manifests)
  })
})
