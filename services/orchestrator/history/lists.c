/* Lists, page by page: runs by their age, threads by their last change. */
#include "lists.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/retention_limits.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread_requests.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_DEFAULT 50
#define PAGE_MAX     500
#define SCAN_ROWS    1000
#define SCAN_BYTES   ((size_t)16 << 20)

#define SCAN_ROW_STORAGE 8192 /* bytes on the stack: room for a usual row of a run */

#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = xnonnull(arena_alloc(arena, sizeof *name));                                              \
    renga__v1__##name##__init(name)

void list_init(struct list *list, struct request *request, int32_t page_size)
{
    list->request = request;
    list->page = page_size <= 0 ? PAGE_DEFAULT : page_size > PAGE_MAX ? PAGE_MAX : (size_t)page_size;
    list->found = xnonnull(arena_alloc(request->arena, list->page * sizeof(*list->found)));
}

bool page_token_fail(const char *token, struct status *st)
{
    return fail(st, OUT_OF_RANGE,
                "page_token is '%.64s', which this method did not give; send next_page_token of its last answer, or "
                "leave it empty for the first page",
                token);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static void list_scan_begin(struct list *list)
{
    store_scan(list->request->runner->options.store, &list->scan);
}

static void list_turn_came(struct turn *turn)
{
    list_scan_begin(CONTAINER_OF(turn, struct list, turn));
}

static struct shard *list_shard(const struct runner *runner)
{
    const struct loop *loop = loop_current();
    unsigned i = 0;
    while (runner->shards[i].loop != loop) {
        i++;
        assert(i < runner->shard_count);
    }
    return &runner->shards[i];
}

/* False: it waits for its turn. */
static bool list_enter(struct list *list)
{
    if (list->shard)
        return true;
    list->shard = list_shard(list->request->runner);
    list->turn.owner = hash_text(list->request->tenant);
    list->turn.came = list_turn_came;
    return turn_take(&list->shard->list_turns, &list->turn);
}

static void list_leave(struct list *list)
{
    if (list->shard)
        turn_give(&list->shard->list_turns, &list->turn);
}

static void list_end(struct list *list)
{
    list_leave(list);
    request_answer(list->request);
    list->clear(list);
}

void list_fail(struct list *list, const struct status *st)
{
    list_leave(list);
    request_fail(list->request, st, NULL);
    list->clear(list);
}

bool list_passes_over(struct list *list, const struct store_row *row, struct status *st)
{
    char tenant[TENANT_MAX + 1], name[THREAD_MAX + 1];
    struct arena *arena = list->request->arena;
    if (st->code != DATA_LOSS)
        return false;
    log_warn("list.damaged", "%s", st->text);
    status_clear(st);
    if (!key_names(row->key, tenant, sizeof tenant, name, sizeof name) || !text_is_clean(name, strlen(name)) ||
        list->damaged_count == LIST_DAMAGED_MAX)
        return true;
    if (!list->damaged)
        list->damaged = xnonnull(arena_alloc(arena, LIST_DAMAGED_MAX * sizeof(*list->damaged)));
    list->damaged[list->damaged_count++] = xnonnull(arena_strdup(arena, name));
    return true;
}

void list_scan(struct list *list, bool backwards, size_t limit)
{
    store_scan_init(&list->scan, loop_current(), list->came);
    list->scan.from = key_bytes(&list->from);
    list->scan.to = key_bytes(&list->to);
    list->scan.backwards = backwards;
    list->scan.limit = limit;
    list->scan.bytes_max = SCAN_BYTES;
    if (list_enter(list))
        list_scan_begin(list);
}

void list_go_on(struct list *list, const struct status *st)
{
    struct store_scan *scan = &list->scan;
    bool more = scan->more && !list->token && st->code == OK;
    list->turn.cost += read_cost(scan);
    if (more) {
        struct store_bytes last = scan->rows[scan->count - 1].key;
        memcpy(list->to.bytes, last.bytes, last.size);
        list->to.size = last.size;
    }
    store_scan_fini(scan);
    if (st->code != OK) {
        list_fail(list, st);
    } else if (more) {
        list_scan(list, true, SCAN_ROWS);
    } else {
        list->done(list);
        list_end(list);
    }
}

static void lists_clear(struct list *list)
{
    free(list);
}

/* Entries of all string maps have the same layout. */
struct label {
    ProtobufCMessage base;
    char *key, *value;
};

static bool has_label(struct label *const *labels, size_t count, const struct label *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(labels[i]->key, wanted->key) == 0)
            return strcmp(labels[i]->value, wanted->value) == 0;
    return false;
}

