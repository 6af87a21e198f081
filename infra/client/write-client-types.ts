// Makes the client's types anew after a route has changed: `node infra/client/write-client-types.ts`.
import { writeFileSync } from 'node:fs'
import { clientTypes, typesFile } from './client-types.ts'

writeFileSync(typesFile, await clientTypes())
