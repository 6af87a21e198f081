import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { demonstrationRoutes } from './demonstrations.routes.ts'
import { replayJobRoutes } from './replay-jobs.routes.ts'
import { enqueueLostReplays } from './replay-jobs.ts'

export function demonstrationsModule(services: Services): Module {
  return {
    routes: [demonstrationRoutes(services), replayJobRoutes(services)],
    tasks: [{ name: 'demonstrations.enqueue-lost', everyMs: 600_000, run: () => enqueueLostReplays(services) }],
  }
}
