/* Versions of agents that are not in memory: their documents are in the store from the first run on that is pinned to
 * them. DescribeAgent counts the runs of each version that have not ended. */
#include "agent_versions.h"
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "log/keys.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#define VERSIONS_MAX 100 /* as DescribeAgent shows them */

/* ---- a document -------------------------------------------------------------------------------------------------- */

struct document_scan {
    struct store_scan scan;
    struct request *request;
    struct thread *thread; /* NULL: for request_describe_agent */
};

static void agent_versions_document_came(struct store_scan *scan)
{
    struct document_scan *document = (struct document_scan *)scan;
    struct request *request = document->request;
    struct thread *thread = document->thread;
    struct agents *agents = request->runner->options.agents;
    struct status st = scan->status;
    struct agent *agent = NULL;
    if (st.code == OK && scan->count)
        agent = agents_of_bundle(agents, scan->rows[0].value.bytes, scan->rows[0].value.size, &st);
    store_scan_fini(scan);
    free(document);
    request->looked_up = true;
    if (thread) {
        thread->holds--;
        thread->held = false;
        if (st.code == OK && thread->phase != THREAD_READY)
            fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    }
    if (st.code != OK)
        request_fail(request, &st, NULL);
    else if (thread)
        request_serve(request, thread);
    else
        request_describe_agent(request);
    if (agent)
        agent_release(agents, agent);
    if (thread && !thread->held)
        thread_unhold(thread);
    else if (thread)
        loop_defer(thread->shard->loop, &thread->go);
}

static void document_look_up(struct request *request, struct thread *thread, const char *version)
{
    struct key from;
    char last[sizeof from.bytes + 1];
    struct document_scan *document = xnonnull(calloc(1, sizeof *document));
    document->request = request;
    document->thread = thread;
    if (thread) {
        thread->held = true;
        thread->holds++;
    }
    key_named(&from, KEY_BUNDLE, "", version);
    memcpy(last, from.bytes, from.size);
    last[from.size] = '\0';
    store_scan_init(&document->scan, loop_current(), agent_versions_document_came);
    document->scan.from = key_bytes(&from);
    document->scan.to = (struct store_bytes){last, from.size + 1};
    store_scan(request->runner->options.store, &document->scan);
}

struct agent *request_find_agent(struct request *request, struct thread *thread, const char *name, const char *version)
{
    struct status st = {0};
    struct agent *agent = agents_find(request->runner->options.agents, name, version, &st);
    if (agent)
        return agent;
    if (*version && !request->looked_up)
        document_look_up(request, thread, version);
    else
        request_fail(request, &st, NULL);
    return NULL;
}

bool request_find_agent_if_any(struct request *request, struct thread *thread, const char *version,
                               struct agent **agent)
{
    *agent = *version ? thread_agent_for(thread, version) : NULL;
    if (*agent || !*version || request->looked_up)
        return true;
    document_look_up(request, thread, version);
    return false;
}

/* ---- DescribeAgent ----------------------------------------------------------------------------------------------- */

struct description {
    struct store_scan scan;
    struct request *request;
    struct agent *agent;
    struct key from;
    Renga__V1__DescribeAgentResponse *response;
};

static Renga__V1__AgentVersion *agent_versions_version_of(struct description *description, const char *version)
{
    struct arena *arena = description->request->arena;
    Renga__V1__DescribeAgentResponse *response = description->response;
    for (size_t i = 0; i < response->n_versions; i++)
        if (strcmp(response->versions[i]->graph_version, version) == 0)
            return response->versions[i];
    if (response->n_versions == VERSIONS_MAX)
        return NULL;
    struct status ignored = {0};
    struct agents *agents = description->request->runner->options.agents;
    struct agent *agent = agents_find(agents, NULL, version, &ignored);
    Renga__V1__AgentVersion *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__agent_version__init(message);
    message->graph_version = xnonnull(arena_strdup(arena, version));
    if (agent) {
        message->loaded_ms = agent->loaded_ms;
        agent_release(agents, agent);
    }
    response->versions[response->n_versions++] = message;
    return message;
}

