/* Makes the operations of a curation: the counts of reflections' tags, then the operations that a model wrote. They are
 * checked against the playbook as it is now (curation.h), and applied by a later node, at the revision that this node
 * read. So what is applied is on disk before it is sent, and a crash repeats exactly the same request. */
#include "curation.h"
#include "service_call.h"

#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define NO_PLAYBOOK (-1) /* as PutPlaybookRequest.expected_revision */

enum {
    OPERATIONS_DATASET,
    OPERATIONS_OF,
    OPERATIONS_TAGS,
    OPERATIONS_SEEN,
    OPERATIONS_INTO,
    OPERATIONS_REVISION,
    OPERATIONS_BULLETS,
    OPERATIONS_PROBLEM,
};

static const struct node_parameter parameters[] = {
    [OPERATIONS_DATASET] = {"dataset", READS_STRING, REQUIRED, "The data set of the playbook, a string."},
    [OPERATIONS_OF] = {"of", READS_OBJECTS, OPTIONAL,
                       "What a model wrote, an object[]: {\"kind\": \"ADD\", \"UPDATE\", \"MERGE\" or \"DELETE\", "
                       "\"ids\", \"section\", \"content\", \"reason\"}."},
    [OPERATIONS_TAGS] = {"tags", READS_OBJECTS, OPTIONAL,
                         "Tags of bullets, an object[] (BulletTag): each counts as helpful or harmful."},
    [OPERATIONS_SEEN] = {"seen", READS_OBJECTS, OPTIONAL,
                         "The bullets that the model saw, an object[] (Bullet): it may change no others."},
    [OPERATIONS_INTO] =
        {"into", WRITES_OBJECTS, REQUIRED,
         "A list of objects that gets the operations (PlaybookOperation). Give it the reducer \"replace\"."},
    [OPERATIONS_REVISION] = {"revision", WRITES_INTEGER, REQUIRED,
                             "An integer that gets the revision of the playbook; -1 if there is none."},
    [OPERATIONS_BULLETS] = {"bullets", WRITES_INTEGER, OPTIONAL, "An integer that gets the number of its bullets."},
    [OPERATIONS_PROBLEM] = {"problem", WRITES_STRING, REQUIRED,
                            "A string that gets the reason for \"refused\" and \"outdated\"."},
    {.name = NULL},
};
static const char *const outcomes[] = {"checked", "nothing", "refused", "outdated", NULL};

struct operations {
    struct service_call base; /* first; its inputs stay until the answer has come */
    Renga__V1__GetPlaybookRequest request;
    struct curation curation;
};

static void operations_finish(struct operations *operations, enum curation_verdict verdict, int64_t revision,
                              const struct status *why)
{
    struct update update;
    struct task *task = operations->base.task;
    const char *bullets = update_field(task, OPERATIONS_BULLETS);
    bool good = verdict == CURATION_CHECKED || verdict == CURATION_NOTHING;
    update_begin(&update);
    json_write_array(&update.out, update_field(task, OPERATIONS_INTO));
    for (size_t i = 0; good && i < operations->curation.count; i++)
        message_write_json(&update.out, NULL, &operations->curation.list[i]->base);
    json_write_end(&update.out);
    json_write_int(&update.out, update_field(task, OPERATIONS_REVISION), revision);
    if (bullets)
        json_write_int(&update.out, bullets, (int64_t)operations->curation.now_count);
    json_write_string(&update.out, update_field(task, OPERATIONS_PROBLEM), good ? "" : why->text);
    service_call_close(&operations->base);
    update_finish(&update, task, outcomes[verdict]);
}

static void operations_make(struct operations *operations, const Renga__V1__GetPlaybookResponse *playbook)
{
    struct curation *curation = &operations->curation;
    struct task *task = operations->base.task;
    struct status st = {0};
    curation->now = playbook ? playbook->bullets : NULL;
    curation->now_count = playbook ? playbook->n_bullets : 0;
    enum curation_verdict verdict = curation_make(curation, task_arena(task), &st);
    if (verdict != CURATION_NO_MEMORY) {
        operations_finish(operations, verdict, playbook ? playbook->revision : NO_PLAYBOOK, &st);
        return;
    }
    service_call_close(&operations->base);
    fail(&st, RESOURCE_EXHAUSTED, "no memory for the operations");
    task_fail(task, &st);
}

static void operations_playbook_loaded(const Renga__V1__GetPlaybookResponse *answer, void *data)
{
    struct operations *operations = ((struct rpc_client_call *)data)->owner;
    if (answer || (operations->base.call.status.code == NOT_FOUND && !operations->base.cancelled)) {
        operations_make(operations, answer);
        return;
    }
    service_call_close(&operations->base);
    service_call_failed(&operations->base);
}

static bool operations_read(struct operations *operations, struct status *st)
{
    struct curation *curation = &operations->curation;
    Renga__V1__Bullet **seen;
    renga__v1__get_playbook_request__init(&operations->request);
    operations->request.dataset = service_call_text(&operations->base, OPERATIONS_DATASET);
    curation->written = service_call_input(&operations->base, OPERATIONS_OF);
    curation->tags = service_call_input(&operations->base, OPERATIONS_TAGS);
    if (!service_call_messages(&operations->base, OPERATIONS_SEEN, &renga__v1__bullet__descriptor, &seen,
                               &curation->seen_count, st))
        return false;
    curation->seen = seen;
    return true;
}

static void operations_start(struct task *task)
{
    struct operations *operations = task_data(task);
    struct status st = {0};
    if (service_call_open(&operations->base, task, PEER_TOOL_RUNNER, &st) && operations_read(operations, &st)) {
        renga__v1__tool_runner__get_playbook(operations->base.peer, &operations->request, operations_playbook_loaded,
                                             &operations->base.call);
        return;
    }
    service_call_close(&operations->base);
    task_fail(task, &st);
}

extern const struct node_kind operations_kind;
const struct node_kind operations_kind = {
    .name = "operations",
    .help = "Makes operations on a playbook of tags and of what a model wrote, and checks them.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct operations),
    .start = operations_start,
    .cancel = service_call_cancel,
    .travels = true,
};
