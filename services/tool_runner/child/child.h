/* A child process that is spoken to over pipes, in a session of its own, without our resources but those handed to it.
 *
 * It is kept from (mcp/README.md has the list and its gaps): our environment, descriptors, memory and terminal; other
 * users' rights and all capabilities; writing to /proc, /sys, devices and outside of `writable`; system calls that are
 * not listed in syscalls.c. It may read files as its user may, use the network, and start processes. It is killed
 * when we die. */
#ifndef RENGA_TOOL_RUNNER_CHILD_H
#define RENGA_TOOL_RUNNER_CHILD_H

#include "base/status.h"
#include "loop/loop.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHILD_FILES_MAX     1024
#define CHILD_PROCESSES_MAX 1024 /* and threads, of a user that is not ours, over all of its processes */
#define CHILD_FILTER_MAX    1024 /* instructions */

struct child_user {
    bool changes; /* else it is ours */
    uid_t uid;
    gid_t gid;
};

struct child_options {
    const char *const *argv; /* ends with NULL; argv[0] is looked for in PATH */
    const char *const *env;  /* "NAME=value", ends with NULL; all that it gets */
    const char *cwd;         /* NULL: ours */
    const char *const *writable;
    size_t writable_count;  /* 0: all folders that its user may write, except /proc, /sys and devices */
    bool without_landlock;  /* it is started if the kernel has no Landlock and `writable_count` is 0 */
    struct child_user user; /* changing it takes root */
    int64_t memory_max;     /* bytes; 0: no limit */
    int64_t cpu_max_s;      /* seconds of the processor; 0: no limit */
    int input;              /* a descriptor that becomes its standard input; 0: a pipe of ours */
    /* A program that turns its input into its output. It cannot use the network, start processes or write files, and
     * reads its own program and the files of /usr, /lib and the dynamic linker alone. It needs Landlock. */
    bool isolated;
};

struct child {
    pid_t pid;
    int input, output, error; /* its standard streams, our ends; do not block. `input` -1: it has another */
};

/* NOT_FOUND for a command that is not there, PERMISSION_DENIED, FAILED_PRECONDITION if it cannot be confined. */
bool child_spawn(const struct child_options *options, struct child *child, struct status *st);

/* "NAME", "UID" or "UID:GID"; NULL: the unprivileged default account if we are root, else our own. INVALID_ARGUMENT:
 * the user does not exist. FAILED_PRECONDITION: it is another user and we are not root. May read /etc/passwd: not
 * from a loop. */
bool child_user_find(const char *text, struct child_user *user, struct status *st);

/* ---- confine.c, syscalls.c: made before, used in the child, which may only call functions that are safe
 * after vfork */

struct child_filter {
    struct sock_filter program[CHILD_FILTER_MAX];
    size_t length;
};

/* The ruleset's descriptor; -1: the kernel has no Landlock, and it may be missing. `program` is the path of the
 * child's. */
bool child_ruleset(const struct child_options *options, const char *program, int *descriptor, struct status *st);
bool child_filter_write(struct child_filter *filter, bool isolated, struct status *st);

/* False: errno. All capabilities are dropped, and the tie to its parent is cut: make that afterwards. */
bool child_switch_user(const struct child_user *user);
bool child_enforce_ruleset(int ruleset);
bool child_enforce_filter(const struct child_filter *filter); /* afterwards there is little left but execve */

#endif
