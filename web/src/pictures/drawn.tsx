import { raw } from 'hono/html'
import type { SvgElement } from './svg-element.ts'
import { svgMarkup } from './svg-markup.ts'

/** A picture in a page. What it says has been escaped. */
export function Drawn({ picture }: { picture: SvgElement }) {
  return raw(svgMarkup(picture))
}
