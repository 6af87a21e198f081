import type { Module } from '../../core/module.ts'
import type { JobHandler } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { jobRoutes } from './jobs.routes.ts'
import { jobTasks } from './jobs.tasks.ts'

/** `handlers`: one per kind of job, from the module that defines it. */
export function jobsModule(services: Services, handlers: JobHandler[]): Module {
  return { routes: [jobRoutes(services, handlers)], tasks: jobTasks(services, handlers) }
}
