// node infra/docs/capture-dashboard.ts [SCENARIO] > docs/training-dashboard.svg
// Trains for real in a terminal of tmux's, and draws its screen when the run has come far enough. Needs tmux.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drawTerminal } from './draw-terminal.ts'
import { readTerminalCells } from './terminal-cells.ts'

const [scenario = 'customer-support'] = process.argv.slice(2)
const columns = 104
const rows = 34
/** Share of the run after which the picture is taken, in per cent. */
const momentPercent = 70

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
const server = `dashboard-${process.pid}`
// A server of our own, without the user's settings.
const tmux = (...parameters: string[]) =>
  execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...parameters], { encoding: 'utf8' })

try {
  const command = `cd ${root} && LANG=C.UTF-8 ./agentgym train plugins/${scenario} --watch --out ${folder}/agent; sleep 3600`
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), command)
  for (let waited = 0; percentDone() < momentPercent; waited++) {
    if (waited > 3000) throw new Error(`the run did not reach ${momentPercent}%:\n${tmux('capture-pane', '-p')}`)
    await sleep(100)
  }
  const screen = tmux('capture-pane', '-e', '-p').trimEnd()
  process.stdout.write(drawTerminal(readTerminalCells(screen), `Training ${scenario}: agentgym train --watch`))
} finally {
  tmux('kill-server')
  rmSync(folder, { recursive: true, force: true })
}

function percentDone(): number {
  return Number(/(\d+)%\s+[\d,]+ \/ [\d,]+ steps/.exec(tmux('capture-pane', '-p'))?.[1] ?? 0)
}
