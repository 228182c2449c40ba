/* Which field is asked about next, and how: by the plan, by the conditions of fields, and by how each of them stands.
 *
 *      asked again? ---> `again` (a value was wrong), `follow_up` (a fact is missing)
 *      a new field  ---> `ask`
 *      all settled  ---> `complete`
 *
 * A field whose condition holds no more is not applicable, and comes back as pending when it holds again. The current
 * field stays current until it is settled, even if the message was about other fields. */
#include "base/text.h"
#include "form_fill.h"

#include <string.h>

#define SUMMARY_MAX ((size_t)65536) /* bytes, as AgentStackEntry.context_summary */
#define TURNS_SHOWN 12              /* of the conversation, in a summary */
#define TURN_SHOWN  ((size_t)600)   /* bytes of each */
#define CHOICES_MAX ((size_t)16384) /* bytes of the choices as lines */

enum {
    NEXT_PLAN = FORM_FILL_ROWS,
    NEXT_CURRENT,
    NEXT_MESSAGES,
    NEXT_UNDERSTOOD,
    NEXT_NOTICE,
    NEXT_ASKED,
    NEXT_SUMMARY
};

static const struct node_parameter parameters[] = {
    FORM_FILL_PARAMETERS,
    [NEXT_PLAN] = {"plan", READS_OBJECT, REQUIRED, "The order of the fields, an object (FieldPlan)."},
    [NEXT_CURRENT] = {"current", READS_STRING, REQUIRED,
                      "The field_id of the field that is asked about, a string; \"\" where none is."},
    [NEXT_MESSAGES] = {"messages", READS_OBJECTS, OPTIONAL, "The conversation, an object[]."},
    [NEXT_UNDERSTOOD] = {"understood", READS_STRINGS, OPTIONAL, "What was just taken, a string[]: told to the person."},
    [NEXT_NOTICE] = {"notice", READS_STRING, OPTIONAL, "A sentence for the person, a string: why a value is wrong."},
    [NEXT_ASKED] = {"asked", WRITES_OBJECT, REQUIRED,
                    "Gets what prompts need to ask, an object: kind (the outcome), opening (what was understood, and "
                    "the notice), field_id, label, intent, purpose, wanted (the form of a value, without a "
                    "notice), required, choices, choices_below, has_choices, missing, hint, notice, done, total, "
                    "place, values, required_open."},
    [NEXT_SUMMARY] = {"summary", WRITES_STRING, OPTIONAL,
                      "Gets the conversation so far in short, a string, for an agent that did not hear it."},
    {.name = NULL},
};
enum { NEXT_ASK, NEXT_FOLLOW_UP, NEXT_AGAIN, NEXT_COMPLETE };
static const char *const outcomes[] = {"ask", "follow_up", "again", "complete", NULL};

struct choosing {
    struct form_fill fill; /* first */
    int order[FORM_FIELDS_MAX];
    size_t count, done, total; /* total: of those that apply */
    int current;
    const Renga__V1__FactDefinition *missing; /* NULL: no fact is known to be missing */
};

/* ---- which ------------------------------------------------------------------------------------------------------- */

/* Each field once: a field that the plan leaves out comes behind the others. */
static void read_order(struct choosing *choosing)
{
    bool seen[FORM_FIELDS_MAX] = {false};
    const cJSON *plan = service_call_input(&choosing->fill.base, NEXT_PLAN), *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(plan, "fields"))
    {
        int field = form_find(choosing->fill.form, form_fill_text(item, "field_id"));
        if (field < 0 || seen[field])
            continue;
        seen[field] = true;
        choosing->order[choosing->count++] = field;
    }
    for (size_t i = 0; i < form_field_count(choosing->fill.form); i++)
        if (!seen[i])
            choosing->order[choosing->count++] = (int)i;
}

/* A value that does not apply any more can make another field not apply. So the loop runs until no field changes, at
 * most as often as there are fields. */
