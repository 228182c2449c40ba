#include "form_desk.h"

#include "base/json.h"
#include "base/json_pull.h"

#include <string.h>

bool desk_check(const struct node *node, struct status *st)
{
    return input_check(node, DESK_FORM, FIELD_OBJECT, false, st) &&
           input_check(node, DESK_FIELDS, FIELD_OBJECT, false, st) &&
           input_check(node, DESK_LANGUAGE, FIELD_STRING, false, st) &&
           input_check(node, DESK_COUNTRY, FIELD_STRING, false, st) &&
           input_check(node, DESK_TIMEZONE, FIELD_STRING, false, st);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The form is JSON within the inputs, and may be most of their bytes. It is not parsed into a tree, but looked up in
 * the cache. */
struct form_span {
    size_t begin, end; /* bytes of the inputs */
};

static bool desk_find_form(struct desk *desk, const char *inputs, struct form_span *span, struct status *st)
{
    const char *name = node_argument(task_node(desk->base.task), DESK_FORM)->field->name;
    struct json_pull in;
    struct json_scope root;
    json_pull_init(&in, inputs, strlen(inputs), NULL, NULL, st);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);) {
        bool is_form = json_pull_at(&in, name) && json_pull_kind(&in) == JSON_OBJECT;
        size_t begin = (size_t)(in.at - inputs);
        json_pull_hop(&in);
        if (is_form)
            *span = (struct form_span){begin, (size_t)(in.at - inputs)};
    }
    return json_pull_end(&in);
}

static bool desk_read_form(struct desk *desk, const char *json, size_t size, struct status *st)
{
    struct status why = {0};
    desk->kept = size ? form_cache_take(json, size, &why) : NULL;
    if (desk->kept) {
        desk->form = form_cache_form(desk->kept);
        return true;
    }
    if (!size)
        fail(&why, INVALID_ARGUMENT, "is empty; give at least one field");
    return why.code == INVALID_ARGUMENT ? fail_field(st, why.field[0] ? why.field : "form", "%s", why.text)
                                        : fail(st, why.code, "%s", why.text);
}

/* The other inputs as a tree, with null in the place of the form. */
static bool desk_read_inputs(struct desk *desk, struct task *task, struct status *st)
{
    const char *inputs = task_request(task)->state_json;
    struct form_span span = {0};
    if (!desk_find_form(desk, inputs, &span, st))
        return false;
    const char *rest = inputs;
    if (span.end)
        rest = arena_printf(desk->arena, "%.*snull%s", (int)span.begin, inputs, inputs + span.end);
    if (!rest)
        return fail(st, RESOURCE_EXHAUSTED, "the form takes more memory than an attempt may have");
    return service_call_inputs_of(&desk->base, task, rest, st) &&
           desk_read_form(desk, inputs + span.begin, span.end - span.begin, st);
}

static bool desk_open(struct desk *desk, struct task *task, struct status *st)
{
    desk->arena = task_arena(task);
    if (!desk_read_inputs(desk, task, st))
        return false;
    const cJSON *fields = service_call_input(&desk->base, DESK_FIELDS);
    desk->context = (struct form_context){
        .language = desk->base.language,
        .country = service_call_text(&desk->base, DESK_COUNTRY),
        .timezone = service_call_text(&desk->base, DESK_TIMEZONE),
        .now_ms = task_request(task)->run_created_ms,
    };
    desk->fields = fields ? cJSON_Duplicate(fields, true) : cJSON_CreateObject();
    return desk->fields || fail(st, RESOURCE_EXHAUSTED, "the form takes more memory than an attempt may have");
}

static void desk_run(struct job *job)
{
    struct desk *desk = OWNER_OF(job, struct desk, job);
    if (desk_open(desk, desk->base.task, &desk->status))
        desk->outcome = desk->work(desk, &desk->update, &desk->status);
    cJSON_Delete(desk->fields);
    desk->fields = NULL;
    desk->form = NULL;
    form_cache_give(&desk->kept);
    service_call_close(&desk->base);
}

