/* The checkpoints of a thread, the newest first, from its records. Each is described by the version that made it, which
 * may have to be read from the store. */
#include "graph/agents.h"
#include "journal/checkpoint.h"
#include "lifecycle/thread_lifecycle.h"
#include "lists.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

#define SCAN_ROWS 1000
#define RUNS_MAX  1000000 /* of a thread; more are damage */
#define NEVER     UINT64_MAX
#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = xnonnull(arena_alloc(arena, sizeof *name));                                              \
    renga__v1__##name##__init(name)

struct run_of_list {
    char id[ID_MAX], version[72];
};

struct checkpoints {
    struct list list;
    struct thread *thread;
    size_t row;                   /* the next row to examine */
    uint64_t wanted, last;        /* an ancestor, NEVER: any; the last checkpoint that was listed */
    Renga__V1__Checkpoint *child; /* whose parent is the next checkpoint */
    struct run_of_list *runs;     /* by their number */
    size_t run_count;
    uint32_t moved;      /* the run that is listed by an earlier version than its last; 0: no run */
    struct agent *agent; /* held: the version of the last record; NULL: it no longer exists */
    char version[72];    /* which it is */
    struct store_scan document;
};

static void list_checkpoints_clear(struct list *list)
{
    struct checkpoints *checkpoints = (struct checkpoints *)list;
    struct thread *thread = checkpoints->thread;
    if (checkpoints->agent)
        agent_release(thread->shard->runner->options.agents, checkpoints->agent);
    free(checkpoints->runs);
    free(checkpoints);
    thread->holds--;
    thread_settle(thread);
}

