/* A playbook as it was: from the current revision back, change by change, page by page in workers. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_UNDO_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_UNDO_H

#include "playbook/playbook_draft.h"
#include "playbook/playbook_load.h"

/* Embedded in its owner, zeroed, and kept until `done` has run. */
struct playbook_undo {
    /* The owner's. */
    const struct playbook_load *load; /* of the current playbook; the owner holds it */
    int64_t revision;                 /* 0: that of an empty playbook */
    void (*done)(struct playbook_undo *undo);

    /* For `done`: OUT_OF_RANGE names the revisions that are kept; DATA_LOSS names the change that cannot be read. */
    struct status status;
    struct playbook *playbook; /* with that revision's bullets, and no proposals; held for the owner. NULL: failed */

    /* The undo's own. */
    struct arena arena;
    struct playbook_draft draft;
    struct store_scan scan;
    struct job job;
    int64_t next; /* the change that is undone next */
    bool drafted;
};

/* From inside the call's loop. `done` runs once, perhaps within it. */
void playbook_undo_start(struct playbook_undo *undo);

#define PLAYBOOK_PLACES_AT    16 /* bytes of the incarnation and of the number of bullets */
#define PLAYBOOK_PLACES_BYTES 16 /* of a bullet: its place before and after */

/* Reads a row of w; NULL: it cannot be read. `places` are those of its bullets, big-endian. */
Renga__V1__PlaybookChange *playbook_change_read(struct arena *arena, const struct store_row *row, int64_t incarnation,
                                                const uint8_t **places);

#endif
