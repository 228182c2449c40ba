/* Walks a list in order: each visit takes the next item. `at` counts the items that were taken, and starts again from 0
 * behind the last item. The list is not parsed: the items before the next one are skipped, 1 ns a byte, so that a visit
 * costs the same at each item. */
#include "service_call.h"

#include "loop/jobs.h"
#include "json/pull.h"

#include <string.h>

enum { TAKE_OF, TAKE_AT, TAKE_INTO };

static const struct node_parameter parameters[] = {
    [TAKE_OF] = {"of", READS_FIELD, REQUIRED, "The list, one of the inputs."},
    [TAKE_AT] = {"at", READS_INTEGER, REQUIRED,
                 "An integer, one of the inputs: how many items were taken, which is the place of the taken item, "
                 "counted from 1. Behind the last item it becomes 0."},
    [TAKE_INTO] = {"into", PARAMETER_FIELD, REQUIRED, "The field that gets the item."},
    {.name = NULL},
};
static const char *const outcomes[] = {"taken", "empty", NULL};

static bool take_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, TAKE_OF)->field;
    if (!of->list)
        return fail_field(st, "of", "'%s' is %s; it must be a list", of->name, field_type_words(of->type, false));
    return field_type_check(node, TAKE_INTO, of->type, false, st);
}

struct taking {
    struct task *task;
    struct job job;
    struct status status;
    struct update update;
    int64_t at;
    bool taken;
};

static bool take_read_place(struct taking *taking, const char *inputs, struct status *st)
{
    const char *name = node_argument(task_node(taking->task), TAKE_AT)->field->name;
    struct json_pull in;
    struct json_scope root;
    json_pull_init(&in, inputs, strlen(inputs), NULL, NULL, st);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, name))
            taking->at = json_pull_integer(&in, INT64_MIN, INT64_MAX, 0);
        else
            json_pull_hop(&in);
    if (!json_pull_end(&in))
        return false;
    return taking->at >= 0 ||
           fail(st, INVALID_ARGUMENT, "'%s' is %lld; a place in a list is 0 or more", name, (long long)taking->at);
}

/* Writes the item behind the first `at` items. */
static void take_item(struct taking *taking, struct json_pull *in)
{
    struct json_scope list;
    for (bool more = json_pull_array(in, &list); more && json_pull_next(in, &list);) {
        const char *begin = (json_pull_kind(in), in->at);
        json_pull_hop(in);
        if (list.index != taking->at)
            continue;
        json_write_raw(&taking->update.out, node_argument(task_node(taking->task), TAKE_INTO)->field->name, begin,
                       (size_t)(in->at - begin));
        taking->taken = true;
    }
}

static bool take_read_item(struct taking *taking, const char *inputs, struct status *st)
{
    const char *name = node_argument(task_node(taking->task), TAKE_OF)->field->name;
    struct json_pull in;
    struct json_scope root;
    json_pull_init(&in, inputs, strlen(inputs), NULL, NULL, st);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, name) && json_pull_kind(&in) == JSON_ARRAY)
            take_item(taking, &in);
        else
            json_pull_hop(&in);
    return json_pull_end(&in);
}

static void take_run(struct job *job)
{
    struct taking *taking = CONTAINER_OF(job, struct taking, job);
    const char *inputs = task_request(taking->task)->state_json;
    if (!take_read_place(taking, inputs, &taking->status) || !take_read_item(taking, inputs, &taking->status))
        return;
    json_write_int(&taking->update.out, node_argument(task_node(taking->task), TAKE_AT)->field->name,
                   taking->taken ? taking->at + 1 : 0);
}

/* The place is written past the field's reducer: it may be a sum, or a maximum. */
static void take_ended(struct job *job)
{
    struct taking *taking = CONTAINER_OF(job, struct taking, job);
    const struct status status = job->status.code != OK ? job->status : taking->status;
    struct update update = taking->update;
    struct task *task = taking->task;
    char *name = (char *)(uintptr_t)node_argument(task_node(task), TAKE_AT)->field->name;
    update.out.out = &update.text;
    if (status.code == OK) {
        update.response.overwrite_fields = &name;
        update.response.n_overwrite_fields = 1;
        update_finish(&update, task, outcomes[taking->taken ? 0 : 1]);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &status);
}

static void take_start(struct task *task)
{
    struct taking *taking = task_data(task);
    taking->task = task;
    taking->job = (struct job){.loop = task_loop(task),
                               .run = take_run,
                               .ended = take_ended,
                               .deadline_ns = task_deadline_ns(task),
                               .owner = job_owner(task_tenant(task), NULL)};
    update_begin(&taking->update);
    job_start(&taking->job, strlen(task_request(task)->state_json));
}

static void take_cancel(struct task *task)
{
    struct taking *taking = task_data(task);
    job_cancel(&taking->job);
}

extern const struct node_kind take_kind;
const struct node_kind take_kind = {
    .name = "take",
    .help = "Takes the next item of a list.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = take_check,
    .size = sizeof(struct taking),
    .start = take_start,
    .cancel = take_cancel,
};
