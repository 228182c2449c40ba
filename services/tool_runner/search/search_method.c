/* The method Search, for requests that ask sources outside. */
#include "search/search.h"

#include <stdlib.h>

struct search_call {
    struct search search; /* first */
    struct rpc_call *rpc;
    Renga__V1__SearchResponse_Closure reply;
};

static void search_call_ended(struct search *search)
{
    struct search_call *self = (struct search_call *)search;
    Renga__V1__SearchResponse response = RENGA__V1__SEARCH_RESPONSE__INIT;
    Renga__V1__Degradation *degradations[SEARCH_DEGRADATIONS_MAX];
    for (size_t i = 0; i < search->degradation_count; i++)
        degradations[i] = &search->degradations[i];
    response.hits = search->hits;
    response.n_hits = search->hit_count;
    response.mode = search->mode_used;
    response.usage = &search->usage;
    response.degradations = degradations;
    response.n_degradations = search->degradation_count;
    if (search->status.code == OK)
        self->reply(&response, self->rpc);
    else
        rpc_fail(self->rpc, &search->status);
    search_fini(search);
    free(self);
}

static void search_caller_left(struct rpc_call *rpc, void *data)
{
    struct search_call *self = data;
    search_cancel(&self->search);
}

static void search_call_read(struct search *search, struct rpc_call *rpc, const Renga__V1__SearchRequest *request)
{
    search->query = request->query;
    search->sources = (const char *const *)request->sources;
    search->source_count = request->n_sources;
    search->collections = (const char *const *)request->collections;
    search->collection_count = request->n_collections;
    search->mode = request->mode;
    search->limit = request->limit;
    search->min_score = request->min_score;
    search->idempotency_key = request->idempotency_key;
    search->thread_id = request->origin ? request->origin->thread_id : "";
    search->run_id = request->origin ? request->origin->run_id : "";
    search->place = (struct lookup_place){
        .loop = rpc_call_loop(rpc),
        .parent = rpc,
        .principal = rpc_call_principal(rpc),
        .trace = rpc_call_trace(rpc),
        .deadline_ns = rpc_call_deadline_ns(rpc),
    };
    search->ended = search_call_ended;
}

void search_method(struct tool_runner *runner, struct rpc_call *rpc, const Renga__V1__SearchRequest *request,
                   Renga__V1__SearchResponse_Closure reply)
{
    struct status st = {0};
    struct search_call *self = malloc(sizeof *self);
    if (!self) {
        rpc_fail_with(rpc, RESOURCE_EXHAUSTED, "no memory for a search");
        return;
    }
    self->rpc = rpc;
    self->reply = reply;
    search_init(&self->search, runner);
    search_call_read(&self->search, rpc, request);
    if (search_start(&self->search, &st)) {
        rpc_call_on_cancel(rpc, search_caller_left, self);
        return;
    }
    search_fini(&self->search);
    free(self);
    rpc_fail(rpc, &st);
}
