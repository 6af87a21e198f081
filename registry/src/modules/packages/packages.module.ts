import type { Module } from '../../core/module.ts'
import { checkJobRoutes } from './check-jobs.routes.ts'
import { documentRoutes } from './documents/version-documents.routes.ts'
import { fileRoutes } from './files/version-files.routes.ts'
import { closePackageServices, type PackageServices } from './package-services.ts'
import { packageRoutes } from './packages.routes.ts'
import { packageTasks } from './packages.tasks.ts'

export function packagesModule(services: PackageServices): Module {
  return {
    routes: [packageRoutes(services), checkJobRoutes(services), documentRoutes(services), fileRoutes(services)],
    tasks: packageTasks(services),
    close: () => closePackageServices(services),
  }
}
