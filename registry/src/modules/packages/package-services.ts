import type { Services } from '../../core/services.ts'
import { ReadmeRenderer } from './documents/readme-renderer.ts'
import { DownloadCounter } from './downloads.ts'

/** The services, with the packages' state in this process. */
export type PackageServices = Services & { downloads: DownloadCounter; readmes: ReadmeRenderer }

export function openPackageServices<Given extends Services>(services: Given): Given & PackageServices {
  return { ...services, downloads: new DownloadCounter(services), readmes: new ReadmeRenderer() }
}

/** Resolves once the downloads are counted and the renderer's thread has ended. */
export async function closePackageServices({ downloads, readmes }: PackageServices): Promise<void> {
  await downloads.flush()
  await readmes.close()
}