static bool has_labels(void *labels, size_t count, void *wanted, size_t wanted_count)
{
    for (size_t i = 0; i < wanted_count; i++)
        if (!has_label(labels, count, ((struct label **)wanted)[i]))
            return false;
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool run_fits(const Renga__V1__ListRunsRequest *message, const Renga__V1__Run *run)
{
    bool state = !message->n_states, reason = !message->n_stop_reasons;
    for (size_t i = 0; i < message->n_states; i++)
        state |= message->states[i] == run->state;
    for (size_t i = 0; i < message->n_stop_reasons; i++)
        reason |= message->stop_reasons[i] == run->stop_reason;
    return state && reason && has_labels(run->labels, run->n_labels, message->labels, message->n_labels) &&
           (!*message->agent || strcmp(message->agent, run->agent) == 0) &&
           (!*message->thread_id || strcmp(message->thread_id, run->thread_id) == 0) &&
           run->created_ms >= message->created_from_ms &&
           (!message->created_to_ms || run->created_ms < message->created_to_ms);
}

static void runs_done(struct list *list)
{
    NEW(list->request->arena, list_runs_response, ListRunsResponse);
    list_runs_response->runs = (Renga__V1__Run **)list->found;
    list_runs_response->n_runs = list->count;
    list_runs_response->damaged_run_ids = list->damaged;
    list_runs_response->n_damaged_run_ids = list->damaged_count;
    if (list->token)
        list_runs_response->next_page_token = list->token;
    list->request->response = &list_runs_response->base;
}

/* Adds the run to the answer, without its long parts. */
static void list_run(struct list *list, Renga__V1__Run *run)
{
    run->output_json = unconst("");
    run->output_omitted = true;
    run->n_failures = run->n_interrupts = 0;
    list->found[list->count++] = xnonnull(message_copy(list->request->arena, &run->base));
}

/* A rare filter reads many rows for a page, and a row may have an output of megabytes: each row is read into memory of
 * its own, and only the listed runs are copied into the request's. */
static void runs_came(struct store_scan *scan)
{
    struct list *list = (struct list *)scan;
    struct request *request = list->request;
    struct status st = scan->status;
    const Renga__V1__ListRunsRequest *message = (const void *)request->message;
    char storage[SCAN_ROW_STORAGE];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, request->arena->limit);
    for (size_t i = 0; i < scan->count && st.code == OK && !list->token; i++) {
        arena_reset(&arena);
        Renga__V1__RunRow *row = answer_read_row(&arena, &scan->rows[i], &st);
        if (!row && list_passes_over(list, &scan->rows[i], &st))
            continue;
        if (!row || !run_fits(message, row->run))
            continue;
        if (list->count < list->page)
            list_run(list, row->run);
        else
            list->token = ((Renga__V1__Run *)list->found[list->count - 1])->run_id;
    }
    arena_fini(&arena);
    list_go_on(list, &st);
}

