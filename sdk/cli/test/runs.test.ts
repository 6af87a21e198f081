import { resultEventSchema, runSchema, trainingEventSchema } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { playRecordedRun, queuedRun, recordedRunId } from './run-server.ts'
import { serveRuns } from './serve-runs.ts'

const { serve, agentgym } = serveRuns()

type RunLine = { event: string; change: string | null; state: string; ahead: number | null }
const runLinesOf = (lines: unknown[]) => (lines as RunLine[]).filter(({ event }) => event === 'run')

describe('watching a run', () => {
  it('prints the lines of local training, with run events in between and the result last', async () => {
    const server = await serve()
    await playRecordedRun(server)
    const { status, lines, stderr } = await agentgym(['runs', 'watch', recordedRunId, '--json'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(runLinesOf(lines).map(({ change }) => change)).toEqual([null, 'queued', 'running', 'completed'])
    for (const { event, change, ...run } of runLinesOf(lines)) runSchema.parse(run)
    const others = lines
      .filter((line) => (line as RunLine).event !== 'run')
      .map((line) => trainingEventSchema.parse(line))
    expect(others.filter(({ event }) => event === 'progress')).toHaveLength(97)
    expect(resultEventSchema.parse(lines.at(-1))).toMatchObject({
      ok: true,
      agent: `${server.url}/v1/runs/${recordedRunId}/agent`,
    })
  })

  it('shows the changing queue position, and the worker', async () => {
    const running = await serve({ run: queuedRun({ ahead: 2 }) })
    let moved = false
    const { stdout, status } = await agentgym(['runs', 'watch', '4f0c'], {
      onLine: (line) => {
        if (line.includes('2 runs ahead')) running.change({ ahead: 1 })
        if (line.includes('1 run ahead') && !moved) {
          moved = true
          void playRecordedRun(running)
        }
      },
    })
    expect(status).toBe(0)
    expect(stdout).toMatch(/Queued, 2 runs ahead.*Queued, 1 run ahead.*Picked up by gpu-1.*Every target reached/s)
    expect(stdout).toContain('agentgym runs download 4f0c1d2e')
  })

  it('resumes after a broken connection without duplicate lines', async () => {
    const running = await serve()
    await playRecordedRun(running, { share: 0.5 })
    let broken = false
    const { lines, status } = await agentgym(['runs', 'watch', '4f0c1d2e', '--json'], {
      onLine: (line) => {
        if (broken || JSON.parse(line).iteration !== 40) return
        broken = true
        running.hangUp()
        running.emit(
          'failed',
          { error: { code: 'scenario_threw', message: 'it threw' } },
          {
            state: 'failed',
            error: { code: 'scenario_threw', message: 'it threw', hint: 'Fix it.' },
          },
        )
      },
    })
    expect(status).toBe(1)
    const iterations = lines.map((line) => (line as { iteration?: number }).iteration).filter((iteration) => iteration)
    expect(iterations).toEqual(Array.from({ length: iterations.length }, (_, index) => index + 1))
    expect(lines.at(-1)).toMatchObject({
      event: 'error',
      error: { code: 'scenario_threw', message: 'it threw', hint: 'Fix it.', data: { run: recordedRunId } },
    })
  })

  it('Ctrl-C detaches, shows how to find the run again, and exits with 0', async () => {
    const running = await serve()
    await playRecordedRun(running, { share: 0.2 })
    for (const json of [[], ['--json']]) {
      const { status, stdout, lines } = await agentgym(['runs', 'watch', '4f0c', ...json], {
        onLine: (line, interrupt) => {
          if (line.includes(json.length > 0 ? '"iteration":10,' : 'steps/s')) interrupt()
        },
      })
      expect(status).toBe(0)
      if (json.length > 0) expect(lines.at(-1)).toMatchObject({ event: 'run', change: 'detached', id: recordedRunId })
      else expect(stdout).toMatch(/4f0c1d2e continues on the server.*agentgym runs watch 4f0c1d2e/s)
    }
    expect(running.requests.some(({ line }) => line.includes('cancel'))).toBe(false)
  })

  it('of a run out of budget shows how to resume', async () => {
    const running = await serve()
    await playRecordedRun(running, { share: 0.2 })
    running.emit('budget_warning', { spent_minor: 188, budget_minor: 250 })
    running.emit(
      'budget_exceeded',
      { spent_minor: 250, budget_minor: 250 },
      {
        state: 'budget_exceeded',
        cost: { ...running.run.cost, spent_minor: 250 },
      },
    )
    const human = await agentgym(['runs', 'watch', '4f0c'])
    expect(human.status).toBe(1)
    expect(human.stdout).toContain('75% of the budget used: €1.88 of €2.50')
    expect(human.stderr).toMatch(/used up its budget: €2\.50 of €2\.50/)
    expect(human.stderr.replace(/\s+/g, ' ')).toContain('agentgym runs resume 4f0c1d2e --budget AMOUNT')
    const json = await agentgym(['runs', 'watch', '4f0c', '--json'])
    expect(json.lines.at(-1)).toMatchObject({ event: 'error', error: { code: 'budget_exceeded' } })
  })

  it('escapes untrusted text of scenarios and workers', async () => {
    const running = await serve()
    const evil = '\u001b[2J\u202eall is well\n✓ Every target reached'
    running.emit(
      'running',
      { attempt: 1, worker: evil, price_minor_per_hour: 0, from_iteration: 0 },
      { state: 'running' },
    )
    running.emit(
      'failed',
      { error: { code: 'scenario_threw', message: evil } },
      {
        state: 'failed',
        error: { code: 'scenario_threw', message: evil, hint: evil },
      },
    )
    const { stdout, stderr } = await agentgym(['runs', 'watch', '4f0c'])
    expect(stdout + stderr).not.toContain('\u001b')
    expect(stdout + stderr).not.toContain('\u202e')
    expect(stdout + stderr).not.toMatch(/^✓/m)
  })
})

describe('a run’s id', () => {
  const other = queuedRun({ id: '4f0cffff-5a6b-4c7d-8e9f-0a1b2c3d4e5f' })

  it('may be a unique prefix', async () => {
    const server = await serve({ others: [other] })
    const one = await agentgym(['runs', 'show', '4F0C1', '--json'])
    expect(one.lines[0]).toMatchObject({ id: recordedRunId, events: [], curve: [] })
    const two = await agentgym(['runs', 'show', '4f0c', '--json'])
    expect(two).toMatchObject({
      status: 2,
      lines: [{ error: { code: 'usage_invalid', data: { runs: [recordedRunId, other.id] } } }],
    })
    const none = await agentgym(['runs', 'cancel', 'dead', '--json'])
    expect(none).toMatchObject({ status: 1, lines: [{ error: { code: 'run_not_found' } }] })
    for (const text of ['4f0', 'latest', '../status', '']) {
      const wrong = await agentgym(['runs', 'show', text, '--json'])
      expect(wrong).toMatchObject({ status: 2, lines: [{ error: { code: 'usage_invalid' } }] })
    }
    expect(server.requests.some(({ line }) => line.includes('cancel'))).toBe(false)
  })
})
