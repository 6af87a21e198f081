import type { ServeOptions } from '@agentgym/registry'
import type { Preview } from '@agentgym/web'

/** The marketplace's site; undefined in a clone that has not built it. */
export async function openBuiltSite(): Promise<ServeOptions['site']> {
  try {
    const { openSite } = await import('@agentgym/web')
    const { PreviewPictures } = await import('../rendering/preview-pictures.ts')
    // Loaded when the first picture is asked for: it comes with a graphics library.
    const draw = async (preview: Preview) => (await import('../rendering/draw-preview.ts')).drawPreview(preview)
    const previews = new PreviewPictures(draw)
    return (host) => openSite({ ...host, drawPreview: (preview) => previews.picture(preview) })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}
