import { AgentGymError } from './agent-gym-error.ts'
import type { ErrorCode } from './error-catalog.ts'

type Kind = { code: ErrorCode; what: string; hint: string }

/** By the codes of the operating system; `%` is the path. */
const kinds: Record<string, Kind> = {
  ENOSPC: {
    code: 'disk_full',
    what: 'there is no space left for %',
    hint: 'Free some space, or choose a folder on another disk, and try again. What was written before is intact.',
  },
  EDQUOT: {
    code: 'disk_quota_exceeded',
    what: 'your disk quota does not allow writing %',
    hint: 'Delete files of yours, or choose a folder on another disk, and try again. What was written before is intact.',
  },
  EROFS: {
    code: 'disk_read_only',
    what: '% is on a file system that is mounted read-only',
    hint: 'Choose a folder on another file system, or mount it writable. A disk that turned read-only may be failing.',
  },
  EACCES: {
    code: 'file_access_denied',
    what: 'no permission to access %',
    hint: 'Change its owner or permissions (chown, chmod), or choose another folder.',
  },
  EPERM: {
    code: 'file_access_denied',
    what: 'the operating system does not permit access to %',
    hint: 'Change its owner, permissions or attributes (chown, chmod, chattr), or choose another folder.',
  },
  EMFILE: {
    code: 'too_many_open_files',
    what: 'this process has too many open files to open %',
    hint: 'Raise its limit (ulimit -n), and try again.',
  },
  ENFILE: {
    code: 'too_many_open_files',
    what: 'this machine has too many open files to open %',
    hint: 'Close other programs, or raise the limit of the system (fs.file-max), and try again.',
  },
}

/**
 * The expected failure that an error of the file system is: no space, a quota, a read-only file system, no permission, too
 * many open files. `path` names the file where the error does not, as errors of writing do. Any other error is
 * returned as it is.
 */
export function fileFailure(error: unknown, path?: string): unknown {
  if (!(error instanceof Error) || error instanceof AgentGymError) return error
  const { code, path: own, syscall } = error as Error & { code?: unknown; path?: unknown; syscall?: unknown }
  // Node's recursive mkdir says ENOENT where the file system is read-only.
  const reason = code === 'ENOENT' && syscall === 'mkdir' ? 'EROFS' : String(code)
  const kind = Object.hasOwn(kinds, reason) ? kinds[reason] : undefined
  // The same codes come from sockets and processes.
  if (kind === undefined || ['connect', 'listen', 'bind', 'kill'].includes(String(syscall))) return error
  const named = path ?? (typeof own === 'string' ? own : undefined)
  const message = kind.what.replace('%', () => named ?? 'a file')
  const data = { ...(named === undefined ? {} : { path: named }), reason }
  return new AgentGymError({ code: kind.code, message, hint: kind.hint, data }, { cause: error })
}

/** Runs work on a file or folder; a failure of the file system names it. */
export async function namingFile<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw fileFailure(error, path)
  }
}
