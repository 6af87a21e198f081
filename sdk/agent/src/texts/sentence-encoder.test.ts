import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { obtainEncoder } from './obtain-encoder.ts'
import { type EncoderFiles, SentenceEncoder } from './sentence-encoder.ts'
import { WordPieces } from './word-pieces.ts'

type Reference = { texts: { text: string; ids: number[]; vector: number[] }[] }
const { texts } = JSON.parse(
  readFileSync(new URL('./testing/reference-vectors.json', import.meta.url), 'utf8'),
) as Reference

let files: EncoderFiles
let encoder: SentenceEncoder
beforeAll(async () => {
  files = await obtainEncoder('minilm')
  encoder = new SentenceEncoder(files)
})

const cosine = (a: ArrayLike<number>, b: ArrayLike<number>) => {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) => Array.from(x).reduce((sum, v, i) => sum + v * y[i], 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

it.each(texts)('splits $text into the word pieces of the reference', ({ text, ids }) => {
  expect(new WordPieces(files.vocabulary).encode(text, 128)).toEqual(ids)
})

it('cuts off what is beyond the declared tokens, and keeps the two marks', () => {
  const [{ text, ids }] = texts
  expect(new WordPieces(files.vocabulary).encode(text, 5)).toEqual([...ids.slice(0, 4), 102])
})

it.each(texts)('encodes $text as the float32 model does, but for the int8 weights', ({ text, vector }) => {
  expect(cosine(encoder.encode(text, 128), vector)).toBeGreaterThan(0.99)
})

it('gives vectors of length 1, the same bits whenever and wherever a text is encoded', () => {
  const other = new SentenceEncoder(files)
  const before = texts.map(({ text }) => other.encode(text, 128))
  for (const [i, { text }] of [...texts.entries()].reverse()) {
    const vector = encoder.encode(text, 128)
    expect(vector).toEqual(before[i])
    expect(vector.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5)
  }
  other.dispose()
})

it('puts one meaning in other words closer than another meaning in the same words', () => {
  const [asked, same, other] = [
    'I want my money back for this order.',
    'Please issue a refund.',
    'I want to change my address for this order.',
  ].map((text) => encoder.encode(text, 128))
  expect(cosine(asked, same)).toBeGreaterThan(cosine(asked, other))
})
