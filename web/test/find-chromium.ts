import { existsSync } from 'node:fs'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine's Chromium: Debian's package, which the set-up of the tests installs, or AGENTGYM_TEST_CHROMIUM. */
export function findChromium(): string {
  const found = [process.env.AGENTGYM_TEST_CHROMIUM ?? '', ...places].find((path) => path !== '' && existsSync(path))
  if (found === undefined) throw new Error('no Chromium: install the package chromium, or set AGENTGYM_TEST_CHROMIUM')
  return found
}
