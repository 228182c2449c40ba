/* Applies operations to a playbook, all at once or not at all. The request carries the idempotency key of its task as
 * request_id, so retries and crashes apply nothing twice. */
#include "line.h"
#include "service_call.h"

#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define REASON_MAX ((size_t)1024) /* bytes, as PutPlaybookRequest.reason */

enum {
    CHANGE_DATASET,
    CHANGE_OPERATIONS,
    CHANGE_EXPECTED,
    CHANGE_BUDGET,
    CHANGE_DRY_RUN,
    CHANGE_SOURCE,
    CHANGE_REASON,
    CHANGE_REMARK,
    CHANGE_INTO,
    CHANGE_PROBLEM,
    CHANGE_TALLY,
};

static const struct node_parameter parameters[] = {
    [CHANGE_DATASET] = {"dataset", READS_STRING, REQUIRED, "The data set of the playbook, a string."},
    [CHANGE_OPERATIONS] = {"operations", READS_OBJECTS, REQUIRED, "The operations, an object[] (PlaybookOperation)."},
    [CHANGE_EXPECTED] =
        {"expected", READS_INTEGER, OPTIONAL,
         "An integer: apply them at this revision alone; -1: only if there is no playbook yet. 0: at any."},
    [CHANGE_BUDGET] = {"token_budget", READS_INTEGER, OPTIONAL,
                       "An integer: most tokens of the playbook. 0: no such limit."},
    [CHANGE_DRY_RUN] = {"dry_run", READS_BOOLEAN, OPTIONAL,
                        "A boolean. True: tell what would be done, and change nothing."},
    [CHANGE_SOURCE] = {"source", READS_STRING, OPTIONAL,
                       "What taught it, a string: the id of a run; without one this run."},
    [CHANGE_REASON] = {"reason", READS_STRING, OPTIONAL, "Why, a string; a line of at most 1,024 bytes is kept."},
    [CHANGE_REMARK] = {"remark", READS_STRING, OPTIONAL,
                       "A person's words, a string: where it has text, it is the reason instead."},
    [CHANGE_INTO] =
        {"into", WRITES_OBJECT, REQUIRED,
         "An object that gets what became of them (PutPlaybookResponse: results, dropped, revision, bullets)."},
    [CHANGE_PROBLEM] = {"problem", WRITES_STRING, REQUIRED,
                        "A string that gets the reason for \"refused\" and \"outdated\"."},
    [CHANGE_TALLY] =
        {"tally", WRITES_OBJECT, OPTIONAL,
         "An object that gets how many bullets were added, updated, merged, deleted, proposed and dropped."},
    {.name = NULL},
};
static const char *const outcomes[] = {"changed", "refused", "outdated", NULL};

struct changing {
    struct service_call base; /* first */
    Renga__V1__PutPlaybookRequest request;
};

/* ---- the answer -------------------------------------------------------------------------------------------------- */

struct change_counts {
    int64_t added, updated, merged, deleted, proposed;
};

static void change_count_applied(struct change_counts *counts, Renga__V1__PlaybookOperationKind kind)
{
    counts->added += kind == RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD;
    counts->updated += kind == RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_UPDATE;
    counts->deleted += kind == RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE;
}

/* A MERGE of three bullets merges two with another. */
static struct change_counts change_count(const Renga__V1__PutPlaybookRequest *request,
                                         const Renga__V1__PutPlaybookResponse *answer)
{
    struct change_counts counts = {0};
    for (size_t i = 0; i < answer->n_results && i < request->n_operations; i++) {
        const Renga__V1__PlaybookOperation *operation = request->operations[i];
        Renga__V1__PlaybookOperationOutcome outcome = answer->results[i]->outcome;
        bool applied = outcome == RENGA__V1__PLAYBOOK_OPERATION_OUTCOME__PLAYBOOK_OPERATION_OUTCOME_APPLIED;
        if (applied)
            change_count_applied(&counts, operation->kind);
        if (applied && operation->kind == RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_MERGE)
            counts.merged += (int64_t)operation->n_ids - 1;
        counts.merged += outcome == RENGA__V1__PLAYBOOK_OPERATION_OUTCOME__PLAYBOOK_OPERATION_OUTCOME_MERGED;
        counts.proposed += outcome == RENGA__V1__PLAYBOOK_OPERATION_OUTCOME__PLAYBOOK_OPERATION_OUTCOME_PROPOSED;
    }
    return counts;
}

