/* ListNotes: a page of rows, in the order of their keys. */
#include "note_rows.h"
#include "notes.h"

#include "instance/tool_runner_instance.h"
#include "record/records.h"
#include "record/request_name.h"
#include "rpc/call.h"

#include <stdlib.h>
#include <string.h>

#define THREAD_MAX 128 /* bytes, as ListNotesRequest.thread_id */
#define RUN_MAX    64
#define TOKEN_MAX  256
#define PAGE_USUAL 50
#define PAGE_MOST  500
#define ANSWER_MAX ((size_t)3 << 20) /* bytes of all notes of an answer */

struct listing {
    struct rpc_call *rpc;
    Renga__V1__ListNotesResponse_Closure reply;
    struct store_scan page;
};

/* The token of the next page: the last note's "RUN:STEP". */
static char *token_of(struct arena *arena, const Renga__V1__Note *last)
{
    return arena_printf(arena, "%s:%d", last->run_id, last->step_no);
}

static bool list_notes_take_token(const Renga__V1__ListNotesRequest *request, const char *tenant,
                                  struct store_scan *page, struct arena *arena, struct status *st)
{
    struct store_bytes unused;
    const char *token = request->page_token, *colon = strrchr(token, ':');
    char *end = NULL;
    long step = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || !colon[1] || *end || step < 1 || step > INT32_MAX || colon - token > RUN_MAX)
        return fail(st, OUT_OF_RANGE,
                    "page_token is '%.64s', which no page of notes gave; send next_page_token of the last one, or "
                    "leave it empty for the first page",
                    token);
    const char *run = arena_strndup(arena, token, (size_t)(colon - token));
    if (run)
        note_range(arena, tenant, request->thread_id, run, (int32_t)step, &unused, &page->from);
    return run && page->from.bytes;
}

static void list_notes_page_received(struct store_scan *page)
{
    struct listing *self = CONTAINER_OF(page, struct listing, page);
    struct arena *arena = rpc_call_arena(self->rpc);
    Renga__V1__ListNotesResponse response = RENGA__V1__LIST_NOTES_RESPONSE__INIT;
    struct status why = {0};
    bool good = page->status.code == OK;
    response.notes = good ? arena_alloc(arena, (page->count + 1) * sizeof(*response.notes)) : NULL;
    for (size_t i = 0; response.notes && i < page->count; i++) {
        Renga__V1__Note *note = note_read(arena, &page->rows[i], &why);
        if (!note)
            break;
        response.notes[response.n_notes++] = note;
    }
    bool all = response.notes && response.n_notes == page->count;
    if (all && page->more && page->count)
        response.next_page_token = token_of(arena, response.notes[page->count - 1]);
    if (!good)
        rpc_fail_with(self->rpc, UNAVAILABLE, "the notes cannot be read: %s", page->status.text);
    else if (!all && arena->exhausted)
        rpc_fail_with(self->rpc, RESOURCE_EXHAUSTED, "no memory for the notes; ask for fewer at once");
    else if (!all)
        rpc_fail(self->rpc, &why);
    else
        self->reply(&response, self->rpc);
    store_scan_fini(page);
}

static bool list_notes_check(const Renga__V1__ListNotesRequest *request, struct status *st)
{
    if (request->page_size < 0 || request->page_size > PAGE_MOST)
        return fail_field(st, "page_size", "is %d; it must be within 0 (%d) and %d", request->page_size, PAGE_USUAL,
                          PAGE_MOST);
    return request_check_name("thread_id", request->thread_id, THREAD_MAX, true, st) &&
           request_check_name("run_id", request->run_id, RUN_MAX, false, st) &&
           request_check_name("page_token", request->page_token, TOKEN_MAX, false, st);
}

static bool list_notes_prepare(struct listing *self, struct tool_runner *runner,
                               const Renga__V1__ListNotesRequest *request, struct status *st)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    const char *tenant = rpc_call_principal(self->rpc)->tenant;
    store_scan_init(&self->page, runner->loop, list_notes_page_received);
    self->page.limit = request->page_size ? (size_t)request->page_size : PAGE_USUAL;
    self->page.bytes_max = ANSWER_MAX;
    notes_range(arena, tenant, request->thread_id, *request->run_id ? request->run_id : NULL, &self->page.from,
                &self->page.to);
    bool good = !*request->page_token || list_notes_take_token(request, tenant, &self->page, arena, st);
    if (arena->exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the call");
    return good;
}

void list_notes(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListNotesRequest *request,
                Renga__V1__ListNotesResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct tool_runner *runner = (struct tool_runner *)service;
    struct listing *self = list_notes_check(request, &st) ? arena_zalloc(rpc_call_arena(data), sizeof *self) : NULL;
    struct store *store = NULL;
    if (self) {
        *self = (struct listing){.rpc = data, .reply = reply};
        if (list_notes_prepare(self, runner, request, &st))
            store = records_open(runner->shared->records, runner->loop, &st);
    } else if (st.code == OK) {
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    }
    if (store)
        store_scan(store, &self->page);
    else
        rpc_fail(data, &st);
}
