/* A playbook in memory, as it was at one revision. It never changes: a change makes another one, which shares the
 * bullets that stayed the same. So two revisions are compared by the pointers of their bullets, and any thread may read
 * a playbook that it holds.
 *
 * Bullets are in the order of GetPlaybook: sections in the order of their first bullets, then by number, then by id.
 * The pure modules of this room (text, index, similar) take `Renga__V1__Bullet *const *bullets, size_t count`. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAYBOOK_BULLETS_MAX        10000
#define PLAYBOOK_BYTES_MAX          ((size_t)1 << 20) /* of all ids, sections, contents and sources */
#define PLAYBOOK_DATASET_MAX        128               /* bytes, and below as well */
#define PLAYBOOK_ID_MAX             64
#define PLAYBOOK_SECTION_MAX        256
#define PLAYBOOK_CONTENT_MAX        8192
#define PLAYBOOK_SOURCE_MAX         128
#define PLAYBOOK_COUNT_MAX          1000000000
#define PLAYBOOK_TEXT_MAX           ((size_t)2 << 20)
#define PLAYBOOK_PROPOSALS_MAX      1000
#define PLAYBOOK_PROPOSAL_BYTES_MAX ((size_t)256 << 10) /* of all proposals, packed */
#define PLAYBOOK_ARENA_MAX          ((size_t)4 << 20)   /* proposals in memory */
#define PLAYBOOK_PROPOSAL_ID        "p-%05lld"
#define PLAYBOOK_SECTION_DEFAULT    "misc"

/* A bullet that several revisions may hold. Its texts are in the same allocation, so copies of the struct must not
 * outlive it. */
struct playbook_bullet {
    Renga__V1__Bullet bullet; /* first */
    int64_t place;            /* the number of its id; without one, the number that was next when it came */
    int32_t tokens;           /* of its line of text, an estimate */
    atomic_uint holders;
    _Atomic(struct playbook_bullet_terms *) terms; /* playbook_alike.c: NULL until they are needed */
    bool damaged;                                  /* its row cannot be read: only the id is known */
};

/* The bullet that embeds the message; for the messages of a playbook alone. */
struct playbook_bullet *playbook_bullet_of(Renga__V1__Bullet *bullet);
/* A copy of the message, held once. Out of memory is fatal. */
struct playbook_bullet *playbook_bullet_create(const Renga__V1__Bullet *bullet, int64_t place);
struct playbook_bullet *playbook_bullet_hold(struct playbook_bullet *bullet);
void playbook_bullet_release(struct playbook_bullet *bullet);
/* Bytes of its texts, as PLAYBOOK_BYTES_MAX counts them. */
size_t playbook_bullet_bytes(const Renga__V1__Bullet *bullet);

/* The search index of a playbook in this process. All revisions of the playbook have the same slot; the search fills
 * it, and brings it from one revision to the next. */
struct playbook_index;
struct playbook_slot {
    atomic_uint holders;
    pthread_mutex_t lock; /* of the fields below; for a job in a worker, never for a loop */
    struct playbook_index *index;
    void (*destroy)(struct playbook_index **index); /* called when the slot goes, unless index is NULL */
    atomic_size_t bytes;                            /* of the index; the cache counts them */
};

struct playbook {
    const char *tenant, *dataset;
    int64_t revision; /* 0: the playbook does not exist, and has no bullets */
    int64_t updated_ms;
    int64_t next_number;   /* of the next bullet that gets an id */
    int64_t next_proposal; /* of the next proposal */
    Renga__V1__Bullet **bullets;
    size_t count;
    size_t text_bytes; /* of all bullets, as PLAYBOOK_BYTES_MAX counts them */
    int64_t tokens;
    Renga__V1__PlaybookProposal **proposals; /* oldest first */
    size_t n_proposals;
    struct playbook_slot *slot;

    /* The room's own. */
    int64_t incarnation, version; /* of its head (playbook_rows.h) */
    atomic_uint holders;
    bool incomplete;                 /* rows are missing in the store */
    size_t room;                     /* places in `bullets` */
    size_t memory;                   /* bytes, without the slot's */
    struct playbook_bullet *damaged; /* the first bullet with an unreadable row; NULL: all are readable. Borrowed */
    struct arena arena;              /* of the proposals and names */
};

/* Of revision 0, held once. `slot`: that of another revision of it, or NULL. */
struct playbook *playbook_create(const char *tenant, const char *dataset, struct playbook_slot *slot);
struct playbook *playbook_hold(struct playbook *playbook);
/* Takes the holder's pointer. Any thread. */
void playbook_release(struct playbook **playbook);

/* Puts the bullets that were appended into their order and sums them up; the room's own. A playbook that others hold
 * is not changed any more. */
void playbook_append(struct playbook *playbook, struct playbook_bullet *bullet); /* takes the hold */
void playbook_arrange(struct playbook *playbook);

/* DATA_LOSS for a playbook with `incomplete` set; false. */
bool playbook_is_incomplete(const struct playbook *playbook, struct status *st);

/* The number of an id: the digits after its last '-', at most 18 of them; -1 if it has no number. */
int64_t playbook_id_number(const char *id);

/* "data set 'x'" must name one of the caller's: A-Z, a-z, 0-9, '_', '-', '.', not beginning with '.', at most 128
 * bytes. INVALID_ARGUMENT names the field. */
bool playbook_check_dataset(const char *field, const char *dataset, struct status *st);

#endif
