import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** How this machine lets a test mount something that nothing else sees: as root, or as root of a user namespace. */
const ways = [['--mount'], ['--mount', '--map-root-user']]

/** Null with the reason where it does not. */
function findWay(): { flags: string[] } | { reason: string } {
  let reason = ''
  for (const flags of ways) {
    try {
      execFileSync('unshare', [...flags, 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'agentgym', '/mnt'], {
        stdio: 'pipe',
      })
      return { flags }
    } catch (error) {
      reason =
        String(error instanceof Error ? error.message : error)
          .trim()
          .split('\n')
          .at(-1) ?? ''
    }
  }
  return { reason }
}

const way = findWay()

/** Why this machine has no small disks; null if it has. */
export const noSmallDisk: string | null = 'reason' in way ? way.reason : null

/**
 * Runs a shell script with a small disk of its own at `$DISK`, which is gone afterwards, `$AGENTGYM` as the command, and
 * the functions `fill` (leaves no space), `resize SIZE` and `say KEY` (prints the lines that follow from stdin under
 * a key). Resolves to what was said.
 */
export async function onSmallDisk(
  size: string,
  script: string,
  environment: Record<string, string> = {},
): Promise<Record<string, string>> {
  const disk = mkdtempSync(join(tmpdir(), 'agentgym-disk-'))
  const prelude = `
    mount -t tmpfs -o size=${size} agentgym "$DISK"
    fill() { cat /dev/zero >"$DISK/filling" 2>/dev/null || true; }
    resize() { mount -o "remount,size=$1" "$DISK"; }
    say() { printf '\\036%s\\037' "$1"; cat; }
  `
  const flags = 'flags' in way ? way.flags : []
  try {
    const { stdout } = await promisify(execFile)('unshare', [...flags, 'sh', '-c', prelude + script], {
      env: {
        ...process.env,
        ...environment,
        DISK: disk,
        AGENTGYM: join(import.meta.dirname, '../../agentgym'),
        AGENTGYM_WITHOUT_WALLS: 'any',
      },
      maxBuffer: 64 * 2 ** 20,
    })
    const parts = stdout.split('\u001e').slice(1)
    return Object.fromEntries(parts.map((part) => part.split('\u001f') as [string, string]))
  } finally {
    rmSync(disk, { recursive: true, force: true })
  }
}
