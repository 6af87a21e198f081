import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findChromium } from '@agentgym/testkit/browser'

/** Fetched when it is asked for: a hundred packages that nothing but this needs are not worth a place in every clone. */
const lighthouse = 'lighthouse@13.5.0'

export const lighthouseDevices = ['desktop', 'mobile'] as const
export const lighthouseCategories = ['performance', 'accessibility', 'best-practices', 'seo'] as const

/** Scores from 0 to 100. */
export type LighthouseScores = Record<(typeof lighthouseCategories)[number], number>

type Look = { device: (typeof lighthouseDevices)[number]; folder: string }

/** What Lighthouse gives the page, its network and processor simulated. Its report is left in `folder`. */
export async function lighthouseScores(url: string, { device, folder }: Look): Promise<LighthouseScores> {
  const report = join(folder, 'lighthouse.json')
  const flags = [
    // A mobile device is what Lighthouse takes without a preset.
    ...(device === 'desktop' ? ['--preset=desktop'] : []),
    `--only-categories=${lighthouseCategories.join(',')}`,
    '--chrome-flags=--headless=new --no-sandbox',
    '--output=json',
    `--output-path=${report}`,
    '--quiet',
  ]
  const look = () =>
    promisify(execFile)('npx', ['-y', lighthouse, url, ...flags], {
      cwd: folder,
      env: { ...process.env, CHROME_PATH: findChromium(), npm_config_ignore_scripts: 'true' },
      maxBuffer: 64 << 20,
    })
  // Now and then Chromium's trace lacks its beginning; Lighthouse then asks to be run again.
  await look().catch((error: Error) => {
    if (!error.message.includes('run Lighthouse again')) throw error
    return look()
  })
  const { categories } = JSON.parse(await readFile(report, 'utf8')) as { categories: Record<string, { score: number }> }
  const score = (category: string) => Math.round(categories[category].score * 100)
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    'best-practices': score('best-practices'),
    seo: score('seo'),
  }
}
