/* GetPlaybook: the current playbook or an earlier one, and its text, which a worker writes. */
#include "playbook_load.h"
#include "playbook_text.h"
#include "playbook_undo.h"
#include "playbooks.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "rpc/rpc.h"

#include <stdlib.h>

#define FORMAT(name) RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_##name

/* On the heap; ends with the answer. */
struct getting {
    struct rpc_call *rpc;
    Renga__V1__GetPlaybookResponse_Closure reply;
    const Renga__V1__GetPlaybookRequest *request;
    Renga__V1__PlaybookFormat format;
    struct playbook_load load;
    struct playbook_undo undo;
    struct playbook_head failed; /* at which a change of the history could not be read */
    struct playbook *playbook;   /* the one that is told */
    struct buffer text;
    struct job job;
    struct status status;
};

static void get_answer(struct getting *self)
{
    Renga__V1__GetPlaybookResponse response = RENGA__V1__GET_PLAYBOOK_RESPONSE__INIT;
    const struct playbook *playbook = self->playbook;
    response.bullets = playbook->bullets;
    response.n_bullets = playbook->count;
    response.revision = playbook->revision;
    response.updated_ms = playbook->updated_ms;
    response.tokens = playbook->tokens;
    response.proposals = playbook->proposals;
    response.n_proposals = playbook->n_proposals;
    response.text = (char *)(uintptr_t)buffer_text(&self->text);
    self->reply(&response, self->rpc);
}

static void get_end(struct getting *self)
{
    if (self->status.code == OK)
        get_answer(self);
    else
        rpc_fail(self->rpc, &self->status);
    playbook_release(&self->playbook);
    playbook_release(&self->load.playbook);
    buffer_fini(&self->text);
    free(self);
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static void text_run(struct job *job)
{
    struct getting *self = CONTAINER_OF(job, struct getting, job);
    const struct playbook *playbook = self->playbook;
    playbook_text_write(&self->text, self->format, playbook->dataset, playbook->revision, playbook->bullets,
                        playbook->count);
    if (self->text.failed)
        fail(&self->status, RESOURCE_EXHAUSTED,
             "the playbook '%s' has more than %zu bytes in this format; read it without a format", playbook->dataset,
             PLAYBOOK_TEXT_MAX);
}

static void text_ended(struct job *job)
{
    struct getting *self = CONTAINER_OF(job, struct getting, job);
    if (job->status.code != OK)
        self->status = job->status;
    get_end(self);
}

static void get_text(struct getting *self)
{
    if (self->status.code != OK || self->format == FORMAT(UNSPECIFIED)) {
        get_end(self);
        return;
    }
    self->job = (struct job){.run = text_run, .ended = text_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, self->playbook->text_bytes);
}

/* ---- the playbook ------------------------------------------------------------------------------------------------ */

static void get_undone(struct playbook_undo *undo)
{
    struct getting *self = CONTAINER_OF(undo, struct getting, undo);
    if (playbook_load_again(&self->load, &undo->status, &self->failed))
        return;
    self->status = undo->status;
    self->playbook = undo->playbook;
    get_text(self);
}

static void get_loaded(struct playbook_load *load)
{
    struct getting *self = CONTAINER_OF(load, struct getting, load);
    self->status = load->status;
    if (self->status.code == OK && !load->head.incarnation)
        fail(&self->status, NOT_FOUND, "there is no playbook '%s'", load->dataset);
    if (self->status.code != OK) {
        get_end(self);
    } else if (self->request->revision) {
        self->undo = (struct playbook_undo){.load = load, .revision = self->request->revision, .done = get_undone};
        playbook_undo_start(&self->undo);
    } else {
        self->playbook = playbook_hold(load->playbook);
        get_text(self);
    }
}

static bool get_check(const Renga__V1__GetPlaybookRequest *request, struct status *st)
{
    if (!playbook_check_dataset("dataset", request->dataset, st))
        return false;
    if ((int)request->format < 0 || request->format > FORMAT(JSON))
        return fail_field(st, "format", "is %d; it must be TEXT or JSON", (int)request->format);
    return request->revision >= 0 || fail_field(st, "revision", "is %lld; it must be a revision, or 0 (the current)",
                                                (long long)request->revision);
}

void get_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__GetPlaybookRequest *request,
                  Renga__V1__GetPlaybookResponse_Closure reply, void *data)
{
    struct status st = {0};
    if (!get_check(request, &st)) {
        rpc_fail(data, &st);
        return;
    }
    struct getting *self = xcalloc(1, sizeof *self);
    self->rpc = data;
    self->reply = reply;
    self->request = request;
    self->format = request->format == FORMAT(UNSPECIFIED) && request->as_text ? FORMAT(TEXT) : request->format;
    buffer_init(&self->text, PLAYBOOK_TEXT_MAX);
    self->load = (struct playbook_load){
        .runner = (struct tool_runner *)service, .rpc = data, .dataset = request->dataset, .loaded = get_loaded};
    playbook_load_start(&self->load);
}
