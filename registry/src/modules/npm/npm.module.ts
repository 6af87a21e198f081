import type { Module } from '../../core/module.ts'
import type { PackageServices } from '../packages/index.ts'
import type { OpenBuiltIn } from './built-in-package.ts'
import { npmRoutes } from './npm.routes.ts'

export function npmModule(services: PackageServices, library?: OpenBuiltIn): Module {
  return { routes: [npmRoutes(services, library)] }
}
