import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { distributeEvents, forgetEvents, type Subscriber } from './distribute-events.ts'

export function eventsModule(services: Services, subscribers: readonly Subscriber[]): Module {
  return {
    routes: [],
    tasks: [
      {
        name: 'events.distribute',
        everyMs: 5_000,
        run: (signal) => distributeEvents(services, subscribers, signal),
      },
      { name: 'events.forget', everyMs: 3_600_000, run: () => forgetEvents(services) },
    ],
  }
}
