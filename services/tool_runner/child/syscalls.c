/* The system calls that a child may make: a list, as a filter of seccomp.
 *
 * Calls that are not listed answer EPERM, and those that are younger than this file ENOSYS, so that libraries fall back
 * to older ones. clone3 answers ENOSYS too: a filter cannot read its flags, and those of clone it can. Another
 * architecture's calls have other numbers: they end the process. Numbers of x32 are above the newest number. */
#include "child/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

#define NEWEST_CALL __NR_set_mempolicy_home_node /* of Linux 5.17 */

#define NAMESPACES                                                                                                     \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#define CALL(name) __NR_##name
static const unsigned short allowed[] = {
    /* files */
    CALL(read),
    CALL(write),
    CALL(readv),
    CALL(writev),
    CALL(pread64),
    CALL(pwrite64),
    CALL(preadv),
    CALL(pwritev),
    CALL(preadv2),
    CALL(pwritev2),
    CALL(openat),
    CALL(openat2),
    CALL(close),
    CALL(close_range),
    CALL(lseek),
    CALL(dup),
    CALL(dup3),
    CALL(fcntl),
    CALL(flock),
    CALL(fsync),
    CALL(fdatasync),
    CALL(sync),
    CALL(syncfs),
    CALL(sync_file_range),
    CALL(truncate),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(fadvise64),
    CALL(readahead),
    CALL(sendfile),
    CALL(splice),
    CALL(tee),
    CALL(vmsplice),
    CALL(copy_file_range),
    CALL(fstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(statfs),
    CALL(fstatfs),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(getdents64),
    CALL(getcwd),
    CALL(chdir),
    CALL(fchdir),
    CALL(renameat),
    CALL(renameat2),
    CALL(mkdirat),
    CALL(linkat),
    CALL(unlinkat),
    CALL(symlinkat),
    CALL(readlinkat),
    CALL(fchmod),
    CALL(fchmodat),
    CALL(fchown),
    CALL(fchownat),
    CALL(umask),
    CALL(utimensat),
    CALL(mknodat),
    CALL(getxattr),
    CALL(lgetxattr),
    CALL(fgetxattr),
    CALL(setxattr),
    CALL(lsetxattr),
    CALL(fsetxattr),
    CALL(listxattr),
    CALL(llistxattr),
    CALL(flistxattr),
    CALL(removexattr),
    CALL(lremovexattr),
    CALL(fremovexattr),
    CALL(inotify_init1),
    CALL(inotify_add_watch),
    CALL(inotify_rm_watch),
    CALL(memfd_create),
    /* waiting */
    CALL(ppoll),
    CALL(pselect6),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(eventfd2),
    CALL(pipe2),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(timerfd_gettime),
    CALL(signalfd4),
    CALL(nanosleep),
    CALL(clock_nanosleep),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(gettimeofday),
    CALL(getitimer),
    CALL(setitimer),
    CALL(timer_create),
    CALL(timer_settime),
    CALL(timer_gettime),
    CALL(timer_getoverrun),
    CALL(timer_delete),
    CALL(times),
    CALL(restart_syscall),
    /* memory */
    CALL(brk),
    CALL(mmap),
    CALL(munmap),
    CALL(mremap),
    CALL(mprotect),
    CALL(madvise),
    CALL(msync),
    CALL(mincore),
    CALL(mlock),
    CALL(mlock2),
    CALL(munlock),
    CALL(mlockall),
    CALL(munlockall),
    CALL(membarrier),
    CALL(pkey_alloc),
    CALL(pkey_free),
    CALL(pkey_mprotect),
    CALL(get_mempolicy),
    /* threads, processes and signals; those of clone, kill and tgkill that are refused are in the rules below */
    CALL(clone),
    CALL(execve),
    CALL(execveat),
    CALL(exit),
    CALL(exit_group),
    CALL(wait4),
    CALL(waitid),
    CALL(getpid),
    CALL(getppid),
    CALL(gettid),
    CALL(getpgid),
    CALL(setpgid),
    CALL(getsid),
    CALL(setsid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(getresuid),
    CALL(getresgid),
    CALL(getgroups),
    CALL(capget),
    CALL(futex),
    CALL(futex_waitv),
    CALL(set_robust_list),
    CALL(set_tid_address),
    CALL(rseq),
    CALL(kill),
    CALL(tgkill),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigpending),
    CALL(rt_sigsuspend),
    CALL(rt_sigtimedwait),
    CALL(sigaltstack),
    CALL(pidfd_open),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(sched_get_priority_max),
    CALL(sched_get_priority_min),
    CALL(sched_getattr),
    CALL(sched_setaffinity),
    CALL(sched_setparam),
    CALL(sched_setscheduler),
    CALL(setpriority),
    CALL(getpriority),
    CALL(getrusage),
    CALL(prlimit64),
    CALL(getcpu),
    CALL(uname),
    CALL(sysinfo),
    CALL(getrandom),
    CALL(prctl),
    CALL(seccomp),
    CALL(landlock_create_ruleset),
    CALL(landlock_add_rule),
    CALL(landlock_restrict_self),
    /* the network */
    CALL(socket),
    CALL(socketpair),
    CALL(bind),
    CALL(connect),
    CALL(listen),
    CALL(accept),
    CALL(accept4),
    CALL(getsockname),
    CALL(getpeername),
    CALL(getsockopt),
    CALL(setsockopt),
    CALL(shutdown),
    CALL(sendto),
    CALL(recvfrom),
    CALL(sendmsg),
    CALL(recvmsg),
    CALL(sendmmsg),
    CALL(recvmmsg),
    CALL(ioctl),
#ifdef __x86_64__ /* older variants that arm64 never had */
    CALL(open),
    CALL(creat),
    CALL(stat),
    CALL(lstat),
    CALL(access),
    CALL(dup2),
    CALL(getdents),
    CALL(rename),
    CALL(mkdir),
    CALL(rmdir),
    CALL(link),
    CALL(unlink),
    CALL(symlink),
    CALL(readlink),
    CALL(chmod),
    CALL(chown),
    CALL(lchown),
    CALL(utime),
    CALL(utimes),
    CALL(futimesat),
    CALL(mknod),
    CALL(inotify_init),
    CALL(poll),
    CALL(select),
    CALL(epoll_create),
    CALL(epoll_wait),
    CALL(eventfd),
    CALL(signalfd),
    CALL(pipe),
    CALL(alarm),
    CALL(pause),
    CALL(time),
    CALL(fork),
    CALL(vfork),
    CALL(getpgrp),
    CALL(getrlimit),
    CALL(setrlimit),
    CALL(arch_prctl),
#endif
};

/* ---- writing the filter ------------------------------------------------------------------------------------------ */

static void filter_put(struct child_filter *filter, struct sock_filter instruction)
{
    assert(filter->length < CHILD_FILTER_MAX);
    filter->program[filter->length++] = instruction;
}

static void put_load(struct child_filter *filter, size_t offset)
{
    filter_put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void filter_put_answer(struct child_filter *filter, unsigned answer)
{
    filter_put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* The next instruction counts only if the comparison holds. */
static void put_if(struct child_filter *filter, unsigned short comparison, unsigned value)
{
    filter_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, 1));
}

static void filter_refuse_call(struct child_filter *filter, unsigned call, unsigned error)
{
    put_if(filter, BPF_JEQ, call);
    filter_put_answer(filter, SECCOMP_RET_ERRNO | error);
}

/* ---- rules of arguments ------------------------------------------------------------------------------------------ */

enum rule_kind { RULE_ONLY, RULE_NEVER, RULE_LACKS };

#define RULE_VALUES 4
struct rule {
    unsigned call, argument; /* all that are looked at have 32 bits */
    enum rule_kind kind;     /* equal to any of the values; to no value; no bit of them is set */
    unsigned error, count;
    unsigned values[RULE_VALUES];
};

/* Refuses, or goes on behind it. */
static void put_rule(struct child_filter *filter, const struct rule *rule)
{
    bool only = rule->kind == RULE_ONLY;
    unsigned comparison = rule->kind == RULE_LACKS ? BPF_JSET : BPF_JEQ;
    unsigned length = rule->count + (only ? 3 : 4);
    filter_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->call, 0, (unsigned char)length));
    put_load(filter, offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t));
    for (unsigned i = 0; i < rule->count; i++) /* if the comparison holds: jump over the refusal, or to it */
        filter_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, rule->values[i],
                                                        (unsigned char)(rule->count - i), 0));
    if (!only)
        filter_put(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    filter_put_answer(filter, SECCOMP_RET_ERRNO | rule->error);
    put_load(filter, offsetof(struct seccomp_data, nr));
}