/* The end of the task frees the desk, so the values that are needed after it are copied first. */
static void desk_ended(struct job *job)
{
    struct desk *desk = OWNER_OF(job, struct desk, job);
    struct task *task = desk->base.task;
    struct update update = desk->update;
    if (job->status.code == RESOURCE_EXHAUSTED) { /* the workers have no room: slow is better than refused */
        status_clear(&job->status);
        desk_run(job);
        update = desk->update;
    }
    const struct status failed = job->status.code != OK ? job->status : desk->status;
    update.out.out = &update.text;
    if (failed.code == OK) {
        update_finish(&update, task, desk->outcome);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &failed);
}

void desk_start(struct desk *desk, struct task *task, desk_work *work)
{
    desk->base.task = task;
    desk->work = work;
    desk->job = (struct job){.loop = task_loop(task),
                             .run = desk_run,
                             .ended = desk_ended,
                             .deadline_ns = task_deadline_ns(task),
                             .owner = job_owner(task_tenant(task), NULL)};
    update_begin(&desk->update);
    job_start(&desk->job, strlen(task_request(task)->state_json));
}

void desk_cancel(struct task *task)
{
    struct desk *desk = task_data(task);
    job_cancel(&desk->job);
}

int desk_field(const struct desk *desk, size_t row)
{
    const char *name = cJSON_GetStringValue(service_call_input(&desk->base, row));
    return name && *name ? form_find(desk->form, name) : -1;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

const char *desk_text(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

void desk_put_item(cJSON *object, const char *name, cJSON *item)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (item)
        cJSON_AddItemToObject(object, name, item);
}

void desk_put(cJSON *object, const char *name, const char *text)
{
    desk_put_item(object, name, text && *text ? cJSON_CreateString(text) : NULL);
}

void desk_put_number(cJSON *object, const char *name, double number)
{
    desk_put_item(object, name, cJSON_CreateNumber(number));
}

const cJSON *desk_look(const struct desk *desk, size_t field)
{
    return cJSON_GetObjectItemCaseSensitive(desk->fields, form_field(desk->form, field)->field_id);
}

cJSON *desk_entry(struct desk *desk, size_t field)
{
    const char *name = form_field(desk->form, field)->field_id;
    cJSON *entry = cJSON_GetObjectItemCaseSensitive(desk->fields, name);
    if (!cJSON_IsObject(entry)) {
        desk_put_item(desk->fields, name, cJSON_CreateObject());
        entry = cJSON_GetObjectItemCaseSensitive(desk->fields, name);
    }
    desk->changed[field] = true;
    return entry;
}

Renga__V1__FieldState desk_state(const struct desk *desk, size_t field)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(
        &renga__v1__field_state__descriptor, desk_text(desk_look(desk, field), "state"));
    return value ? (Renga__V1__FieldState)value->value : RENGA__V1__FIELD_STATE__FIELD_STATE_PENDING;
}

void desk_set_state(struct desk *desk, size_t field, Renga__V1__FieldState state)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&renga__v1__field_state__descriptor, (int)state);
    if (desk_state(desk, field) != state)
        desk_put(desk_entry(desk, field), "state", value->name);
}

bool desk_is_settled(Renga__V1__FieldState state)
{
    return state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE ||
           state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN ||
           state == RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE;
}

cJSON *desk_values(const struct desk *desk)
{
    cJSON *values = cJSON_CreateObject();
    for (size_t i = 0; values && i < form_field_count(desk->form); i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(desk_look(desk, i), "typed");
        if (value && desk_state(desk, i) == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE)
            cJSON_AddItemToObject(values, form_field(desk->form, i)->field_id, cJSON_Duplicate(value, true));
    }
    return values;
}

void desk_write(struct desk *desk, struct update *update)
{
    json_write_object(&update->out, update_field(desk->base.task, DESK_FIELDS));
    for (size_t i = 0; i < form_field_count(desk->form); i++)
        if (desk->changed[i])
            json_write_tree(&update->out, form_field(desk->form, i)->field_id, desk_look(desk, i));
    json_write_end(&update->out);
}
