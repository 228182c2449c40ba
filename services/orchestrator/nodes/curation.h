/* The operations of a curation: counts that reflections' tags make, and the operations that a model wrote, checked
 * against the bullets that the model saw and against the playbook as it is now. Pure: no service is called. */
#ifndef RENGA_ORCHESTRATOR_CURATION_H
#define RENGA_ORCHESTRATOR_CURATION_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/playbook.pb-c.h"

#include <cjson/cJSON.h>

#define CURATION_OPERATIONS_MAX 32  /* of a model, at once */
#define CURATION_COUNTS_MAX     100 /* bullets that are counted at once */
#define CURATION_MERGED_MAX     16  /* bullets of a MERGE */

struct curation {
    /* The caller's. NULL counts as empty. */
    const cJSON *written; /* {"kind": "ADD", "ids": […], "section", "content", "reason"}, as the model wrote them */
    const cJSON *tags;    /* BulletTag; several tags of a bullet add up */
    Renga__V1__Bullet *const *seen, *const *now;
    size_t seen_count, now_count;

    /* The result: first the counts, then the operations of the model. In the arena. */
    Renga__V1__PlaybookOperation **list;
    size_t count;
};

enum curation_verdict {
    CURATION_CHECKED,
    CURATION_NOTHING,  /* there is nothing to change */
    CURATION_REFUSED,  /* an operation is wrong; `st` tells the model which and why */
    CURATION_OUTDATED, /* a bullet that an operation changes is not as the model saw it; `st` names it */
    CURATION_NO_MEMORY,
};

/* A tag of a bullet that is no longer there is left out. A DELETE is refused unless its bullet harmed more often than
 * it helped, these tags included: no text that a model reads can make it empty a playbook. O(bullets + operations). */
enum curation_verdict curation_make(struct curation *curation, struct arena *arena, struct status *st);

#endif
