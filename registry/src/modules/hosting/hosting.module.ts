import type { Module } from '../../core/module.ts'
import type { HostingServices } from './call-broker.ts'
import { chatRoutes } from './chat.routes.ts'
import { decisionRoutes } from './decisions.routes.ts'
import { hostedCallRoutes } from './hosted-calls.routes.ts'
import { hostingTasks } from './hosting.tasks.ts'
import { mcpRoutes } from './mcp.routes.ts'

export function hostingModule(services: HostingServices): Module {
  return {
    routes: [hostedCallRoutes(services), chatRoutes(services), decisionRoutes(services), mcpRoutes(services)],
    tasks: hostingTasks(services),
    drain: () => services.callBroker.close(),
  }
}
