import type { Services } from '../../core/services.ts'
import { ReadmeRenderer } from './documents/readme-renderer.ts'
import { DocumentRenderer } from './documents/render-documents.ts'
import { DownloadCounter } from './downloads.ts'
import { ModelChecker } from './model-checker.ts'

/** The services, with the packages' state in this process. */
export type PackageServices = Services & {
  downloads: DownloadCounter
  readmes: ReadmeRenderer
  models: ModelChecker
  documents: DocumentRenderer
}

export function openPackageServices<Given extends Services>(services: Given): Given & PackageServices {
  const downloads = new DownloadCounter(services)
  return {
    ...services,
    downloads,
    readmes: new ReadmeRenderer(),
    models: new ModelChecker(),
    documents: new DocumentRenderer(),
  }
}

/** Resolves once the downloads are counted and the threads of the renderer and the model checker have ended. */
export async function closePackageServices({ downloads, readmes, models }: PackageServices): Promise<void> {
  await downloads.flush()
  await readmes.close()
  await models.close()
}
