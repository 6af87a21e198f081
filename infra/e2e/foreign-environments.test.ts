// @module-tag full
import { pythonEnvironment, runPytest } from '@agentgym/testkit/python'
import { describe, it } from 'vitest'

describe('environments of Gymnasium, served by the vector protocol', { timeout: 600_000 }, () => {
  it('play the episodes that Gymnasium plays, and fail in words', async () => {
    const python = await pythonEnvironment('environments')
    await runPytest(python, ['tests/test_vector_frames.py', 'tests/test_foreign_server.py'])
  })
})
