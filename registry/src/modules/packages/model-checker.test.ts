import { afterAll, describe, expect, it } from 'vitest'
import { badModels } from '../../../../testdata/models/bad-models.ts'
import { goodModel, goodModels, goodPolicy } from '../../../../testdata/models/good-models.ts'
import { ModelChecker } from './model-checker.ts'

const checker = new ModelChecker()
afterAll(() => checker.close())

describe('model checks in a thread', () => {
  it('return the codes of the check, also concurrently', async () => {
    const some = badModels.filter((_, i) => i % 10 === 0)
    const refused = some.map(({ bytes }) => checker.check({ bytes, policy: goodPolicy }).catch((error) => error))
    const passed = goodModels.filter((_, i) => i !== 1).map((model) => checker.check(model))
    await Promise.all(passed)
    expect((await Promise.all(refused)).map(({ code }) => code)).toEqual(some.map(({ code }) => code))
    const [, { policy, bytes }] = goodModels
    await expect(checker.check({ bytes, policy })).rejects.toMatchObject({
      code: 'model_not_canonical',
      hint: expect.stringContaining('onnx.save'),
      data: { file: 'model.onnx' },
    })
  })

  it('do not block the server', async () => {
    await checker.check({ bytes: goodModel(), policy: goodPolicy })
    let turns = 0
    let done = false
    const turn = () => {
      turns++
      if (!done) setImmediate(turn)
    }
    setImmediate(turn)
    // On the server's own thread, none of these would let the event loop turn.
    for (let checks = 0; checks < 10; checks++) await checker.check({ bytes: goodModel(), policy: goodPolicy })
    done = true
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  it('restart the thread after it has ended', async () => {
    await checker.close()
    await checker.check({ bytes: goodModel(), policy: goodPolicy })
  })
})
