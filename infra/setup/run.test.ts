import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'setup-'))
afterAll(() => rmSync(folder, { recursive: true }))

const script = join(folder, 'script.sh')
writeFileSync(script, 'node --version; printf "%s\\n" "$#" "$2"; exit 7\n')

function setUp(environment: Record<string, string>, ...parameters: string[]) {
  const { LIBTORCH: _, ...inherited } = process.env
  return spawnSync('/bin/sh', [join(repositoryRoot, 'infra/setup/run.sh'), script, ...parameters], {
    cwd: folder,
    env: { ...inherited, LC_ALL: 'C.UTF-8', ...environment },
    encoding: 'utf8',
  })
}

describe('a clone that is set up', () => {
  it('runs the script with Node 24 and its arguments silently, and passes its exit status on', () => {
    const { status, stdout, stderr } = setUp({}, 'one', 'with a space')
    expect({ status, stderr }).toEqual({ status: 7, stderr: '' })
    expect(stdout).toMatch(/^v24\.\d+\.\d+\n2\nwith a space\n$/)
  })
})

describe('a machine that cannot be made ready', () => {
  /** A PATH with the basic tools alone: no compiler, no cmake, no package manager. */
  function barePath(): string {
    const bin = mkdtempSync(join(folder, 'bin-'))
    const basics = ['cat', 'cksum', 'cut', 'date', 'dirname', 'id', 'mktemp', 'rm', 'sh', 'uname']
    for (const tool of basics) {
      const { stdout } = spawnSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
      symlinkSync(stdout.trim(), join(bin, tool))
    }
    symlinkSync('/bin/true', join(bin, 'npx'))
    return bin
  }

  it('gets all missing requirements at once, without any change', () => {
    const { status, stdout, stderr } = setUp({ PATH: barePath() })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    for (const part of ['g++', 'make', 'cmake', 'libtorch', 'LIBTORCH', 'Nothing has been changed'])
      expect(stderr).toContain(part)
    expect(stderr).not.toContain('→')
  })

  it('gets an error for an invalid LIBTORCH', () => {
    const { status, stderr } = setUp({ LIBTORCH: join(folder, 'nowhere') })
    expect(status).toBe(2)
    expect(stderr).toContain(`LIBTORCH is ${join(folder, 'nowhere')}`)
  })
})
