import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { moderationRoutes } from './moderation.routes.ts'
import { giveOwedRefunds } from './owed-refunds.ts'

export function moderationModule(services: Services): Module {
  return {
    routes: [moderationRoutes(services)],
    // Completes refunds that were interrupted by a crash.
    tasks: [{ name: 'market.give-owed-refunds', everyMs: 60_000, run: () => giveOwedRefunds(services) }],
  }
}
