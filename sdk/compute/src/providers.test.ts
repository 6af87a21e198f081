import { startDstack, startKubernetes, startRunpod } from '@agentgym/testkit/clouds'
import { expect, it, onTestFinished } from 'vitest'
import { testOrder, testRun } from '../test/clouds.ts'
import { centsOf, cheapestFirst, costCents, workerNameOf } from './compute-provider.ts'
import { Dstack } from './dstack.ts'
import { Kubernetes } from './kubernetes.ts'
import { endOwnPod, Runpod } from './runpod.ts'

async function openRunpod() {
  const cloud = await startRunpod()
  onTestFinished(() => cloud.close())
  return { cloud, provider: new Runpod({ key: cloud.key, url: cloud.url }) }
}

async function openDstack() {
  const cloud = await startDstack()
  onTestFinished(() => cloud.close())
  return { cloud, provider: new Dstack(cloud) }
}

async function openKubernetes(queue?: string) {
  const cloud = await startKubernetes()
  onTestFinished(() => cloud.close())
  const headers = { authorization: `Bearer ${cloud.token}` }
  const { url, namespace } = cloud
  return { cloud, provider: new Kubernetes({ url, namespace, headers, queue }) }
}

const shown = (offers: Awaited<ReturnType<Runpod['offers']>>) =>
  cheapestFirst(offers).map(({ gpu, memoryGb, centsPerHour, where }) => [gpu, memoryGb, centsPerHour, where])

it('rounds prices up to cents', () => {
  expect([0.44, 0.4312, 2.69, 1.006, 0.1].map(centsOf)).toEqual([44, 44, 269, 101, 10])
  expect(costCents(44, 3_600_000)).toBe(44)
  expect(costCents(44, 1)).toBe(1)
  expect(costCents(null, 1)).toBeNull()
})

it('lists what RunPod has in stock on its secure cloud, cheapest first', async () => {
  const { provider } = await openRunpod()
  expect(shown(await provider.offers({}))).toEqual([
    ['RTX A4000', 16, 17, 'EU-RO-1'],
    ['RTX 4090', 24, 44, 'US-KS-2'],
    ['H100 SXM', 80, 269, 'US-TX-3'],
  ])
  expect(shown(await provider.offers({ memoryGb: 40 }))).toEqual([['H100 SXM', 80, 269, 'US-TX-3']])
  expect(shown(await provider.offers({ gpu: 'a4000' }))).toHaveLength(1)
  expect(await provider.offers({ memoryGb: 200 })).toEqual([])
})

it('lists what dstack can provision now, with backend and region', async () => {
  const { provider } = await openDstack()
  expect(shown(await provider.offers({}))).toEqual([
    ['T4', 16, 39, 'gcp us-west4'],
    ['L4', 24, 44, 'runpod EU-RO-1'],
    ['A10G', 24, 101, 'aws us-east-1'],
  ])
})

it('lists the kinds of GPUs of a cluster, without a price', async () => {
  const { provider, cloud } = await openKubernetes()
  expect(shown(await provider.offers({ memoryGb: 40 }))).toEqual([['NVIDIA L40S', 45, null, null]])
  cloud.nodesVisible = false
  expect(shown(await provider.offers({}))).toEqual([['NVIDIA GPU', null, null, null]])
  // Who may not see nodes cannot know that one fits.
  expect(await provider.offers({ memoryGb: 40 })).toEqual([])
})

it('has dstack end the worker at its time, and its machine with it', async () => {
  const { provider, cloud } = await openDstack()
  const [offer] = cheapestFirst(await provider.offers({}))
  await provider.create(workerNameOf(testRun), testOrder, offer)
  expect(cloud.configurations).toMatchObject([
    {
      ...{
        type: 'task',
        max_duration: 3_600,
        idle_duration: 0,
        max_price: 0.39,
        retry: false,
        spot_policy: 'on-demand',
      },
      ...{ backends: ['gcp'], regions: ['us-west4'], instance_types: ['n1-standard-4-t4'] },
      commands: [expect.stringContaining(`exec agentgym worker --run ${testRun}`)],
    },
  ])
})

it('has Kubernetes end the job at its time, once, without root and without an account', async () => {
  const { provider, cloud } = await openKubernetes('team-a')
  const [offer] = await provider.offers({})
  await provider.create(workerNameOf(testRun), testOrder, offer)
  expect(cloud.manifests).toMatchObject([
    {
      metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'team-a' } },
      spec: {
        ...{ suspend: true, backoffLimit: 0, activeDeadlineSeconds: 3_600, ttlSecondsAfterFinished: 3_600 },
        template: {
          spec: {
            ...{ restartPolicy: 'Never', automountServiceAccountToken: false },
            securityContext: { runAsNonRoot: true },
            nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-L40S' },
            containers: [{ resources: { limits: { 'nvidia.com/gpu': 1 } } }],
          },
        },
      },
    },
  ])
})

it('lets the worker delete its own pod of RunPod, which nothing else ends', async () => {
  const { provider, cloud } = await openRunpod()
  const [offer] = await provider.offers({})
  await provider.create(workerNameOf(testRun), testOrder, offer)
  const [{ id }] = cloud.rented()
  expect(provider.endsOnTime).toBe(false)
  const pod = { RUNPOD_POD_ID: id, RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url }
  expect(await endOwnPod(pod)).toBe(true)
  expect(cloud.rented()).toEqual([])
  // It is gone: no failure.
  expect(await endOwnPod(pod)).toBe(true)
  expect(await endOwnPod({})).toBe(false)
})

it('says what a provider says, and never the token', async () => {
  const cloud = await startDstack('right')
  onTestFinished(() => cloud.close())
  const wrong = new Dstack({ ...cloud, token: 'wrong' })
  const error = await wrong.offers({}).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'compute_refused', message: 'dstack answered 403: Invalid token' })
  expect(JSON.stringify(error.toReport())).not.toContain('wrong')
  expect(() => new Dstack({ ...cloud, url: 'file:///etc/passwd' })).toThrowError(/not an http or https address/)
})
