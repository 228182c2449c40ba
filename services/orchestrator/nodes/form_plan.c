/* The order in which a form is asked, from a model's draft or without a draft. The plan has each field of the form
 * once, with the form's own label and `required`. Fields that a draft leaves out follow, required fields first, then by
 * sort_order. */
#include "form_fill.h"

#include "renga/v1/citation.pb-c.h"

#include <string.h>

#define INTENT_MAX ((size_t)4096) /* bytes, as PlannedField.intent */

enum { PLAN_DRAFT = FORM_FILL_ROWS, PLAN_INTO };

static const struct node_parameter parameters[] = {
    FORM_FILL_PARAMETERS,
    [PLAN_DRAFT] = {"draft", READS_OBJECTS, OPTIONAL,
                    "A model's plan, an object[] (PlannedField); repaired where it is wrong, and told so."},
    [PLAN_INTO] = {"into", WRITES_OBJECT, REQUIRED, "The plan, an object (FieldPlan)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"planned", NULL};

struct planning {
    struct form_fill fill; /* first */
    int order[FORM_FIELDS_MAX];
    const char *intents[FORM_FIELDS_MAX]; /* of the draft, by field; NULL: no intent */
    bool planned[FORM_FIELDS_MAX];
    size_t count;
    bool repaired;
};

static void planning_add_field(struct planning *planning, int field)
{
    planning->planned[field] = true;
    planning->order[planning->count++] = field;
}

static void take_draft(struct planning *planning)
{
    const cJSON *draft = service_call_input(&planning->fill.base, PLAN_DRAFT), *item;
    cJSON_ArrayForEach(item, draft)
    {
        int field = form_find(planning->fill.form, form_fill_text(item, "field_id"));
        const cJSON *required = cJSON_GetObjectItemCaseSensitive(item, "required");
        if (field < 0 || planning->planned[field]) {
            planning->repaired = true;
            continue;
        }
        if (required && cJSON_IsTrue(required) != form_field(planning->fill.form, (size_t)field)->required)
            planning->repaired = true;
        planning->intents[field] = form_fill_text(item, "intent");
        planning_add_field(planning, field);
    }
}

/* form_field is in the order of sort_order already. A whole form without a draft keeps it. */
static void planning_add_rest(struct planning *planning)
{
    size_t fields = form_field_count(planning->fill.form);
    bool drafted = planning->count > 0 || planning->repaired;
    planning->repaired |= drafted && planning->count < fields;
    for (int required = 1; required >= 0; required--)
        for (size_t i = 0; i < fields; i++) {
            bool now = !drafted || form_field(planning->fill.form, i)->required == (required == 1);
            if (now && !planning->planned[i])
                planning_add_field(planning, (int)i);
        }
}

/* Labels, and whether a field is required, stand in the form. */
static void write_plan(const struct planning *planning, struct task *task, struct update *update)
{
    struct json_writer *out = &update->out;
    json_write_object(out, update_field(task, PLAN_INTO));
    json_write_array(out, "fields");
    for (size_t i = 0; i < planning->count; i++) {
        const Renga__V1__FormField *field = form_field(planning->fill.form, (size_t)planning->order[i]);
        const char *intent = planning->intents[planning->order[i]];
        json_write_object(out, NULL);
        json_write_string(out, "field_id", field->field_id);
        if (*field->intent || (intent && *intent && strlen(intent) <= INTENT_MAX))
            json_write_string(out, "intent", *field->intent ? field->intent : intent);
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

static char repaired_part[] = "plan",
            repaired_reason[] = "the plan did not have each field of the form once, as the form has it";
static Renga__V1__Degradation repaired = {
    .base = PROTOBUF_C_MESSAGE_INIT(&renga__v1__degradation__descriptor),
    .part = repaired_part,
    .kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK,
    .reason = repaired_reason,
};
static Renga__V1__Degradation *repaired_list[] = {&repaired};

static const char *plan_work(struct form_fill *fill, struct update *update, struct status *st)
{
    struct planning *planning = (struct planning *)fill;
    (void)st;
    take_draft(planning);
    planning_add_rest(planning);
    write_plan(planning, fill->base.task, update);
    if (planning->repaired) {
        update->response.degradations = repaired_list;
        update->response.n_degradations = 1;
    }
    return outcomes[0];
}

static void form_plan_start(struct task *task)
{
    struct planning *planning = task_data(task);
    form_fill_start(&planning->fill, task, plan_work);
}

extern const struct node_kind form_plan_kind;
const struct node_kind form_plan_kind = {
    .name = "form_plan",
    .help = "Orders the fields of a form, by a draft that it repairs, or by the form.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct planning),
    .start = form_plan_start,
    .cancel = form_fill_cancel,
};