void request_list_runs(struct request *request)
{
    struct list *list = xnonnull(calloc(1, sizeof *list));
    list->clear = lists_clear;
    uint32_t place;
    const Renga__V1__ListRunsRequest *message = (const void *)request->message;
    list_init(list, request, message->page_size);
    list->came = runs_came;
    list->done = runs_done;
    key_named(&list->from, KEY_RUN, request->tenant, "");
    key_behind(&list->to, KEY_RUN, request->tenant);
    if (*message->page_token) {
        struct status st = {0};
        if (!id_run_place(message->page_token, &place)) {
            page_token_fail(message->page_token, &st);
            list_fail(list, &st);
            return;
        }
        key_named(&list->to, KEY_RUN, request->tenant, message->page_token);
    }
    list_scan(list, true, SCAN_ROWS);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int by_change(const void *a, const void *b)
{
    const Renga__V1__Thread *left = *(Renga__V1__Thread *const *)a, *right = *(Renga__V1__Thread *const *)b;
    if (left->updated_ms != right->updated_ms)
        return left->updated_ms < right->updated_ms ? 1 : -1;
    return strcmp(left->thread_id, right->thread_id);
}

static bool thread_fits(const Renga__V1__ListThreadsRequest *message, const Renga__V1__Thread *thread)
{
    bool state = !message->n_states;
    for (size_t i = 0; i < message->n_states; i++)
        state |= message->states[i] == thread->run_state;
    return state && has_labels(thread->labels, thread->n_labels, message->labels, message->n_labels) &&
           (!*message->agent || strcmp(message->agent, thread->agent) == 0) &&
           thread->updated_ms >= message->updated_from_ms &&
           (!message->updated_to_ms || thread->updated_ms < message->updated_to_ms);
}

/* It is on disk until the sweep comes by. */
static bool thread_has_expired(const struct runner *runner, const Renga__V1__Thread *thread)
{
    bool busy = thread->queued_runs || thread->run_state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED ||
                thread->run_state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
    return !busy && retention_is_over(runner, thread->retention, thread->updated_ms);
}

static bool is_behind(const char *token, const Renga__V1__Thread *thread)
{
    char *end;
    int64_t updated = strtoll(token, &end, 10);
    if (!*token || *end != ':')
        return true;
    return thread->updated_ms < updated || (thread->updated_ms == updated && strcmp(thread->thread_id, end + 1) > 0);
}

/* The rows stand by their names, and the answer is by change: of all rows those that come first are kept, one more than
 * a page, in memory that is made anew with each scan. */
struct thread_list {
    struct list list;   /* first */
    struct arena arena; /* of the best ones */
    Renga__V1__Thread **best;
    size_t count;
};

/* Of `rows`, sorted here, the first ones; they are copied, and the rows of before are freed. */
static void threads_keep(struct thread_list *threads, Renga__V1__Thread **rows, size_t count)
{
    size_t most = threads->list.page + 1;
    struct arena arena;
    qsort(rows, count, sizeof *rows, by_change);
    arena_init(&arena, NULL, 0, threads->list.request->arena->limit);
    threads->count = count < most ? count : most;
    threads->best = xnonnull(arena_alloc(&arena, most * sizeof *threads->best));
    for (size_t i = 0; i < threads->count; i++)
        threads->best[i] = xnonnull(message_copy(&arena, &rows[i]->base));
    arena_fini(&threads->arena);
    threads->arena = arena;
}

static void threads_came(struct store_scan *scan)
{
    struct thread_list *threads = (struct thread_list *)scan;
    struct list *list = &threads->list;
    struct request *request = list->request;
    struct status st = scan->status;
    const Renga__V1__ListThreadsRequest *message = (const void *)request->message;
    struct arena arena;
    arena_init(&arena, NULL, 0, request->arena->limit);
    Renga__V1__Thread **rows = xnonnull(arena_alloc(&arena, (threads->count + scan->count + 1) * sizeof *rows));
    size_t count = 0;
    for (; count < threads->count; count++)
        rows[count] = threads->best[count];
    for (size_t i = 0; i < scan->count && st.code == OK; i++) {
        Renga__V1__Thread *row = row_read(&arena, &renga__v1__thread__descriptor, &scan->rows[i], &st);
        if (!row && list_passes_over(list, &scan->rows[i], &st))
            continue;
        if (row && thread_fits(message, row) && is_behind(message->page_token, row) &&
            !thread_has_expired(request->runner, row))
            rows[count++] = row;
    }
    if (count > threads->count)
        threads_keep(threads, rows, count);
    arena_fini(&arena);
    list_go_on(list, &st);
}

static void threads_done(struct list *list)
{
    struct thread_list *threads = (struct thread_list *)list;
    struct arena *arena = list->request->arena;
    NEW(arena, list_threads_response, ListThreadsResponse);
    list_threads_response->n_threads = threads->count < list->page ? threads->count : list->page;
    list_threads_response->threads = (Renga__V1__Thread **)list->found;
    for (size_t i = 0; i < list_threads_response->n_threads; i++)
        list_threads_response->threads[i] = xnonnull(message_copy(arena, &threads->best[i]->base));
    list_threads_response->damaged_thread_ids = list->damaged;
    list_threads_response->n_damaged_thread_ids = list->damaged_count;
    if (threads->count > list->page)
        list_threads_response->next_page_token =
            xnonnull(arena_printf(arena, "%" PRId64 ":%s", threads->best[list->page - 1]->updated_ms,
                                  threads->best[list->page - 1]->thread_id));
    list->request->response = &list_threads_response->base;
}

static void threads_clear(struct list *list)
{
    struct thread_list *threads = (struct thread_list *)list;
    arena_fini(&threads->arena);
    free(threads);
}

void request_list_threads(struct request *request)
{
    struct thread_list *threads = xnonnull(calloc(1, sizeof *threads));
    struct list *list = &threads->list;
    arena_init(&threads->arena, NULL, 0, request->arena->limit);
    list->clear = threads_clear;
    const Renga__V1__ListThreadsRequest *message = (const void *)request->message;
    list_init(list, request, message->page_size);
    list->came = threads_came;
    list->done = threads_done;
    if (*message->page_token && !strchr(message->page_token, ':')) {
        struct status st = {0};
        page_token_fail(message->page_token, &st);
        list_fail(list, &st);
        return;
    }
    key_named(&list->from, KEY_THREAD, request->tenant, "");
    key_behind(&list->to, KEY_THREAD, request->tenant);
    list_scan(list, true, SCAN_ROWS);
}