static void apply_conditions(struct choosing *choosing)
{
    struct form_fill *fill = &choosing->fill;
    bool changed = true;
    for (size_t round = 0; changed && round < choosing->count; round++) {
        cJSON *values = form_fill_values(fill);
        changed = false;
        for (size_t i = 0; i < choosing->count; i++) {
            Renga__V1__FieldState state = form_fill_state(fill, i);
            bool applies = form_applies(fill->form, i, values);
            bool was = state != RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE;
            if (applies == was)
                continue;
            changed = true;
            form_fill_set_state(fill, i,
                                applies ? RENGA__V1__FIELD_STATE__FIELD_STATE_PENDING
                                        : RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE);
        }
        cJSON_Delete(values);
    }
}

static bool choosing_field_is_open(const struct choosing *choosing, int field)
{
    return field >= 0 && !form_fill_is_settled(form_fill_state(&choosing->fill, (size_t)field));
}

/* The current field; else a field that was asked before; else the first of the plan. */
static void choose_field(struct choosing *choosing)
{
    int first = -1, begun = -1;
    for (size_t i = 0; i < choosing->count; i++) {
        int field = choosing->order[i];
        Renga__V1__FieldState state = form_fill_state(&choosing->fill, (size_t)field);
        choosing->total += state != RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE;
        choosing->done +=
            state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE || state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN;
        if (form_fill_is_settled(state))
            continue;
        if (first < 0)
            first = field;
        if (begun < 0 && state != RENGA__V1__FIELD_STATE__FIELD_STATE_PENDING)
            begun = field;
    }
    if (!choosing_field_is_open(choosing, choosing->current))
        choosing->current = begun >= 0 ? begun : first;
}

/* The first fact that the last review missed. */
static void find_missing(struct choosing *choosing, const cJSON *entry)
{
    const Renga__V1__FactDefinition *const *facts;
    const cJSON *missing =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(entry, "review"), "missing_facts");
    const char *key = cJSON_GetStringValue(missing ? missing->child : NULL);
    size_t count = form_facts(choosing->fill.form, (size_t)choosing->current, &facts);
    for (size_t i = 0; key && i < count; i++)
        if (strcmp(facts[i]->fact_key, key) == 0)
            choosing->missing = facts[i];
}

static int choosing_choose(struct choosing *choosing)
{
    struct form_fill *fill = &choosing->fill;
    read_order(choosing);
    apply_conditions(choosing);
    choosing->current = form_fill_field(fill, NEXT_CURRENT);
    choose_field(choosing);
    if (choosing->current < 0)
        return NEXT_COMPLETE;
    size_t field = (size_t)choosing->current;
    bool again = form_fill_state(fill, field) == RENGA__V1__FIELD_STATE__FIELD_STATE_INTERVIEWING;
    form_fill_set_state(fill, field, RENGA__V1__FIELD_STATE__FIELD_STATE_INTERVIEWING);
    find_missing(choosing, form_fill_find(fill, field));
    if (choosing->missing &&
        strcmp(form_fill_text(form_fill_find(fill, field), "asked_fact"), choosing->missing->fact_key) != 0)
        form_fill_put(form_fill_entry(fill, field), "asked_fact", choosing->missing->fact_key);
    return choosing->missing ? NEXT_FOLLOW_UP : again ? NEXT_AGAIN : NEXT_ASK;
}

/* ---- how --------------------------------------------------------------------------------------------------------- */

static bool choosing_is_japanese(const struct choosing *choosing)
{
    return strcmp(choosing->fill.context.language, "ja") == 0;
}

static void choosing_write_choices(const struct choosing *choosing, const Renga__V1__FormField *field,
                                   struct json_writer *out)
{
    struct buffer lines;
    buffer_init(&lines, CHOICES_MAX);
    buffer_print(&lines, "\n");
    for (size_t i = 0; i < field->n_choices; i++) {
        const Renga__V1__FieldChoice *choice = field->choices[i];
        buffer_printf(&lines, "%s%zu. %s", i ? "\n" : "", i + 1, *choice->label ? choice->label : choice->value);
    }
    if (!field->n_choices && field->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_YES_NO)
        buffer_print(&lines, choosing_is_japanese(choosing) ? "はい / いいえ" : "yes / no");
    json_write_string(out, "choices", buffer_text(&lines) + 1);
    json_write_string(out, "choices_below", lines.length > 1 ? buffer_text(&lines) : "");
    json_write_bool(out, "has_choices", lines.length > 1);
    buffer_fini(&lines);
}

