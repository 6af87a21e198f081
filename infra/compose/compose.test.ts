import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '@agentgym/registry/processes'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readSecretFiles } from '../../sdk/cli/src/secret-files.ts'
import { readRepositoryFile, repositoryRoot } from '../checks/repository-files.ts'
import { settingNames } from '../checks/setting-names.ts'

type Service = {
  image: string
  environment?: Record<string, string>
  secrets?: string[]
  volumes?: string[]
  networks: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: unknown
  user?: string
  profiles?: string[]
  read_only?: boolean
  cap_drop?: string[]
  deploy?: { replicas: number }
}
type Compose = {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean }>
  volumes: object
  secrets: Record<string, { file: string }>
}

const here = join(repositoryRoot, 'infra/compose')
const compose = parse(readRepositoryFile('infra/compose/compose.yaml'), { merge: true }) as Compose
const services = Object.entries(compose.services)

const folder = mkdtempSync(join(tmpdir(), 'agentgym-compose-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('follows the Compose Specification', () => {
  // zod reads references of the 2020-12 dialect; the specification's are older and otherwise alike.
  const text = readRepositoryFile('infra/compose/compose-spec.json')
  const schema = JSON.parse(text.replaceAll('#/definitions/', '#/$defs/').replace('"definitions":', '"$defs":'))
  const specification = z.fromJSONSchema({ ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' })
  expect(specification.safeParse(compose).error).toBeUndefined()
  expect(specification.safeParse({ services: { a: { image: 'a', imagination: 1 } } }).success).toBe(false)
})

it('names what exists: secrets, volumes, networks, services, files and settings', () => {
  const known = settingNames()
  for (const [name, service] of services) {
    for (const secret of service.secrets ?? []) expect(compose.secrets, name).toHaveProperty(secret)
    for (const network of service.networks) expect(compose.networks, name).toHaveProperty(network)
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services, name).toHaveProperty(needed)
      if (condition === 'service_healthy') expect(compose.services[needed].healthcheck, needed).toBeDefined()
    }
    for (const volume of service.volumes ?? []) {
      const [source] = volume.split(':')
      if (source.startsWith('.')) expect(statSync(join(here, source)).isFile(), source).toBe(true)
      else expect(compose.volumes, name).toHaveProperty(source)
    }
    if (!/_IMAGE:\?/.test(service.image) || name === 'proxy') continue
    for (const variable of Object.keys(service.environment ?? {})) expect(known, variable).toContain(variable)
  }
})

it('pins every image, and keeps the worker away from database and storage', () => {
  for (const [name, { image }] of services) {
    expect(image, name).toMatch(
      /^\$\{AGENTGYM_(SERVER|WORKER)_IMAGE:\?|^\$\{[A-Z]+_IMAGE:-[\w./-]+:v?\d+\.\d+[\w.-]*\}$/,
    )
  }
  const { worker, server, postgres, storage } = compose.services
  expect(worker.networks.filter((each) => [...postgres.networks, ...storage.networks].includes(each))).toEqual([])
  expect(compose.networks.data.internal).toBe(true)
  expect(worker.deploy?.replicas).toBe(2)
  for (const service of [worker, server, compose.services.renting])
    expect(service).toMatchObject({ user: '10001:10001', read_only: true, cap_drop: ['ALL'] })
})

it('makes secrets that the server starts with, and never replaces one', () => {
  copyFileSync(join(here, 'make-secrets.sh'), join(folder, 'make-secrets.sh'))
  execFileSync('sh', [join(folder, 'make-secrets.sh')])
  const secrets = join(folder, 'secrets')
  expect(readdirSync(secrets).sort()).toEqual(
    Object.values(compose.secrets)
      .map(({ file }) => file.split('/').at(-1))
      .sort(),
  )
  const before = readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'))
  execFileSync('sh', [join(folder, 'make-secrets.sh')])
  expect(readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'))).toEqual(before)

  rmSync(join(secrets, 'mail-url'))
  writeFileSync(join(secrets, 'mail-url'), 'smtps://user:password@mail.example.com\n')
  const environment = Object.fromEntries(
    Object.entries(compose.services.server.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replace('/run/secrets', secrets)
        .replace(/\$\{AGENTGYM_HOSTNAME:[^}]*\}/, 'gym.example.com')
        .replace(/\$\{[^}]*\}/, 'gym@example.com'),
    ]),
  )
  readSecretFiles(environment)
  const settings = readSettings({ environment })
  expect(settings).toMatchObject({ publicUrl: 'https://gym.example.com', objects: { endpoint: 'http://storage:8333' } })
  expect(settings.database).toMatchObject({ url: expect.stringContaining('@postgres:5432/agentgym') })
  const { identities } = JSON.parse(readFileSync(join(secrets, 'storage-identities'), 'utf8'))
  expect(identities[0].credentials).toEqual([
    { accessKey: environment.AWS_ACCESS_KEY_ID, secretKey: environment.AWS_SECRET_ACCESS_KEY },
  ])
})

