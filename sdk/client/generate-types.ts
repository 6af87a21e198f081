import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'

const banner = `// Made from the server's OpenAPI document by \`node infra/client/write-client-types.ts\`: change the routes, not this file.
`

/** TypeScript types of an OpenAPI document: the text of src/api-types.ts. */
export async function generateTypes(document: object): Promise<string> {
  const { servers: _, ...independent } = document as OpenAPI3
  return banner + astToString(await openapiTypescript(independent as OpenAPI3))
}
