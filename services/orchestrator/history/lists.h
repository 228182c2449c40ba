/* Private to the orchestrator: a list that is put together page by page from rows of the store. */
#ifndef RENGA_ORCHESTRATOR_LISTS_H
#define RENGA_ORCHESTRATOR_LISTS_H

#include "log/keys.h"

#include "base/turns.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct request;
struct shard;
struct status;

struct list {
    struct store_scan scan;
    struct turn turn;
    struct shard *shard; /* of its loop, where it waits for its turn or has it; NULL: it has not begun */
    struct request *request;
    struct key from, to;
    size_t page, count; /* entries that are wanted, and that were found */
    void **found;
    char *token;    /* of the next page; NULL: this is the last */
    char **damaged; /* names of rows that cannot be read, LIST_DAMAGED_MAX at most */
    size_t damaged_count;
    void (*came)(struct store_scan *scan);
    void (*done)(struct list *list); /* answers with the rows found */
    void (*clear)(struct list *list);
};

#define LIST_DAMAGED_MAX 100

/* With room for a page. `clear` frees it. */
void list_init(struct list *list, struct request *request, int32_t page_size);
/* The next rows, backwards: `came` runs. The first time, the list waits until fewer than LISTS_MAX are being made in
 * this loop (thread/shard.h): each takes megabytes. Tenants take turns. */
void list_scan(struct list *list, bool backwards, size_t limit);
/* `came` ends with a call of these: the list fails, goes on behind these rows, or is done. */
void list_go_on(struct list *list, const struct status *st);
void list_fail(struct list *list, const struct status *st);
/* False, with an error that names the token and the valid token to send. */
bool page_token_fail(const char *token, struct status *st);
/* True, and noted, if the row could not be read since it is damaged: the list goes on without it. */
bool list_passes_over(struct list *list, const struct store_row *row, struct status *st);

void list_checkpoints(struct request *request);

#endif
