import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startDstack, startKubernetes, startRunpod } from '@agentgym/testkit/clouds'
import { expect, it, onTestFinished } from 'vitest'
import { providerNames } from './compute-provider.ts'
import { findProvider, requireProvider } from './find-provider.ts'
import { readServiceAccount } from './kubeconfig.ts'

async function home(files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-home-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

it.each(providerNames)('says where credentials of %s belong where there are none', async (name) => {
  const HOME = await home()
  expect(await findProvider(name, { HOME })).toBeUndefined()
  await expect(requireProvider(name, { HOME })).rejects.toMatchObject({
    code: 'compute_credentials_missing',
    hint: expect.stringMatching(/RUNPOD_API_KEY|DSTACK_TOKEN|KUBECONFIG/),
  })
})

it.each([['apikey = "rpa_TEST"\n'], ['[default]\napi_key = "rpa_TEST"\n']])(
  'reads the key that RunPod’s tools have saved: %j',
  async (toml) => {
    const cloud = await startRunpod('rpa_TEST')
    onTestFinished(() => cloud.close())
    const HOME = await home({ '.runpod/config.toml': toml })
    const provider = await requireProvider('runpod', { HOME, AGENTGYM_RUNPOD_URL: cloud.url })
    expect(await provider.list()).toEqual([])
  },
)

it('reads the default project of dstack, a named one, and the environment before both', async () => {
  const cloud = await startDstack('right', 'team')
  onTestFinished(() => cloud.close())
  const project = (name: string, token: string, more = '') =>
    `- {name: ${name}, url: '${cloud.url}', token: ${token}${more}}`
  const yaml = `projects:\n${project('main', 'wrong')}\n${project('team', 'right', ', default: true')}\n`
  const HOME = await home({ '.dstack/config.yml': yaml })
  expect(await (await requireProvider('dstack', { HOME })).offers({})).toHaveLength(3)
  const named = await requireProvider('dstack', { HOME, DSTACK_PROJECT: 'main' })
  await expect(named.list()).rejects.toMatchObject({ code: 'compute_refused' })
  await expect(findProvider('dstack', { HOME, DSTACK_PROJECT: 'other' })).rejects.toMatchObject({
    code: 'config_invalid',
  })
  const variables = { DSTACK_SERVER_URL: cloud.url, DSTACK_TOKEN: 'right', DSTACK_PROJECT: 'team' }
  expect(await (await requireProvider('dstack', variables)).list()).toEqual([])
  const broken = await home({ '.dstack/config.yml': 'projects: [{name: 1' })
  await expect(findProvider('dstack', { HOME: broken })).rejects.toMatchObject({ code: 'config_invalid' })
})

it('reads a kubeconfig: token, namespace, and a program that gives the token', async () => {
  const cloud = await startKubernetes('right', 'gym')
  onTestFinished(() => cloud.close())
  const config = (user: string) => `
current-context: test
contexts: [{name: test, context: {cluster: here, user: me, namespace: gym}}]
clusters: [{name: here, cluster: {server: '${cloud.url}'}}]
users: [{name: me, user: ${user}}]
`
  const HOME = await home({
    '.kube/config': config('{token: right}'),
    'program/config': config('{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./token.sh}}'),
    'program/token.sh': `#!/bin/sh\necho '{"status": {"token": "right"}}'\n`,
    'broken/config': 'current-context: none',
  })
  expect(await (await requireProvider('kubernetes', { HOME })).list()).toEqual([])
  const program = join(HOME, 'program/token.sh')
  await chmod(program, 0o700)
  await writeFile(join(HOME, 'program/config'), config(`{exec: {command: '${program}'}}`))
  const { PATH } = process.env
  const asked = await requireProvider('kubernetes', { PATH, KUBECONFIG: join(HOME, 'program/config') })
  expect(await asked.list()).toEqual([])
  await expect(findProvider('kubernetes', { KUBECONFIG: join(HOME, 'broken/config') })).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('contexts'),
  })
})

it('uses the service account of the pod that it runs in', async () => {
  const folder = await home({ token: 't\n', 'ca.crt': 'pem', namespace: 'gym\n' })
  const access = await readServiceAccount({ KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder)
  expect(access).toMatchObject({
    url: 'https://[fd00::1]:443',
    namespace: 'gym',
    headers: { authorization: 'Bearer t' },
  })
  expect(await readServiceAccount({}, folder)).toBeUndefined()
})
