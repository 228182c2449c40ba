/* Tries to leave its confinement and to reach the process PID in each way that is known:   hostile_child PID
 * One line a try: "NAME passed" or "NAME refused (errno N)". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t victim;
static unsigned passed;

static void hostile_tell(const char *name, bool good)
{
    int error = errno;
    if (good)
        printf("%s passed\n", name);
    else
        printf("%s refused (errno %d)\n", name, error);
    passed += good;
    errno = 0;
}

/* ---- files of the victim ------------------------------------------------------------------------------------------
 */

static void open_one(const char *what, int flags)
{
    char path[128], name[160];
    snprintf(path, sizeof path, "/proc/%d/%s", victim, what);
    snprintf(name, sizeof name, "open /proc/PID/%s %s", what, flags == O_RDONLY ? "to read" : "to write");
    char byte;
    int fd = open(path, flags | O_CLOEXEC);
    bool reads = fd >= 0 && (flags != O_RDONLY || strcmp(what, "mem") == 0 || read(fd, &byte, 1) >= 0);
    hostile_tell(name, reads);
    if (fd >= 0)
        close(fd);
}

static void hostile_open_all(void)
{
    static const char *const secret[] = {"mem",  "environ",       "maps",        "smaps",   "auxv",      "stack",
                                         "io",   "syscall",       "personality", "root",    "task/self", "pagemap",
                                         "fd/0", "map_files/0-1", "numa_maps",   "fdinfo/0"};
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
        open_one(secret[i], O_RDONLY);
    open_one("mem", O_RDWR);
    open_one("oom_score_adj", O_WRONLY);
    open_one("clear_refs", O_WRONLY);
    open_one("comm", O_WRONLY);
    open_one("coredump_filter", O_WRONLY);
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd/0", victim);
    hostile_tell("read the link of a descriptor", readlink(path, target, sizeof target) >= 0);
    snprintf(path, sizeof path, "/proc/%d/cwd", victim);
    hostile_tell("read the link of the working directory", readlink(path, target, sizeof target) >= 0);
}

static void open_machine(void)
{
    static const char *const written[] = {"/proc/sys/kernel/core_pattern",
                                          "/proc/sysrq-trigger",
                                          "/proc/sys/vm/drop_caches",
                                          "/sys/kernel/uevent_helper",
                                          "/sys/power/state",
                                          "/dev/mem",
                                          "/dev/kmsg",
                                          "/dev/vda",
                                          "/dev/sda",
                                          "/dev/kvm",
                                          "/dev/fuse",
                                          "/dev/net/tun"};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        char name[96];
        snprintf(name, sizeof name, "open %s to write", written[i]);
        int fd = open(written[i], O_WRONLY | O_CLOEXEC);
        hostile_tell(name, fd >= 0);
        if (fd >= 0)
            close(fd);
    }
    hostile_tell("make a device", mknod("/tmp/hostile-device", S_IFBLK | 0600, 0x0801) == 0);
    unlink("/tmp/hostile-device");
}

/* The number of another thread of the victim than its first; else of that. */
static pid_t last_thread(void)
{
    char path[64];
    pid_t last = victim;
    snprintf(path, sizeof path, "/proc/%d/task", victim);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        last = atoi(entry->d_name) > 0 ? atoi(entry->d_name) : last;
    if (threads)
        closedir(threads);
    return last;
}

/* ---- the victim itself ------------------------------------------------------------------------------------------- */

