import { describe, expect, it } from 'vitest'
import { excessiveLengths, type Lengths, longestFile, longestFunction } from './lengths.ts'
import known from './lengths-known.json' with { type: 'json' }
import { readRepositoryFile, sourceFiles } from './repository-files.ts'

const files = sourceFiles('.ts', '.tsx', '.mjs', '.cc', '.cpp', '.h', '.hpp')

describe(`files up to ${longestFile} lines, functions up to ${longestFunction}`, () => {
  const ratchet: Lengths = known
  const found: Lengths = Object.assign({}, ...files.map((path) => excessiveLengths(path, readRepositoryFile(path))))

  it('nothing is too long, but for what lengths-known.json admits', () => {
    const grown = Object.entries(found).filter(([name, length]) => length > (ratchet[name] ?? 0))
    expect(grown).toEqual([])
  })

  it('the ratchet holds: what has become shorter is entered as such', () => {
    const slack = Object.entries(ratchet).filter(([name, length]) => (found[name] ?? 0) < length)
    expect(slack, 'lower these in lengths-known.json, or take them out').toEqual([])
  })
})

describe('excessiveLengths', () => {
  const body = (lines: number) => '  work()\n'.repeat(lines)

  it('finds long files', () => {
    expect(excessiveLengths('a.ts', '// line\n'.repeat(longestFile))).toEqual({})
    expect(excessiveLengths('a.ts', '// line\n'.repeat(longestFile + 1))).toEqual({ 'a.ts': longestFile + 1 })
  })

  it.each([
    ['a declaration', (inner: string) => `function long() {\n${inner}}\n`],
    ['an arrow function', (inner: string) => `export const long = async () => {\n${inner}}\n`],
    ['a method', (inner: string) => `class Worker {\n long() {\n${inner}}\n}\n`],
    ['a property', (inner: string) => `const table = {\n long: () => {\n${inner}}\n}\n`],
  ])('finds %s', (_, wrap) => {
    expect(excessiveLengths('a.ts', wrap(body(longestFunction - 2)))).toEqual({})
    expect(excessiveLengths('a.ts', wrap(body(longestFunction)))).toEqual({ 'a.ts › long': longestFunction + 2 })
  })

  it('lets a describe block be as long as its chapter, but not a test in it', () => {
    const test = (lines: number) => `it('works', () => {\n${body(lines)}})\n`
    expect(excessiveLengths('a.test.ts', `describe('all', () => {\n${test(40)}${test(40)}})\n`)).toEqual({})
    expect(excessiveLengths('a.test.ts', `describe.each([1])('all', () => {\n${test(40)}${test(40)}})\n`)).toEqual({})
    expect(Object.values(excessiveLengths('a.test.ts', `describe('all', () => {\n${test(99)}})\n`))).toEqual([101])
  })

  it('finds a long function in C++', () => {
    const source = `namespace learner {\n\nvoid Policy::forward(\n    int rows) {\n${body(90)}}\n\n}  // namespace learner\n`
    expect(excessiveLengths('policy.cc', source)).toEqual({ 'policy.cc › Policy::forward': 93 })
  })
})
