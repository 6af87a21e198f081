export { type RunningServer, serve } from './app/serve.ts'
export type { ServeOptions } from './app/settings/read-settings.ts'
