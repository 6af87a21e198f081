import type { Module } from '../../core/module.ts'
import type { PackageServices } from '../packages/index.ts'
import { npmRoutes } from './npm.routes.ts'

export function npmModule(services: PackageServices): Module {
  return { routes: [npmRoutes(services)] }
}
