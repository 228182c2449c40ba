/* SearchPlaybook: the playbook is loaded, vectors are fetched if there is an embedding model, and a worker searches the
 * index.
 *
 *      load ---(vectors wanted)---> vectors ---> search, in a worker ---> answer
 *        '------------------------------------------^ */
#include "playbook/playbook_load.h"
#include "playbook/playbook_vectors.h"
#include "playbook/playbooks.h"

#include "base/memory.h"
#include "base/text.h"
#include "knowledge/knowledge_priv.h"
#include "proto/contract_check.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define MODE(name)  RENGA__V1__SEARCH_MODE__SEARCH_MODE_##name
#define LIMIT_USUAL 10

/* On the heap; ends with the answer. */
struct searching {
    struct rpc_call *rpc;
    Renga__V1__SearchPlaybookResponse_Closure reply;
    const Renga__V1__SearchPlaybookRequest *request;
    struct playbook_load load;
    struct playbook_vectors vectors;
    struct job job;
    struct status status;
    struct playbook_hit hits[PLAYBOOK_HITS_MAX];
    size_t count;
};

static Renga__V1__SearchMode searching_mode(const struct searching *self)
{
    if (self->request->mode == MODE(VECTOR))
        return MODE(VECTOR);
    return self->vectors.vector ? MODE(HYBRID) : MODE(LEXICAL);
}

static void searching_answer(struct searching *self)
{
    Renga__V1__SearchPlaybookResponse response = RENGA__V1__SEARCH_PLAYBOOK_RESPONSE__INIT;
    Renga__V1__BulletHit hits[PLAYBOOK_HITS_MAX], *list[PLAYBOOK_HITS_MAX];
    Renga__V1__Usage none = RENGA__V1__USAGE__INIT;
    for (size_t i = 0; i < self->count; i++) {
        renga__v1__bullet_hit__init(&hits[i]);
        hits[i].bullet = self->hits[i].bullet;
        hits[i].score = self->hits[i].score;
        list[i] = &hits[i];
    }
    response.hits = list;
    response.n_hits = self->count;
    response.mode = searching_mode(self);
    response.usage = self->vectors.deadline_ns ? &self->vectors.usage : &none;
    response.revision = self->load.playbook->revision;
    self->reply(&response, self->rpc);
}

static void searching_end(struct searching *self)
{
    if (self->status.code == OK)
        searching_answer(self);
    else
        rpc_fail(self->rpc, &self->status);
    playbook_vectors_fini(&self->vectors);
    playbook_release(&self->load.playbook);
    free(self);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static void searching_run(struct job *job)
{
    struct searching *self = CONTAINER_OF(job, struct searching, job);
    const struct playbook_query query = {
        .text = self->request->query, .vector = self->vectors.vector, .by_words = self->request->mode != MODE(VECTOR)};
    size_t limit = self->request->limit ? (size_t)self->request->limit : LIMIT_USUAL;
    struct playbook_index *index = playbook_index_enter(self->load.playbook);
    self->count = playbook_index_search(index, &query, self->hits, limit);
    playbook_index_leave(self->load.playbook);
}

static void searching_ran(struct job *job)
{
    struct searching *self = CONTAINER_OF(job, struct searching, job);
    self->status = job->status;
    searching_end(self);
}

/* Always in a worker: it waits for the index, which another search may be building. */
static void searching_work(struct searching *self)
{
    self->job = (struct job){.run = searching_run, .ended = searching_ran};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, JOB_INLINE_MAX + 1);
}

static void searching_vectors(struct playbook_vectors *vectors)
{
    struct searching *self = CONTAINER_OF(vectors, struct searching, vectors);
    bool left = vectors->status.code == CANCELLED || vectors->job.status.code == DEADLINE_EXCEEDED;
    if (!vectors->vector && (left || self->request->mode == MODE(VECTOR))) {
        self->status = vectors->status;
        searching_end(self);
    } else {
        searching_work(self);
    }
}

static void searching_loaded(struct playbook_load *load)
{
    struct searching *self = CONTAINER_OF(load, struct searching, load);
    const struct knowledge *knowledge = load->runner->shared->knowledge;
    self->status = load->status;
    if (self->status.code != OK || load->playbook->count == 0) {
        searching_end(self);
    } else if (knowledge->embedding_model && self->request->mode != MODE(LEXICAL)) {
        self->vectors.load = load;
        self->vectors.knowledge = knowledge;
        self->vectors.text = self->request->query;
        self->vectors.done = searching_vectors;
        playbook_vectors_start(&self->vectors);
    } else {
        searching_work(self);
    }
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool searching_check(const Renga__V1__SearchPlaybookRequest *request, const struct knowledge *knowledge,
                            struct status *st)
{
    size_t length = strlen(request->query);
    if (!contract_check(&request->base, st) || !playbook_check_dataset("dataset", request->dataset, st))
        return false;
    if (text_is_blank(request->query))
        return fail_field(st, "query", "is empty; say what the task is");
    if (length > PLAYBOOK_QUERY_MAX)
        return fail_field(st, "query", "has %zu bytes; at most %zu are possible", length, PLAYBOOK_QUERY_MAX);
    if (request->limit < 0 || request->limit > PLAYBOOK_HITS_MAX)
        return fail_field(st, "limit", "is %d; 0 (%d) to %d are possible", request->limit, LIMIT_USUAL,
                          PLAYBOOK_HITS_MAX);
    if ((unsigned)request->mode > MODE(HYBRID))
        return fail_field(st, "mode", "is %d, which is no way to search", (int)request->mode);
    if (request->mode == MODE(VECTOR) && !knowledge->embedding_model)
        return fail(st, FAILED_PRECONDITION,
                    "mode is VECTOR, and no embedding model is set up; set tool_runner.embedding_model, or ask for "
                    "LEXICAL");
    return true;
}

void search_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__SearchPlaybookRequest *request,
                     Renga__V1__SearchPlaybookResponse_Closure reply, void *data)
{
    struct tool_runner *runner = (struct tool_runner *)service;
    struct status st = {0};
    if (!searching_check(request, runner->shared->knowledge, &st)) {
        rpc_fail(data, &st);
        return;
    }
    struct searching *self = xcalloc(1, sizeof *self);
    self->rpc = data;
    self->reply = reply;
    self->request = request;
    self->load =
        (struct playbook_load){.runner = runner, .rpc = data, .dataset = request->dataset, .loaded = searching_loaded};
    playbook_load_start(&self->load);
}
