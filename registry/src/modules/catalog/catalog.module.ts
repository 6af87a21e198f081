import type { Module } from '../../core/module.ts'
import type { PackageServices } from '../packages/index.ts'
import { catalogRoutes } from './catalog.routes.ts'
import { catalogTasks } from './catalog.tasks.ts'

export function catalogModule(services: PackageServices): Module {
  return { routes: [catalogRoutes(services)], tasks: catalogTasks(services) }
}
