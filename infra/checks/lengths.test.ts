import { describe, expect, it } from 'vitest'
import { excessiveLengths, type Lengths, longestFile, longestFunction, longOnPurpose } from './lengths.ts'
import { readRepositoryFile, sourceFiles } from './repository-files.ts'

describe(`files of up to ${longestFile} lines, functions of up to ${longestFunction}`, () => {
  const files = sourceFiles('.ts', '.tsx', '.mjs', '.cc', '.cpp', '.h', '.hpp')
  const found: Lengths = Object.assign({}, ...files.map((path) => excessiveLengths(path, readRepositoryFile(path))))

  it('nothing is longer, except for listed exceptions', () => {
    expect(Object.entries(found).filter(([name]) => !(name in longOnPurpose))).toEqual([])
  })

  it('every exception is needed', () => {
    expect(Object.keys(longOnPurpose).filter((name) => !(name in found))).toEqual([])
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

  it('limits tests, but not describe blocks', () => {
    const test = (lines: number) => `it('works', () => {\n${body(lines)}})\n`
    expect(excessiveLengths('a.test.ts', `describe('all', () => {\n${test(50)}${test(50)}})\n`)).toEqual({})
    expect(excessiveLengths('a.test.ts', `describe.each([1])('all', () => {\n${test(50)}${test(50)}})\n`)).toEqual({})
    expect(Object.values(excessiveLengths('a.test.ts', `describe('all', () => {\n${test(99)}})\n`))).toEqual([101])
  })

  it('finds a long function in C++', () => {
    const source = `namespace learner {\n\nvoid Policy::forward(\n    int rows) {\n${body(90)}}\n\n}  // namespace learner\n`
    expect(excessiveLengths('policy.cc', source)).toEqual({ 'policy.cc › Policy::forward': 93 })
  })
})
