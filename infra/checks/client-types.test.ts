import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientTypes, typesFile } from '../client/client-types.ts'

// openapi-typescript also holds the document to OpenAPI's own rules: one that breaks them gives no types.
it("the client's types are those of the server's routes", async () => {
  const current = await clientTypes()
  expect(readFileSync(typesFile, 'utf8') === current, 'run `node infra/client/write-client-types.ts`').toBe(true)
})
