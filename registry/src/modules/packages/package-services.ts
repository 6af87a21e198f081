import type { Services } from '../../core/services.ts'
import { ReadmeRenderer } from './documents/readme-renderer.ts'
import { DocumentRenderer } from './documents/render-documents.ts'
import { DownloadCounter } from './downloads.ts'
import { CodeReader } from './files/code-reader.ts'
import { ModelChecker } from './model-checker.ts'
import { UsageCounter } from './package-usage.ts'

/** The services, with the packages' state in this process. */
export type PackageServices = Services & {
  downloads: DownloadCounter
  usage: UsageCounter
  readmes: ReadmeRenderer
  models: ModelChecker
  documents: DocumentRenderer
  code: CodeReader
}

export function openPackageServices<Given extends Services>(services: Given): Given & PackageServices {
  const downloads = new DownloadCounter(services)
  return {
    ...services,
    downloads,
    usage: new UsageCounter(services),
    readmes: new ReadmeRenderer(),
    models: new ModelChecker(),
    documents: new DocumentRenderer(),
    code: new CodeReader(),
  }
}

/** Resolves once downloads and views are counted and the threads of renderer, model checker and code reader have ended. */
export async function closePackageServices(services: PackageServices): Promise<void> {
  const { downloads, usage, readmes, models, code } = services
  await downloads.flush()
  await usage.flush()
  await readmes.close()
  await models.close()
  await code.close()
}
