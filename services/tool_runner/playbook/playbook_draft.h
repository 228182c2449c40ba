/* A change of a playbook under way, without a store and without a loop: bullets, operations, proposals and token budget
 * are applied to a table of bullets, which then becomes the next playbook and its list of changes. Applied as a whole:
 * after a step that failed, the draft is thrown away. One thread at a time.
 *
 *      init ---> replace, remove, write, operate, accept, reject, budget ---> finish ---> changes ---> fini */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_DRAFT_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_DRAFT_H

#include "playbook/playbook.h"

#define PLAYBOOK_NOT_OPERATED (-1)

/* A bullet that was there before, or is there now, or both. */
struct playbook_draft_entry {
    struct playbook_bullet *before; /* the base's; NULL: it was not there */
    struct playbook_bullet *now;    /* held; NULL: it is not there any more */
    struct playbook_bullet *gone;   /* held: has the id of an entry without the other two */
    uint64_t content_hash;          /* of `now`; set if `hashed` */
    int32_t written;                /* index in `bullets` of the writer; -1: not written */
    int32_t operated;               /* operation that changed it, COUNT apart; -1: no operation */
};

struct playbook_draft {
    const struct playbook *base; /* held by the owner */
    struct arena *arena;         /* of answers and proposals; the owner's */
    int64_t now_ms;
    const char *source; /* for bullets without a source */
    int64_t next_number, next_proposal;

    struct playbook_draft_entry *entries;
    size_t count, room;
    uint32_t *table; /* by id: entry number + 1 */
    size_t mask;
    bool hashed;

    Renga__V1__PlaybookProposal **proposals; /* those that wait now; the base's, or the arena's */
    size_t n_proposals;
    bool proposals_changed;

    char **new_ids; /* the array is the heap's, the ids are the arena's */
    size_t n_new_ids, new_ids_room;
    struct playbook_bullet **dropped; /* held; the lowest value first */
    size_t n_dropped;
};

void playbook_draft_init(struct playbook_draft *draft, const struct playbook *base, struct arena *arena, int64_t now_ms,
                         const char *source);
void playbook_draft_fini(struct playbook_draft *draft);

/* NULL: no bullet of that id is there now. */
struct playbook_draft_entry *playbook_draft_find(struct playbook_draft *draft, const char *id);

void playbook_draft_replace(struct playbook_draft *draft);
void playbook_draft_remove(struct playbook_draft *draft, const char *id);
/* In all fields but the id. */
bool playbook_bullets_are_equal(const Renga__V1__Bullet *a, const Renga__V1__Bullet *b);
/* Puts the entry's next bullet in its place; takes the hold. */
void playbook_draft_set(struct playbook_draft_entry *entry, struct playbook_bullet *bullet);
/* A bullet as it was, under its id and with its place; takes the hold. */
void playbook_draft_put(struct playbook_draft *draft, struct playbook_bullet *bullet);
/* A bullet from outside, checked with playbook_check_bullet. `number`: its place in the request, -1 outside of it.
 * INVALID_ARGUMENT names the field "bullets[i].id". */
bool playbook_draft_write(struct playbook_draft *draft, const Renga__V1__Bullet *bullet, int32_t number,
                          struct status *st);
/* A new bullet with a new id, as `bullet` says; NULL: numbers are used up. */
struct playbook_draft_entry *playbook_draft_add(struct playbook_draft *draft, const Renga__V1__Bullet *bullet,
                                                struct status *st);
/* For the answer; copied. RESOURCE_EXHAUSTED. */
bool playbook_draft_note_new_id(struct playbook_draft *draft, const char *id, struct status *st);

/* Operations, in their order; `results` has a place for each. INVALID_ARGUMENT names "operations[i].…";
 * RESOURCE_EXHAUSTED: too many proposals, or no memory. */
bool playbook_draft_operate(struct playbook_draft *draft, Renga__V1__PlaybookOperation *const *operations, size_t count,
                            Renga__V1__PlaybookOperationResult **results, struct status *st);
/* An operation that a person has accepted. */
bool playbook_draft_apply(struct playbook_draft *draft, const Renga__V1__PlaybookOperation *operation,
                          const char *field, struct status *st);
/* NOT_FOUND; INVALID_ARGUMENT. */
bool playbook_draft_accept(struct playbook_draft *draft, char *const *ids, size_t count, struct status *st);
bool playbook_draft_reject(struct playbook_draft *draft, char *const *ids, size_t count, struct status *st);
/* Adds a proposal, or finds the same that waits already; NULL with RESOURCE_EXHAUSTED. */
const Renga__V1__PlaybookProposal *playbook_draft_propose(struct playbook_draft *draft,
                                                          const Renga__V1__PlaybookOperation *operation,
                                                          const Renga__V1__PlaybookOperationResult *result,
                                                          struct status *st);
/* Bullets of the lowest value leave until the text has at most so many tokens. RESOURCE_EXHAUSTED: more would leave
 * than an answer can tell. */
bool playbook_draft_fit(struct playbook_draft *draft, int64_t token_budget, struct status *st);

/* The next playbook, with the numbers of the base's revision; held once. NULL with RESOURCE_EXHAUSTED: it is larger
 * than the contract allows. DATA_LOSS: a damaged bullet is still in it. */
struct playbook *playbook_draft_finish(struct playbook_draft *draft, struct status *st);

/* The changes by id. The change and its lists are in the arena, its bullets belong to the draft. NULL: no memory. */
Renga__V1__PlaybookChange *playbook_draft_changes(struct playbook_draft *draft);

/* The new id for a bullet of a section: "shr-00001". */
#define PLAYBOOK_SLUG_MAX 8
void playbook_slug(const char *section, char slug[PLAYBOOK_SLUG_MAX + 1]);

#endif
