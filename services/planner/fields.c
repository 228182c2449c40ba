/* Plans an interview from a form: the Architect. For all answers of a model, the plan has each field of the form once,
 * with the form's own label and `required`. */
#include "planner_priv.h"

#include "base/field_check.h"
#include "model_task/texts.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 200
#define FACTS_MAX  1000
#define ID_MAX     ((size_t)128)
#define LABEL_MAX  ((size_t)512)
#define TEXT_MAX   ((size_t)4096)
#define FACT_MAX   ((size_t)2048)
#define SHOWN_MAX  ((size_t)512) /* bytes of one text of a field that a model is shown */
#define FACT_SHOWN ((size_t)200) /* ... and of a fact */

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool fields_check_field(const Renga__V1__SessionForm *form, size_t i, struct status *st)
{
    const Renga__V1__FormField *field = form->fields[i];
    for (size_t other = 0; other < i; other++) {
        if (strcmp(form->fields[other]->id, field->id) == 0)
            return fail_field(st, path_of("fields.form.fields", i, "id"), "is that of fields[%zu] too", other);
        if (strcmp(form->fields[other]->field_id, field->field_id) == 0)
            return fail_field(st, path_of("fields.form.fields", i, "field_id"), "is that of fields[%zu] too", other);
    }
    return text_is_given(st, path_of("fields.form.fields", i, "id"), field->id, ID_MAX) &&
           text_is_given(st, path_of("fields.form.fields", i, "field_id"), field->field_id, ID_MAX) &&
           text_is_given(st, path_of("fields.form.fields", i, "label"), field->label, LABEL_MAX) &&
           text_fits(st, path_of("fields.form.fields", i, "intent"), field->intent, TEXT_MAX) &&
           text_fits(st, path_of("fields.form.fields", i, "criteria"), field->criteria, TEXT_MAX) &&
           text_fits(st, path_of("fields.form.fields", i, "done_condition"), field->done_condition, TEXT_MAX);
}

static const Renga__V1__FormField *field_of_fact(const Renga__V1__SessionForm *form,
                                                 const Renga__V1__FactDefinition *fact)
{
    for (size_t i = 0; i < form->n_fields; i++)
        if (strcmp(form->fields[i]->id, fact->form_field_id) == 0)
            return form->fields[i];
    return NULL;
}

static bool fields_check_fact(const Renga__V1__SessionForm *form, size_t i, struct status *st)
{
    const Renga__V1__FactDefinition *fact = form->facts[i];
    if (!field_of_fact(form, fact))
        return fail_field(st, path_of("fields.form.facts", i, "form_field_id"),
                          "is '%.64s', which is the id of no field of the form", fact->form_field_id);
    return text_is_given(st, path_of("fields.form.facts", i, "id"), fact->id, ID_MAX) &&
           text_is_given(st, path_of("fields.form.facts", i, "fact_key"), fact->fact_key, ID_MAX) &&
           text_is_given(st, path_of("fields.form.facts", i, "fact"), fact->fact, FACT_MAX) &&
           text_fits(st, path_of("fields.form.facts", i, "done_criteria"), fact->done_criteria, TEXT_MAX) &&
           text_fits(st, path_of("fields.form.facts", i, "questioning_hints"), fact->questioning_hints, TEXT_MAX);
}

static bool fields_check(const Renga__V1__PlanRequest *request, struct status *st)
{
    const Renga__V1__SessionForm *form = request->fields->form;
    if (!form || !form->n_fields)
        return fail_field(st, "fields.form", "has no fields; there is nothing to ask");
    if (!count_fits(st, "fields.form.fields", form->n_fields, FIELDS_MAX) ||
        !count_fits(st, "fields.form.facts", form->n_facts, FACTS_MAX))
        return false;
    for (size_t i = 0; i < form->n_fields; i++)
        if (!fields_check_field(form, i, st))
            return false;
    for (size_t i = 0; i < form->n_facts; i++)
        if (!fields_check_fact(form, i, st))
            return false;
    return true;
}

/* The labels decide the language, since people read them. */
static const char *fields_about(const Renga__V1__PlanRequest *request)
{
    return request->fields->form->fields[0]->label;
}

/* ---- the form's own order ---------------------------------------------------------------------------------------- */

struct place {
    const Renga__V1__FormField *field;
    size_t index;
};

static int by_order(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->field->sort_order != other->field->sort_order)
        return one->field->sort_order < other->field->sort_order ? -1 : 1;
    return one->index < other->index ? -1 : 1;
}

static size_t order(const Renga__V1__SessionForm *form, struct place *places)
{
    for (size_t i = 0; i < form->n_fields; i++)
        places[i] = (struct place){.field = form->fields[i], .index = i};
    qsort(places, form->n_fields, sizeof *places, by_order);
    return form->n_fields;
}

/* ---- the prompt values ------------------------------------------------------------------------------------------- */

static void fields_show(struct model_task *task, cJSON *object, const char *name, const char *text)
{
    if (*text)
        cJSON_AddStringToObject(object, name, model_task_text(task, text, SHOWN_MAX));
}

