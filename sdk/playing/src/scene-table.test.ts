import { type Scene, sceneLimits } from '@agentgym/contract'
import type { Scene as AuthorsScene } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { readScene, SceneTable } from './scene-table.ts'

const scene: Scene = {
  width: 20,
  height: 10,
  shapes: [
    {
      kind: 'line',
      points: [
        [0, 0],
        [1.23456, 19.99999],
      ],
    },
    { kind: 'text', x: 0, y: 0, text: '<script>alert(1)</script>' },
  ],
}

test('what an author may return is what the contract takes', () => {
  const authors: AuthorsScene = scene
  expect(readScene(JSON.stringify(authors))).not.toBeNull()
})

test('reads a scene with the digits that a picture needs', () => {
  expect(readScene(JSON.stringify(scene))?.shapes[0]).toEqual({
    kind: 'line',
    points: [
      [0, 0],
      [1.23, 20],
    ],
  })
  const tiny = { ...scene, width: 2e-5, height: 1e-5, shapes: [{ kind: 'circle', x: 1.23456e-5, y: 0, radius: 1e-6 }] }
  expect(readScene(JSON.stringify(tiny))?.shapes[0]).toMatchObject({ x: 1.235e-5, radius: 1e-6 })
  const large = { ...scene, width: 1e6, shapes: [{ kind: 'circle', x: 123_456, y: 0, radius: 2 }] }
  expect(readScene(JSON.stringify(large))?.shapes[0]).toMatchObject({ x: 123_000 })
})

test.for([
  '',
  'null',
  '{"width":1,"height":1,"shapes":[{"kind":"svg","text":"<svg/>"}]}',
  '{"width":1,"height":1,"shapes":[{"kind":"circle","x":1e9,"y":0,"radius":1}]}',
  '{"width":1,"height":1,"shapes":[],"more":1}',
  `{"width":1,"height":1,"shapes":[${' '.repeat(2 * sceneLimits.characters)}]}`,
])('what is no scene is none: %#', (encoded) => {
  expect(readScene(encoded)).toBeNull()
})

test('keeps each shape once, and leaves out scenes for which there is no room', () => {
  const table = new SceneTable(4)
  expect(table.add(scene)).toEqual([0, 1])
  expect(table.add({ ...scene, shapes: [...scene.shapes.toReversed()] })).toEqual([1, 0])
  expect(table.length).toBe(2)
  expect(table.add(null)).toBeUndefined()
  expect(table.add({ ...scene, shapes: new Array(3).fill(scene.shapes[0]) })).toBeUndefined()
  expect(table.field()).toEqual({ scene: { width: 20, height: 10, shapes: scene.shapes } })
  expect(table.since(1)).toEqual([scene.shapes[1]])
})
