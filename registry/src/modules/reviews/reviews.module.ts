import type { Module } from '../../core/module.ts'
import type { PackageServices } from '../packages/index.ts'
import { refreshRatings } from './ratings.ts'
import { reviewRoutes } from './reviews.routes.ts'

export function reviewsModule(services: PackageServices): Module {
  return {
    routes: [reviewRoutes(services)],
    tasks: [{ name: 'market.refresh-ratings', everyMs: 3_600_000, run: () => refreshRatings(services.database) }],
  }
}
