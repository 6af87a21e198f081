import { raw } from 'hono/html'
import pictureRules from '../styles/pictures.css?raw'
import tokens from '../styles/tokens.css?raw'
import { type SvgElement, svg, svgMarkup } from './svg.ts'

/** An inline picture. Its text is escaped. */
export function Picture({ picture }: { picture: SvgElement }) {
  return raw(svgMarkup(picture))
}

const style = [tokens, pictureRules].map((rules) => rules.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ')).join('')

/** A picture as a separate file for `<img>`, in the color scheme of the surrounding page. */
export function pictureDocument(picture: SvgElement): string {
  const attributes = { ...picture.attributes, xmlns: 'http://www.w3.org/2000/svg' }
  return svgMarkup({ ...picture, attributes, children: [svg('style', {}, style), ...picture.children] })
}
