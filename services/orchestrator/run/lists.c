/* Lists, page by page: runs by their age, threads by their last change, the checkpoints of a thread. */
#include "migrate.h"
#include "run_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_DEFAULT 50
#define PAGE_MAX     500
#define SCAN_ROWS    1000
#define SCAN_BYTES   ((size_t)16 << 20)
#define THREADS_MAX  10000 /* of a tenant that are looked through */
#define NEVER        UINT64_MAX

#define TYPE(request, name) ((request)->descriptor == &renga__v1__##name##__descriptor)
#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = need(arena_alloc(arena, sizeof *name));                                                  \
    renga__v1__##name##__init(name)

struct list {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread; /* of checkpoints */
    struct key from, to;
    size_t page, count;
    void **found;
    char *token;
    /* Of checkpoints. */
    uint64_t wanted, last;        /* an ancestor, NEVER: any; the last one that was listed */
    uint32_t moved;               /* the run that is listed by an earlier version than its last; 0: none */
    Renga__V1__Checkpoint *child; /* whose parent is the next one */
    struct run_of_list {
        char id[ID_MAX], version[72];
    } * runs;
    size_t run_count;
};

static size_t page_of(int32_t asked)
{
    return asked <= 0 ? PAGE_DEFAULT : asked > PAGE_MAX ? PAGE_MAX : (size_t)asked;
}

static void free_list(struct list *list)
{
    if (list->thread) {
        list->thread->holds--;
        thread_settle(list->thread);
    }
    free(list->runs);
    free(list);
}

static void fail_list(struct list *list, const struct status *st)
{
    errand_fail(list->errand, st, NULL);
    free_list(list);
}

static void scan_rows(struct list *list, bool backwards, size_t limit, void (*done)(struct store_scan *scan))
{
    store_scan_init(&list->scan, loop_current(), done);
    list->scan.from = key_bytes(&list->from);
    list->scan.to = key_bytes(&list->to);
    list->scan.backwards = backwards;
    list->scan.limit = limit;
    list->scan.bytes_max = SCAN_BYTES;
    store_scan(list->errand->runner->options.store, &list->scan);
}

