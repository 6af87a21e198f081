import { endianness } from 'node:os'
import process from 'node:process'

/** Number of each system call on x86-64 and on arm64; null where the architecture does not have it. */
type Numbers = readonly [x64: number, arm64: number | null]

/**
 * System calls that no job needs, refused with EPERM: they reach other processes, the machine, or parts of the kernel
 * with a record of privilege escalation. What is left is what Node, V8, ONNX Runtime and libtorch use to compute.
 */
const refused: Record<string, Numbers> = {
  // Other processes: their memory, registers and file descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // Sockets of any family; the channel to the supervisor is inherited, and `socketpair` reaches nobody else.
  socket: [41, 198],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  statmount: [457, 457],
  listmount: [458, 458],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  // Programs and rings inside the kernel, keys, tracing.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  memfd_secret: [447, 447],
  lookup_dcookie: [212, 18],
  // System V and POSIX message queues, semaphores and shared memory.
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  mq_timedsend: [242, 182],
  mq_timedreceive: [243, 183],
  mq_notify: [244, 184],
  mq_getsetattr: [245, 185],
  // The machine.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  settimeofday: [164, 170],
  adjtimex: [159, 171],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  personality: [135, 92],
  nfsservctl: [180, 42],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  _sysctl: [156, null],
  create_module: [174, null],
  get_kernel_syms: [177, null],
  query_module: [178, null],
}

/** Names of the refused calls, for those who write filters of other kinds. */
export const refusedCalls: readonly string[] = Object.keys(refused)

/** The last system call that this list was written with (Linux 6.18). Later ones, and x32's, do not exist for a job. */
const lastKnown = 470

const architectures = {
  x64: { column: 0, audit: 0xc000003e, clone: 56, clone3: 435, ioctl: 16 },
  arm64: { column: 1, audit: 0xc00000b7, clone: 220, clone3: 435, ioctl: 29 },
} as const

const CLONE_NEW_ANY = 0x7e020000
/** Put characters into a terminal's input. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

// linux/filter.h, linux/seccomp.h
const LOAD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_GREATER = 0x25
const JUMP_IF_ANY_BIT = 0x45
const RETURN = 0x06
const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const errno = (number: number) => 0x00050000 + number
const EPERM = 1
const ENOSYS = 38
const OFFSET_NUMBER = 0
const OFFSET_ARCHITECTURE = 4
/** Low 32 bits of an argument of the call. */
const offsetOfArgument = (index: number) => 16 + 8 * index

type Instruction = [code: number, ifTrue: number, ifFalse: number, k: number]

/**
 * The program, in the kernel's `struct sock_filter` layout, that seccomp runs on each system call of a job. Undefined on
 * an architecture that it was not written for. With `network` the job may open sockets.
 */
export function seccompFilter({
  arch = process.arch,
  network = false,
}: {
  arch?: string
  network?: boolean
} = {}): Buffer | undefined {
  if (!Object.hasOwn(architectures, arch) || endianness() !== 'LE') return undefined
  const { column, audit, clone, clone3, ioctl } = architectures[arch as keyof typeof architectures]
  const refuse = (number: number): Instruction[] => [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, errno(EPERM)],
  ]
  const program: Instruction[] = [
    [LOAD, 0, 0, OFFSET_ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, OFFSET_NUMBER],
    [JUMP_IF_GREATER, 0, 1, lastKnown],
    [RETURN, 0, 0, errno(ENOSYS)],
    // Its flags lie in memory, where a filter cannot see them; the C library falls back to clone.
    [JUMP_IF_EQUAL, 0, 1, clone3],
    [RETURN, 0, 0, errno(ENOSYS)],
    ...Object.entries(refused).flatMap(([name, numbers]) => {
      const number = numbers[column]
      return number === null || (network && name === 'socket') ? [] : refuse(number)
    }),
    [JUMP_IF_EQUAL, 0, 4, clone],
    [LOAD, 0, 0, offsetOfArgument(0)],
    [JUMP_IF_ANY_BIT, 0, 1, CLONE_NEW_ANY],
    [RETURN, 0, 0, errno(EPERM)],
    [RETURN, 0, 0, ALLOW],
    [JUMP_IF_EQUAL, 0, 4, ioctl],
    [LOAD, 0, 0, offsetOfArgument(1)],
    [JUMP_IF_EQUAL, 1, 0, TIOCSTI],
    [JUMP_IF_EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, errno(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ]
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, ifTrue, ifFalse, k], i) => {
    bytes.writeUInt16LE(code, i * 8)
    bytes.writeUInt8(ifTrue, i * 8 + 2)
    bytes.writeUInt8(ifFalse, i * 8 + 3)
    bytes.writeUInt32LE(k, i * 8 + 4)
  })
  return bytes
}
