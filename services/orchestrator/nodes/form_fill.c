#include "form_fill.h"

#include "json/pull.h"

#include <string.h>

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The form is JSON within the inputs, and may be most of their bytes. It is not parsed into a tree, but looked up in
 * the cache. */
struct form_span {
    size_t begin, end; /* bytes of the inputs */
};

static bool form_fill_find_form(struct form_fill *fill, const char *inputs, struct form_span *span, struct status *st)
{
    const char *name = node_argument(task_node(fill->base.task), FORM_FILL_FORM)->field->name;
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

static bool form_fill_read_form(struct form_fill *fill, const char *json, size_t size, struct status *st)
{
    struct status why = {0};
    fill->kept = size ? form_cache_take(json, size, &why) : NULL;
    if (fill->kept) {
        fill->form = form_cache_form(fill->kept);
        return true;
    }
    if (!size)
        fail(&why, INVALID_ARGUMENT, "is empty; give at least one field");
    return why.code == INVALID_ARGUMENT ? fail_field(st, why.field[0] ? why.field : "form", "%s", why.text)
                                        : fail(st, why.code, "%s", why.text);
}

/* The other inputs as a tree, with null in the place of the form. */
static bool form_fill_read_inputs(struct form_fill *fill, struct task *task, struct status *st)
{
    const char *inputs = task_request(task)->state_json;
    struct form_span span = {0};
    if (!form_fill_find_form(fill, inputs, &span, st))
        return false;
    const char *rest = inputs;
    if (span.end)
        rest = arena_printf(fill->arena, "%.*snull%s", (int)span.begin, inputs, inputs + span.end);
    if (!rest)
        return fail(st, RESOURCE_EXHAUSTED, "the form takes more memory than an attempt may have");
    return service_call_inputs_of(&fill->base, task, rest, st) &&
           form_fill_read_form(fill, inputs + span.begin, span.end - span.begin, st);
}

static bool form_fill_open(struct form_fill *fill, struct task *task, struct status *st)
{
    fill->arena = task_arena(task);
    if (!form_fill_read_inputs(fill, task, st))
        return false;
    const cJSON *fields = service_call_input(&fill->base, FORM_FILL_FIELDS);
    fill->context = (struct form_context){
        .language = fill->base.language,
        .country = service_call_text(&fill->base, FORM_FILL_COUNTRY),
        .timezone = service_call_text(&fill->base, FORM_FILL_TIMEZONE),
        .now_ms = task_request(task)->run_created_ms,
    };
    fill->fields = fields ? cJSON_Duplicate(fields, true) : cJSON_CreateObject();
    return fill->fields || fail(st, RESOURCE_EXHAUSTED, "the form takes more memory than an attempt may have");
}

static void form_fill_run(struct job *job)
{
    struct form_fill *fill = CONTAINER_OF(job, struct form_fill, job);
    if (form_fill_open(fill, fill->base.task, &fill->status))
        fill->outcome = fill->work(fill, &fill->update, &fill->status);
    cJSON_Delete(fill->fields);
    fill->fields = NULL;
    fill->form = NULL;
    form_cache_give(&fill->kept);
    service_call_close(&fill->base);
}

/* The end of the task frees the struct, so the values that are needed after it are copied first. */
static void form_fill_ended(struct job *job)
{
    struct form_fill *fill = CONTAINER_OF(job, struct form_fill, job);
    struct task *task = fill->base.task;
    struct update update = fill->update;
    if (job->status.code == RESOURCE_EXHAUSTED) { /* the workers have no room: slow is better than refused */
        status_clear(&job->status);
        form_fill_run(job);
        update = fill->update;
    }
    const struct status failed = job->status.code != OK ? job->status : fill->status;
    update.out.out = &update.text;
    if (failed.code == OK) {
        update_finish(&update, task, fill->outcome);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &failed);
}

void form_fill_start(struct form_fill *fill, struct task *task, form_fill_work *work)
{
    fill->base.task = task;
    fill->work = work;
    fill->job = (struct job){.loop = task_loop(task),
                             .run = form_fill_run,
                             .ended = form_fill_ended,
                             .deadline_ns = task_deadline_ns(task),
                             .owner = job_owner(task_tenant(task), NULL)};
    update_begin(&fill->update);
    job_start(&fill->job, strlen(task_request(task)->state_json));
}

void form_fill_cancel(struct task *task)
{
    struct form_fill *fill = task_data(task);
    job_cancel(&fill->job);
}

int form_fill_field(const struct form_fill *fill, size_t row)
{
    const char *name = cJSON_GetStringValue(service_call_input(&fill->base, row));
    return name && *name ? form_find(fill->form, name) : -1;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

const char *form_fill_text(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

void form_fill_put_item(cJSON *object, const char *name, cJSON *item)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (item)
        cJSON_AddItemToObject(object, name, item);
}

void form_fill_put(cJSON *object, const char *name, const char *text)
{
    form_fill_put_item(object, name, text && *text ? cJSON_CreateString(text) : NULL);
}

void form_fill_put_number(cJSON *object, const char *name, double number)
{
    form_fill_put_item(object, name, cJSON_CreateNumber(number));
}

const cJSON *form_fill_find(const struct form_fill *fill, size_t field)
{
    return cJSON_GetObjectItemCaseSensitive(fill->fields, form_field(fill->form, field)->field_id);
}

cJSON *form_fill_entry(struct form_fill *fill, size_t field)
{
    const char *name = form_field(fill->form, field)->field_id;
    cJSON *entry = cJSON_GetObjectItemCaseSensitive(fill->fields, name);
    if (!cJSON_IsObject(entry)) {
        form_fill_put_item(fill->fields, name, cJSON_CreateObject());
        entry = cJSON_GetObjectItemCaseSensitive(fill->fields, name);
    }
    fill->changed[field] = true;
    return entry;
}

Renga__V1__FieldState form_fill_state(const struct form_fill *fill, size_t field)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(
        &renga__v1__field_state__descriptor, form_fill_text(form_fill_find(fill, field), "state"));
    return value ? (Renga__V1__FieldState)value->value : RENGA__V1__FIELD_STATE__FIELD_STATE_PENDING;
}

void form_fill_set_state(struct form_fill *fill, size_t field, Renga__V1__FieldState state)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&renga__v1__field_state__descriptor, (int)state);
    if (form_fill_state(fill, field) != state)
        form_fill_put(form_fill_entry(fill, field), "state", value->name);
}

bool form_fill_is_settled(Renga__V1__FieldState state)
{
    return state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE ||
           state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN ||
           state == RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE;
}

cJSON *form_fill_values(const struct form_fill *fill)
{
    cJSON *values = cJSON_CreateObject();
    for (size_t i = 0; values && i < form_field_count(fill->form); i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(form_fill_find(fill, i), "typed");
        if (value && form_fill_state(fill, i) == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE)
            cJSON_AddItemToObject(values, form_field(fill->form, i)->field_id, cJSON_Duplicate(value, true));
    }
    return values;
}

void form_fill_write(struct form_fill *fill, struct update *update)
{
    json_write_object(&update->out, update_field(fill->base.task, FORM_FILL_FIELDS));
    for (size_t i = 0; i < form_field_count(fill->form); i++)
        if (fill->changed[i])
            json_write_tree(&update->out, form_field(fill->form, i)->field_id, form_fill_find(fill, i));
    json_write_end(&update->out);
}
