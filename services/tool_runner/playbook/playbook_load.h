/* Reads the current playbook: the head row says which revision is current; the rest comes from the cache if it is that
 * revision, else from the store. So a change by another tool-runner is seen at once. If an earlier revision is known,
 * from the cache or since the head changed meanwhile, the changes since then are applied to it (playbook_redo.h).
 *
 *      head ---> in the cache? ------------------------------------------------------> loaded
 *        |              '--> an earlier one? ---> changes ---> proposals, if any ---v     ^
 *        |                         '------------> bullets ---> proposals ---> head again, the same?
 *        '<------------------------------------- changed meanwhile ---------------------' */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_LOAD_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_LOAD_H

#include "instance/tool_runner_instance.h"
#include "loop/jobs.h"
#include "playbook/playbook.h"
#include "playbook/playbook_rows.h"
#include "store/store.h"

struct rpc_call;

/* Embedded in its owner, zeroed, and kept until `loaded` has run. */
struct playbook_load {
    /* The owner's. */
    struct tool_runner *runner;
    struct rpc_call *rpc;
    const char *dataset;                        /* checked with playbook_check_dataset; borrowed */
    void (*loaded)(struct playbook_load *load); /* in the loop, once, perhaps within playbook_load_start */
    bool takes_damaged;                         /* a playbook with unreadable rows is no error */

    bool head_alone; /* `playbook` has no bullets and no proposals */

    /* For `loaded`. */
    struct status status;      /* UNAVAILABLE: the store; DATA_LOSS names the playbook and the row */
    struct playbook *playbook; /* of revision 0 if it does not exist; the owner releases it. NULL: failed */
    struct playbook_head head; /* as it is on disk */

    /* The load's own. */
    struct store *store;
    struct store_scan scan;
    struct job job;
    struct status found;   /* of the rows, before the head is confirmed */
    struct playbook *base; /* the earlier one; NULL: bullets are read */
    bool base_failed;      /* changes could not be applied to it */
    char letter;           /* letter of the rows that are read */
    char last[STORE_KEY_MAX + 1];
    size_t last_size;
    unsigned tries;
};

/* From inside the call's loop. */
void playbook_load_start(struct playbook_load *load);

/* Call it after `loaded` if `st` is DATA_LOSS in the playbook's history: the rows may have been deleted since the
 * head was read. True: `st` is cleared and `loaded` runs once more. False: the head equals the one of the failure
 * before, in `failed` (all zero at first): the rows are damaged. */
bool playbook_load_again(struct playbook_load *load, struct status *st, struct playbook_head *failed);

#endif
