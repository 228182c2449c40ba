/* RestorePlaybook: the bullets of an earlier revision, as a change. */
#include "playbook_check.h"
#include "playbook_undo.h"
#include "playbook_write.h"
#include "playbooks.h"

#include "base/memory.h"

#include <stdlib.h>

struct restoring {
    struct playbook_write *write;
    const Renga__V1__RestorePlaybookRequest *request;
    Renga__V1__RestorePlaybookResponse_Closure reply;
    Renga__V1__RestorePlaybookResponse response;
    struct playbook_undo undo;
    struct playbook_head failed; /* at which a change of the history could not be read */
};

static struct restoring *restoring_of(const struct playbook_write *write)
{
    return write->method;
}

static bool restore_check(struct playbook_write *write, struct status *st)
{
    return playbook_check_restore(restoring_of(write)->request, st);
}

static void restore_undone(struct playbook_undo *undo)
{
    struct restoring *self = CONTAINER_OF(undo, struct restoring, undo);
    if (playbook_load_again(&self->write->load, &undo->status, &self->failed))
        return;
    self->write->status = undo->status;
    playbook_write_go_on(self->write);
}

static void restore_prepare(struct playbook_write *write)
{
    struct restoring *self = restoring_of(write);
    playbook_release(&self->undo.playbook);
    self->undo =
        (struct playbook_undo){.load = &write->load, .revision = self->request->revision, .done = restore_undone};
    if (self->request->revision && write->load.playbook->damaged) {
        struct playbook *now = write->load.playbook;
        fail(&write->status, DATA_LOSS,
             "bullet '%s' of the playbook '%s' is damaged in the store; write it anew or remove it first",
             now->damaged->bullet.id, now->dataset);
        playbook_write_go_on(write);
        return;
    }
    playbook_undo_start(&self->undo);
}

static bool restore_change(struct playbook_write *write, struct playbook_draft *draft, struct status *st)
{
    const struct playbook *then = restoring_of(write)->undo.playbook;
    playbook_draft_replace(draft);
    for (size_t i = 0; i < then->count; i++)
        playbook_draft_put(draft, playbook_bullet_hold(playbook_bullet_of(then->bullets[i])));
    return true;
}

static ProtobufCMessage *restore_answer(struct playbook_write *write, const struct playbook *next)
{
    struct restoring *self = restoring_of(write);
    renga__v1__restore_playbook_response__init(&self->response);
    self->response.revision = next->revision;
    self->response.bullets = (int32_t)next->count;
    return &self->response.base;
}

static void restore_reply(struct playbook_write *write, const ProtobufCMessage *response)
{
    restoring_of(write)->reply((const Renga__V1__RestorePlaybookResponse *)response, write->rpc);
}

static void restore_destroy(struct playbook_write *write)
{
    struct restoring *self = restoring_of(write);
    playbook_release(&self->undo.playbook);
    free(self);
}

void restore_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__RestorePlaybookRequest *request,
                      Renga__V1__RestorePlaybookResponse_Closure reply, void *data)
{
    static const char no_source[] = "";
    struct playbook_write *write = playbook_write_create((struct tool_runner *)service, data);
    struct restoring *self = xcalloc(1, sizeof *self);
    *self = (struct restoring){.write = write, .request = request, .reply = reply};
    write->method = self;
    write->dataset = request->dataset;
    write->request_id = request->request_id;
    write->reason = request->reason;
    write->source = no_source;
    write->request = &request->base;
    write->response_type = &renga__v1__restore_playbook_response__descriptor;
    write->expected_revision = request->expected_revision;
    write->restored_revision = request->revision;
    write->check = restore_check;
    write->prepare = restore_prepare;
    write->change = restore_change;
    write->answer = restore_answer;
    write->reply = restore_reply;
    write->destroy = restore_destroy;
    playbook_write_start(write);
}
