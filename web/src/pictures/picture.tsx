import { type SvgElement, svg, svgMarkup } from '@agentgym/pictures'
import { raw } from 'hono/html'
import colors from '../../../sdk/pictures/styles/colors.css?raw'
import pictureRules from '../../../sdk/pictures/styles/pictures.css?raw'
import tokens from '../styles/tokens.css?raw'

/** An inline picture. Its text is escaped. */
export function Picture({ picture }: { picture: SvgElement }) {
  return raw(svgMarkup(picture))
}

const style = [colors, tokens, pictureRules]
  .map((rules) => rules.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' '))
  .join('')

/** A picture as a separate file for `<img>`, in the color scheme of the surrounding page. */
export function pictureDocument(picture: SvgElement): string {
  const attributes = { ...picture.attributes, xmlns: 'http://www.w3.org/2000/svg' }
  return svgMarkup({ ...picture, attributes, children: [svg('style', {}, style), ...picture.children] })
}
