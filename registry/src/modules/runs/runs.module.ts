import type { Module } from '../../core/module.ts'
import { rpcRoutes } from './rpc.routes.ts'
import { runDataRoutes } from './run-data.routes.ts'
import type { RunServices } from './run-services.ts'
import { runRoutes } from './runs.routes.ts'
import { runTasks } from './runs.tasks.ts'
import { shareRunRoutes } from './share-run.routes.ts'
import { trainingJobRoutes } from './training-jobs.routes.ts'

export function runsModule(services: RunServices): Module {
  return {
    routes: [
      runRoutes(services),
      runDataRoutes(services),
      shareRunRoutes(services),
      rpcRoutes(services),
      trainingJobRoutes(services),
    ],
    tasks: runTasks(services),
    drain: () => services.runFeeds.close(),
  }
}
