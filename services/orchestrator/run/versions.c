/* Versions of agents that are not in memory: their documents are in the store from the first run on that is pinned to
 * them. And which versions have runs that have not ended: rows that come and go with these runs. */
#include "errand.h"
#include "migrate.h"
#include "run_priv.h"

#include <stdio.h>
#include <stdlib.h>

#define VERSIONS_MAX 100 /* as DescribeAgent shows them */

/* ---- a document -------------------------------------------------------------------------------------------------- */

struct document_scan {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread; /* NULL: for errand_describe */
};

static void document_came(struct store_scan *scan)
{
    struct document_scan *document = (struct document_scan *)scan;
    struct errand *errand = document->errand;
    struct thread *thread = document->thread;
    struct agents *agents = errand->runner->options.agents;
    struct status st = scan->status;
    struct agent *agent = NULL;
    if (st.code == OK && scan->count)
        agent = agents_of_bundle(agents, scan->rows[0].value.bytes, scan->rows[0].value.size, &st);
    store_scan_fini(scan);
    free(document);
    errand->looked_up = true;
    if (thread) {
        thread->holds--;
        thread->held = false;
        if (st.code == OK && thread->phase != THREAD_READY)
            fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    }
    if (st.code != OK)
        errand_fail(errand, &st, NULL);
    else if (thread)
        errand_serve(errand, thread);
    else
        errand_describe(errand);
    if (agent)
        agent_release(agents, agent);
    if (thread && !thread->held)
        thread_unhold(thread);
    else if (thread)
        loop_defer(thread->home->loop, &thread->go);
}

static void look_up(struct errand *errand, struct thread *thread, const char *version)
{
    struct key from;
    char last[sizeof from.bytes + 1];
    struct document_scan *document = need(calloc(1, sizeof *document));
    document->errand = errand;
    document->thread = thread;
    if (thread) {
        thread->held = true;
        thread->holds++;
    }
    key_named(&from, KEY_BUNDLE, "", version);
    memcpy(last, from.bytes, from.size);
    last[from.size] = '\0';
    store_scan_init(&document->scan, loop_current(), document_came);
    document->scan.from = key_bytes(&from);
    document->scan.to = (struct store_bytes){last, from.size + 1};
    store_scan(errand->runner->options.store, &document->scan);
}

struct agent *errand_agent(struct errand *errand, struct thread *thread, const char *name, const char *version)
{
    struct status st = {0};
    struct agent *agent = agents_find(errand->runner->options.agents, name, version, &st);
    if (agent)
        return agent;
    if (*version && !errand->looked_up)
        look_up(errand, thread, version);
    else
        errand_fail(errand, &st, NULL);
    return NULL;
}

bool errand_agent_if_any(struct errand *errand, struct thread *thread, const char *version, struct agent **agent)
{
    *agent = *version ? thread_agent_for(thread, version) : NULL;
    if (*agent || !*version || errand->looked_up)
        return true;
    look_up(errand, thread, version);
    return false;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void log_write_name(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    const struct agent *agent = run->agent;
    key_numbered(&key, KEY_THREAD_RUN, thread->tenant, thread->id, run->number);
    row_put_run_name(log_batch(thread), &key, run->id, agent->version);
    if (home_knows_bundle(thread->home, agent->version))
        return;
    key_named(&key, KEY_BUNDLE, "", agent->version);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){agent->bundle_json, agent->bundle_size});
}

void log_unlist_version(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    if (!*run->listed_version)
        return;
    key_under(&key, KEY_VERSION, thread->tenant, run->request->agent, run->id);
    store_delete(log_batch(thread), key_bytes(&key));
    if (run->listed_before) {
        key_old_version(&key, thread->tenant, run->request->agent, run->listed_version, run->id);
        store_delete(log_batch(thread), key_bytes(&key));
    }
    *run->listed_version = '\0';
}

