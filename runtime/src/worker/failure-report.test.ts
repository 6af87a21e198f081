import { tmpdir } from 'node:os'
import { AgentGymError } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { publicReport, withoutFolders } from './failure-report.ts'

it('names no folder of the machine, and keeps what lies in them', () => {
  const job = `${tmpdir()}/agentgym-work-x1`
  const error = new AgentGymError({
    code: 'training_failed',
    message: `cannot read ${job}/agent/agent.json in ${job}`,
    hint: `look at ${process.cwd()}/runtime`,
    data: { stack: `at file://${process.cwd()}/runtime/src/index.ts:3:4`, path: job },
  })
  const report = publicReport(error, [job])
  expect(report).toMatchObject({ message: 'cannot read agent/agent.json in .', hint: 'look at runtime' })
  expect(report.data).toEqual({ stack: 'at file://runtime/src/index.ts:3:4', path: '.' })
})

it('leaves other paths alone', () => {
  expect(withoutFolders('/tmpfs/a /srv/tmp/b', ['/tmp'])).toBe('/tmpfs/a /srv/tmp/b')
})

it('is capped as the contract has it', () => {
  const data = { output: 'x'.repeat(100_000) }
  const report = publicReport(new AgentGymError({ code: 'scenario_threw', message: 'y'.repeat(9_000), data }))
  expect(report.message).toHaveLength(4_000)
  expect(report.data).toBeUndefined()
})
