import { refusedCalls } from '../../runtime/src/sandbox/seccomp-filter.ts'

/** What a worker and bubblewrap need of the calls that no job may make: sockets, and namespaces for the jobs. */
const neededByWorker = new Set([
  'socket',
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'sethostname',
  'pidfd_open',
])

/**
 * The profile of system calls for a worker's container, in Docker's format, which Kubernetes and Podman read too. Their own
 * profiles refuse the namespaces that its jobs are put into. Inside it each job has a filter of its own, which refuses more.
 */
export function workerSeccompProfile(): object {
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      {
        names: refusedCalls.filter((name) => !neededByWorker.has(name)).sort(),
        action: 'SCMP_ACT_ERRNO',
        errnoRet: 1,
      },
    ],
  }
}
