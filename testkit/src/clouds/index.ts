export type { CloudServer, Fault, Rented } from './cloud-server.ts'
export { type FakeDstack, startDstack } from './dstack.ts'
export { type FakeKubernetes, startKubernetes } from './kubernetes.ts'
export { type FakeRunpod, startRunpod } from './runpod.ts'
