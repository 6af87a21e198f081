import { expect, test } from 'vitest'
import { faultOf, startEngine, trajectories } from '../../test/start-engine.ts'
import { box, defineScenario, discrete, frameStack, type Scene } from '../index.ts'

type State = { x: number; luck: number }

function drawing(render: (state: State) => unknown) {
  return defineScenario({
    observation: box({ shape: [1] }),
    action: discrete({ n: 2 }),
    maxSteps: 3,
    reset: ({ rng }): State => ({ x: 0, luck: rng() }),
    step(state: State, action, { rng }) {
      state.x += action + rng()
      return { reward: state.x, terminated: false }
    },
    observe: ({ x }) => [x],
    render: render as (state: State) => Scene,
  })
}

const scene = (x: number): Scene => ({
  width: 4,
  height: 2,
  y: 'up',
  shapes: [
    {
      kind: 'line',
      points: [
        [0, 0],
        [x, 1],
      ],
      color: 'line',
      thickness: 0.5,
    },
    {
      kind: 'polygon',
      points: [
        [0, 0],
        [1, 1],
        [1, 0],
      ],
      outline: true,
    },
    { kind: 'circle', x: 1, y: 1, radius: 0.5, color: 'orange' },
    { kind: 'rect', x: 0, y: 0, width: 4, height: 1 },
    { kind: 'text', x, y: 2, text: '“<b>”\n', align: 'middle' },
  ],
})

test('draws the first row as it is, and as it was at the end of its episode', () => {
  const { engine, buffers } = startEngine(
    drawing(({ x }) => scene(Math.floor(x))),
    { environments: 2, watchScenes: true },
  )
  engine.reset()
  expect(JSON.parse(engine.scene(false))).toEqual(scene(0))
  expect(engine.scene(true)).toBe('')
  for (let step = 0; step < 3; step += 1) {
    buffers.actions.fill(1)
    engine.step()
  }
  // The next episode has begun.
  expect(JSON.parse(engine.scene(false))).toEqual(scene(0))
  expect(JSON.parse(engine.scene(true)).shapes[0].points[1][0]).toBeGreaterThanOrEqual(3)
})

test('nothing is called or kept where nobody looks, and looking changes nothing', () => {
  let calls = 0
  const definition = drawing(() => {
    calls += 1
    return { ...scene(1), shapes: [] }
  })
  const play = (look: boolean) => {
    const started = startEngine(definition, { watchScenes: look })
    started.engine.reset()
    const steps = Array.from({ length: 7 }, () => {
      if (look) started.engine.scene(false)
      started.engine.step()
      return [started.buffers.rewards[0], started.buffers.observations[0]]
    })
    return steps
  }
  const unseen = play(false)
  expect(calls).toBe(0)
  expect(play(true)).toEqual(unseen)
  expect(calls).toBe(7)
  expect(trajectories(startEngine(definition), 5)[0]).toHaveLength(6)
})

test('what a picture draws at random comes from no stream', () => {
  const drawn: number[] = []
  const started = startEngine(
    drawing(() => {
      drawn.push(started.engine.currentRandom(), started.engine.currentRandom())
      return scene(1)
    }),
  )
  started.engine.reset()
  const before = started.engine.currentRandom()
  started.engine.reset()
  started.engine.scene(false)
  expect(drawn).toEqual([0.5, 0.5])
  expect(started.engine.currentRandom()).toBe(before)
})

test('a scenario without render draws nothing; a stack of frames draws what it stacks', () => {
  const plain = drawing(() => scene(1))
  const { engine, description } = startEngine(frameStack(plain, { frames: 2 }))
  engine.reset()
  expect(description.renders).toBe(true)
  expect(JSON.parse(engine.scene(false))).toEqual(scene(1))
  const { render: _render, ...without } = plain
  const blind = startEngine(without)
  blind.engine.reset()
  expect(blind.description.renders).toBeUndefined()
  expect(blind.engine.scene(false)).toBe('')
})

test.for<[unknown, RegExp]>([
  [undefined, /render: what it returned must be an object, got undefined/],
  [{ width: 0, height: 1, shapes: [] }, /render: width must be a number from 0.000001/],
  [{ width: 1, height: Number.NaN, shapes: [] }, /render: height/],
  [{ width: 1, height: 1, y: 'left', shapes: [] }, /y must be one of down up, got the string "left"/],
  [{ width: 1, height: 1, shapes: 'none' }, /shapes must be an array/],
  [{ width: 1, height: 1, shapes: new Array(401).fill(scene(0).shapes[2]) }, /has 401 shapes; at most 400/],
  [{ width: 1, height: 1, shapes: [{ kind: 'svg', text: '<svg>' }] }, /shapes\[0\] kind must be line, polygon/],
  [
    { width: 1, height: 1, shapes: [{ kind: 'circle', x: 1, y: Infinity, radius: 1 }] },
    /shapes\[0\].y must be a number/,
  ],
  [
    { width: 1, height: 1, shapes: [{ kind: 'circle', x: 1, y: 1, radius: 1, color: 'red' }] },
    /color must be one of ink/,
  ],
  [{ width: 1, height: 1, shapes: [{ kind: 'line', points: [[0, 0]] }] }, /has 1 points; from 2 to 256/],
  [{ width: 1, height: 1, shapes: [{ kind: 'line', points: [[0, 0], [1]] }] }, /points\[1\] must be \[x, y\]/],
  [{ width: 1, height: 1, shapes: [{ kind: 'text', x: 0, y: 0, text: 7 }] }, /text must be a string, got 7/],
])('refuses %j', ([returned, message]) => {
  const { engine } = startEngine(drawing(() => returned))
  engine.reset()
  const fault = faultOf(() => engine.scene(false))
  expect(fault).toMatchObject({ code: 'scene_invalid', phase: 'render', step: 0 })
  expect(fault.message).toMatch(message)
})

test('a render that throws is a fault at its place', () => {
  const { engine } = startEngine(
    drawing(() => {
      throw new Error('no brush')
    }),
  )
  engine.reset()
  engine.step()
  const fault = faultOf(() => engine.scene(false))
  expect(fault).toMatchObject({ code: 'scenario_threw', phase: 'render', step: 1, message: 'render threw: no brush' })
})

test('the author’s toJSON is not asked', () => {
  const tampering = Object.assign(scene(1), { toJSON: () => 'mine' })
  const { engine } = startEngine(drawing(() => tampering))
  engine.reset()
  expect(JSON.parse(engine.scene(false)).width).toBe(4)
})
