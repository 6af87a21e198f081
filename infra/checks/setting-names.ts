import { secretVariables } from '../../sdk/cli/src/secret-files.ts'
import { readRepositoryFile } from './repository-files.ts'

const inTable = /^ {2}([A-Z][A-Z0-9_]+):/gm
const renting = /'(AGENTGYM_RENT_[A-Z_]+)'/g
const storage = /setting\('([A-Z_]+)'\)/g

/**
 * Every environment variable that a manifest may set: of the server, its storage, the worker and `gpus serve`; secrets by file,
 * too.
 */
export function settingNames(): Set<string> {
  const find = (file: string, pattern: RegExp) =>
    [...readRepositoryFile(file).matchAll(pattern)].map(([, name]) => name)
  return new Set([
    ...find('registry/src/app/settings/read-settings.ts', inTable),
    ...find('registry/src/core/storage/open-object-store.ts', storage).map((name) => `AGENTGYM_S3_${name}`),
    ...find('sdk/cli/src/commands/gpus-serve.ts', renting),
    ...['AGENTGYM_WORKER_IMAGE', 'DSTACK_SERVER_URL', 'DSTACK_PROJECT'],
    ...secretVariables,
    ...secretVariables.map((name) => `${name}_FILE`),
    ...['AGENTGYM_SERVER', 'AGENTGYM_WITHOUT_WALLS', 'AGENTGYM_WORKER_PRICE_MINOR', 'AGENTGYM_ENCODERS'],
    // Node's and OpenTelemetry's own.
    ...['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_RESOURCE_ATTRIBUTES'],
  ])
}
