/* PutPlaybook: the steps of a request in the order of its fields, in a worker. */
#include "playbook_cache.h"
#include "playbook_check.h"
#include "playbook_text.h"
#include "playbook_write.h"
#include "playbooks.h"

#include "base/memory.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>

struct putting {
    const Renga__V1__PutPlaybookRequest *request;
    Renga__V1__PutPlaybookResponse_Closure reply;
    Renga__V1__PutPlaybookResponse response;
    struct playbook_text text;
};

static struct putting *putting_of(const struct playbook_write *write)
{
    return write->method;
}

static bool put_check(struct playbook_write *write, struct status *st)
{
    return playbook_check_put(putting_of(write)->request, st);
}

/* ---- in a worker ------------------------------------------------------------------------------------------------- */

static bool put_bullets(struct putting *self, struct playbook_draft *draft, struct status *st)
{
    const Renga__V1__PutPlaybookRequest *request = self->request;
    for (size_t i = 0; i < request->n_bullets; i++)
        if (!playbook_draft_write(draft, request->bullets[i], (int32_t)i, st))
            return false;
    self->text = (struct playbook_text){0};
    if (!*request->text)
        return true;
    if (!playbook_text_read(draft->arena, request->format, request->text, &self->text, st))
        return false;
    for (size_t i = 0; i < self->text.count; i++)
        if (!playbook_draft_write(draft, self->text.bullets[i], -1, st))
            return false;
    return true;
}

static bool put_operations(struct putting *self, struct playbook_draft *draft, struct status *st)
{
    const Renga__V1__PutPlaybookRequest *request = self->request;
    self->response.results = arena_alloc(draft->arena, (request->n_operations + 1) * sizeof(*self->response.results));
    if (!self->response.results)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the operations");
    if (!playbook_draft_operate(draft, request->operations, request->n_operations, self->response.results, st))
        return false;
    self->response.n_results = request->n_operations;
    return playbook_draft_accept(draft, request->accept_proposals, request->n_accept_proposals, st) &&
           playbook_draft_reject(draft, request->reject_proposals, request->n_reject_proposals, st);
}

static bool put_playbook_change(struct playbook_write *write, struct playbook_draft *draft, struct status *st)
{
    struct putting *self = putting_of(write);
    const Renga__V1__PutPlaybookRequest *request = self->request;
    renga__v1__put_playbook_response__init(&self->response);
    if (request->replace)
        playbook_draft_replace(draft);
    for (size_t i = 0; i < request->n_remove_ids; i++)
        playbook_draft_remove(draft, request->remove_ids[i]);
    if (!put_bullets(self, draft, st) || !put_operations(self, draft, st))
        return false;
    return !request->token_budget || playbook_draft_fit(draft, request->token_budget, st);
}

static ProtobufCMessage *put_playbook_answer(struct playbook_write *write, const struct playbook *next)
{
    struct putting *self = putting_of(write);
    struct playbook_draft *draft = &write->draft;
    Renga__V1__PutPlaybookResponse *response = &self->response;
    response->revision = next->revision;
    response->bullets = (int32_t)next->count;
    response->tokens = next->tokens;
    response->new_ids = draft->new_ids;
    response->n_new_ids = draft->n_new_ids;
    response->problems = self->text.problems;
    response->n_problems = self->text.n_problems;
    response->problem_count = self->text.problem_count;
    response->dropped = arena_alloc(&write->arena, (draft->n_dropped + 1) * sizeof(*response->dropped));
    for (size_t i = 0; response->dropped && i < draft->n_dropped; i++)
        response->dropped[response->n_dropped++] = &draft->dropped[i]->bullet;
    return response->dropped ? &response->base : NULL;
}

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void put_reply(struct playbook_write *write, const ProtobufCMessage *response)
{
    putting_of(write)->reply((const Renga__V1__PutPlaybookResponse *)response, write->rpc);
}

static void put_destroy(struct playbook_write *write)
{
    free(write->method);
}

/* Another playbook of the tenant: all of them are counted. Two that are made at the same moment may both pass. */
static void heads_counted(struct store_scan *scan)
{
    struct playbook_write *write = CONTAINER_OF(scan, struct playbook_write, scan);
    int64_t most = write->runner->shared->playbooks->options.tenant_max;
    if (scan->status.code != OK)
        fail(&write->status, UNAVAILABLE, "the playbooks cannot be counted: %s", scan->status.text);
    else if ((int64_t)scan->count >= most)
        fail(&write->status, RESOURCE_EXHAUSTED,
             "the tenant has %lld playbooks already; at most %lld are allowed (tool_runner.playbooks): delete one",
             (long long)scan->count, (long long)most);
    store_scan_fini(scan);
    playbook_write_go_on(write);
}

static void put_prepare(struct playbook_write *write)
{
    if (write->load.head.incarnation || write->dry_run) {
        playbook_write_go_on(write);
        return;
    }
    store_scan_init(&write->scan, write->runner->loop, heads_counted);
    playbook_heads_range(&write->arena, rpc_call_principal(write->rpc)->tenant, NULL, &write->scan.from,
                         &write->scan.to);
    write->scan.limit = (size_t)write->runner->shared->playbooks->options.tenant_max;
    if (write->arena.exhausted) {
        fail(&write->status, RESOURCE_EXHAUSTED, "no memory for the call");
        playbook_write_go_on(write);
        return;
    }
    store_scan(write->load.store, &write->scan);
}

void put_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__PutPlaybookRequest *request,
                  Renga__V1__PutPlaybookResponse_Closure reply, void *data)
{
    struct playbook_write *write = playbook_write_create((struct tool_runner *)service, data);
    struct putting *self = xcalloc(1, sizeof *self);
    *self = (struct putting){.request = request, .reply = reply};
    write->method = self;
    write->dataset = request->dataset;
    write->request_id = request->request_id;
    write->reason = request->reason;
    write->source = request->source;
    write->request = &request->base;
    write->response_type = &renga__v1__put_playbook_response__descriptor;
    write->expected_revision = request->expected_revision;
    write->dry_run = request->dry_run;
    write->replaces = request->replace;
    write->check = put_check;
    write->prepare = put_prepare;
    write->change = put_playbook_change;
    write->answer = put_playbook_answer;
    write->reply = put_reply;
    write->destroy = put_destroy;
    playbook_write_start(write);
}
