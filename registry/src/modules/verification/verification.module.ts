import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { evaluateJobRoutes } from './evaluate-jobs.routes.ts'
import { verificationRoutes } from './verification.routes.ts'
import { verificationTasks } from './verification.tasks.ts'

export function verificationModule(services: Services): Module {
  return {
    routes: [evaluateJobRoutes(services), verificationRoutes(services)],
    tasks: verificationTasks(services),
  }
}
