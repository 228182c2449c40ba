/* The bytes that the requests of a process may hold, over all of its servers (gRPC, HTTP) together.
 *
 *      total:  |---- requests of any size, 3/4 ----------------|-- buffers of gRPC core alone --|
 *              |---- large ones, at most 1/2 ---|
 *
 * A server takes bytes as a body arrives and returns them after the answer. Large requests may take half of the bytes,
 * so that small ones still find room. An owner (a tenant) never has more than it leaves free: a single owner gets half
 * of the bytes for requests of a size, two get a third each. This is the dynamic threshold of switches with a shared
 * buffer (Choudhury and Hahne, 1998). gRPC core gets the rest: `changed` reports its size each time that it has moved
 * by BUDGET_STEP or more. Any thread; the calls never block for long. */
#ifndef RENGA_BASE_BUDGET_H
#define RENGA_BASE_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_SMALL_MAX ((size_t)64 << 10) /* bytes up to which a request is a small one */
#define BUDGET_STEP      ((size_t)2 << 20)  /* bytes */
#define BUDGET_SHARES    64                 /* owners are hashed to; two of them share one with a probability of 1/64 */
#define BUDGET_RETRY_MS  1000               /* the retry hint of a refused caller */

/* Bytes of requests, and the parts of them by owner. */
struct budget_pool {
    size_t limit;
    atomic_size_t used;
    atomic_size_t shares[BUDGET_SHARES];
};

struct budget {
    size_t total;              /* bytes */
    struct budget_pool all;    /* requests of any size */
    struct budget_pool larges; /* those of more than BUDGET_SMALL_MAX; they count in `all`, too */
    atomic_size_t reported;    /* the last figure for `changed` */
    pthread_mutex_t report_lock;
    void (*changed)(void *data, size_t used);
    void *changed_data;
};

void budget_init(struct budget *budget, size_t total);
void budget_fini(struct budget *budget);

/* Tells at once, and then until it is called with NULL. One listener; not beside budget_take or budget_give. */
void budget_on_change(struct budget *budget, void (*changed)(void *data, size_t used), void *data);

/* The owner of a request: its tenant, or its client if the tenant is empty. 0 if both are "" or NULL; requests of
 * owner 0 have no share that limits them. */
uint64_t budget_owner(const char *tenant, const char *client);

/* A request's part of the budget. Zeroed, it holds no bytes; the owner may be set before the first are taken. */
struct budget_hold {
    uint64_t owner; /* budget_owner; 0: not known */
    size_t bytes;
    size_t large; /* those of them that were taken when the request was large */
};

/* Takes `more` bytes for a request that has `size` bytes, these included or not. False: there is no room, and the hold
 * is unchanged. Without a budget (NULL) there is always room. */
bool budget_take(struct budget *budget, struct budget_hold *hold, size_t size, size_t more);
/* Gives a part of it back. Of a hold with bytes of both sizes, those of large requests go first. */
void budget_give_part(struct budget *budget, struct budget_hold *hold, size_t bytes);
/* Gives all of it back. */
void budget_give(struct budget *budget, struct budget_hold *hold);

/* Bytes that requests hold now. */
size_t budget_used(const struct budget *budget);

#endif
