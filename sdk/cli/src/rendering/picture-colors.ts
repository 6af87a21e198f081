import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type Theme = 'light' | 'dark'

/** The palette of pictures as a stylesheet. */
export function colorRules(): string {
  return readFileSync(fileURLToPath(import.meta.resolve('@agentgym/pictures/styles/colors.css')), 'utf8')
}

/** The palette of one theme: `#rrggbb` by name of the custom property, without its dashes. */
export function readPalette(css: string, theme: Theme): Map<string, string> {
  const palette = new Map<string, string>()
  for (const [, name, light, dark] of css.matchAll(
    /--([\w-]+): light-dark\((oklch\([^)]*\)|#\w+), (oklch\([^)]*\)|#\w+)\)/g,
  ))
    palette.set(name, hexOf(theme === 'light' ? light : dark))
  return palette
}

function hexOf(color: string): string {
  if (color.startsWith('#')) return color
  const [lightness, chroma, hue] = color.match(/[\d.]+/g)?.map(Number) ?? []
  const channels = linearOf(lightness / 100, chroma, (hue * Math.PI) / 180)
  return `#${channels.map((value) => byteOf(value).toString(16).padStart(2, '0')).join('')}`
}

/** OKLCH to linear sRGB, after Ottosson's definition of Oklab. */
function linearOf(lightness: number, chroma: number, hue: number): [number, number, number] {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)]
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

function byteOf(linear: number): number {
  const value = Math.min(1, Math.max(0, linear))
  const encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055
  return Math.round(encoded * 255)
}
