/* The layers of a child's confinement, each alone: the filter is run here as the kernel runs it, and a process drops
 * its capabilities without a filter, or gets the filter and keeps them. */
#include "child/child.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define X32        0x40000000u
#define X32_PTRACE 521u

#if defined __x86_64__
#define OURS AUDIT_ARCH_X86_64
#else
#define OURS AUDIT_ARCH_AARCH64
#endif

/* ---- the filter -------------------------------------------------------------------------------------------------- */

static bool jumps(unsigned short code, uint32_t value, uint32_t with)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return value == with;
    case BPF_JGT:
        return value > with;
    case BPF_JGE:
        return value >= with;
    case BPF_JSET:
        return (value & with) != 0;
    default:
        fail_msg("code %x is not known here", code);
        return false;
    }
}

/* What the kernel does with a call: SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS or SECCOMP_RET_ERRNO | errno. */
static uint32_t judge(const struct child_filter *filter, uint32_t architecture, uint32_t call, uint64_t first)
{
    const struct seccomp_data data = {.nr = (int)call, .arch = architecture, .args = {first}};
    uint32_t value = 0;
    for (size_t at = 0; at < filter->length; at++) {
        const struct sock_filter *one = &filter->program[at];
        switch (one->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(one->k + sizeof value <= sizeof data && one->k % sizeof value == 0);
            memcpy(&value, (const char *)&data + one->k, sizeof value);
            break;
        case BPF_RET | BPF_K:
            return one->k;
        case BPF_JMP | BPF_JA:
            at += one->k;
            break;
        default:
            assert_int_equal(BPF_CLASS(one->code), BPF_JMP);
            at += jumps(one->code, value, one->k) ? one->jt : one->jf;
        }
    }
    fail_msg("the filter ends without an answer");
    return 0;
}

static struct child_filter filter_of(bool isolated)
{
    struct child_filter filter;
    struct status st = {0};
    assert_true(child_filter_write(&filter, isolated, &st));
    return filter;
}

static void the_filter_alone_refuses_calls_by_their_numbers_of_x32(void **state)
{
    struct child_filter filter = filter_of(false);
    assert_int_equal(judge(&filter, OURS, SYS_getpid, 0), SECCOMP_RET_ALLOW);
    const uint32_t calls[] = {SYS_getpid, SYS_read, SYS_capset, SYS_ptrace, X32_PTRACE};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_int_equal(judge(&filter, OURS, X32 | calls[i], 0), SECCOMP_RET_ERRNO | ENOSYS);
    for (uint32_t call = 512; call < 548; call++) /* those of x32 alone; kernels before 5.4 took them without the bit */
        assert_int_equal(judge(&filter, OURS, call, 0), SECCOMP_RET_ERRNO | ENOSYS);
    assert_int_equal(judge(&filter, OURS, UINT32_MAX, 0), SECCOMP_RET_ERRNO | ENOSYS);
}

static void the_filter_alone_ends_a_process_that_uses_the_calls_of_another_architecture(void **state)
{
    struct child_filter filter = filter_of(false);
    const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64, 0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        for (uint32_t call = 0; call < 512; call++)
            assert_int_equal(judge(&filter, others[i], call, 0), SECCOMP_RET_KILL_PROCESS);
}

static void the_filter_alone_refuses_what_would_give_rights(void **state)
{
    static const uint32_t calls[] = {SYS_capset,           SYS_ptrace,          SYS_setuid,        SYS_setresuid,
                                     SYS_unshare,          SYS_setns,           SYS_mount,         SYS_bpf,
                                     SYS_keyctl,           SYS_perf_event_open, SYS_init_module,   SYS_chroot,
                                     SYS_process_vm_readv, SYS_pivot_root,      SYS_io_uring_setup};
    struct child_filter plain = filter_of(false), isolated = filter_of(true);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(judge(&plain, OURS, calls[i], 0), SECCOMP_RET_ERRNO | EPERM);
        assert_int_equal(judge(&isolated, OURS, calls[i], 0), SECCOMP_RET_ERRNO | EPERM);
    }
    assert_int_equal(judge(&plain, OURS, SYS_clone3, 0), SECCOMP_RET_ERRNO | ENOSYS);
    assert_int_equal(judge(&plain, OURS, SYS_clone, CLONE_NEWUSER), SECCOMP_RET_ERRNO | EPERM);
    assert_int_equal(judge(&plain, OURS, SYS_clone, CLONE_VM | CLONE_THREAD), SECCOMP_RET_ALLOW);
    assert_int_equal(judge(&plain, OURS, SYS_socket, AF_INET), SECCOMP_RET_ALLOW);
    assert_int_equal(judge(&plain, OURS, SYS_socket, AF_PACKET), SECCOMP_RET_ERRNO | EAFNOSUPPORT);
    assert_int_equal(judge(&isolated, OURS, SYS_socket, AF_INET), SECCOMP_RET_ERRNO | EPERM);
}

/* ---- in a process ------------------------------------------------------------------------------------------------ */

/* The exit code of a process that runs `body`. */
static int in_a_process(int (*body)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int set_capabilities(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

static bool has_capabilities(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, data) == 0 && (data[0].permitted || data[1].permitted);
}

static int filter_then_set(void)
{
    struct __user_cap_data_struct same[_LINUX_CAPABILITY_U32S_3];
    struct child_filter filter;
    struct status st = {0};
    has_capabilities(same);
    if (set_capabilities(same) != 0 || !child_filter_write(&filter, false, &st) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !child_enforce_filter(&filter))
        return 101;
    return set_capabilities(same);
}

static void the_filter_alone_refuses_even_a_capset_that_changes_nothing(void **state)
{
    assert_int_equal(in_a_process(filter_then_set), EPERM);
}

static int drop_then_set(void)
{
    static const struct child_user ours = {.changes = false};
    struct __user_cap_data_struct before[_LINUX_CAPABILITY_U32S_3], after[_LINUX_CAPABILITY_U32S_3];
    bool had = has_capabilities(before);
    if (!child_switch_user(&ours) || has_capabilities(after))
        return 101;
    for (int capability = 0; geteuid() == 0 && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0)
            return 102;
    return had ? set_capabilities(before) : EPERM;
}

static void without_a_filter_a_child_has_no_capability_and_gets_none_back(void **state)
{
    assert_int_equal(in_a_process(drop_then_set), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_alone_refuses_calls_by_their_numbers_of_x32),
        cmocka_unit_test(the_filter_alone_ends_a_process_that_uses_the_calls_of_another_architecture),
        cmocka_unit_test(the_filter_alone_refuses_what_would_give_rights),
        cmocka_unit_test(the_filter_alone_refuses_even_a_capset_that_changes_nothing),
        cmocka_unit_test(without_a_filter_a_child_has_no_capability_and_gets_none_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