it('Prometheus and Grafana read the alerts, the dashboard and the data source of this repository', () => {
  const prometheus = parse(readRepositoryFile('infra/compose/prometheus.yml'))
  expect(compose.services.prometheus.volumes).toContain('../observability/alerts.yml:/etc/prometheus/alerts.yml:ro')
  expect(prometheus.rule_files).toEqual(['alerts.yml'])
  const [{ job_name, authorization }] = prometheus.scrape_configs
  // Alerts name this job.
  expect(readRepositoryFile('infra/observability/alerts.yml')).toContain(`up{job="${job_name}"}`)
  expect(compose.services.prometheus.secrets?.map((name) => `/run/secrets/${name}`)).toContain(
    authorization.credentials_file,
  )
  const [{ options }] = parse(readRepositoryFile('infra/compose/grafana-dashboards.yml')).providers
  expect(compose.services.grafana.volumes?.some((each) => each.includes(`:${options.path}/agentgym.json`))).toBe(true)
})

/** Whether this machine has a program: README.md says where these come from. */
const has = (program: string) => spawnSync(program, ['--version']).error === undefined

if (isLong && has('docker-compose'))
  it('Docker Compose itself reads the file as it is meant', () => {
    const words = [
      '--file',
      join(here, 'compose.yaml'),
      '--env-file',
      join(here, '.env.example'),
      '--profile',
      'renting',
    ]
    const text = execFileSync('docker-compose', [...words, 'config', '--format', 'json'], { encoding: 'utf8' })
    const read = JSON.parse(text) as { services: Record<string, { security_opt?: string[]; environment: object }> }
    expect(Object.keys(read.services).sort()).toEqual(Object.keys(compose.services).sort())
    expect(read.services.server.environment).toMatchObject({ AGENTGYM_PUBLIC_URL: 'https://gym.example.com' })
    expect(read.services.worker.security_opt).toContain('seccomp=../images/worker-seccomp.json')
  })

if (isLong && has('promtool'))
  it('Prometheus itself accepts its configuration and the alerts', () => {
    const token = join(folder, 'metrics-token')
    writeFileSync(token, 'secret')
    const settings = readRepositoryFile('infra/compose/prometheus.yml').replace('/run/secrets/metrics-token', token)
    writeFileSync(join(folder, 'prometheus.yml'), settings)
    copyFileSync(join(here, '../observability/alerts.yml'), join(folder, 'alerts.yml'))
    execFileSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')], { stdio: 'pipe' })
  })

if (isLong && has('caddy'))
  it('Caddy itself accepts its configuration', () => {
    const env = { ...process.env, AGENTGYM_HOSTNAME: 'gym.example.com', HOME: folder }
    execFileSync('caddy', ['validate', '--config', join(here, 'Caddyfile'), '--adapter', 'caddyfile'], {
      env,
      stdio: 'pipe',
    })
  })