static void hostile_reach_port(void)
{
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&victim, 1}; /* some address */
    struct rlimit limits;
    cpu_set_t cpus;
    struct sched_param param = {0};
    siginfo_t info = {.si_code = SI_QUEUE};
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    errno = 0;
    hostile_tell("process_vm_readv", process_vm_readv(victim, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT);
    hostile_tell("process_vm_writev", process_vm_writev(victim, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT);
    hostile_tell("ptrace seize", ptrace(PTRACE_SEIZE, victim, 0, 0) == 0);
    hostile_tell("ptrace attach", ptrace(PTRACE_ATTACH, victim, 0, 0) == 0);
    int pidfd = (int)syscall(SYS_pidfd_open, victim, 0);
    hostile_tell("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
    hostile_tell("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0);
    hostile_tell("process_madvise", syscall(SYS_process_madvise, pidfd, &there, 1, 21, 0) >= 0 || errno == EFAULT);
    hostile_tell("kcmp", syscall(SYS_kcmp, victim, getpid(), 0, 0, 0) >= 0);
    hostile_tell("move_pages", syscall(SYS_move_pages, victim, 0, NULL, NULL, NULL, 0) >= 0);
    hostile_tell("get_robust_list", syscall(SYS_get_robust_list, victim, &there, &here.iov_len) == 0);
    hostile_tell("kill", kill(victim, 0) == 0);
    hostile_tell("kill by a thread", kill(last_thread(), 0) == 0); /* its number reaches the whole process */
    hostile_tell("tgkill a thread", syscall(SYS_tgkill, victim, last_thread(), 0) == 0);
    hostile_tell("kill the group", kill(-getpgid(victim), 0) == 0);
    hostile_tell("kill everyone", kill(-1, 0) == 0);
    hostile_tell("tgkill", syscall(SYS_tgkill, victim, victim, 0) == 0);
    hostile_tell("tkill", syscall(SYS_tkill, victim, 0) == 0);
    hostile_tell("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, victim, 0, &info) == 0);
    int pipes[2];
    hostile_tell("F_SETOWN", pipe(pipes) == 0 && fcntl(pipes[0], F_SETOWN, victim) == 0);
    hostile_tell("prlimit", prlimit(victim, RLIMIT_NOFILE, NULL, &limits) == 0);
    hostile_tell("setpriority", setpriority(PRIO_PROCESS, (id_t)victim, 0) == 0);
    hostile_tell("sched_setaffinity", sched_setaffinity(victim, sizeof cpus, &cpus) == 0);
    hostile_tell("sched_setscheduler", sched_setscheduler(victim, SCHED_OTHER, &param) == 0);
    hostile_tell("ioprio_set", syscall(SYS_ioprio_set, 1, victim, 0) == 0);
}

/* ---- rights ------------------------------------------------------------------------------------------------------ */

static void hostile_gain_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct have[2] = {{0}};
    syscall(SYS_capget, &header, have);
    hostile_tell("have capabilities", have[0].permitted || have[1].permitted || have[0].effective);
    hostile_tell("gain rights by a program", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
    hostile_tell("have other groups", getgroups(0, NULL) > 0);
    hostile_tell("setuid", syscall(SYS_setuid, 0) == 0 || syscall(SYS_setresuid, -1, 0, -1) == 0);
    hostile_tell("setgroups", setgroups(0, NULL) == 0);
    hostile_tell("capset", syscall(SYS_capset, &header, have) == 0);
    hostile_tell("chroot", chroot("/") == 0);
    hostile_tell("a terminal of ours", open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0);
    hostile_tell("TIOCSTI", ioctl(0, TIOCSTI, "x") == 0 || errno != EPERM);
}

/* ---- namespaces and mounts --------------------------------------------------------------------------------------- */

static int hostile_leave_group(void *data)
{
    return 0;
}

static void try_clone(const char *name, unsigned long flags)
{
    static char stack[65536] __attribute__((aligned(16)));
    pid_t pid = clone(hostile_leave_group, stack + sizeof stack, (int)flags | SIGCHLD, NULL);
    hostile_tell(name, pid > 0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

static void try_clone3(unsigned long flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        _exit(0);
    hostile_tell(flags ? "clone3 CLONE_NEWUSER" : "clone3", pid > 0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
}

static void hostile_separate(void)
{
    try_clone("clone CLONE_NEWUSER", CLONE_NEWUSER);
    try_clone("clone CLONE_NEWUSER|CLONE_NEWNS|CLONE_NEWNET", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET);
    try_clone("clone CLONE_NEWPID", CLONE_NEWPID);
    try_clone("clone CLONE_NEWCGROUP", CLONE_NEWCGROUP);
    try_clone3(0);
    try_clone3(CLONE_NEWUSER);
    int own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    hostile_tell("setns", setns(own, 0) == 0 || errno != EPERM);
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/", 0);
    hostile_tell("open_tree", tree >= 0);
    hostile_tell("fsopen", syscall(SYS_fsopen, "tmpfs", 0) >= 0);
    hostile_tell("fsconfig", syscall(SYS_fsconfig, -1, 0, NULL, NULL, 0) >= 0 || errno != EPERM);
    hostile_tell("fsmount", syscall(SYS_fsmount, -1, 0, 0) >= 0 || errno != EPERM);
    hostile_tell("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0) >= 0 || errno != EPERM);
    hostile_tell("move_mount", syscall(SYS_move_mount, -1, "", -1, "", 0) >= 0 || errno != EPERM);
    hostile_tell("mount_setattr", syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) >= 0 || errno != EPERM);
    hostile_tell("mount", mount("none", "/nowhere", "tmpfs", 0, NULL) == 0 || errno != EPERM);
    hostile_tell("umount2", umount2("/nowhere", 0) == 0 || errno != EPERM);
    hostile_tell("open_by_handle_at", syscall(SYS_open_by_handle_at, -1, NULL, 0) >= 0 || errno != EPERM);
    hostile_tell("unshare", unshare(CLONE_NEWUSER) == 0); /* last: it changes who we are */
}

/* ---- the kernel's wider surface ---------------------------------------------------------------------------------- */

static void try_call(const char *name, long call)
{
    errno = 0;
    long result = syscall(call, -1L, -1L, -1L, -1L, -1L, -1L);              /* no call does anything with these */
    hostile_tell(name, result >= 0 || (errno != EPERM && errno != ENOSYS)); /* other errors come from the call itself */
}

static void hostile_widen_limits(void)
{
    try_call("io_uring_setup", SYS_io_uring_setup);
    try_call("io_uring_enter", SYS_io_uring_enter);
    try_call("io_uring_register", SYS_io_uring_register);
    try_call("bpf", SYS_bpf);
    try_call("perf_event_open", SYS_perf_event_open);
    try_call("userfaultfd", SYS_userfaultfd);
    try_call("keyctl", SYS_keyctl);
    try_call("add_key", SYS_add_key);
    try_call("request_key", SYS_request_key);
    try_call("init_module", SYS_init_module);
    try_call("finit_module", SYS_finit_module);
    try_call("kexec_load", SYS_kexec_load);
    try_call("acct", SYS_acct);
    try_call("syslog", SYS_syslog);
    try_call("personality", SYS_personality);
    try_call("fanotify_init", SYS_fanotify_init);
    try_call("name_to_handle_at", SYS_name_to_handle_at);
    try_call("io_setup", SYS_io_setup);
    try_call("shmget", SYS_shmget);
    try_call("quotactl", SYS_quotactl);
    try_call("a call that is not known yet", 1000);
    hostile_tell("socket AF_PACKET", socket(AF_PACKET, SOCK_RAW, 0) >= 0);
    hostile_tell("socket AF_ALG", socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0);
    hostile_tell("socket AF_VSOCK", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
}

#ifdef __x86_64__
static void __attribute__((noinline)) call_as_i386(void)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11"); /* getpid */
    _exit(result > 0 ? 42 : 0);
}

static void change_architecture(void)
{
    int status = 0;
    errno = 0;
    hostile_tell("x32 getpid", syscall(0x40000000L + SYS_getpid) >= 0);
    hostile_tell("x32 ptrace", syscall(0x40000000L + 521, PTRACE_SEIZE, victim, 0, 0) >= 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        call_as_i386();
    waitpid(pid, &status, 0);
    hostile_tell("i386 getpid", WIFEXITED(status) && WEXITSTATUS(status) == 42);
}
#else
static void change_architecture(void) {}
#endif

int main(int argc, char **argv)
{
    victim = argc > 1 ? atoi(argv[1]) : getppid();
    hostile_open_all();
    open_machine();
    hostile_reach_port();
    hostile_gain_rights();
    change_architecture();
    hostile_widen_limits();
    hostile_separate();
    printf("%u passed\n", passed);
    return 0;
}
