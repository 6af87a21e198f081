import { LRUCache } from 'lru-cache'
import type { PackageServices } from '../packages/index.ts'
import { RunFeeds } from './run-feed.ts'

/** The services, with the runs' state in this process. */
export type RunServices = PackageServices & {
  runFeeds: RunFeeds
  /** `agentgym.training` of a scenario version, by its id: a version never changes. */
  trainingDefaults: LRUCache<string, Record<string, unknown>>
}

export function openRunServices<Given extends PackageServices>(services: Given): Given & RunServices {
  return {
    ...services,
    runFeeds: new RunFeeds(services),
    trainingDefaults: new LRUCache({ max: 1_000 }),
  }
}
