import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { playRecordedRun, queuedRun, startRunServer } from './run-server.ts'
import { type Typing, typeOnTerminal } from './type-on-terminal.ts'

const replay = fileURLToPath(new URL('./replay-run.ts', import.meta.url))
const enterScreen = '\u001b[?1049h'
const leaveScreen = '\u001b[?1049l'
const showCursor = '\u001b[?25h'

/**
 * Plays the recorded run on a real pseudo-terminal, which util-linux's `script` opens, and types `keys` as soon as `when`
 * has been drawn. Gives back every byte that the terminal was sent.
 */
function onTerminal(kind: string, options: Typing & { msPerEvent?: number } = {}): Promise<string> {
  return typeOnTerminal(`'${process.execPath}' '${replay}' ${kind} ${options.msPerEvent ?? 5}`, options)
}

describe.runIf(process.platform === 'linux')('on a terminal', () => {
  it('the live block is redrawn and ends with the result', async () => {
    const output = await onTerminal('live')
    expect(output).not.toContain(enterScreen)
    expect(output).toContain('steps/s')
    expect(output).toMatch(/Every target reached on 100 held-out episodes.*Evaluate it/s)
    expect(output.lastIndexOf(showCursor)).toBeGreaterThan(output.lastIndexOf('\u001b[?25l'))
  })

  it('the dashboard uses the alternate screen and restores the terminal', async () => {
    const output = await onTerminal('watch')
    const after = output.slice(output.indexOf(leaveScreen))
    expect(output.indexOf(enterScreen)).toBeGreaterThan(0)
    expect(output.indexOf(leaveScreen)).toBeGreaterThan(output.indexOf(enterScreen))
    expect(after).toContain('Every target reached')
    expect(after).toContain(showCursor)
  })

  it('q leaves the dashboard, and the run continues in the live block', async () => {
    const output = await onTerminal('watch', { keys: 'q', when: 'explained variance', msPerEvent: 20 })
    const after = output.slice(output.indexOf(leaveScreen))
    expect(output.indexOf(leaveScreen)).toBeGreaterThan(0)
    expect(after).toContain('Press Ctrl-C to stop and keep a checkpoint')
    expect(after).toContain('Every target reached')
  })

  it('Ctrl-C in the dashboard stops the run', async () => {
    const output = await onTerminal('watch', { keys: '\u0003', when: 'explained variance', msPerEvent: 50 })
    expect(output).toContain('Stopping; writing the checkpoint')
    expect(output).toContain(leaveScreen)
    expect(output).not.toContain('Every target reached')
  })

  it('an error while drawing does not end the run', async () => {
    const output = await onTerminal('fault', { msPerEvent: 10 })
    const after = output.slice(output.indexOf(leaveScreen))
    expect(output.indexOf(leaveScreen)).toBeGreaterThan(0)
    expect(after).toContain('Every target reached')
  })
})

describe.runIf(process.platform === 'linux')('a run on the server, on a terminal', () => {
  const agentgym = fileURLToPath(new URL('../../../agentgym', import.meta.url))

  it('has the dashboard; Ctrl-C detaches and the run continues', async () => {
    const server = await startRunServer({ run: queuedRun({ ahead: 1 }) })
    try {
      await playRecordedRun(server, { share: 0.5 })
      const environment = { AGENTGYM_SERVER: server.url, AGENTGYM_TOKEN: 'agt_test' }
      const typing = { keys: '\u0003', when: 'the run continues', environment }
      const output = await typeOnTerminal(`'${agentgym}' runs watch 4f0c`, typing)
      const after = output.slice(output.indexOf(leaveScreen))
      expect(output.indexOf(enterScreen)).toBeGreaterThan(0)
      expect(output.indexOf(leaveScreen)).toBeGreaterThan(0)
      expect(after).toContain('continues on the server')
      expect(after).toContain('agentgym runs watch 4f0c1d2e')
      expect(output).not.toContain('Stopping')
      expect(server.requests.map(({ line }) => line)).not.toContain(`POST /v1/runs/${server.run.id}/cancel`)
    } finally {
      await server.close()
    }
  })
})