/* "label: value" of each settled field, in the order of the plan. */
static void choosing_write_values(const struct choosing *choosing, struct json_writer *out)
{
    const struct form_fill *fill = &choosing->fill;
    struct buffer lines;
    buffer_init(&lines, SUMMARY_MAX);
    for (size_t i = 0; i < choosing->count; i++) {
        size_t field = (size_t)choosing->order[i];
        Renga__V1__FieldState state = form_fill_state(fill, field);
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(form_fill_find(fill, field), "value");
        const char *text =
            state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE
                ? form_value_text(fill->form, field, form_fill_text(value, "text"), &fill->context, fill->arena)
            : state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN
                ? choosing_is_japanese(choosing) ? "（未回答）" : "(left open)"
                : NULL;
        if (text)
            buffer_printf(&lines, "%s- %s: %s", lines.length ? "\n" : "", form_field(fill->form, field)->label, text);
    }
    json_write_string(out, "values", buffer_text(&lines));
    buffer_fini(&lines);
}

/* The purpose of the question, which stands behind it; empty if the form does not give it. */
static void write_purpose(const struct choosing *choosing, const Renga__V1__FormField *field, struct json_writer *out)
{
    struct buffer text;
    buffer_init(&text, CHOICES_MAX);
    if (*field->intent)
        buffer_printf(&text, "\n%s%s%s", choosing_is_japanese(choosing) ? "（" : "(", field->intent,
                      choosing_is_japanese(choosing) ? "）" : ")");
    json_write_string(out, "purpose", buffer_text(&text));
    buffer_fini(&text);
}

/* The form of a value, behind a question that is asked again; empty if the notice tells why it is asked again. */
static void write_wanted(const struct choosing *choosing, const char *notice, struct json_writer *out)
{
    struct buffer text;
    buffer_init(&text, CHOICES_MAX);
    if (choosing->current >= 0 && !*notice) {
        size_t field = (size_t)choosing->current;
        const char *sentence = form_wanted_message(choosing->fill.form, field, &choosing->fill.context);
        buffer_printf(&text, "%s%s", *sentence && !choosing_is_japanese(choosing) ? " " : "", sentence);
    }
    json_write_string(out, "wanted", buffer_text(&text));
    buffer_fini(&text);
}

/* The lines before the question: the values that were taken, and the notice. */
static void write_opening(const struct choosing *choosing, const char *notice, struct json_writer *out)
{
    const cJSON *item;
    struct buffer text;
    buffer_init(&text, SUMMARY_MAX);
    cJSON_ArrayForEach(item, service_call_input(&choosing->fill.base, NEXT_UNDERSTOOD))
    {
        buffer_printf(&text, "✓ %s\n", cJSON_IsString(item) ? item->valuestring : "");
    }
    if (*notice)
        buffer_printf(&text, "%s\n", notice);
    if (text.length)
        buffer_print(&text, "\n");
    json_write_string(out, "opening", buffer_text(&text));
    json_write_string(out, "notice", notice);
    buffer_fini(&text);
}

/* The labels of required fields that are not settled, with commas. */
static void write_required_open(const struct choosing *choosing, struct json_writer *out)
{
    struct buffer labels;
    buffer_init(&labels, SUMMARY_MAX);
    for (size_t i = 0; i < choosing->count; i++) {
        const Renga__V1__FormField *field = form_field(choosing->fill.form, (size_t)choosing->order[i]);
        if (field->required && choosing_field_is_open(choosing, choosing->order[i]))
            buffer_printf(&labels, "%s%s", labels.length ? ", " : "", field->label);
    }
    json_write_string(out, "required_open", buffer_text(&labels));
    buffer_fini(&labels);
}

