/* A child process that is spoken to over pipes, in a group of its own, with nothing of ours but what it is given.
 *
 * What it is kept from, always: our environment and descriptors, privileges by set-user-id (no_new_privs), core dumps,
 * more than CHILD_FILES_MAX open files; by seccomp: tracing others and reading their memory, mounting, namespaces,
 * loading kernel code, the kernel's keyring, bpf, perf, userfaultfd. With `writable`, by Landlock: writing, making and
 * removing files anywhere else (it may read as our user may). It may use the network, and start processes. It is killed
 * when we die. */
#ifndef RENGA_MCP_PROCESS_H
#define RENGA_MCP_PROCESS_H

#include "base/status.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHILD_FILES_MAX 1024

struct child_options {
    const char *const *argv; /* ends with NULL; argv[0] is looked for in PATH */
    const char *const *env;  /* "NAME=value", ends with NULL; all that it gets */
    const char *cwd;         /* NULL: ours */
    const char *const *writable;
    size_t writable_count; /* 0: wherever our user may */
    int64_t memory_max;    /* bytes; 0: no limit */
};

struct child {
    pid_t pid;
    int input, output, error; /* its standard streams, our ends; do not block */
};

/* NOT_FOUND for a command that is not there, PERMISSION_DENIED, FAILED_PRECONDITION where `writable` cannot be had. */
bool child_spawn(const struct child_options *options, struct child *child, struct status *st);

/* ---- in the child: child_confine.c ------------------------------------------------------------------------------- */

/* Made before, used in the child; -1: none. */
int child_ruleset(const char *const *writable, size_t count, struct status *st);
/* Only what is safe after vfork. False: errno. */
bool child_confine(int ruleset);

#endif