/* A child of our own user could signal us, slow us down or take our descriptors' limit away. */
static void put_rules(struct child_filter *filter)
{
    const unsigned us = (unsigned)getpid(), our_group = (unsigned)-getpgrp(), everyone = (unsigned)-1;
    const struct rule rules[] = {
        {CALL(clone), 0, RULE_LACKS, EPERM, 1, {NAMESPACES}},
        {CALL(socket), 0, RULE_ONLY, EAFNOSUPPORT, 4, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}},
        {CALL(socketpair), 0, RULE_ONLY, EAFNOSUPPORT, 1, {AF_UNIX}},
        {CALL(ioctl), 1, RULE_NEVER, EPERM, 4, {TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP}},
        {CALL(fcntl), 1, RULE_NEVER, EPERM, 3, {F_SETOWN, F_SETOWN_EX, F_SETSIG}},
        {CALL(prlimit64), 0, RULE_ONLY, EPERM, 1, {0}},
        {CALL(sched_setaffinity), 0, RULE_ONLY, EPERM, 1, {0}},
        {CALL(sched_setparam), 0, RULE_ONLY, EPERM, 1, {0}},
        {CALL(sched_setscheduler), 0, RULE_ONLY, EPERM, 1, {0}},
        {CALL(setpriority), 0, RULE_ONLY, EPERM, 1, {PRIO_PROCESS}},
        {CALL(setpriority), 1, RULE_ONLY, EPERM, 1, {0}},
        {CALL(kill), 0, RULE_NEVER, EPERM, 3, {us, our_group, everyone}},
        {CALL(tgkill), 0, RULE_NEVER, EPERM, 1, {us}},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        put_rule(filter, &rules[i]);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* A child that is isolated needs neither other processes nor sockets. The filter itself comes before execve. */
static void refuse_company(struct child_filter *filter)
{
    static const unsigned calls[] = {CALL(clone), CALL(socket), CALL(socketpair), CALL(connect), CALL(bind),
#ifdef __x86_64__
                                     CALL(fork),  CALL(vfork)
#endif
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        filter_refuse_call(filter, calls[i], EPERM);
}

bool child_filter_write(struct child_filter *filter, bool isolated, struct status *st)
{
    filter->length = 0;
    if (!ARCHITECTURE)
        return fail(st, FAILED_PRECONDITION,
                    "processes are confined on x86-64 and arm64 alone: use a server with a "
                    "'url'");
    put_load(filter, offsetof(struct seccomp_data, arch));
    filter_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    filter_put_answer(filter, SECCOMP_RET_KILL_PROCESS);
    put_load(filter, offsetof(struct seccomp_data, nr));
    put_if(filter, BPF_JGT, NEWEST_CALL);
    filter_put_answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
    filter_refuse_call(filter, CALL(clone3), ENOSYS);
    if (isolated)
        refuse_company(filter);
    put_rules(filter);
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        put_if(filter, BPF_JEQ, allowed[i]);
        filter_put_answer(filter, SECCOMP_RET_ALLOW);
    }
    filter_put_answer(filter, SECCOMP_RET_ERRNO | EPERM);
    return true;
}