static void choosing_write_field(const struct choosing *choosing, struct json_writer *out)
{
    const struct form_fill *fill = &choosing->fill;
    static const Renga__V1__FormField none = RENGA__V1__FORM_FIELD__INIT;
    const Renga__V1__FormField *field =
        choosing->current < 0 ? &none : form_field(fill->form, (size_t)choosing->current);
    const cJSON *entry = choosing->current < 0 ? NULL : form_fill_find(fill, (size_t)choosing->current);
    const char *notice = cJSON_GetStringValue(service_call_input(&fill->base, NEXT_NOTICE));
    const char *feedback = form_fill_text(cJSON_GetObjectItemCaseSensitive(entry, "review"), "feedback");
    const char *hint = choosing->missing ? choosing->missing->questioning_hints : "";
    json_write_string(out, "field_id", field->field_id);
    json_write_string(out, "label", field->label);
    json_write_string(out, "intent", *field->intent ? field->intent : field->label);
    json_write_string(out, "missing", choosing->missing ? choosing->missing->fact : "");
    json_write_string(out, "hint", *hint ? hint : choosing->missing ? choosing->missing->fact : "");
    notice = notice && *notice ? notice : feedback;
    write_opening(choosing, notice, out);
    write_wanted(choosing, notice, out);
    json_write_bool(out, "required", field->required);
    write_purpose(choosing, field, out);
    choosing_write_choices(choosing, field, out);
}

static void write_asked(const struct choosing *choosing, struct task *task, int outcome, struct update *update)
{
    struct json_writer *out = &update->out;
    json_write_object(out, update_field(task, NEXT_ASKED));
    json_write_string(out, "kind", outcomes[outcome]);
    choosing_write_field(choosing, out);
    json_write_uint(out, "done", choosing->done);
    json_write_uint(out, "total", choosing->total);
    json_write_uint(out, "place", choosing->done + 1 > choosing->total ? choosing->total : choosing->done + 1);
    choosing_write_values(choosing, out);
    write_required_open(choosing, out);
    json_write_end(out);
}

static void write_summary(const struct choosing *choosing, struct task *task, struct update *update)
{
    const cJSON *messages = service_call_input(&choosing->fill.base, NEXT_MESSAGES), *item;
    int left_out = cJSON_GetArraySize(messages) - TURNS_SHOWN;
    bool japanese = choosing_is_japanese(choosing);
    struct buffer lines;
    buffer_init(&lines, SUMMARY_MAX);
    cJSON_ArrayForEach(item, messages)
    {
        const char *said = form_fill_text(item, "content"), *role = form_fill_text(item, "role");
        bool person = strcmp(role, "user") == 0;
        if (left_out-- > 0)
            continue;
        buffer_printf(&lines, "%s%s: %.*s", lines.length ? "\n" : "",
                      person     ? japanese ? "回答者" : "Person"
                      : japanese ? "担当"
                                 : "Interviewer",
                      (int)text_cut(said, strlen(said), TURN_SHOWN), said);
    }
    json_write_string(&update->out, update_field(task, NEXT_SUMMARY), buffer_text(&lines));
    buffer_fini(&lines);
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static const char *next_work(struct form_fill *fill, struct update *update, struct status *st)
{
    struct choosing *choosing = (struct choosing *)fill;
    struct task *task = fill->base.task;
    int outcome = choosing_choose(choosing);
    (void)st;
    json_write_string(&update->out, update_field(task, NEXT_CURRENT),
                      choosing->current < 0 ? "" : form_field(fill->form, (size_t)choosing->current)->field_id);
    write_asked(choosing, task, outcome, update);
    if (update_field(task, NEXT_SUMMARY))
        write_summary(choosing, task, update);
    form_fill_write(fill, update);
    return outcomes[outcome];
}

static void form_next_start(struct task *task)
{
    struct choosing *choosing = task_data(task);
    form_fill_start(&choosing->fill, task, next_work);
}

extern const struct node_kind form_next_kind;
const struct node_kind form_next_kind = {
    .name = "form_next",
    .help = "Says which field of a form is asked about next, and what to ask.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct choosing),
    .start = form_next_start,
    .cancel = form_fill_cancel,
};