static void checkpoints_done(struct list *list)
{
    NEW(list->request->arena, list_checkpoints_response, ListCheckpointsResponse);
    list_checkpoints_response->checkpoints = (Renga__V1__Checkpoint **)list->found;
    list_checkpoints_response->n_checkpoints = list->count;
    if (list->token)
        list_checkpoints_response->next_page_token = list->token;
    list->request->response = &list_checkpoints_response->base;
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

static void checkpoints_examine_records(struct checkpoints *checkpoints);

static struct run_of_list *list_checkpoints_run_of(struct checkpoints *checkpoints, const Record *record)
{
    return record->run && record->run <= checkpoints->run_count ? &checkpoints->runs[record->run - 1] : NULL;
}

static const char *list_checkpoints_version_of(struct checkpoints *checkpoints, const Record *record)
{
    const struct run_of_list *run = list_checkpoints_run_of(checkpoints, record);
    if (record->migrated)
        return record->migrated->graph_version;
    if (run)
        return run->version;
    if (record->update)
        return record->update->graph_version;
    return record->origin ? record->origin->graph_version : "";
}

static void list_checkpoints_document_came(struct store_scan *scan)
{
    struct checkpoints *checkpoints = CONTAINER_OF(scan, struct checkpoints, document);
    struct status ignored = {0};
    struct agents *agents = checkpoints->thread->shard->runner->options.agents;
    if (scan->status.code == OK && scan->count)
        checkpoints->agent = agents_of_bundle(agents, scan->rows[0].value.bytes, scan->rows[0].value.size, &ignored);
    store_scan_fini(scan);
    checkpoints_examine_records(checkpoints);
}

/* True if it is in memory, or does not exist; else it is read, and the records are examined again. */
static bool list_checkpoints_take_version(struct checkpoints *checkpoints, const char *version)
{
    struct key from;
    char last[sizeof from.bytes + 1];
    struct agents *agents = checkpoints->thread->shard->runner->options.agents;
    if (strcmp(checkpoints->version, version) == 0)
        return true;
    if (checkpoints->agent)
        agent_release(agents, checkpoints->agent);
    checkpoints->agent = *version ? thread_agent_for(checkpoints->thread, version) : NULL;
    text_cut_copy(checkpoints->version, sizeof checkpoints->version, version);
    if (checkpoints->agent || !*version)
        return true;
    key_named(&from, KEY_BUNDLE, "", version);
    memcpy(last, from.bytes, from.size);
    last[from.size] = '\0';
    store_scan_init(&checkpoints->document, checkpoints->thread->shard->loop, list_checkpoints_document_came);
    checkpoints->document.from = key_bytes(&from);
    checkpoints->document.to = (struct store_bytes){last, from.size + 1};
    store_scan(checkpoints->list.request->runner->options.store, &checkpoints->document);
    return false;
}

/* Older records were made with the previous version. */
static void take_back(struct checkpoints *checkpoints, const Record *record)
{
    struct run_of_list *run = list_checkpoints_run_of(checkpoints, record);
    if (!record->migrated || !run)
        return;
    text_cut_copy(run->version, sizeof run->version, record->migrated->from_version);
    checkpoints->moved = record->run;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Whether it is in the line of ancestors that is wanted. */
static bool is_in_line(struct checkpoints *checkpoints, const Record *record, uint64_t number)
{
    char id[ID_MAX];
    struct list *list = &checkpoints->list;
    if (record->step && record->step->n_place)
        return true;
    if (checkpoints->child) {
        id_make_checkpoint(id, checkpoints->thread->place, number);
        checkpoints->child->parent_checkpoint_id = xnonnull(arena_strdup(list->request->arena, id));
        checkpoints->child = NULL;
    }
    if (checkpoints->wanted == NEVER)
        return true;
    if (checkpoints->wanted == 0)
        checkpoints->wanted = number; /* the parent of the previous checkpoint */
    if (checkpoints->wanted != number)
        return false;
    checkpoints->wanted = record->parent;
    return true;
}

/* True when the page is full. `scratch` is for the record alone: a thread may have thousands of records of branches for
 * each one that is listed. */
static bool add_checkpoint(struct checkpoints *checkpoints, struct arena *scratch, const Record *record,
                           uint64_t number)
{
    struct list *list = &checkpoints->list;
    struct arena *arena = list->request->arena;
    const Renga__V1__ListCheckpointsRequest *message = (const void *)list->request->message;
    bool root = !record->step || !record->step->n_place;
    const struct run_of_list *run = list_checkpoints_run_of(checkpoints, record);
    if (!is_in_line(checkpoints, record, number))
        return false;
    if (*message->run_id && (!run || strcmp(message->run_id, run->id) != 0))
        return false;
    Renga__V1__Checkpoint *made =
        checkpoint_of_record(scratch, checkpoints->agent, checkpoints->thread->place, record, number, 0);
    if (strcmp(made->path, message->path) != 0)
        return false;
    if (list->count == list->page || (list->count && arena->used > arena->limit / 2)) {
        checkpoints->wanted = checkpoints->wanted == NEVER ? NEVER : number; /* it is the first of the next page */
        return true;
    }
    Renga__V1__Checkpoint *checkpoint = message_copy(arena, &made->base);
    checkpoint->run_id = run ? xnonnull(arena_strdup(arena, run->id)) : unconst("");
    checkpoints->child = root && !record->parent ? checkpoint : checkpoints->child;
    list->found[list->count++] = checkpoint;
    checkpoints->last = number;
    return false;
}

static void page_is_full(struct checkpoints *checkpoints)
{
    struct list *list = &checkpoints->list;
    uint32_t moved = checkpoints->moved;
    list->token =
        xnonnull(arena_printf(list->request->arena, "%" PRIu64 ":%" PRIu64 ":%" PRIu32 ":%s", checkpoints->last,
                              checkpoints->wanted, moved, moved ? checkpoints->runs[moved - 1].version : ""));
}

static void checkpoints_examine_records(struct checkpoints *checkpoints)
{
    struct list *list = &checkpoints->list;
    struct status st = list->scan.status;
    for (; checkpoints->row < list->scan.count && st.code == OK && !list->token; checkpoints->row++) {
        struct arena arena;
        const struct store_row *row = &list->scan.rows[checkpoints->row];
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, row, &st);
        bool listed = record && record_is_checkpoint(record);
        bool waits =
            listed && !list_checkpoints_take_version(checkpoints, list_checkpoints_version_of(checkpoints, record));
        if (listed && !waits && add_checkpoint(checkpoints, &arena, record, key_number(row->key)))
            page_is_full(checkpoints);
        else if (listed && !waits)
            take_back(checkpoints, record);
        arena_fini(&arena);
        if (waits)
            return;
    }
    list_go_on(list, &st);
}

static void records_came(struct store_scan *scan)
{
    struct checkpoints *checkpoints = (struct checkpoints *)scan;
    checkpoints->row = 0;
    checkpoints_examine_records(checkpoints);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* The fields behind the number in a page token: ancestor, run, version. */
static void list_checkpoints_read_token(struct checkpoints *checkpoints, char *at)
{
    checkpoints->wanted = strtoull(at, &at, 10);
    unsigned long run = *at == ':' ? strtoul(at + 1, &at, 10) : 0;
    if (!run || run > checkpoints->run_count || *at != ':')
        return;
    checkpoints->moved = (uint32_t)run;
    text_cut_copy(checkpoints->runs[run - 1].version, sizeof checkpoints->runs->version, at + 1);
}

static bool list_checkpoints_read_names(struct checkpoints *checkpoints, const struct store_scan *scan,
                                        struct status *st)
{
    uint64_t last = scan->count ? key_number(scan->rows[scan->count - 1].key) : 0;
    if (last > RUNS_MAX || (scan->count && key_number(scan->rows[0].key) == 0))
        return fail(st, DATA_LOSS, "thread '%s' has a run with the number %llu; 1 to %d are possible",
                    checkpoints->thread->id, (unsigned long long)last, RUNS_MAX);
    checkpoints->run_count = (size_t)last;
    checkpoints->runs = xnonnull(calloc(checkpoints->run_count + 1, sizeof *checkpoints->runs));
    for (size_t i = 0; i < scan->count; i++) {
        struct run_of_list *run = &checkpoints->runs[key_number(scan->rows[i].key) - 1];
        if (!row_read_run_name(&scan->rows[i], run->id, run->version, st))
            return false;
    }
    return true;
}

static void names_came(struct store_scan *scan)
{
    struct checkpoints *checkpoints = (struct checkpoints *)scan;
    struct list *list = &checkpoints->list;
    struct thread *thread = checkpoints->thread;
    struct status st = scan->status;
    const Renga__V1__ListCheckpointsRequest *message = (const void *)list->request->message;
    if (st.code == OK)
        list_checkpoints_read_names(checkpoints, scan, &st);
    store_scan_fini(scan);
    uint64_t upto = NEVER;
    char *end = NULL;
    bool again = *message->page_token;
    if (st.code != OK)
        again = false;
    if (again && ((upto = strtoull(message->page_token, &end, 10)) == 0 || *end != ':'))
        page_token_fail(message->page_token, &st);
    else if (again)
        list_checkpoints_read_token(checkpoints, end + 1);
    if (st.code == OK && !again && *message->ancestors_of &&
        !id_checkpoint_number(message->ancestors_of, thread->place, &checkpoints->wanted))
        fail(&st, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id, message->ancestors_of);
    if (st.code != OK) {
        list_fail(list, &st);
        return;
    }
    key_numbered(&list->from, KEY_RECORD, thread->tenant, thread->id, 0);
    key_numbered(&list->to, KEY_RECORD, thread->tenant, thread->id, upto);
    list->came = records_came;
    list_scan(list, true, SCAN_ROWS);
}

void list_checkpoints(struct request *request)
{
    const Renga__V1__ListCheckpointsRequest *message = (const void *)request->message;
    struct checkpoints *checkpoints = xnonnull(calloc(1, sizeof *checkpoints));
    struct list *list = &checkpoints->list;
    list_init(list, request, message->page_size);
    list->done = checkpoints_done;
    list->clear = list_checkpoints_clear;
    checkpoints->wanted = NEVER;
    checkpoints->thread = thread_get(request->shard, request->tenant, request->thread_id, false);
    checkpoints->thread->holds++;
    key_numbered(&list->from, KEY_THREAD_RUN, request->tenant, request->thread_id, 0);
    key_numbered(&list->to, KEY_THREAD_RUN, request->tenant, request->thread_id, NEVER);
    list->came = names_came;
    list_scan(list, false, 0);
}
