/* ListPlaybooks: a page of heads. */
#include "playbook_rows.h"
#include "playbooks.h"

#include "instance/tool_runner_instance.h"
#include "playbook.h"
#include "record/records.h"
#include "record/request_name.h"
#include "rpc/rpc.h"

#define TOKEN_MAX  256
#define PAGE_USUAL 100
#define PAGE_MOST  1000

struct playbooks_listing {
    struct rpc_call *rpc;
    Renga__V1__ListPlaybooksResponse_Closure reply;
    struct store_scan page;
};

/* NULL: no memory. */
static Renga__V1__PlaybookSummary *summarize(struct playbooks_listing *self, const struct store_row *row)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    struct playbook_head head = {0};
    Renga__V1__PlaybookSummary *summary = arena_alloc(arena, sizeof *summary);
    if (!summary)
        return NULL;
    renga__v1__playbook_summary__init(summary);
    summary->damaged = !playbook_head_read(row, &head);
    summary->dataset = (char *)(uintptr_t)playbook_head_dataset(arena, rpc_call_principal(self->rpc)->tenant, row);
    summary->revision = head.revision;
    summary->bullets = (int32_t)head.bullets;
    summary->tokens = head.tokens;
    summary->proposals = (int32_t)head.proposals;
    summary->updated_ms = head.updated_ms;
    return summary->dataset ? summary : NULL;
}

static void playbooks_page_received(struct store_scan *page)
{
    struct playbooks_listing *self = CONTAINER_OF(page, struct playbooks_listing, page);
    struct arena *arena = rpc_call_arena(self->rpc);
    Renga__V1__ListPlaybooksResponse response = RENGA__V1__LIST_PLAYBOOKS_RESPONSE__INIT;
    response.playbooks = arena_alloc(arena, (page->count + 1) * sizeof(*response.playbooks));
    for (size_t i = 0; response.playbooks && i < page->count; i++) {
        response.playbooks[i] = summarize(self, &page->rows[i]);
        response.n_playbooks += response.playbooks[i] != NULL;
    }
    bool whole = page->count && response.n_playbooks == page->count;
    const Renga__V1__PlaybookSummary *last = whole ? response.playbooks[page->count - 1] : NULL;
    if (page->more && last)
        response.next_page_token = last->dataset;
    if (page->status.code != OK)
        rpc_fail_with(self->rpc, UNAVAILABLE, "the playbooks cannot be read: %s", page->status.text);
    else if (response.n_playbooks < page->count)
        rpc_fail_with(self->rpc, RESOURCE_EXHAUSTED, "no memory for the playbooks; ask for fewer at once");
    else
        self->reply(&response, self->rpc);
    store_scan_fini(page);
}

static bool playbooks_check(const Renga__V1__ListPlaybooksRequest *request, struct status *st)
{
    struct status ignored = {0};
    if (request->page_size < 0 || request->page_size > PAGE_MOST)
        return fail_field(st, "page_size", "is %d; it must be within 0 (%d) and %d", request->page_size, PAGE_USUAL,
                          PAGE_MOST);
    if (!request_check_name("page_token", request->page_token, TOKEN_MAX, false, st))
        return false;
    return !*request->page_token || playbook_check_dataset("page_token", request->page_token, &ignored) ||
           fail(st, OUT_OF_RANGE,
                "page_token is '%.64s', which no page of playbooks gave; send next_page_token of the last one, or "
                "leave it empty for the first page",
                request->page_token);
}

void list_playbooks(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListPlaybooksRequest *request,
                    Renga__V1__ListPlaybooksResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct arena *arena = rpc_call_arena(data);
    struct tool_runner *runner = (struct tool_runner *)service;
    struct playbooks_listing *self = playbooks_check(request, &st) ? arena_zalloc(arena, sizeof *self) : NULL;
    struct store *store = self ? records_open(runner->shared->records, runner->loop, &st) : NULL;
    if (store) {
        *self = (struct playbooks_listing){.rpc = data, .reply = reply};
        store_scan_init(&self->page, runner->loop, playbooks_page_received);
        self->page.limit = request->page_size ? (size_t)request->page_size : PAGE_USUAL;
        playbook_heads_range(arena, rpc_call_principal(data)->tenant, *request->page_token ? request->page_token : NULL,
                             &self->page.from, &self->page.to);
    }
    if (st.code == OK && arena->exhausted)
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (st.code == OK)
        store_scan(store, &self->page);
    else
        rpc_fail(data, &st);
}
