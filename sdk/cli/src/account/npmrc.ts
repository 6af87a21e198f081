import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CommandIo } from '../command-io.ts'
import { writePrivateFile } from './write-private-file.ts'

/** The .npmrc of the user, where npm looks for it. */
export function userNpmrc({ environment, cwd }: CommandIo): string {
  const named = environment.npm_config_userconfig || environment.NPM_CONFIG_USERCONFIG
  return named ? resolve(cwd, named) : join(environment.HOME || homedir(), '.npmrc')
}

/** Points npm, pnpm and yarn at the server for these scopes. Every other line of the file stays as it is. */
export async function addToNpmrc(
  path: string,
  entry: { server: string; token: string; scopes: readonly string[] },
): Promise<void> {
  const registry = `${entry.server}/npm/`
  let text = await readText(path)
  for (const scope of entry.scopes) text = setKey(text, `@${scope}:registry`, registry)
  text = setKey(text, tokenKey(entry.server), entry.token)
  await writePrivateFile(path, text)
}

/** Removes the server's token unless another one replaced it. The registry of the scopes stays: it is not a secret. */
export async function removeFromNpmrc(path: string, entry: { server: string; token: string }): Promise<void> {
  const text = await readText(path)
  const key = tokenKey(entry.server)
  const kept = lines(text).filter((line) => keyOf(line) !== key || valueText(line) !== entry.token)
  if (kept.join('') !== text) await writePrivateFile(path, kept.join(''))
}

/** npm's name for the credentials of a registry: its address without the protocol. */
function tokenKey(server: string): string {
  return `//${server.replace(/^https?:\/\//, '')}/npm/:_authToken`
}

/** Replaces the line of a key (the last one, which npm uses), or appends it. */
export function setKey(text: string, key: string, value: string): string {
  const all = lines(text)
  const at = all.findLastIndex((line) => keyOf(line) === key)
  // npm ignores keys below a `[section]`, so the line goes above.
  if (at < 0) return insertAboveSections(all, `${key}=${value}`)
  const ending = /\r?\n$/.exec(all[at])?.[0] ?? ''
  all[at] = `${key}=${value}${ending}`
  return all.join('')
}

function insertAboveSections(all: string[], line: string): string {
  const section = all.findIndex((one) => /^\s*\[/.test(one))
  const before = section < 0 ? all : all.slice(0, section)
  const after = section < 0 ? [] : all.slice(section)
  const ending = all.some((one) => one.endsWith('\r\n')) ? '\r\n' : '\n'
  const joint = before.length > 0 && !before[before.length - 1].endsWith('\n') ? ending : ''
  return `${before.join('')}${joint}${line}${ending}${after.join('')}`
}

function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function keyOf(line: string): string | undefined {
  if (/^\s*[;#[]/.test(line)) return undefined
  const at = line.indexOf('=')
  return at < 0 ? undefined : unquote(line.slice(0, at))
}

function valueText(line: string): string {
  return unquote(line.slice(line.indexOf('=') + 1))
}

function unquote(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
}