static void set_end(struct list *list, struct store_bytes key)
{
    memcpy(list->to.bytes, key.bytes, key.size);
    list->to.size = key.size;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool has_label(const Renga__V1__Run *run, const char *key, const char *value)
{
    for (size_t i = 0; i < run->n_labels; i++)
        if (strcmp(run->labels[i]->key, key) == 0)
            return strcmp(run->labels[i]->value, value) == 0;
    return false;
}

static bool run_fits(const Renga__V1__ListRunsRequest *request, const Renga__V1__Run *run)
{
    bool state = !request->n_states, reason = !request->n_stop_reasons;
    for (size_t i = 0; i < request->n_states; i++)
        state |= request->states[i] == run->state;
    for (size_t i = 0; i < request->n_stop_reasons; i++)
        reason |= request->stop_reasons[i] == run->stop_reason;
    for (size_t i = 0; i < request->n_labels; i++)
        if (!has_label(run, request->labels[i]->key, request->labels[i]->value))
            return false;
    return state && reason && (!*request->agent || strcmp(request->agent, run->agent) == 0) &&
           (!*request->thread_id || strcmp(request->thread_id, run->thread_id) == 0) &&
           run->created_ms >= request->created_from_ms &&
           (!request->created_to_ms || run->created_ms < request->created_to_ms);
}

static void runs_done(struct list *list)
{
    NEW(list->errand->arena, list_runs_response, ListRunsResponse);
    list_runs_response->runs = (Renga__V1__Run **)list->found;
    list_runs_response->n_runs = list->count;
    if (list->token)
        list_runs_response->next_page_token = list->token;
    list->errand->response = &list_runs_response->base;
    errand_answer(list->errand);
    free_list(list);
}

static void runs_came(struct store_scan *scan)
{
    struct list *list = (struct list *)scan;
    struct errand *errand = list->errand;
    struct status st = scan->status;
    const Renga__V1__ListRunsRequest *request = (const void *)errand->request;
    for (size_t i = 0; i < scan->count && st.code == OK && !list->token; i++) {
        Renga__V1__RunRow *row = message_read(errand->arena, &renga__v1__run_row__descriptor, scan->rows[i].value, &st);
        if (!row || !row->run || !run_fits(request, row->run))
            continue;
        if (list->count == list->page) {
            list->token = ((Renga__V1__Run *)list->found[list->count - 1])->run_id;
            break;
        }
        row->run->output_json = unconst("");
        row->run->output_omitted = true;
        row->run->n_failures = row->run->n_interrupts = 0;
        list->found[list->count++] = row->run;
    }
    bool more = scan->more && !list->token && st.code == OK;
    if (more)
        set_end(list, scan->rows[scan->count - 1].key);
    store_scan_fini(scan);
    if (st.code != OK)
        fail_list(list, &st);
    else if (more)
        scan_rows(list, true, SCAN_ROWS, runs_came);
    else
        runs_done(list);
}

static void list_runs(struct list *list)
{
    uint32_t place;
    const Renga__V1__ListRunsRequest *request = (const void *)list->errand->request;
    list->page = page_of(request->page_size);
    list->found = need(arena_alloc(list->errand->arena, list->page * sizeof(*list->found)));
    key_named(&list->from, KEY_RUN, list->errand->tenant, "");
    key_behind(&list->to, KEY_RUN, list->errand->tenant);
    if (*request->page_token) {
        struct status st = {0};
        if (!id_run_place(request->page_token, &place)) {
            fail(&st, OUT_OF_RANGE, "page_token is unknown");
            fail_list(list, &st);
            return;
        }
        key_named(&list->to, KEY_RUN, list->errand->tenant, request->page_token);
    }
    scan_rows(list, true, SCAN_ROWS, runs_came);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int by_change(const void *a, const void *b)
{
    const Renga__V1__Thread *left = *(Renga__V1__Thread *const *)a, *right = *(Renga__V1__Thread *const *)b;
    if (left->updated_ms != right->updated_ms)
        return left->updated_ms < right->updated_ms ? 1 : -1;
    return strcmp(left->thread_id, right->thread_id);
}

static bool thread_fits(const Renga__V1__ListThreadsRequest *request, const Renga__V1__Thread *thread)
{
    bool state = !request->n_states;
    for (size_t i = 0; i < request->n_states; i++)
        state |= request->states[i] == thread->run_state;
    return state && (!*request->agent || strcmp(request->agent, thread->agent) == 0) &&
           thread->updated_ms >= request->updated_from_ms &&
           (!request->updated_to_ms || thread->updated_ms < request->updated_to_ms);
}

static bool is_behind(const char *token, const Renga__V1__Thread *thread)
{
    char *end;
    int64_t updated = strtoll(token, &end, 10);
    if (!*token || *end != ':')
        return true;
    return thread->updated_ms < updated || (thread->updated_ms == updated && strcmp(thread->thread_id, end + 1) > 0);
}

static void threads_came(struct store_scan *scan)
{
    struct list *list = (struct list *)scan;
    struct errand *errand = list->errand;
    struct status st = scan->status;
    const Renga__V1__ListThreadsRequest *request = (const void *)errand->request;
    NEW(errand->arena, list_threads_response, ListThreadsResponse);
    Renga__V1__Thread **all = need(arena_alloc(errand->arena, (scan->count + 1) * sizeof(*all)));
    size_t count = 0;
    for (size_t i = 0; i < scan->count && st.code == OK; i++) {
        Renga__V1__Thread *row = message_read(errand->arena, &renga__v1__thread__descriptor, scan->rows[i].value, &st);
        if (row && thread_fits(request, row) && is_behind(request->page_token, row))
            all[count++] = row;
    }
    store_scan_fini(scan);
    if (st.code != OK) {
        fail_list(list, &st);
        return;
    }
    qsort(all, count, sizeof(*all), by_change);
    list_threads_response->threads = all;
    list_threads_response->n_threads = count < list->page ? count : list->page;
    if (count > list->page)
        list_threads_response->next_page_token = need(arena_printf(
            errand->arena, "%" PRId64 ":%s", all[list->page - 1]->updated_ms, all[list->page - 1]->thread_id));
    errand->response = &list_threads_response->base;
    errand_answer(errand);
    free_list(list);
}

static void list_threads(struct list *list)
{
    const Renga__V1__ListThreadsRequest *request = (const void *)list->errand->request;
    list->page = page_of(request->page_size);
    if (*request->page_token && !strchr(request->page_token, ':')) {
        struct status st = {0};
        fail(&st, OUT_OF_RANGE, "page_token is unknown");
        fail_list(list, &st);
        return;
    }
    key_named(&list->from, KEY_THREAD, list->errand->tenant, "");
    key_behind(&list->to, KEY_THREAD, list->errand->tenant);
    scan_rows(list, false, THREADS_MAX, threads_came);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

static void records_came(struct store_scan *scan);

static void checkpoints_done(struct list *list)
{
    NEW(list->errand->arena, list_checkpoints_response, ListCheckpointsResponse);
    list_checkpoints_response->checkpoints = (Renga__V1__Checkpoint **)list->found;
    list_checkpoints_response->n_checkpoints = list->count;
    if (list->token)
        list_checkpoints_response->next_page_token = list->token;
    list->errand->response = &list_checkpoints_response->base;
    errand_answer(list->errand);
    free_list(list);
}

/* True when the page is full. */
static bool add_checkpoint(struct list *list, const Record *record, uint64_t number)
{
    char id[ID_MAX];
    struct errand *errand = list->errand;
    struct thread *thread = list->thread;
    struct status ignored;
    const Renga__V1__ListCheckpointsRequest *request = (const void *)errand->request;
    bool root = !record->step || !record->step->n_place;
    struct run_of_list *run = record->run && record->run <= list->run_count ? &list->runs[record->run - 1] : NULL;
    id_make_checkpoint(id, thread->place, number);
    if (root && list->child) {
        list->child->parent_checkpoint_id = need(arena_strdup(errand->arena, id));
        list->child = NULL;
    }
    if (root && list->wanted == 0)
        list->wanted = number; /* the parent of the one before */
    if (root && list->wanted != NEVER && list->wanted != number)
        return false;
    if (root && list->wanted != NEVER)
        list->wanted = record->parent;
    if (run && *request->run_id && strcmp(request->run_id, run->id) != 0)
        return false;
    if (!run && *request->run_id)
        return false;
    struct agents *agents = errand->runner->options.agents;
    struct agent *agent = run && *run->version ? agents_find(agents, NULL, run->version, &ignored) : NULL;
    const struct agent *shown = agent ? agent : thread->agent;
    Renga__V1__Checkpoint *made = checkpoint_of_record(errand->arena, shown, thread->place, record, number, 0);
    Renga__V1__Checkpoint *checkpoint =
        strcmp(made->path, request->path) == 0 ? message_copy(errand->arena, &made->base) : NULL;
    if (agent)
        agent_release(agents, agent);
    if (!checkpoint)
        return false;
    if (list->count == list->page) {
        list->wanted = list->wanted == NEVER ? NEVER : number; /* it is the first of the next page */
        return true;
    }
    checkpoint->run_id = run ? need(arena_strdup(errand->arena, run->id)) : unconst("");
    list->child = root && !record->parent ? checkpoint : list->child;
    list->found[list->count++] = checkpoint;
    list->last = number;
    return false;
}

/* What is older was made with the version before. */
static void take_back(struct list *list, const Record *record)
{
    if (record->run && record->run <= list->run_count) {
        struct run_of_list *run = &list->runs[record->run - 1];
        text_cut_copy(run->version, sizeof run->version, record->migrated->from_version);
        list->moved = record->run;
    }
}

static void records_came(struct store_scan *scan)
{
    struct list *list = (struct list *)scan;
    struct status st = scan->status;
    bool full = false;
    for (size_t i = 0; i < scan->count && st.code == OK && !full; i++) {
        struct arena arena;
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = message_read(&arena, &renga__v1__log_record__descriptor, scan->rows[i].value, &st);
        if (record && record_is_checkpoint(record))
            full = add_checkpoint(list, record, key_number(scan->rows[i].key));
        if (record && record->migrated && !full)
            take_back(list, record);
        arena_fini(&arena);
    }
    bool more = scan->more && !full && st.code == OK;
    if (full)
        list->token = need(arena_printf(list->errand->arena, "%" PRIu64 ":%" PRIu64 ":%" PRIu32 ":%s", list->last,
                                        list->wanted, list->moved, list->moved ? list->runs[list->moved - 1].version : ""));
    if (more)
        set_end(list, scan->rows[scan->count - 1].key);
    store_scan_fini(scan);
    if (st.code != OK)
        fail_list(list, &st);
    else if (more)
        scan_rows(list, true, SCAN_ROWS, records_came);
    else
        checkpoints_done(list);
}

/* The rest of a page's token: ancestor, run, version. */
static void read_token(struct list *list, char *at)
{
    list->wanted = strtoull(at, &at, 10);
    unsigned long run = *at == ':' ? strtoul(at + 1, &at, 10) : 0;
    if (!run || run > list->run_count || *at != ':')
        return;
    list->moved = (uint32_t)run;
    text_cut_copy(list->runs[run - 1].version, sizeof list->runs->version, at + 1);
}

static void names_came(struct store_scan *scan)
{
    struct list *list = (struct list *)scan;
    struct thread *thread = list->thread;
    struct status st = scan->status;
    const Renga__V1__ListCheckpointsRequest *request = (const void *)list->errand->request;
    list->run_count = scan->count ? (size_t)key_number(scan->rows[scan->count - 1].key) : 0;
    list->runs = need(calloc(list->run_count + 1, sizeof *list->runs));
    for (size_t i = 0; i < scan->count; i++) {
        const char *id = scan->rows[i].value.bytes;
        struct run_of_list *run = &list->runs[key_number(scan->rows[i].key) - 1];
        text_cut_copy(run->id, sizeof run->id, id);
        text_cut_copy(run->version, sizeof run->version, id + strlen(id) + 1);
    }
    store_scan_fini(scan);
    uint64_t upto = NEVER;
    char *end = NULL;
    bool again = *request->page_token;
    if (again && ((upto = strtoull(request->page_token, &end, 10)) == 0 || *end != ':'))
        fail(&st, OUT_OF_RANGE, "page_token is unknown");
    else if (again)
        read_token(list, end + 1);
    if (st.code == OK && !again && *request->ancestors_of &&
        !id_checkpoint_number(request->ancestors_of, thread->place, &list->wanted))
        fail(&st, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id, request->ancestors_of);
    if (st.code != OK) {
        fail_list(list, &st);
        return;
    }
    key_numbered(&list->from, KEY_RECORD, thread->tenant, thread->id, 0);
    key_numbered(&list->to, KEY_RECORD, thread->tenant, thread->id, upto);
    scan_rows(list, true, SCAN_ROWS, records_came);
}

static void list_checkpoints(struct list *list)
{
    struct errand *errand = list->errand;
    const Renga__V1__ListCheckpointsRequest *request = (const void *)errand->request;
    list->page = page_of(request->page_size);
    list->found = need(arena_alloc(errand->arena, list->page * sizeof(*list->found)));
    list->wanted = NEVER;
    list->thread = thread_get(errand->home, errand->tenant, errand->thread_id);
    list->thread->holds++;
    key_numbered(&list->from, KEY_THREAD_RUN, errand->tenant, errand->thread_id, 0);
    key_numbered(&list->to, KEY_THREAD_RUN, errand->tenant, errand->thread_id, NEVER);
    scan_rows(list, false, 0, names_came);
}

void errand_list(struct errand *errand)
{
    struct list *list = need(calloc(1, sizeof *list));
    list->errand = errand;
    if (TYPE(errand->request, describe_agent_request)) {
        free(list);
        errand_describe(errand);
    } else if (TYPE(errand->request, list_runs_request)) {
        list_runs(list);
    } else if (TYPE(errand->request, list_threads_request)) {
        list_threads(list);
    } else if (TYPE(errand->request, list_checkpoints_request)) {
        list_checkpoints(list);
    } else {
        free(list);
        errand_refuse(errand, NULL, UNIMPLEMENTED, "the runner does not know %s", errand->request->descriptor->name);
    }
}
