/* Reads a person's message about a form, without a model: values for its fields go into a queue for review. The
 * person's other dialogue acts (skip, go back, why, another language) are done or told.
 *
 *      said ---> an act alone? ---> skipped, refused, unexplained, back, changes, speaks, why, explain, progress
 *        '-----> values of fields ---> `values`; a value that is wrong ---> `problem`; neither ---> `nothing`
 *
 * Only this node leaves a field open: if the field is not required, or if the form allows it with a reason. */
#include "form_fill.h"
#include "form_queue.h"

#include <string.h>

enum {
    HEAR_SAID = FORM_FILL_ROWS,
    HEAR_VALUES,
    HEAR_CURRENT,
    HEAR_MESSAGE,
    HEAR_PLAN,
    HEAR_QUEUE,
    HEAR_NOTICE,
    HEAR_HEARD
};

static const struct node_parameter parameters[] = {
    FORM_FILL_PARAMETERS,
    [HEAR_SAID] = {"said", READS_STRING, REQUIRED, "What the person said, a string."},
    [HEAR_VALUES] = {"values", READS_OBJECT, OPTIONAL,
                     "What was entered into fields directly, an object: field_id to words."},
    [HEAR_CURRENT] =
        {"current", READS_STRING, REQUIRED,
         "The field_id of the field that was asked about, a string; another where the person goes to another."},
    [HEAR_MESSAGE] = {"message", READS_INTEGER, OPTIONAL,
                      "The place of what was said in the conversation, an integer, counted from 1."},
    [HEAR_PLAN] = {"plan", READS_OBJECT, OPTIONAL,
                   "The order of the fields, an object (FieldPlan): that of \"go back\"."},
    [HEAR_QUEUE] = {"queue", WRITES_OBJECTS, REQUIRED, "Gets the values to be reviewed, an object[]."},
    [HEAR_NOTICE] = {"notice", WRITES_STRING, REQUIRED,
                     "Gets a sentence for the person, a string: why a value is wrong. Else \"\"."},
    [HEAR_HEARD] = {"heard", WRITES_STRING, OPTIONAL, "Gets the outcome, a string."},
    {.name = NULL},
};

enum hear_outcome {
    HEARD_VALUES,
    HEARD_PROBLEM,
    HEARD_NOTHING,
    HEARD_SKIPPED,
    HEARD_REFUSED,
    HEARD_UNEXPLAINED,
    HEARD_BACK,
    HEARD_CHANGES,
    HEARD_SPEAKS,
    HEARD_WHY,
    HEARD_EXPLAIN,
    HEARD_PROGRESS,
};
static const char *const outcomes[] = {"values",  "problem", "nothing", "skipped", "refused",  "unexplained", "back",
                                       "changes", "speaks",  "why",     "explain", "progress", NULL};

struct hearing {
    struct form_fill fill; /* first */
    struct form_queue queue;
    const char *said, *language, *notice;
    int current, message;
    enum hear_outcome outcome;
};

static bool form_hear_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "what was said takes more memory than an attempt may have");
}

/* ---- dialogue acts ----------------------------------------------------------------------------------------------- */

/* The done field before the current field, in the order of the plan; the current field if there is no earlier done
 * field. */
static int field_before(const struct hearing *hearing)
{
    const struct form_fill *fill = &hearing->fill;
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(service_call_input(&fill->base, HEAR_PLAN), "fields"), *item;
    int before = hearing->current;
    cJSON_ArrayForEach(item, plan)
    {
        int field = form_find(fill->form, form_fill_text(item, "field_id"));
        if (field >= 0 && field == hearing->current)
            break;
        if (field >= 0 && form_fill_state(fill, (size_t)field) == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE)
            before = field;
    }
    return before;
}

static void go_to(struct hearing *hearing, int field, enum hear_outcome outcome)
{
    hearing->outcome = outcome;
    hearing->current = field;
    if (field >= 0)
        form_fill_set_state(&hearing->fill, (size_t)field, RENGA__V1__FIELD_STATE__FIELD_STATE_INTERVIEWING);
}

