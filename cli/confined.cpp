#include "cli/confined.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::cli {
namespace {

constexpr std::string_view kDoing = "start the confined process";
// Key derivation takes up to 1 GiB.
constexpr rlim_t kDataBytes = rlim_t{3} << 30;
constexpr rlim_t kProcessorSeconds = 1800;

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// Calls that change something, talk to somebody or start something. Older names of calls are not
// there on every machine.
constexpr long kForbidden[] = {
#ifdef __NR_fork
    __NR_fork,
    __NR_vfork,
    __NR_creat,
    __NR_unlink,
    __NR_rename,
    __NR_mkdir,
    __NR_rmdir,
    __NR_link,
    __NR_symlink,
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_mknod,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
#endif
#ifdef __NR_renameat
    __NR_renameat,
#endif
    __NR_socket,
    __NR_socketpair,
    __NR_connect,
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_sendto,
    __NR_sendmsg,
    __NR_sendmmsg,
    __NR_execve,
    __NR_execveat,
    __NR_clone,
    __NR_kill,
    __NR_tkill,
    __NR_pidfd_open,
    __NR_pidfd_send_signal,
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_unlinkat,
    __NR_renameat2,
    __NR_mkdirat,
    __NR_linkat,
    __NR_symlinkat,
    __NR_fchmod,
    __NR_fchmodat,
    __NR_fchown,
    __NR_fchownat,
    __NR_mknodat,
    __NR_truncate,
    __NR_ftruncate,
    __NR_fallocate,
    __NR_utimensat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    __NR_memfd_create,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_setns,
    __NR_unshare,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_kexec_load,
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_setuid,
    __NR_setgid,
    __NR_setreuid,
    __NR_setregid,
    __NR_setresuid,
    __NR_setresgid,
    __NR_personality,
};

class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, kArchitecture, 1, 0);
    give(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    jump(BPF_JGE, 0x40000000, 0, 1);  // a second set of numbers for the same calls
    give(SECCOMP_RET_KILL_PROCESS);
#endif
    for (const long call : kForbidden) forbid(call, EPERM);
    // The library falls back to calls whose arguments can be looked at.
    forbid(__NR_clone3, ENOSYS);
    forbid(__NR_openat2, ENOSYS);
#ifdef __NR_open
    only_reading(__NR_open, 1);
#endif
    only_reading(__NR_openat, 2);
    give(SECCOMP_RET_ALLOW);
  }
  void install() {
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (kArchitecture == 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      throw Error(Code::unsupported, "This system cannot confine a process.");
    }
  }

 private:
  void load(std::size_t offset) {
    code_.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)});
  }
  void jump(unsigned kind, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | kind | BPF_K), yes, no, value});
  }
  void give(std::uint32_t result) {
    code_.push_back({BPF_RET | BPF_K, 0, 0, result});
  }
  void forbid(long call, unsigned error) {
    jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1);
    give(SECCOMP_RET_ERRNO | error);
  }
  // As on a medium that cannot be written, which readers get along with.
  void only_reading(long call, std::size_t flags_argument) {
    constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 4);
    load(offsetof(seccomp_data, args) + flags_argument * 8);  // the low half: little-endian
    jump(BPF_JSET, kWriting, 0, 1);
    give(SECCOMP_RET_ERRNO | EACCES);
    give(SECCOMP_RET_ALLOW);
  }
  std::vector<sock_filter> code_;
};

void limit(int what, rlim_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(what), &now) != 0) throw_errno(kDoing, errno);
  now.rlim_cur = now.rlim_max = std::min(most, now.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource_t>(what), &now) != 0) throw_errno(kDoing, errno);
}

}  // namespace

void confine_process() {
  limit(RLIMIT_DATA, kDataBytes);
  limit(RLIMIT_CPU, kProcessorSeconds);
  limit(RLIMIT_CORE, 0);
  Filter().install();
}

std::vector<std::string> own_arguments() {
  const auto fd = open_file("/proc/self/cmdline", O_RDONLY, "the command line");
  if (!fd) throw Error(Code::io, "The command line of this process cannot be read.");
  const std::string all = read_all(fd->get(), std::size_t{4} << 20, "the command line");
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\0', at), all.size());
    arguments.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

ConfinedRun run_again(const std::vector<std::string>& arguments, std::size_t most_output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(kDoing, errno);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  std::vector<char*> argv;
  for (const std::string& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw_errno(kDoing, errno);
  if (child == 0) {
    if (::dup2(writing.get(), 1) == 1) ::execv("/proc/self/exe", argv.data());
    ::_exit(70);
  }
  writing.reset();
  ConfinedRun run;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(reading.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (run.output.size() + static_cast<std::size_t>(n) > most_output) {
      run.cut = true;
      ::kill(child, SIGKILL);
      break;
    }
    run.output.append(buffer, static_cast<std::size_t>(n));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw_errno(kDoing, errno);
  }
  if (WIFSIGNALED(status)) {
    run.signal = WTERMSIG(status);
  } else {
    run.exit_code = WEXITSTATUS(status);
  }
  return run;
}

}  // namespace strongroom::cli
