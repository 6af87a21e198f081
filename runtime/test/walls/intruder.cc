// What native code could do that took over a job's process: tries to read, signal and connect to what is outside, and
// prints a line for each attempt, `what<TAB>no|yes<TAB>reason`. Arguments: uid to take as root (0: keep), pid of a process
// outside, port of a TCP server, path of a Unix socket, name of an abstract one, path of a file outside.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void report(const char* what, bool succeeded) {
  std::printf("%s\t%s\t%s\n", what, succeeded ? "yes" : "no", succeeded ? "" : std::strerror(errno));
  std::fflush(stdout);
}

static bool readable(const std::string& path) {
  char byte;
  int file = open(path.c_str(), O_RDONLY);
  return file >= 0 && read(file, &byte, 1) == 1;
}

static bool writable(const std::string& path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  return file >= 0 && write(file, "x", 1) == 1;
}

static bool connects(int family, const sockaddr* address, socklen_t size) {
  int endpoint = socket(family, SOCK_STREAM, 0);
  return endpoint >= 0 && connect(endpoint, address, size) == 0;
}

static bool connects_to_path(const char* path, bool abstract) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path + (abstract ? 1 : 0), path, sizeof(address.sun_path) - 2);
  socklen_t size = offsetof(sockaddr_un, sun_path) + std::strlen(path) + 1;
  return connects(AF_UNIX, reinterpret_cast<sockaddr*>(&address), size);
}

// Tasks that could be started, up to 4096.
static int fork_bomb() {
  int started = 0;
  pid_t children[4096];
  for (; started < 4096; started++) {
    pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      pause();
      _exit(0);
    }
    children[started] = child;
  }
  for (int i = 0; i < started; i++) kill(children[i], SIGKILL);
  for (int i = 0; i < started; i++) waitpid(children[i], nullptr, 0);
  return started;
}

static int visible_processes() {
  int count = 0;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return 0;
  while (dirent* entry = readdir(folder)) count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
  closedir(folder);
  return count;
}

// Whether a signal reaches any process but process 1 of the namespace, this one and its parent.
static bool signals_another() {
  for (pid_t pid = 2; pid < 100000; pid++) {
    if (pid != getpid() && pid != getppid() && kill(pid, 0) == 0) return true;
  }
  errno = ESRCH;
  return false;
}

int main(int, char** arguments) {
  // Where a file can be opened, writing to it must not end this process: no file may grow.
  std::signal(SIGXFSZ, SIG_IGN);
  uid_t user = std::strtoul(arguments[1], nullptr, 10);
  pid_t outside = std::atoi(arguments[2]);
  std::string process = std::string("/proc/") + arguments[2];
  if (user != 0 && getuid() == 0) {
    // As `lockDown` does before a guest's code is loaded.
    if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0) std::perror("lock down");
  }
  if (getuid() == 0) {
    // What it tries would harm a machine without walls.
    std::fprintf(stderr, "the intruder does not run as root\n");
    return 1;
  }

  report("read a file that everybody may read", readable(arguments[6]));
  report("read /etc/passwd", readable("/etc/passwd"));
  report("read the kernel's log", readable("/dev/kmsg"));
  report("read the worker's environment", readable(process + "/environ"));
  report("read the worker's memory", readable(process + "/mem") || readable(process + "/maps"));
  report("read the environment of process 1 outside", visible_processes() > 4 && readable("/proc/1/environ"));
  report("see other processes", visible_processes() > 4);
  report("write into the working folder", writable("file"));
  report("write into /tmp", writable("/tmp/file"));
  report("write into /dev/shm", writable("/dev/shm/file"));
  report("write into the root folder", writable("/file"));
  report("write a kernel setting", writable("/proc/sys/kernel/core_pattern"));
  report("write over a library", writable("/usr/lib/os-release"));

  report("signal the worker", kill(outside, 0) == 0);
  report("signal any other process", signals_another());
  report("trace the worker", ptrace(PTRACE_ATTACH, outside, nullptr, nullptr) == 0);
  char buffer[8];
  iovec here = {buffer, sizeof buffer}, there = {buffer, sizeof buffer};
  report("read the worker's memory by system call", process_vm_readv(outside, &here, 1, &there, 1, 0) > 0);
  report("start more than 1,024 tasks", fork_bomb() > 1024);

  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::atoi(arguments[3]));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  report("connect to a server on this machine", connects(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address));
  report("connect to a Unix socket", connects_to_path(arguments[4], false));
  report("connect to an abstract Unix socket", connects_to_path(arguments[5], true));
  report("open a network socket", socket(AF_INET, SOCK_DGRAM, 0) >= 0);
  report("open a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
  report("open a vsock socket", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
  report("attach shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0);

  report("become root", setuid(0) == 0);
  report("make a user namespace", unshare(CLONE_NEWUSER) == 0);
  long cloned = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (cloned == 0) _exit(0);
  report("make a user namespace by clone", cloned > 0);
  report("mount", mount("none", "/tmp", "tmpfs", 0, nullptr) == 0);
  report("change the root folder", chroot("/") == 0);
  report("load a program into the kernel", syscall(SYS_bpf, 0, nullptr, 0) >= 0 || errno == EFAULT);
  report("use io_uring", syscall(SYS_io_uring_setup, 1, nullptr) >= 0 || errno == EFAULT);
  report("use userfaultfd", syscall(SYS_userfaultfd, 1) >= 0);
  report("use performance counters", syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0) >= 0 || errno == EFAULT);
  report("use the kernel's keyring", syscall(SYS_keyctl, 0, -3, 1) >= 0);
  char byte = 'x';
  report("type into a terminal", ioctl(0, TIOCSTI, &byte) == 0 || errno == ENOTTY);
  report("gain privileges by a program", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1);
}