static int newest_first(const void *a, const void *b)
{
    const Renga__V1__AgentVersion *left = *(Renga__V1__AgentVersion *const *)a,
                                  *right = *(Renga__V1__AgentVersion *const *)b;
    if (left->current != right->current)
        return left->current ? -1 : 1;
    return left->loaded_ms < right->loaded_ms ? 1 : left->loaded_ms > right->loaded_ms ? -1 : 0;
}

static void agent_versions_finish(struct description *description)
{
    struct request *request = description->request;
    Renga__V1__DescribeAgentResponse *response = description->response;
    struct status ignored = {0};
    struct agents *agents = request->runner->options.agents;
    struct agent *current = agents_find(agents, description->agent->name, "", &ignored);
    if (current) {
        Renga__V1__AgentVersion *version = agent_versions_version_of(description, current->version);
        if (version)
            version->current = true;
        agent_release(agents, current);
    }
    agent_versions_version_of(description, description->agent->version);
    qsort(response->versions, response->n_versions, sizeof(*response->versions), newest_first);
    request->response = &response->base;
    request->place = description->agent;
    request_answer(request);
    free(description);
}

static void count_run(struct description *description, const struct store_row *row)
{
    char version[ID_VERSION_MAX], run[ID_MAX];
    if (!key_version_names(row->key, version, sizeof version, run, sizeof run))
        return;
    if (!*version)
        id_unpack_version(row->value.bytes, row->value.size, version);
    Renga__V1__AgentVersion *message = agent_versions_version_of(description, version);
    if (!message)
        return;
    message->open_runs++;
    if (!message->loaded_ms) /* in memory no more: at the latest when its oldest run began */
        message->loaded_ms = id_run_time(run);
}

static void agent_versions_read_page(struct description *description);

static void agent_versions_page_came(struct store_scan *scan)
{
    struct description *description = (struct description *)scan;
    struct status st = scan->status;
    bool more = scan->more;
    for (size_t i = 0; i < scan->count && st.code == OK; i++)
        count_run(description, &scan->rows[i]);
    if (more) {
        struct store_bytes last = scan->rows[scan->count - 1].key;
        memcpy(description->from.bytes, last.bytes, last.size);
        description->from.bytes[last.size] = '\0';
        description->from.size = last.size + 1;
    }
    store_scan_fini(scan);
    if (st.code == OK && more) {
        agent_versions_read_page(description);
    } else if (st.code == OK) {
        agent_versions_finish(description);
    } else {
        agent_release(description->request->runner->options.agents, description->agent);
        request_fail(description->request, &st, NULL);
        free(description);
    }
}

static void agent_versions_read_page(struct description *description)
{
    struct key to;
    key_under(&to, KEY_VERSION, description->request->tenant, description->agent->name, "");
    to.bytes[to.size - 1]++;
    store_scan_init(&description->scan, loop_current(), agent_versions_page_came);
    description->scan.from = key_bytes(&description->from);
    description->scan.to = key_bytes(&to);
    store_scan(description->request->runner->options.store, &description->scan);
}

void request_describe_agent(struct request *request)
{
    const Renga__V1__DescribeAgentRequest *message = (const void *)request->message;
    struct agent *agent = request_find_agent(request, NULL, message->agent, message->graph_version);
    if (!agent)
        return;
    struct description *description = xnonnull(calloc(1, sizeof *description));
    description->request = request;
    description->agent = agent;
    description->response = xnonnull(arena_alloc(request->arena, sizeof *description->response));
    renga__v1__describe_agent_response__init(description->response);
    description->response->versions =
        xnonnull(arena_alloc(request->arena, VERSIONS_MAX * sizeof(*description->response->versions)));
    key_under(&description->from, KEY_VERSION, request->tenant, agent->name, "");
    agent_versions_read_page(description);
}