/* Leaves the current field open, if that is allowed. */
static void leave_open(struct hearing *hearing, const char *reason)
{
    struct form_fill *fill = &hearing->fill;
    if (hearing->current < 0) {
        hearing->outcome = HEARD_NOTHING;
        return;
    }
    size_t field = (size_t)hearing->current;
    const Renga__V1__FormField *asked = form_field(fill->form, field);
    bool reasoned = reason && *reason;
    if (asked->required && !(asked->may_stay_open && reasoned)) {
        hearing->outcome = asked->may_stay_open ? HEARD_UNEXPLAINED : HEARD_REFUSED;
        return;
    }
    form_fill_set_state(fill, field, RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN);
    form_fill_put(form_fill_entry(fill, field), "open_reason", reasoned ? reason : hearing->said);
    form_fill_put_item(form_fill_entry(fill, field), "value", NULL);
    form_fill_put_item(form_fill_entry(fill, field), "typed", NULL);
    hearing->outcome = HEARD_SKIPPED;
}

static void hearing_grant_wish(struct hearing *hearing, const struct form_utterance *heard)
{
    if (heard->field >= 0 && heard->act != FORM_GOES_BACK)
        hearing->current = heard->field; /* "skip the e-mail" */
    switch (heard->act) {
    case FORM_SKIPS:
    case FORM_DOES_NOT_KNOW:
        leave_open(hearing, heard->reason);
        return;
    case FORM_GOES_BACK:
        go_to(hearing, field_before(hearing), HEARD_BACK);
        return;
    case FORM_CHANGES:
        go_to(hearing, hearing->current, HEARD_CHANGES);
        return;
    case FORM_SPEAKS:
        hearing->language = heard->language;
        hearing->outcome = HEARD_SPEAKS;
        return;
    case FORM_ASKS_WHY:
        hearing->outcome = HEARD_WHY;
        return;
    case FORM_ASKS_WHAT:
        hearing->outcome = HEARD_EXPLAIN;
        return;
    case FORM_ASKS_STATE:
        hearing->outcome = HEARD_PROGRESS;
        return;
    case FORM_ANSWERS:
        return;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Whether the message is a reason: the person was asked for the reason to leave the field open. */
static bool is_reason(const struct hearing *hearing)
{
    const cJSON *entry = hearing->current < 0 ? NULL : form_fill_find(&hearing->fill, (size_t)hearing->current);
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "reason_wanted"));
}

/* A value for another field, given with its name, is no answer to the current field. */
static bool is_about_another(const struct form_mention *mentions, size_t count, int current)
{
    for (size_t i = 0; i < count; i++)
        if (mentions[i].named && (int)mentions[i].field != current && mentions[i].value.problem == FORM_FINE)
            return true;
    return false;
}

static bool hearing_field_is_text(const struct form_fill *fill, size_t field)
{
    return form_field(fill->form, field)->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_TEXT;
}

static bool hearing_counts_mention(const struct hearing *hearing, const struct form_mention *mention,
                                   bool about_another)
{
    Renga__V1__FieldState state = form_fill_state(&hearing->fill, mention->field);
    if ((int)mention->field == hearing->current)
        return !(about_another && hearing_field_is_text(&hearing->fill, mention->field));
    return mention->named || (mention->value.problem == FORM_FINE && state != RENGA__V1__FIELD_STATE__FIELD_STATE_DONE);
}

static bool hearing_find_values(struct hearing *hearing, struct status *st)
{
    struct form_fill *fill = &hearing->fill;
    struct form_mention mentions[FORM_MENTIONS_MAX];
    size_t count = 0;
    if (!form_find_values(fill->form, hearing->current, hearing->said, &fill->context, fill->arena, mentions, &count))
        return form_hear_no_memory(st);
    bool about_another = is_about_another(mentions, count, hearing->current);
    for (size_t i = 0; i < count; i++) {
        const struct form_mention *mention = &mentions[i];
        if (!hearing_counts_mention(hearing, mention, about_another))
            continue;
        if (mention->value.problem != FORM_FINE) {
            hearing->notice =
                form_problem_message(fill->form, mention->field, &mention->value, &fill->context, fill->arena);
            hearing->current = (int)mention->field;
            hearing->outcome = HEARD_PROBLEM;
        } else if (!queue_add(&hearing->queue, fill, mention->field, hearing->said, hearing->message, &mention->value,
                              RENGA__V1__VALUE_ORIGIN__VALUE_ORIGIN_SAID)) {
            return form_hear_no_memory(st);
        }
    }
    return true;
}

