// @module-tag full
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pythonEnvironment, runPytest } from '@agentgym/testkit/python'
import { describe, it } from 'vitest'

const command = join(import.meta.dirname, '../../agentgym')

describe('scenarios as environments of Gymnasium', { timeout: 600_000 }, () => {
  it('pass its checker, and are the same in every autoreset mode', async () => {
    const python = await pythonEnvironment('environments')
    const names = ['cart-pole', 'breakout', 'text-craft', 'grid-maze', 'pendulum']
    const server = spawn(command, ['env', 'serve', ...names, '--port', '0', '--exit-with-stdin', '--json'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      const [line] = await once(createInterface(server.stdout), 'line')
      const environment = { AGENTGYM_ENV_SERVER: JSON.parse(line).url, AGENTGYM_COMMAND: command }
      await runPytest(python, ['tests/test_scenario_envs.py'], { environment })
    } finally {
      server.stdin.end()
      await once(server, 'close')
    }
  })
})
