import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { meteringRoutes } from './metering.routes.ts'
import { meteringTasks } from './post-usage.ts'

export function meteringModule(services: Services): Module {
  return { routes: [meteringRoutes(services)], tasks: meteringTasks(services) }
}
