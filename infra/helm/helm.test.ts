import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonEnvironment, runPython } from '@agentgym/testkit/python'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { readRepositoryFile, repositoryFiles, repositoryRoot } from '../checks/repository-files.ts'
import { settingNames } from '../checks/setting-names.ts'
import { type ApiServer, type Manifest, startApiServer } from './api-server.ts'

type Tree = Record<string, unknown>

const chart = 'infra/helm/agentgym'
const read = (file: string) => readRepositoryFile(`${chart}/${file}`)
const values = parse(read('values.yaml')) as Tree
const schema = JSON.parse(read('values.schema.json'))
const valueSets = repositoryFiles.filter((file) => file.startsWith(`${chart}/ci/`))
const templates = repositoryFiles.filter((file) => file.startsWith(`${chart}/templates/`)).map(readRepositoryFile)

const folder = mkdtempSync(join(tmpdir(), 'agentgym-helm-'))
afterAll(() => rmSync(folder, { recursive: true }))

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** As Helm merges values: maps by their keys, all else replaced. */
function merged(below: Tree, above: Tree): Tree {
  const own = Object.entries(above).map(([key, value]) => {
    const other = below[key]
    return [key, isTree(value) && isTree(other) ? merged(other, value) : value]
  })
  return { ...below, ...Object.fromEntries(own) }
}

/** Paths of values that a schema does not name. */
function unnamed(tree: Tree, of: Tree, path = ''): string[] {
  const found = '$ref' in of ? schema.definitions[String(of.$ref).split('/').at(-1) as string] : of
  if (found.properties === undefined) return []
  return Object.entries(tree).flatMap(([key, value]) => {
    const next = found.properties[key]
    if (next === undefined) return [`${path}${key}`]
    return isTree(value) ? unnamed(value, next, `${path}${key}.`) : []
  })
}

