/* The vectors of a search: that of its query, and those of bullets without a vector. A bullet's vector is read from the
 * store if an earlier search has written it there; else the gateway makes it, and it is written:
 *
 *      list ---> rows (as long as they have some) ---> ask ---> embed (64 texts a request) ---> keep ---> commit --->
 * done
 *
 * A vector's key is the digest of the embedding model and the content, so that a bullet that comes back, or stands
 * in two playbooks' revisions, is not paid for again. At most PLAYBOOK_EMBED_MAX bullets are embedded in one search;
 * the others are found by words until a later one. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_VECTORS_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_VECTORS_H

#include "knowledge/embedding.h"
#include "playbook/playbook_index.h"
#include "playbook/playbook_load.h"

#define PLAYBOOK_EMBED_MAX    256  /* bullets of a search */
#define PLAYBOOK_EMBED_TEXTS  64   /* of a request to the gateway */
#define PLAYBOOK_EMBED_MS     5000 /* all requests of a search */
#define PLAYBOOK_DIGEST_BYTES 16

struct playbook_lacking {
    char digest[2 * PLAYBOOK_DIGEST_BYTES + 1];
    Renga__V1__Bullet *bullet; /* the playbook's */
};

/* Embedded in its owner, zeroed, and kept until `done` has run. */
struct playbook_vectors {
    /* The owner's. */
    const struct playbook_load *load; /* that has loaded */
    const struct knowledge *knowledge;
    const char *text;                               /* the query */
    void (*done)(struct playbook_vectors *vectors); /* in the loop, once */

    /* For `done`, and until playbook_vectors_fini. */
    struct status status;  /* why there is no vector of the query */
    struct vector *vector; /* may be NULL */
    Renga__V1__Usage usage;

    /* Its own. */
    struct job job;
    struct arena arena;
    struct playbook_lacking *lacking; /* heap; by digest */
    size_t n_lacking, next;
    struct store_scan scan;
    struct store_batch batch;
    Renga__V1__Bullet *asked[PLAYBOOK_EMBED_MAX];
    size_t n_asked, n_sent, n_received;
    struct store_bytes values[PLAYBOOK_EMBED_MAX]; /* rows of those that received; the arena's */
    const char *inputs[PLAYBOOK_EMBED_TEXTS + 1];
    size_t n_inputs;
    struct embedding embedding;
    int64_t deadline_ns;
};

/* From inside the loop. */
void playbook_vectors_start(struct playbook_vectors *vectors);
void playbook_vectors_fini(struct playbook_vectors *vectors);

/* In a job: the index of the playbook, up to date; the slot is locked until playbook_index_leave. */
struct playbook_index *playbook_index_enter(struct playbook *playbook);
void playbook_index_leave(struct playbook *playbook);

#endif
