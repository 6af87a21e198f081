import { describe, expect, it } from 'vitest'
import { Playback, paceMs } from './playback.ts'

describe('the pace of an episode', () => {
  it('lets it last about ten seconds, within limits', () => {
    expect([0, 1, 20, 100, 200, 10_000].map(paceMs)).toEqual([600, 600, 500, 100, 50, 40])
  })
})

describe('playback', () => {
  it('starts at step 0 and stays at the last one', () => {
    const playback = new Playback(5, 100)
    expect(playback.stepAt(1_000)).toBe(0)
    playback.play(1_000)
    expect([1_000, 1_099, 1_100, 1_450, 1_500, 9_000].map((now) => playback.stepAt(now))).toEqual([0, 0, 1, 4, 5, 5])
    // Plays again from the start.
    playback.play(9_000)
    expect(playback.stepAt(9_100)).toBe(1)
  })

  it('goes on where it was paused', () => {
    const playback = new Playback(5, 100)
    playback.play(0)
    playback.pause(250)
    expect(playback.playing).toBe(false)
    expect(playback.stepAt(5_000)).toBe(2)
    playback.play(5_000)
    expect(playback.stepAt(5_100)).toBe(3)
  })

  it('pauses where the viewer seeks, within the episode', () => {
    const playback = new Playback(5, 100)
    playback.play(0)
    for (const [wanted, shown] of [
      [3, 3],
      [-1, 0],
      [99, 5],
    ]) {
      playback.seek(wanted)
      expect([playback.stepAt(60_000), playback.playing]).toEqual([shown, false])
    }
  })

  it('changes its speed without a jump, and ignores a clock that goes back', () => {
    const playback = new Playback(100, 100)
    playback.play(0)
    playback.setSpeed(4, 1_000)
    expect(playback.stepAt(1_000)).toBe(10)
    expect(playback.stepAt(1_100)).toBe(14)
    playback.setSpeed(0.25, 1_100)
    expect(playback.stepAt(1_500)).toBe(15)
    expect(playback.stepAt(900)).toBe(14)
  })
})
