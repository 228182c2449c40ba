/* Keeps what a research has found out as notes, with the tool-runner and beside the thread: they are there for whoever
 * asks ListNotes, and go when the thread is deleted. A note is numbered by its place in the list, so that a list that
 * grows by appending is kept again without keeping anything twice. */
#include "service_call.h"

#include "graph/agents.h"

#include "renga/v1/tool_runner.pb-c.h"

#define NOTES_MAX 500 /* of a list: each is a call */

enum { NOTE_OF };

static const struct node_parameter parameters[] = {
    [NOTE_OF] = {.name = "of",
                 .type = PARAMETER_FIELD,
                 .required = true,
                 .help = "The notes, an object[] (Note: query, summary_md, sources): the first is number 1 of the run, "
                         "and one that is kept already under its number is replaced."},
    {.name = NULL},
};
static const char *const outcomes[] = {"noted", NULL};

static bool check(const struct node *node, struct status *st)
{
    if (node->graph != node->graph->agent->graph)
        return fail(st, INVALID_ARGUMENT,
                    "is in a sub-graph, where branches would replace each other's notes; let it follow the node that "
                    "leads there");
    return input_check(node, NOTE_OF, FIELD_OBJECT, true, st);
}

struct noting {
    struct service_call base; /* first */
    Renga__V1__SaveNoteRequest request;
    Renga__V1__Note **notes;
    size_t count, next;
};

static bool read_notes(struct noting *noting, struct status *st)
{
    const Renga__V1__RunNodeRequest *told = task_request(noting->base.task);
    renga__v1__save_note_request__init(&noting->request);
    noting->request.thread_id = told->position->thread_id;
    noting->request.fencing_token = told->fencing_token;
    if (!service_call_messages(&noting->base, NOTE_OF, &renga__v1__note__descriptor, &noting->notes, &noting->count,
                               st))
        return false;
    if (noting->count > NOTES_MAX)
        return fail(st, INVALID_ARGUMENT, "'%s' has %zu notes; at most %d of a run are kept",
                    node_argument(task_node(noting->base.task), NOTE_OF)->field->name, noting->count, NOTES_MAX);
    for (size_t i = 0; i < noting->count; i++) {
        noting->notes[i]->run_id = told->position->run_id;
        noting->notes[i]->step_no = (int32_t)i + 1;
    }
    return true;
}

static void finish(struct noting *noting)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.outcome = (char *)(uintptr_t)outcomes[0];
    task_finish(noting->base.task, &response);
}

static void save_next(struct noting *noting);

static void saved(const Renga__V1__SaveNoteResponse *answer, void *data)
{
    struct noting *noting = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer || noting->base.cancelled)
        service_call_failed(&noting->base);
    else if (noting->next == noting->count)
        finish(noting);
    else if (service_call_again(&noting->base, PEER_TOOL_RUNNER, &st))
        save_next(noting);
    else
        task_fail(noting->base.task, &st);
}

static void save_next(struct noting *noting)
{
    noting->request.note = noting->notes[noting->next++];
    renga__v1__tool_runner__save_note(noting->base.peer, &noting->request, saved, &noting->base.call);
}

static void start(struct task *task)
{
    struct noting *noting = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&noting->base, task, PEER_TOOL_RUNNER, &st) && read_notes(noting, &st);
    service_call_close(&noting->base);
    if (!good)
        task_fail(task, &st);
    else if (!noting->count)
        finish(noting);
    else
        save_next(noting);
}

extern const struct node_kind note_kind;
const struct node_kind note_kind = {
    .name = "note",
    .help = "Keeps what was found out, beside the thread.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .size = sizeof(struct noting),
    .start = start,
    .cancel = service_call_cancel,
    .travels = true,
};
