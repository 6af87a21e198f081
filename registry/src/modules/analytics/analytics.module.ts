import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { analyticsRoutes } from './analytics.routes.ts'

export function analyticsModule(services: Services): Module {
  return { routes: [analyticsRoutes(services)] }
}
