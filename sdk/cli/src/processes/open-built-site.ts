import type { ServeOptions } from '@agentgym/registry'

/** The marketplace's site; undefined in a clone that has not built it. */
export async function openBuiltSite(): Promise<ServeOptions['site']> {
  try {
    return (await import('@agentgym/web')).openSite
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}
