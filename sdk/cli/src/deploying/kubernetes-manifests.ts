import { stringify } from 'yaml'
import {
  CONTAINER_DATA,
  CONTAINER_PORT,
  CONTAINER_USER,
  type DeployedAgent,
  nameForMachines,
} from './deployment-folder.ts'

export type ClusterOptions = { image: string; replicas: number; namespace: string }

/** Name of the secret whose `key` clients send; it is made apart, so that manifests can be committed. */
export function secretName(agent: DeployedAgent): string {
  return `${nameForMachines(agent)}-key`
}

/**
 * A Deployment, a Service, a budget for disruptions and a network policy: the server reads nothing but its own files, so it
 * may connect to nothing, and write only the episodes of agents with memory, which end with their pod.
 */
export function kubernetesManifests(agent: DeployedAgent, { image, replicas, namespace }: ClusterOptions): string {
  const name = nameForMachines(agent)
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/managed-by': 'agentgym' }
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } }
  const metadata = { name, namespace, labels }
  const probe = { httpGet: { path: '/healthz', port: 'http' } }
  const container = {
    name: 'server',
    image,
    ports: [{ name: 'http', containerPort: CONTAINER_PORT }],
    env: [{ name: 'AGENTGYM_AGENT_KEY', valueFrom: { secretKeyRef: { name: secretName(agent), key: 'key' } } }],
    readinessProbe: { ...probe, periodSeconds: 5 },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 60 },
    volumeMounts: [{ name: 'data', mountPath: CONTAINER_DATA }],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  }
  const pod = {
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: CONTAINER_USER,
      runAsGroup: CONTAINER_USER,
      fsGroup: CONTAINER_USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container],
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '64Mi' } }],
  }
  const documents = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas, selector, template: { metadata: { labels }, spec: pod } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      // An episode of an agent with memory is in the pod where it began.
      spec: {
        sessionAffinity: 'ClientIP',
        selector: selector.matchLabels,
        ports: [{ name: 'http', port: 80, targetPort: 'http' }],
      },
    },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1, selector } },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec: {
        podSelector: selector,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ ports: [{ port: CONTAINER_PORT }] }],
        egress: [],
      },
    },
  ]
  const heading = `# ${agent.name}${agent.version === null ? '' : `@${agent.version}`}, written by agentgym deploy\n`
  return heading + documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n')
}
