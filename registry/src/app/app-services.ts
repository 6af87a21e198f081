import type { Services } from '../core/services.ts'
import { openPackageServices, type PackageServices } from '../modules/packages/index.ts'

/** The core's services with what the modules hold in this process. */
export type AppServices = PackageServices

/** Makes each module's part, once a process. */
export function openAppServices<Given extends Services>(services: Given): Given & AppServices {
  return openPackageServices(services)
}