static void change_write_tally(const struct changing *changing, const Renga__V1__PutPlaybookResponse *answer,
                               struct json_writer *out)
{
    const char *field = update_field(changing->base.task, CHANGE_TALLY);
    const struct change_counts counts = change_count(&changing->request, answer);
    if (!field)
        return;
    json_write_object(out, field);
    json_write_int(out, "added", counts.added);
    json_write_int(out, "updated", counts.updated);
    json_write_int(out, "merged", counts.merged);
    json_write_int(out, "deleted", counts.deleted);
    json_write_int(out, "proposed", counts.proposed);
    json_write_int(out, "dropped", (int64_t)answer->n_dropped);
    json_write_end(out);
}

static void change_refused(struct changing *changing, const char *outcome)
{
    struct update update;
    update_begin(&update);
    json_write_string(&update.out, update_field(changing->base.task, CHANGE_PROBLEM), changing->base.call.status.text);
    update_finish(&update, changing->base.task, outcome);
}

static void change_answered(const Renga__V1__PutPlaybookResponse *answer, void *data)
{
    struct changing *changing = ((struct rpc_client_call *)data)->owner;
    enum status_code code = changing->base.call.status.code;
    struct update update;
    if (!answer && !changing->base.cancelled && (code == INVALID_ARGUMENT || code == ABORTED)) {
        change_refused(changing, code == ABORTED ? "outdated" : "refused");
        return;
    }
    if (!answer) {
        service_call_failed(&changing->base);
        return;
    }
    update_begin(&update);
    message_write_json(&update.out, update_field(changing->base.task, CHANGE_INTO), &answer->base);
    json_write_string(&update.out, update_field(changing->base.task, CHANGE_PROBLEM), "");
    change_write_tally(changing, answer, &update.out);
    update_finish(&update, changing->base.task, outcomes[0]);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static int64_t change_number(const struct changing *changing, size_t row)
{
    const cJSON *value = service_call_input(&changing->base, row);
    return cJSON_IsNumber(value) ? (int64_t)value->valuedouble : 0;
}

static bool change_write_request(struct changing *changing, struct status *st)
{
    Renga__V1__PutPlaybookRequest *request = &changing->request;
    struct arena *arena = task_arena(changing->base.task);
    renga__v1__put_playbook_request__init(request);
    char *remark = service_call_text(&changing->base, CHANGE_REMARK);
    char *reason = *remark ? remark : service_call_text(&changing->base, CHANGE_REASON);
    request->dataset = service_call_text(&changing->base, CHANGE_DATASET);
    request->expected_revision = change_number(changing, CHANGE_EXPECTED);
    request->token_budget = change_number(changing, CHANGE_BUDGET);
    request->dry_run = cJSON_IsTrue(service_call_input(&changing->base, CHANGE_DRY_RUN));
    request->source = service_call_text(&changing->base, CHANGE_SOURCE);
    if (!*request->source)
        request->source = task_request(changing->base.task)->position->run_id;
    request->reason = line_make(arena, reason, REASON_MAX);
    request->request_id = task_request(changing->base.task)->idempotency_key;
    if (!request->reason)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the request");
    return service_call_messages(&changing->base, CHANGE_OPERATIONS, &renga__v1__playbook_operation__descriptor,
                                 &request->operations, &request->n_operations, st);
}

static void change_start(struct task *task)
{
    struct changing *changing = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&changing->base, task, PEER_TOOL_RUNNER, &st) && change_write_request(changing, &st);
    service_call_close(&changing->base);
    if (good)
        renga__v1__tool_runner__put_playbook(changing->base.peer, &changing->request, change_answered,
                                             &changing->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind change_playbook_kind;
const struct node_kind change_playbook_kind = {
    .name = "change_playbook",
    .help = "Applies operations to a playbook.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct changing),
    .start = change_start,
    .cancel = service_call_cancel,
    .travels = true,
};
