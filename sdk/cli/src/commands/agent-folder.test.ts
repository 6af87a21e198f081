import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimAgentFolder, dropEmptyRun, resumedRequest, writeRunRequest } from './agent-folder.ts'

let parent: string
let folder: string
let checkpoint: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'agentgym-folder-'))
  folder = join(parent, 'agent')
  checkpoint = join(folder, '.agentgym', 'checkpoint.safetensors')
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

function put(...names: string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), name)
  }
}

const paths = { displayPath: (path: string) => path }
const claim = (force: boolean) => claimAgentFolder(folder, { force, checkpoint }, paths)
const request = { seed: 7, steps: 1000, algorithm: undefined, set: { gamma: '0.9' } }

describe('claiming a folder', () => {
  it('accepts one that is missing, empty, or left by a run that wrote nothing', async () => {
    expect(await claim(false)).toEqual({ movedTo: null })
    mkdirSync(folder)
    expect(await claim(false)).toEqual({ movedTo: null })
    await writeRunRequest(folder, request)
    expect(await claim(false)).toEqual({ movedTo: null })
  })

  it.each([
    ['an agent', ['agent.json', 'model.onnx']],
    ['an unfinished run', ['run.json', '.agentgym/checkpoint.safetensors']],
    ['an unfinished run', ['.agentgym/checkpoint.safetensors']],
  ])('refuses %s, and moves it aside when forced', async (what, files) => {
    put(...files)
    await expect(claim(false)).rejects.toMatchObject({ code: 'usage_invalid', message: expect.stringContaining(what) })
    mkdirSync(`${folder}.1`)
    expect(await claim(true)).toEqual({ movedTo: `${folder}.2` })
    expect(existsSync(folder)).toBe(false)
    for (const file of files) expect(readFileSync(join(`${folder}.2`, file), 'utf8')).toBe(file)
  })

  it.each([
    ['an unfinished run', ['run.json', 'notes.txt'], /^Use --resume to continue it, --out/],
    [
      'an unfinished run',
      ['run.json', 'agent.json', '.agentgym/checkpoint.safetensors'],
      /^Use --resume to continue it/,
    ],
    ['an agent', ['agent.json', '.agentgym/checkpoint.safetensors'], /^Use --resume --steps N to train it for N steps/],
    ['an agent', ['agent.json'], /^Use --out/],
  ])('suggests --resume only if it works (%s: %s)', async (what, files, hint) => {
    put(...files)
    const error = await claim(false).catch((error: unknown) => error)
    expect(error).toMatchObject({ message: expect.stringContaining(what), hint: expect.stringMatching(hint) })
  })

  it('never touches an unrelated folder, forced or not', async () => {
    // Such as a home folder with the settings of this very program in it.
    put('thesis.tex', '.agentgym/scenarios/x')
    for (const force of [false, true]) await expect(claim(force)).rejects.toMatchObject({ code: 'usage_invalid' })
    expect(readdirSync(folder).sort()).toEqual(['.agentgym', 'thesis.tex'])
  })

  it('refuses a file', async () => {
    writeFileSync(folder, '')
    await expect(claim(true)).rejects.toMatchObject({ code: 'usage_invalid' })
  })
})

describe('the record of a run', () => {
  it('returns the request, with new options taking precedence', async () => {
    await writeRunRequest(folder, request)
    expect(await resumedRequest(folder, {}, null, paths)).toEqual(request)
    expect(await resumedRequest(folder, { seed: 8, set: { gamma: '1', epochs: '2' } }, null, paths)).toEqual({
      ...request,
      seed: 8,
      set: { gamma: '1', epochs: '2' },
    })
  })

  it('applies --steps under every alias of the first command', async () => {
    await writeRunRequest(folder, { seed: 7, set: { n_timesteps: '1000', gamma: '0.9' } })
    const longer = { ...request, steps: 2000 }
    expect(await resumedRequest(folder, { steps: 2000 }, { seed: 7, steps: 500 }, paths)).toEqual(longer)
  })

  it('reports that there is nothing to resume', async () => {
    await expect(resumedRequest(folder, {}, null, paths)).rejects.toMatchObject({ code: 'file_not_found' })
    put('agent.json')
    await expect(resumedRequest(folder, {}, null, paths)).rejects.toMatchObject({
      code: 'file_not_found',
      hint: expect.not.stringContaining('resume'),
    })
  })

  it('resumes a complete run for more steps only', async () => {
    put('agent.json')
    const checkpoint = { seed: 3, steps: 1000 }
    await expect(resumedRequest(folder, {}, checkpoint, paths)).rejects.toMatchObject({
      code: 'usage_invalid',
      hint: expect.stringContaining('--resume --steps 2000'),
    })
    expect(await resumedRequest(folder, { steps: 3000 }, checkpoint, paths)).toMatchObject({ seed: 3, steps: 3000 })
  })

  it('refuses an invalid record', async () => {
    put('run.json')
    await expect(resumedRequest(folder, {}, null, paths)).rejects.toMatchObject({ code: 'checkpoint_invalid' })
  })

  it('is removed only with a run that wrote nothing', async () => {
    await writeRunRequest(folder, request)
    await dropEmptyRun(folder, paths)
    expect(existsSync(folder)).toBe(false)
    put('run.json', 'notes.txt')
    await dropEmptyRun(folder, paths)
    expect(readdirSync(folder)).toHaveLength(2)
  })
})
