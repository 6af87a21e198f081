import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findChromium } from '@agentgym/testkit/browser'

/** Fetched when it is asked for: a hundred packages that nothing but this needs are not worth a place in every clone. */
const lighthouse = 'lighthouse@13.5.0'

/** Scores from 0 to 100. */
export type LighthouseScores = { performance: number; accessibility: number }

/** What Lighthouse gives the page as a desktop computer loads it. Its report is left in `folder`. */
export async function lighthouseScores(url: string, folder: string): Promise<LighthouseScores> {
  const report = join(folder, 'lighthouse.json')
  const flags = [
    '--preset=desktop',
    '--only-categories=performance,accessibility',
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
  const score = (category: keyof LighthouseScores) => Math.round(categories[category].score * 100)
  return { performance: score('performance'), accessibility: score('accessibility') }
}
