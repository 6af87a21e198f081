import type { Module } from '../../core/module.ts'
import type { HostingServices } from './call-broker.ts'
import { chatRoutes } from './chat.routes.ts'
import { hostedCallRoutes } from './hosted-calls.routes.ts'
import { hostingTasks } from './hosting.tasks.ts'

export function hostingModule(services: HostingServices): Module {
  return {
    routes: [hostedCallRoutes(services), chatRoutes(services)],
    tasks: hostingTasks(services),
    drain: () => services.callBroker.close(),
  }
}