describe('the chart, without Helm', () => {
  it('has a schema that names every value, accepts all sets of values, and refuses what is misspelled', () => {
    const text = JSON.stringify(schema).replaceAll('#/definitions/', '#/$defs/').replace('"definitions":', '"$defs":')
    const valid = z.fromJSONSchema({ ...JSON.parse(text), $schema: 'https://json-schema.org/draft/2020-12/schema' })
    expect(unnamed(values, schema)).toEqual([])
    expect(valueSets.length).toBeGreaterThanOrEqual(5)
    for (const file of valueSets) {
      const all = merged(values, parse(readRepositoryFile(file)))
      expect(valid.safeParse(all).error, file).toBeUndefined()
    }
    const wrong = [
      { server: { replcas: 2 } },
      { image: { server: { digest: 'sha256:12' } } },
      { workers: { gpu: { mode: 'pod' } } },
      { renting: { maxPerHour: 6 } },
      { renting: { maxPerDay: '6.005' } },
    ]
    for (const value of wrong) expect(valid.safeParse(merged(values, value)).success).toBe(false)
  })

  it('sets only variables that exist, and options that worker and gpus serve have', () => {
    const known = settingNames()
    const text = templates.join('\n')
    const names = [...text.matchAll(/name: ([A-Z][A-Z0-9_]+),/g), ...text.matchAll(/"[a-z-]+" "([A-Z][A-Z0-9_]+)"/g)]
    const settings = valueSets.flatMap((file) => Object.keys(parse(readRepositoryFile(file)).server?.settings ?? {}))
    expect(names.length).toBeGreaterThan(10)
    for (const name of [...names.map(([, name]) => name), ...settings]) expect(known, name).toContain(name)
    const commands = ['commands/worker.ts', 'commands/gpus-serve.ts', 'renting/gather-offers.ts']
      .map((file) => readRepositoryFile(`sdk/cli/src/${file}`))
      .join('\n')
    const options = [...text.matchAll(/- (?:\{\{ printf ")?(--[a-z-]+)=/g)].map(([, option]) => option)
    expect(options).toContain('--gpu-name')
    for (const option of options) expect(commands).toContain(`'${option} <`)
  })

  it('asks the queue for states that its table has', () => {
    const [, states] = /state in \(([^)]*)\)\n/.exec(templates.join('\n')) ?? []
    for (const [state] of states.matchAll(/'\w+'/g))
      expect(readRepositoryFile('registry/src/core/database/migrations/0015-jobs.ts')).toContain(state)
  })

  it('has the alerts and the dashboard of this repository', () => {
    for (const file of ['alerts.yml', 'dashboard.json'])
      expect(read(`files/${file}`)).toBe(readRepositoryFile(`infra/observability/${file}`))
  })
})

if (isLong) {
  describe('the chart, by Helm', { timeout: 300_000 }, () => {
    const helm = process.env.AGENTGYM_HELM ?? 'helm'
    const kubernetes = ['--kube-version', '1.37.0']
    const render = (file: string, ...settings: string[]) =>
      execFileSync(helm, ['template', 'gym', chart, ...kubernetes, '--values', file, ...settings], {
        cwd: repositoryRoot,
        encoding: 'utf8',
      })

    it('passes the linter and follows the schemas of Kubernetes with every set of values', async () => {
      const files = valueSets.map((file, index) => {
        execFileSync(helm, ['lint', '--strict', chart, ...kubernetes, '--values', file], { cwd: repositoryRoot })
        writeFileSync(join(folder, `${index}.yaml`), render(file))
        return join(folder, `${index}.yaml`)
      })
      const foreign = await runPython(await pythonEnvironment('kubernetes'), [
        join(repositoryRoot, 'infra/helm/validate.py'),
        '1.37',
        ...files,
      ])
      expect(foreign.trim().split('\n')).toEqual([
        'keda.sh/v1alpha1 ScaledJob',
        'keda.sh/v1alpha1 TriggerAuthentication',
        'monitoring.coreos.com/v1 PrometheusRule',
        'monitoring.coreos.com/v1 ServiceMonitor',
      ])
    })

    it('runs nothing as root, with a writable file system or with an image that is not pinned', () => {
      for (const file of valueSets) {
        for (const pod of render(file).split(/^---$/m).flatMap(podsOf)) {
          expect(pod.securityContext).toMatchObject({ runAsNonRoot: true })
          expect(pod.automountServiceAccountToken).toBe(false)
          for (const { image, securityContext } of pod.containers) {
            expect(image).toMatch(/@sha256:[0-9a-f]{64}$|:(?!latest)[\w.-]+$/)
            expect(securityContext).toMatchObject({
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            })
          }
        }
      }
    })

    it('gives the alerts to Prometheus as they are', () => {
      const manifests = parseAllDocuments(render(`${chart}/ci/production-values.yaml`)).map((each) => each.toJS())
      const rules = manifests.find(({ kind }) => kind === 'PrometheusRule')
      expect(rules.spec).toEqual(parse(readRepositoryFile('infra/observability/alerts.yml')))
    })

    it('lets workers of one run reach each other, and no others', () => {
      const manifests = rendered(`${chart}/ci/production-values.yaml`)
      const named = (name: string) => JSON.stringify(manifests.filter(({ metadata }) => metadata.name === name))
      expect(named('gym-agentgym-worker-together')).toContain('"--gangs","--advertise-address=$(POD_IP):29500"')
      expect(named('gym-agentgym-worker-default')).not.toContain('gangs')
      const own = {
        podSelector: { matchLabels: { 'app.kubernetes.io/instance': 'gym', 'agentgym.dev/gangs': 'true' } },
      }
      const ports = [{ port: 1024, endPort: 65_535, protocol: 'TCP' }]
      expect(manifests.find(({ metadata }) => metadata.name === 'gym-agentgym-gangs')?.spec).toEqual({
        ...own,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ ports, from: [own] }],
        egress: [{ ports, to: [own] }],
      })
    })

    it('starts as many pods as the queued runs need workers, and none for runs that they cannot train', () => {
      const query = (setting: string) => {
        const text = render(`${chart}/ci/autoscaled-workers-values.yaml`, '--set', setting)
        return [...text.matchAll(/select .* from jobs where .*/g)].map(([found]) => found)
      }
      for (const found of query('workerDefaults.gangs=false'))
        expect(found).toMatch(/^select count\(\*\) .* and workers = 1 /)
      const together = query('workerDefaults.gangs=true')
      expect(together).toHaveLength(2)
      for (const found of together) expect(found).toMatch(/^select coalesce\(sum\(workers\), 0\) (?!.*workers = 1)/)
    })

    it('rents within the limits of the values, with credentials that no other pod has', () => {
      const manifests = rendered(`${chart}/ci/rented-gpus-values.yaml`)
      const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
      const renting = deployments.find(({ metadata }) => metadata.name === 'gym-agentgym-renting')
      const text = JSON.stringify(renting)
      for (const [name, value] of [
        ['AGENTGYM_RENT_MACHINES', '4'],
        ['AGENTGYM_RENT_PER_HOUR', '6.00'],
        ['AGENTGYM_RENT_PER_DAY', '50.00'],
        ['AGENTGYM_SERVER', 'https://gym.example.com'],
        ['RUNPOD_API_KEY_FILE', '/run/secrets/agentgym/runpod-api-key'],
      ])
        expect(text).toContain(JSON.stringify({ name, value }))
      expect(renting?.spec).toMatchObject({ replicas: 1 })
      for (const other of deployments.filter((each) => each !== renting))
        expect(JSON.stringify(other)).not.toMatch(/runpod|dstack|renting-token/)
      expect(JSON.stringify(rendered(`${chart}/ci/production-values.yaml`))).not.toContain('renting')
    })

    it.each([
      ['publicUrl=', 'publicUrl is required'],
      ['image.server.tag=', 'image.server needs a digest or a tag'],
      ['image.server.tag=latest', 'may be another image tomorrow'],
      ['secrets.existing=own', 'not both'],
      ['secrets.create=null', 'set secrets.existing, or database-url'],
      ['renting.enabled=true', 'renting needs a provider'],
      ['renting.enabled=true,renting.runpod=true', 'renting.maxPerHour is required'],
    ])('says what is missing: %s', (setting, message) => {
      const words = [
        'template',
        'gym',
        chart,
        ...kubernetes,
        '--values',
        `${chart}/ci/minimal-values.yaml`,
        '--set',
        setting,
      ]
      const { status, stderr } = spawnSync(helm, words, { cwd: repositoryRoot, encoding: 'utf8' })
      expect(status).toBe(1)
      expect(stderr).toContain(message)
    })
  })
}

const programs = process.env.AGENTGYM_KUBERNETES
if (isLong && programs !== undefined) {
  describe('the chart, by the API server of Kubernetes', { timeout: 600_000 }, () => {
    let server: ApiServer
    beforeAll(async () => {
      server = await startApiServer(programs, join(folder, 'kubernetes'))
      const kinds = globSync(join(programs, 'crds/*.yaml')).map((file) => parse(readFileSync(file, 'utf8')) as Manifest)
      for (const kind of kinds) expect(await server.apply(kind, '')).toMatchObject({ status: 201 })
    }, 300_000)
    afterAll(() => server.close())

    /** With warnings where pods would break the strictest rules of Pod Security. */
    const newNamespace = async (name: string) => {
      const labels = { 'pod-security.kubernetes.io/warn': 'restricted' }
      await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, '')
      return name
    }

    it.each(valueSets)('is accepted with every field known: %s', async (file) => {
      const namespace = await newNamespace(`gym-${valueSets.indexOf(file)}`)
      const manifests = rendered(file)
      expect(manifests.map(({ kind }) => kind)).toContain('Deployment')
      const warnings: string[] = []
      for (const manifest of manifests) {
        const applied = await server.apply(manifest, namespace)
        expect([manifest.kind, applied.status, applied.message]).toEqual([manifest.kind, 201, ''])
        warnings.push(...applied.warnings)
      }
      // Workers build walls of their own around jobs, which these two profiles forbid. All else follows the strictest rules.
      for (const warning of warnings)
        expect(
          warning.replaceAll(/(forbidden AppArmor profile|, seccompProfile) \(container \\"worker\\" [^)]*\)/g, ''),
        ).toMatch(/^299 - "would violate PodSecurity \\"restricted:latest\\": "$/)
      // As the next release does.
      for (const manifest of manifests) expect(await server.apply(manifest, namespace)).toMatchObject({ status: 200 })
    })

    it('refuses a field that Kubernetes does not know', async () => {
      const namespace = await newNamespace('gym-wrong')
      const wrong = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wrong' }, dta: {} }
      const { status, message } = await server.apply(wrong, namespace)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(message).toContain('dta')
    })
  })
}

/** What Helm sends, without its hooks' order: hooks are applied like all else. */
function rendered(file: string): Manifest[] {
  const helm = process.env.AGENTGYM_HELM ?? 'helm'
  const words = ['template', 'gym', chart, '--kube-version', '1.37.0', '--values', file]
  const text = execFileSync(helm, words, { cwd: repositoryRoot, encoding: 'utf8' })
  return parseAllDocuments(text).flatMap((each) => (each.toJS() === null ? [] : [each.toJS() as Manifest]))
}

type Pod = {
  automountServiceAccountToken?: boolean
  securityContext: object
  containers: { image: string; securityContext: object }[]
}

function podsOf(text: string): Pod[] {
  const manifest = parse(text)
  const template = manifest?.spec?.template ?? manifest?.spec?.jobTargetRef?.template
  return template === undefined ? [] : [template.spec]
}
