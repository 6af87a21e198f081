import { type Verification, verificationStatementSchema } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { type SvgElement, svg, svgMarkup } from '@agentgym/pictures'
import { route } from '../app/route.ts'

const headers = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'public, max-age=3600',
  // For READMEs on other hosts.
  'cross-origin-resource-policy': 'cross-origin',
}

/** The badge of an agent, for READMEs: `verified 500`, the mean return of its latest version on held-out episodes. */
export const badgeRoutes = [
  route('get', '/badges/:scope/:name', { access: 'public' }, async ({ api, params: { scope, name } }) => {
    const { data } = await api.GET('/v1/packages/{scope}/{name}/view', { params: { path: { scope, name } } })
    const { word, value } = badgeOf(data.latest?.details.verification ?? null)
    return new Response(svgMarkup(badge(word, value)), { headers })
  }),
]

/** Markdown of the badge, which links to the package. */
export function badgeMarkdown(server: string, name: string): string {
  return `[![verified](${server}/badges/${name})](${server}/packages/${name})`
}

function badgeOf(verification: Verification | null): { word: string; value: string } {
  if (verification?.state !== 'verified' || verification.signed === null) return { word: 'verification', value: 'none' }
  const { held_out } = verificationStatementSchema.parse(JSON.parse(verification.signed.statement))
  return { word: 'verified', value: held_out.return_mean === null ? 'yes' : formatValue(held_out.return_mean) }
}

const characterWidth = 6.5
const padding = 7
const height = 20

function badge(word: string, value: string): SvgElement {
  const [wordWidth, valueWidth] = [word, value].map((text) => Math.round(text.length * characterWidth) + 2 * padding)
  const width = wordWidth + valueWidth
  const good = word === 'verified'
  const label = (text: string, x: number, textWidth: number) =>
    svg('text', { x: x + padding, y: 14, fill: '#fff', textLength: textWidth - 2 * padding }, text)
  return svg(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `${word}: ${value}`,
      'font-family': 'Verdana, DejaVu Sans, sans-serif',
      'font-size': 11,
    },
    svg('rect', { width, height, rx: 3, fill: '#3b434b' }),
    svg('path', {
      d: `M${wordWidth} 0h${valueWidth - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h${3 - valueWidth}z`,
      fill: good ? '#0f6b39' : '#6b7280',
    }),
    label(word, 0, wordWidth),
    label(value, wordWidth, valueWidth),
  )
}
