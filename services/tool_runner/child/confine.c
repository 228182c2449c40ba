/* The confinement of a child. User, rules and filter stay with it and with all that it starts. */
#include "child/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- its user ---------------------------------------------------------------------------------------------------- */

#define CAPABILITY_MAX 63 /* as many as the sets have bits */

static bool drop_bounding_set(void)
{
    for (int capability = 0; capability <= CAPABILITY_MAX; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) /* the kernel knows fewer */
            return false;
    return true;
}

static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &header, none) == 0;
}

/* Uses the system calls directly: the library's functions would change all threads of this memory, and those are
 * ours. */
static bool become_user(const struct child_user *user)
{
    return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, user->gid, user->gid, user->gid) == 0 &&
           syscall(SYS_setresuid, user->uid, user->uid, user->uid) == 0;
}

bool child_switch_user(const struct child_user *user)
{
    return (geteuid() != 0 || drop_bounding_set()) && (!user->changes || become_user(user)) && drop_capabilities();
}

/* ---- Landlock ---------------------------------------------------------------------------------------------------- */

/* Some are younger than the kernel's headers: the version of Landlock that brought them stands behind each. */
#define REFERRING    (UINT64_C(1) << 13) /* 2: moving between folders, which is refused unless it is named */
#define TRUNCATING   (UINT64_C(1) << 14) /* 3 */
#define STEERING     (UINT64_C(1) << 15) /* 5: ioctl on devices */
#define SCOPE_SOCKET (UINT64_C(1) << 0)  /* 6: abstract sockets of others */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)  /* 6: signals to others */

#define WRITING                                                                                                        \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                  \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                        \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                     \
     LANDLOCK_ACCESS_FS_MAKE_SYM | REFERRING | TRUNCATING)
#define READING (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define OF_FILES                                                                                                       \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATING | STEERING | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)

/* Kernels take a longer struct than theirs if the rest is 0. */
struct ruleset_form {
    uint64_t files, network, scope;
};

struct ruleset {
    int descriptor;
    uint64_t handled;
};

static bool open_ruleset(struct ruleset *ruleset, bool isolated, struct status *st)
{
    struct ruleset_form form = {.files = WRITING | STEERING | (isolated ? READING : 0),
                                .scope = SCOPE_SOCKET | SCOPE_SIGNAL};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 2)
        form.files &= ~REFERRING;
    if (version < 3)
        form.files &= ~TRUNCATING;
    if (version < 5)
        form.files &= ~STEERING;
    if (version < 6)
        form.scope = 0;
    ruleset->handled = form.files;
    ruleset->descriptor = (int)syscall(SYS_landlock_create_ruleset, &form, sizeof form, 0);
    return ruleset->descriptor >= 0 ||
           fail(st, FAILED_PRECONDITION,
                "a process is confined by Landlock, which this kernel does not have (errno %d)%s", errno,
                isolated ? "" : "; \"landlock\": false starts it without");
}

static bool confine_allow_path(const struct ruleset *ruleset, int folder, const char *path, int how, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {0};
    struct stat about;
    rule.parent_fd = openat(folder, path, O_PATH | O_CLOEXEC | how);
    if (rule.parent_fd < 0)
        return false;
    bool good = fstat(rule.parent_fd, &about) == 0;
    rule.allowed_access = access & ruleset->handled & (S_ISDIR(about.st_mode) ? ~UINT64_C(0) : OF_FILES);
    good = good && !S_ISLNK(about.st_mode) &&
           syscall(SYS_landlock_add_rule, ruleset->descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return good;
}

/* Allows all of the file system but the files that steer the kernel and the machine. Rules only add, so each folder of
 * the root is named. */
static bool allow_most(const struct ruleset *ruleset, struct status *st)
{
    static const char *const kept[] = {".", "..", "proc", "sys", "dev"};
    const struct dirent *entry;
    DIR *root = opendir("/");
    if (!root)
        return fail(st, UNAVAILABLE, "'/' cannot be read: errno %d", errno);
    while ((entry = readdir(root))) {
        bool keep = false;
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            keep = keep || strcmp(entry->d_name, kept[i]) == 0;
        if (!keep)
            confine_allow_path(ruleset, dirfd(root), entry->d_name, O_NOFOLLOW, WRITING);
    }
    closedir(root);
    confine_allow_path(ruleset, AT_FDCWD, "/dev/shm", 0, WRITING);
    return true;
}

static bool allow_listed(const struct ruleset *ruleset, const char *const *writable, size_t count, struct status *st)
{
    for (size_t i = 0; i < count; i++)
        if (!confine_allow_path(ruleset, AT_FDCWD, writable[i], 0, WRITING))
            return fail(st, FAILED_PRECONDITION, "'writable': '%.200s' is no folder that can be opened (errno %d)",
                        writable[i], errno);
    return true;
}

bool child_ruleset(const struct child_options *options, const char *program, int *descriptor, struct status *st)
{
    struct ruleset ruleset = {.descriptor = -1};
    struct status why = {0};
    *descriptor = -1;
    if (!open_ruleset(&ruleset, options->isolated, &why))
        return (!options->isolated && options->without_landlock && !options->writable_count) ||
               fail(st, why.code, "%s", why.text);
    if (options->isolated) {
        /* Programs, libraries and their data. Paths that are not there are passed over. */
        static const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts"};
        for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++)
            confine_allow_path(&ruleset, AT_FDCWD, readable[i], 0, READING);
        confine_allow_path(&ruleset, AT_FDCWD, program, 0, READING);
        *descriptor = ruleset.descriptor;
        return true;
    }
    static const char *const harmless[] = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"};
    int folder = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        confine_allow_path(&ruleset, folder, harmless[i], 0, LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATING | STEERING);
    close(folder);
    bool good = options->writable_count ? allow_listed(&ruleset, options->writable, options->writable_count, st)
                                        : allow_most(&ruleset, st);
    if (good)
        *descriptor = ruleset.descriptor;
    else
        close(ruleset.descriptor);
    return good;
}

/* ---- the last steps ---------------------------------------------------------------------------------------------- */

bool child_enforce_ruleset(int ruleset)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) == 0);
}

bool child_enforce_filter(const struct child_filter *filter)
{
    const struct sock_fprog program = {.len = (unsigned short)filter->length,
                                       .filter = (struct sock_filter *)(uintptr_t)filter->program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
