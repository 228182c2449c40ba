/* The method Search. */
#include "knowledge/lookup.h"

#include <stdlib.h>

struct search {
    struct lookup lookup; /* first */
    struct rpc_call *call;
    Renga__V1__SearchResponse_Closure reply;
};

static void search_finish(struct search *search)
{
    lookup_fini(&search->lookup);
    free(search);
}

static void search_searched(struct lookup *lookup)
{
    struct search *search = (struct search *)lookup;
    Renga__V1__SearchResponse response = RENGA__V1__SEARCH_RESPONSE__INIT;
    Renga__V1__Degradation *degradations[LOOKUP_DEGRADATIONS];
    for (size_t i = 0; i < lookup->degradation_count; i++)
        degradations[i] = &lookup->degradations[i];
    response.hits = lookup->hits;
    response.n_hits = lookup->hit_count;
    response.mode = lookup->mode_used;
    response.usage = &lookup->usage;
    response.degradations = degradations;
    response.n_degradations = lookup->degradation_count;
    if (lookup->status.code == OK)
        search->reply(&response, search->call);
    else
        rpc_fail(search->call, &lookup->status);
    search_finish(search);
}

static void caller_left(struct rpc_call *call, void *data)
{
    struct search *search = data;
    lookup_cancel(&search->lookup);
}

void knowledge_search(struct knowledge *knowledge, struct rpc_call *call, const Renga__V1__SearchRequest *request,
                      Renga__V1__SearchResponse_Closure reply)
{
    struct status st = {0};
    struct search *search = malloc(sizeof *search);
    if (!search) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for a search");
        return;
    }
    struct lookup_place place = {
        .loop = rpc_call_loop(call),
        .parent = call,
        .principal = rpc_call_principal(call),
        .deadline_ns = rpc_call_deadline_ns(call),
    };
    search->call = call;
    search->reply = reply;
    lookup_init(&search->lookup, knowledge);
    search->lookup.query = request->query;
    search->lookup.collections = (const char *const *)request->collections;
    search->lookup.collection_count = request->n_collections;
    search->lookup.mode = request->mode;
    search->lookup.limit = request->limit;
    search->lookup.min_score = request->min_score;
    search->lookup.ended = search_searched;
    if (lookup_start(&search->lookup, &place, &st)) {
        rpc_call_on_cancel(call, caller_left, search);
        return;
    }
    search_finish(search);
    rpc_fail(call, &st);
}
