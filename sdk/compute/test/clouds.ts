import { type CloudServer, type Rented, startDstack, startKubernetes, startRunpod } from '@agentgym/testkit/clouds'
import type { ComputeProvider, ProviderName } from '../src/compute-provider.ts'
import { Dstack } from '../src/dstack.ts'
import { Kubernetes } from '../src/kubernetes.ts'
import { Runpod } from '../src/runpod.ts'

export type TestCloud = {
  cloud: CloudServer & { rented(): Rented[]; made: Rented[] }
  provider: ComputeProvider
  /** All workers end as if by themselves. */
  finish(): void
}

/** A fake of each provider's API, and the adapter that speaks to it. */
export const openClouds: Record<ProviderName, () => Promise<TestCloud>> = {
  runpod: async () => {
    const cloud = await startRunpod()
    return {
      cloud,
      provider: new Runpod({ key: cloud.key, url: cloud.url }),
      finish: () => cloud.setStatus('EXITED'),
    }
  },
  dstack: async () => {
    const cloud = await startDstack()
    const { url, token, project } = cloud
    return { cloud, provider: new Dstack({ url, token, project }), finish: () => cloud.setStatus('done') }
  },
  kubernetes: async () => {
    const cloud = await startKubernetes()
    const { url, token, namespace } = cloud
    const provider = new Kubernetes({ url, namespace, headers: { authorization: `Bearer ${token}` } })
    return { cloud, provider, finish: () => cloud.setCondition('Complete') }
  },
}

export const testRun = '0f8fad5b-d9cb-469f-a165-70867728950e'
export const testServer = 'https://gym.example.com'

export const testOrder = {
  ...{
    run: testRun,
    owner: testServer,
    server: testServer,
    token: 'agt_secret',
    image: 'ghcr.io/acme/agentgym-worker@sha256:1',
  },
  maxSeconds: 3_600,
}