static void show_field(struct model_task *task, cJSON *list, const Renga__V1__SessionForm *form,
                       const Renga__V1__FormField *field)
{
    cJSON *shown = cJSON_CreateObject();
    cJSON_AddStringToObject(shown, "field_id", field->field_id);
    cJSON_AddStringToObject(shown, "label", field->label);
    fields_show(task, shown, "intent", field->intent);
    cJSON_AddBoolToObject(shown, "required", field->required);
    fields_show(task, shown, "criteria", field->criteria);
    cJSON *facts = cJSON_AddArrayToObject(shown, "facts");
    for (size_t i = 0; i < form->n_facts; i++)
        if (strcmp(form->facts[i]->form_field_id, field->id) == 0)
            cJSON_AddItemToArray(facts, cJSON_CreateString(model_task_text(task, form->facts[i]->fact, FACT_SHOWN)));
    cJSON_AddItemToArray(list, shown);
}

static void fields_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)task)->request;
    const Renga__V1__SessionForm *form = request->fields->form;
    struct place places[FIELDS_MAX];
    cJSON *list = cJSON_AddArrayToObject(values, "form");
    size_t count = order(form, places);
    for (size_t i = 0; i < count; i++)
        show_field(task, list, form, places[i].field);
    cJSON_AddStringToObject(values, "known_json", request->fields->known_json[0] ? request->fields->known_json : "{}");
    text_describe(task, values, "feedback", request->feedback);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static Renga__V1__FieldPlan *fields_plan(struct model_task *task)
{
    struct planning *planning = (struct planning *)task;
    Renga__V1__FieldPlan *made = &planning->fields;
    renga__v1__field_plan__init(made);
    made->fields = model_task_alloc(task, planning->request->fields->form->n_fields * sizeof(*made->fields));
    planning->response.plan_case = RENGA__V1__PLAN_RESPONSE__PLAN_FIELDS;
    planning->response.fields = made;
    return made;
}

static void fields_add(struct model_task *task, Renga__V1__FieldPlan *made, const Renga__V1__FormField *field,
                       char *intent)
{
    static const struct note ask = {.ja = "「%s」を確認する", .en = "Find out: %s"};
    Renga__V1__PlannedField *planned = model_task_alloc(task, sizeof *planned);
    if (!planned || !made->fields)
        return;
    renga__v1__planned_field__init(planned);
    planned->field_id = field->field_id;
    planned->label = field->label;
    planned->intent = field->intent[0] ? field->intent : intent;
    if (!planned->intent || !*planned->intent)
        planned->intent = model_task_compose(task, &ask, field->label, NULL);
    planned->required = field->required;
    made->fields[made->n_fields++] = planned;
}

/* Removes the field from the fields that are not planned yet; NULL if it is not among them. */
static const Renga__V1__FormField *fields_take(struct place *places, size_t count, const char *field_id)
{
    for (size_t i = 0; i < count; i++) {
        const Renga__V1__FormField *field = places[i].field;
        if (field && strcmp(field->field_id, field_id) == 0) {
            places[i].field = NULL;
            return field;
        }
    }
    return NULL;
}

static void add_rest(struct model_task *task, Renga__V1__FieldPlan *made, const struct place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (places[i].field)
            fields_add(task, made, places[i].field, NULL);
}

static bool read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const Renga__V1__SessionForm *form = ((struct planning *)task)->request->fields->form;
    struct place places[FIELDS_MAX];
    size_t count = order(form, places);
    Renga__V1__FieldPlan *made = fields_plan(task);
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(answer, "fields"))
    {
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "field_id"));
        const Renga__V1__FormField *field = fields_take(places, count, id ? id : "");
        if (field)
            fields_add(task, made, field, text_read(task, cJSON_GetObjectItemCaseSensitive(item, "intent"), TEXT_MAX));
    }
    if (!made->n_fields)
        return fail(st, DATA_LOSS, "fields: none has a field_id of the form; write each field_id as the form has it");
    add_rest(task, made, places, count);
    return true;
}

static void fields_fallback(struct model_task *task)
{
    struct place places[FIELDS_MAX];
    size_t count = order(((struct planning *)task)->request->fields->form, places);
    add_rest(task, fields_plan(task), places, count);
}

const struct plan_style field_style = {
    .style = RENGA__V1__PLAN_REQUEST__STYLE_FIELDS,
    .kind =
        {
            .name = "fields",
            .part = "plan",
            .schema = "{\"type\":\"object\",\"properties\":{\"fields\":{\"type\":\"array\",\"items\":{\"type\":"
                      "\"object\",\"properties\":{\"field_id\":{\"type\":\"string\"},\"label\":{\"type\":\"string\"},"
                      "\"intent\":{\"type\":\"string\"},\"required\":{\"type\":\"boolean\"}},\"required\":["
                      "\"field_id\",\"label\",\"intent\",\"required\"],\"additionalProperties\":false}}},"
                      "\"required\":[\"fields\"],\"additionalProperties\":false}",
            .fallback_note = {.ja = "フォームの並び順のまま質問します", .en = "questions keep the order of the form"},
            .describe = fields_describe,
            .read = read,
            .fallback = fields_fallback,
            .reply = plan_reply,
        },
    .check = fields_check,
    .about = fields_about,
};
