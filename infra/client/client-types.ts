import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@agentgym/registry'
import { generateTypes } from '../../sdk/client/generate-types.ts'

export const typesFile = join(import.meta.dirname, '../../sdk/client/src/api-types.ts')

/** What src/api-types.ts of the client has to be: made from the document that a server gives, formatted as everything. */
export async function clientTypes(): Promise<string> {
  const text = await generateTypes(await servedDocument())
  return execFileSync('biome', ['format', `--stdin-file-path=${typesFile}`], { input: text, encoding: 'utf8' })
}

/** The OpenAPI document, from a server on an empty folder: there is no other place that puts all routes together. */
async function servedDocument(): Promise<object> {
  const data = mkdtempSync(join(tmpdir(), 'agentgym-document-'))
  const server = await serve({ data, port: 0, environment: { AGENTGYM_LOG_LEVEL: 'error' } })
  try {
    const response = await fetch(`${server.url}/v1/openapi.json`)
    return (await response.json()) as object
  } finally {
    await server.close()
    rmSync(data, { recursive: true, force: true })
  }
}
