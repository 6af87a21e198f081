import { describe, expect, it } from 'vitest'
import { RestartPause } from './supervisor.ts'

describe('restart pause', () => {
  it('doubles from 0.1 s to 10 s, and resets after a healthy minute', () => {
    const pause = new RestartPause()
    const pauses = Array.from({ length: 9 }, () => pause.next(0))
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    expect(pause.next(59_999)).toBe(10_000)
    expect(pause.next(60_000)).toBe(100)
    expect(pause.next(0)).toBe(200)
  })
})