static bool take_entered(struct hearing *hearing, struct status *st)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, service_call_input(&hearing->fill.base, HEAR_VALUES))
    {
        int field = form_find(hearing->fill.form, item->string);
        if (field < 0)
            return fail_field(st, "values", "has '%.64s', which is no field of the form", item->string);
        if (!cJSON_IsString(item) || !*item->valuestring)
            return fail_field(st, "values", "'%.64s' must be what the person entered, a string", item->string);
        if (!queue_read(&hearing->queue, &hearing->fill, (size_t)field, item->valuestring,
                        RENGA__V1__VALUE_ORIGIN__VALUE_ORIGIN_ENTERED, st))
            return false;
    }
    return true;
}

static bool hearing_read_text(struct hearing *hearing, struct status *st)
{
    struct form_fill *fill = &hearing->fill;
    struct form_utterance heard = {.field = -1};
    hearing->outcome = HEARD_NOTHING;
    if (!take_entered(hearing, st))
        return false;
    if (*hearing->said && !form_read_act(fill->form, hearing->said, &fill->context, fill->arena, &heard))
        return form_hear_no_memory(st);
    bool answers = heard.act == FORM_ANSWERS, reason = answers && is_reason(hearing);
    bool text = reason && hearing_field_is_text(fill, (size_t)hearing->current);
    if (!answers)
        hearing_grant_wish(hearing, &heard);
    if (answers && !text && *hearing->said && !hearing_find_values(hearing, st))
        return false;
    if (reason && (text || !hearing->queue.items))
        leave_open(hearing, hearing->said);
    if (hearing->current >= 0)
        form_fill_put_item(form_fill_entry(fill, (size_t)hearing->current), "reason_wanted",
                           hearing->outcome == HEARD_UNEXPLAINED ? cJSON_CreateTrue() : NULL);
    if (hearing->queue.items)
        hearing->outcome = HEARD_VALUES;
    return true;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static void write_heard(struct hearing *hearing, struct task *task, struct update *update)
{
    const struct form *form = hearing->fill.form;
    form_fill_write(&hearing->fill, update);
    queue_write(&hearing->queue, update, update_field(task, HEAR_QUEUE));
    json_write_string(&update->out, update_field(task, HEAR_NOTICE), hearing->notice);
    json_write_string(&update->out, update_field(task, HEAR_CURRENT),
                      hearing->current < 0 ? "" : form_field(form, (size_t)hearing->current)->field_id);
    if (update_field(task, HEAR_HEARD))
        json_write_string(&update->out, update_field(task, HEAR_HEARD), outcomes[hearing->outcome]);
    if (hearing->language && update_field(task, FORM_FILL_LANGUAGE))
        json_write_string(&update->out, update_field(task, FORM_FILL_LANGUAGE), hearing->language);
}

static const char *hear_work(struct form_fill *fill, struct update *update, struct status *st)
{
    struct hearing *hearing = (struct hearing *)fill;
    const cJSON *message = service_call_input(&fill->base, HEAR_MESSAGE);
    hearing->said = service_call_text(&fill->base, HEAR_SAID);
    hearing->current = form_fill_field(fill, HEAR_CURRENT);
    hearing->message = message ? (int)message->valuedouble - 1 : -1;
    hearing->notice = "";
    if (!hearing_read_text(hearing, st)) {
        queue_free(&hearing->queue);
        return NULL;
    }
    write_heard(hearing, fill->base.task, update);
    return outcomes[hearing->outcome];
}

static void form_hear_start(struct task *task)
{
    struct hearing *hearing = task_data(task);
    form_fill_start(&hearing->fill, task, hear_work);
}

extern const struct node_kind form_hear_kind;
const struct node_kind form_hear_kind = {
    .name = "form_hear",
    .help = "Reads values and dialogue acts from what a person says about a form; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct hearing),
    .start = form_hear_start,
    .cancel = form_fill_cancel,
};
