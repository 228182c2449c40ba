/* What a child is kept from. Filters and rules stay with it and with all that it starts. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- seccomp ----------------------------------------------------------------------------------------------------- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define REFUSE(call)                                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

#ifdef ARCHITECTURE
/* What answers EPERM: nothing that a tool needs, and much that a way out would. A call in the manner of another
 * architecture has other numbers: it ends the process. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    REFUSE(ptrace),
    REFUSE(process_vm_readv),
    REFUSE(process_vm_writev),
    REFUSE(kcmp),
    REFUSE(pidfd_getfd),
    REFUSE(mount),
    REFUSE(umount2),
    REFUSE(move_mount),
    REFUSE(open_tree),
    REFUSE(fsopen),
    REFUSE(fsmount),
    REFUSE(pivot_root),
    REFUSE(chroot),
    REFUSE(setns),
    REFUSE(unshare),
    REFUSE(init_module),
    REFUSE(finit_module),
    REFUSE(delete_module),
    REFUSE(kexec_load),
    REFUSE(keyctl),
    REFUSE(add_key),
    REFUSE(request_key),
    REFUSE(bpf),
    REFUSE(perf_event_open),
    REFUSE(userfaultfd),
    REFUSE(swapon),
    REFUSE(swapoff),
    REFUSE(reboot),
    REFUSE(settimeofday),
    REFUSE(clock_settime),
    REFUSE(acct),
    REFUSE(quotactl),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};

static bool refuse_calls(void)
{
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool refuse_calls(void)
{
    return true; /* numbers of calls are known for two architectures alone */
}
#endif

/* ---- Landlock ---------------------------------------------------------------------------------------------------- */

#define WRITING                                                                                                        \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                  \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                        \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                     \
     LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Since version 3 of Landlock; this kernel's headers may be older. */
#define TRUNCATING         (UINT64_C(1) << 14)
#define TRUNCATING_VERSION 3

static bool allow(int ruleset, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access};
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return false;
    bool good = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return good;
}

int child_ruleset(const char *const *writable, size_t count, struct status *st)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    uint64_t truncating = version >= TRUNCATING_VERSION ? TRUNCATING : 0;
    struct landlock_ruleset_attr rules = {.handled_access_fs = WRITING | truncating};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (ruleset < 0) {
        fail(st, FAILED_PRECONDITION, "'writable' needs Landlock, which this kernel does not have (errno %d)", errno);
        return -1;
    }
    bool good = allow(ruleset, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE | truncating);
    for (size_t i = 0; good && i < count; i++)
        if (!(good = allow(ruleset, writable[i], WRITING | truncating)))
            fail(st, FAILED_PRECONDITION, "'writable': '%.200s' is no folder that can be opened (errno %d)",
                 writable[i], errno);
    if (good)
        return ruleset;
    close(ruleset);
    return -1;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

bool child_confine(int ruleset)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) == 0) && refuse_calls();
}