/* A run that has not ended is listed under its version. */
void log_write_version(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    bool open = run->state < RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED;
    const char *wanted = open ? run->begun->graph_version : "";
    if (strcmp(run->listed_version, wanted) == 0)
        return;
    log_unlist_version(run);
    if (!*wanted)
        return;
    char packed[ID_VERSION_MAX];
    key_under(&key, KEY_VERSION, thread->tenant, run->request->agent, run->id);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){packed, id_pack_version(wanted, packed)});
    text_cut_copy(run->listed_version, sizeof run->listed_version, wanted);
}

/* ---- DescribeAgent ----------------------------------------------------------------------------------------------- */

struct description {
    struct store_scan scan;
    struct errand *errand;
    struct agent *agent;
    struct key from;
    Renga__V1__DescribeAgentResponse *response;
};

static Renga__V1__AgentVersion *version_of(struct description *description, const char *version)
{
    struct arena *arena = description->errand->arena;
    Renga__V1__DescribeAgentResponse *response = description->response;
    for (size_t i = 0; i < response->n_versions; i++)
        if (strcmp(response->versions[i]->graph_version, version) == 0)
            return response->versions[i];
    if (response->n_versions == VERSIONS_MAX)
        return NULL;
    struct status ignored = {0};
    struct agents *agents = description->errand->runner->options.agents;
    struct agent *agent = agents_find(agents, NULL, version, &ignored);
    Renga__V1__AgentVersion *message = need(arena_alloc(arena, sizeof *message));
    renga__v1__agent_version__init(message);
    message->graph_version = need(arena_strdup(arena, version));
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

static void finish(struct description *description)
{
    struct errand *errand = description->errand;
    Renga__V1__DescribeAgentResponse *response = description->response;
    struct status ignored = {0};
    struct agents *agents = errand->runner->options.agents;
    struct agent *current = agents_find(agents, description->agent->name, "", &ignored);
    if (current) {
        Renga__V1__AgentVersion *version = version_of(description, current->version);
        if (version)
            version->current = true;
        agent_release(agents, current);
    }
    version_of(description, description->agent->version);
    qsort(response->versions, response->n_versions, sizeof(*response->versions), newest_first);
    errand->response = &response->base;
    errand->place = description->agent;
    errand_answer(errand);
    free(description);
}

static void count_run(struct description *description, const struct store_row *row)
{
    char version[ID_VERSION_MAX], run[ID_MAX];
    if (!key_version_names(row->key, version, sizeof version, run, sizeof run))
        return;
    if (!*version)
        id_unpack_version(row->value.bytes, row->value.size, version);
    Renga__V1__AgentVersion *message = version_of(description, version);
    if (!message)
        return;
    message->open_runs++;
    if (!message->loaded_ms) /* in memory no more: at the latest when its oldest run began */
        message->loaded_ms = id_run_time(run);
}

static void read_page(struct description *description);

static void page_came(struct store_scan *scan)
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
        read_page(description);
    } else if (st.code == OK) {
        finish(description);
    } else {
        agent_release(description->errand->runner->options.agents, description->agent);
        errand_fail(description->errand, &st, NULL);
        free(description);
    }
}

static void read_page(struct description *description)
{
    struct key to;
    key_under(&to, KEY_VERSION, description->errand->tenant, description->agent->name, "");
    to.bytes[to.size - 1]++;
    store_scan_init(&description->scan, loop_current(), page_came);
    description->scan.from = key_bytes(&description->from);
    description->scan.to = key_bytes(&to);
    store_scan(description->errand->runner->options.store, &description->scan);
}

void errand_describe(struct errand *errand)
{
    const Renga__V1__DescribeAgentRequest *request = (const void *)errand->request;
    struct agent *agent = errand_agent(errand, NULL, request->agent, request->graph_version);
    if (!agent)
        return;
    struct description *description = need(calloc(1, sizeof *description));
    description->errand = errand;
    description->agent = agent;
    description->response = need(arena_alloc(errand->arena, sizeof *description->response));
    renga__v1__describe_agent_response__init(description->response);
    description->response->versions =
        need(arena_alloc(errand->arena, VERSIONS_MAX * sizeof(*description->response->versions)));
    key_under(&description->from, KEY_VERSION, errand->tenant, agent->name, "");
    read_page(description);
}
