export type { ServeOptions } from './server/read-settings.ts'
export { type RunningServer, serve } from './server/serve.ts'
