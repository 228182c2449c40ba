/* Takes values into a form in sequence, each after a review:
 *
 *      queue ---> `review`: field, facts, known, talk for the judgement ----------> a reviewer, of any kind ---.
 *        ^                                                                                                    |
 *        '-------------------- the judgement is applied, the value leaves the queue <---- verdict ------------'
 *        '---> empty: `taken`
 *
 * Code checks the reviewer's verdict: facts are the person's words, a value is a span of them or the normal form of a
 * span (form_verify_value), and a field with a missing fact does not pass. So a model that invents a value, or passes
 * every value, does not change the form. */
#include "form_fill.h"
#include "form_queue.h"
#include "form_verdict.h"

#include "base/text.h"
#include "rpc/message_json.h"

#include <string.h>

#define FACT_SHOWN ((size_t)3900) /* bytes: a fact with its key has at most 4,096 */

enum {
    TAKE_QUEUE = FORM_FILL_ROWS,
    TAKE_WANTED,
    TAKE_SAID,
    TAKE_MESSAGE,
    TAKE_VERDICT,
    TAKE_FIELD,
    TAKE_FACTS,
    TAKE_KNOWN,
    TAKE_ASSUMED,
    TAKE_TALK,
    TAKE_UNDERSTOOD,
    TAKE_RESULT
};

static const struct node_parameter parameters[] = {
    FORM_FILL_PARAMETERS,
    [TAKE_QUEUE] = {"queue", READS_OBJECTS, REQUIRED,
                    "The values that wait, an object[]; what is left of them is written."},
    [TAKE_WANTED] = {"wanted", READS_STRING, OPTIONAL,
                     "The field_id of the field to be reviewed next, a string; \"\" is the first in the queue. One "
                     "without a value in the queue is reviewed by the words of `said`."},
    [TAKE_SAID] = {"said", READS_STRING, REQUIRED, "What the person said, a string."},
    [TAKE_MESSAGE] = {"message", READS_INTEGER, OPTIONAL,
                      "The place of what was said in the conversation, an integer, counted from 1."},
    [TAKE_VERDICT] = {"verdict", READS_OBJECT, REQUIRED,
                      "The judgement of the value under review, an object (ReviewResult); {} where none is."},
    [TAKE_FIELD] = {"field", WRITES_OBJECT, REQUIRED, "Gets the field, an object."},
    [TAKE_FACTS] = {"facts", WRITES_OBJECTS, REQUIRED, "Gets its facts, an object[]."},
    [TAKE_KNOWN] = {"known", WRITES_STRINGS, REQUIRED, "Gets what is known, a string[]."},
    [TAKE_ASSUMED] = {"assumed", WRITES_STRINGS, OPTIONAL,
                      "Gets the same, and the answer to the fact that was asked for last, a string[]: for a reviewer "
                      "that cannot read what it means."},
    [TAKE_TALK] = {"talk", WRITES_STRING, REQUIRED,
                   "Gets what was said of the field, a string, the last answer in its last line."},
    [TAKE_UNDERSTOOD] = {"understood", WRITES_STRINGS, OPTIONAL,
                         "Gets a line for each value that was taken, a string[] that appends."},
    [TAKE_RESULT] = {"result", WRITES_OBJECT, OPTIONAL,
                     "Gets the judgement as it was applied, an object (ReviewResult)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"review", "taken", NULL};

struct taking {
    struct form_fill fill; /* first */
    struct form_queue queue;
    const char *understood; /* NULL: the value was not taken, or no value was under review */
    Renga__V1__ReviewResult *verdict;
};

static bool form_take_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the values take more memory than an attempt may have");
}

/* ---- the value under review -------------------------------------------------------------------------------------- */

/* It stands first in the queue. */
static bool apply_verdict(struct taking *taking, struct status *st)
{
    struct form_fill *fill = &taking->fill;
    cJSON *item = taking->queue.items->child;
    int field = form_find(fill->form, form_fill_text(item, "field_id"));
    if (field < 0)
        return fail(st, INVALID_ARGUMENT, "the queue has '%.64s', which is no field of the form",
                    form_fill_text(item, "field_id"));
    if (!form_apply_verdict(fill, (size_t)field, item, taking->verdict, &taking->understood))
        return form_take_no_memory(st);
    cJSON_DeleteItemFromArray(taking->queue.items, 0);
    return true;
}

/* Moves the item of the wanted field to the front. If the queue does not have it, the person's words become an item. */
static bool put_wanted_first(struct taking *taking, struct status *st)
{
    struct form_fill *fill = &taking->fill;
    const struct form_value nothing = {.problem = FORM_NO_VALUE};
    int wanted = form_fill_field(fill, TAKE_WANTED), place = 0;
    const char *said = service_call_text(&fill->base, TAKE_SAID);
    const cJSON *message = service_call_input(&fill->base, TAKE_MESSAGE), *item;
    if (wanted < 0)
        return true;
    cJSON_ArrayForEach(item, taking->queue.items)
    {
        if (form_find(fill->form, form_fill_text(item, "field_id")) == wanted)
            break;
        place++;
    }
    if (!item && *said &&
        !queue_add(&taking->queue, fill, (size_t)wanted, said, message ? (int)message->valuedouble - 1 : -1, &nothing,
                   RENGA__V1__VALUE_ORIGIN__VALUE_ORIGIN_SAID))
        return form_take_no_memory(st);
    cJSON *moved = cJSON_DetachItemFromArray(taking->queue.items, place);
    if (moved)
        cJSON_InsertItemInArray(taking->queue.items, 0, moved);
    return true;
}

/* ---- the next value ---------------------------------------------------------------------------------------------- */

static void write_talk(struct form_fill *fill, const cJSON *entry, const cJSON *item, struct json_writer *out,
                       const char *name)
{
    struct buffer talk;
    bool japanese = strcmp(fill->context.language, "ja") == 0;
    const char *earlier = form_fill_text(cJSON_GetObjectItemCaseSensitive(entry, "value"), "quote");
    const char *feedback = form_fill_text(cJSON_GetObjectItemCaseSensitive(entry, "review"), "feedback");
    buffer_init(&talk, TALK_MAX);
    if (*earlier)
        buffer_printf(&talk, japanese ? "回答者: %s\n" : "Person: %s\n", earlier);
    if (*feedback)
        buffer_printf(&talk, japanese ? "審査: %s\n" : "Review: %s\n", feedback);
    size_t last = talk.length;
    buffer_printf(&talk, japanese ? "回答者: %s" : "Person: %s", form_fill_text(item, "said"));
    for (size_t i = last; i < talk.length; i++) /* the last answer is the last line */
        if (talk.data[i] == '\n' || talk.data[i] == '\r')
            talk.data[i] = ' ';
    json_write_string(out, name, buffer_text(&talk));
    buffer_fini(&talk);
}

/* `item` not NULL: with its words as the fact that was asked for. */
static void write_known(struct form_fill *fill, const cJSON *entry, const cJSON *item, struct update *update,
                        const char *name)
{
    const cJSON *known;
    const char *asked = form_fill_text(entry, "asked_fact"), *said = form_fill_text(item, "said");
    json_write_array(&update->out, name);
    cJSON_ArrayForEach(known, cJSON_GetObjectItemCaseSensitive(entry, "known_facts"))
    {
        json_write_string(&update->out, NULL, cJSON_IsString(known) ? known->valuestring : "");
    }
    const char *fact = *asked && *said ? arena_printf(fill->arena, "%s: %.*s", asked,
                                                      (int)text_cut(said, strlen(said), FACT_SHOWN), said)
                                       : NULL;
    if (fact)
        json_write_string(&update->out, NULL, fact);
    json_write_end(&update->out);
}

static void taking_write_review(struct taking *taking, const cJSON *item, size_t field, struct task *task,
                                struct update *update)
{
    struct form_fill *fill = &taking->fill;
    const cJSON *entry = form_fill_find(fill, field);
    const Renga__V1__FactDefinition *const *facts;
    size_t count = form_facts(fill->form, field, &facts);
    message_write_json(&update->out, update_field(task, TAKE_FIELD), &form_field(fill->form, field)->base);
    json_write_array(&update->out, update_field(task, TAKE_FACTS));
    for (size_t i = 0; i < count; i++)
        message_write_json(&update->out, NULL, &facts[i]->base);
    json_write_end(&update->out);
    write_known(fill, entry, NULL, update, update_field(task, TAKE_KNOWN));
    if (update_field(task, TAKE_ASSUMED))
        write_known(fill, entry, item, update, update_field(task, TAKE_ASSUMED));
    write_talk(fill, entry, item, &update->out, update_field(task, TAKE_TALK));
}

/* A value that code cannot read is not reviewed: its field is asked again. Returns the first item to review; NULL: no
 * item is left. The value of the wanted field is reviewed in any case: a model may read words that code cannot. */
static cJSON *next_item(struct taking *taking, size_t *field)
{
    struct form_fill *fill = &taking->fill;
    int wanted = form_fill_field(fill, TAKE_WANTED);
    while (taking->queue.items && taking->queue.items->child) {
        cJSON *item = taking->queue.items->child;
        int found = form_find(fill->form, form_fill_text(item, "field_id"));
        if (found >= 0 && (found == wanted || !*form_fill_text(item, "problem"))) {
            *field = (size_t)found;
            return item;
        }
        if (found >= 0)
            form_refuse(fill, (size_t)found, form_fill_text(item, "problem"));
        cJSON_DeleteItemFromArray(taking->queue.items, 0);
    }
    return NULL;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static bool open_taking(struct taking *taking, struct status *st)
{
    struct form_fill *fill = &taking->fill;
    const cJSON *verdict;
    taking->queue.items = cJSON_Duplicate(service_call_input(&fill->base, TAKE_QUEUE), true);
    verdict = service_call_input(&fill->base, TAKE_VERDICT);
    if (!cJSON_IsObject(verdict) || !verdict->child)
        return put_wanted_first(taking, st);
    if (!taking->queue.items || !taking->queue.items->child)
        return fail(st, FAILED_PRECONDITION, "there is a judgement, but no value is under review");
    return service_call_message(&fill->base, TAKE_VERDICT, &renga__v1__review_result__descriptor, &taking->verdict,
                                st) &&
           apply_verdict(taking, st);
}

/* For a model that asked for the review. */
static void taking_write_result(struct taking *taking, struct task *task, struct update *update)
{
    Renga__V1__ReviewResult nothing = RENGA__V1__REVIEW_RESULT__INIT;
    nothing.feedback = (char *)(uintptr_t) "no answer waits for a review; ask the person about the field first";
    message_write_json(&update->out, update_field(task, TAKE_RESULT),
                       taking->verdict ? &taking->verdict->base : &nothing.base);
}

static const char *taking_write_values(struct taking *taking, struct task *task, struct update *update)
{
    size_t field = 0;
    bool judged = taking->verdict != NULL;
    /* In a round of a model, each request of the model reviews a single value. */
    cJSON *item = judged && form_fill_field(&taking->fill, TAKE_WANTED) >= 0 ? NULL : next_item(taking, &field);
    if (item) {
        taking_write_review(taking, item, field, task, update);
        form_fill_set_state(&taking->fill, field, RENGA__V1__FIELD_STATE__FIELD_STATE_REVIEWING);
    }
    if (!item && update_field(task, TAKE_RESULT))
        taking_write_result(taking, task, update);
    if (judged && update_field(task, TAKE_WANTED))
        json_write_string(&update->out, update_field(task, TAKE_WANTED), "");
    if (update_field(task, TAKE_UNDERSTOOD)) {
        json_write_array(&update->out, update_field(task, TAKE_UNDERSTOOD));
        if (taking->understood)
            json_write_string(&update->out, NULL, taking->understood);
        json_write_end(&update->out);
    }
    json_write_object(&update->out, update_field(task, TAKE_VERDICT));
    json_write_end(&update->out);
    form_fill_write(&taking->fill, update);
    queue_write(&taking->queue, update, update_field(task, TAKE_QUEUE));
    return outcomes[item ? 0 : 1];
}

static const char *take_work(struct form_fill *fill, struct update *update, struct status *st)
{
    struct taking *taking = (struct taking *)fill;
    if (open_taking(taking, st))
        return taking_write_values(taking, fill->base.task, update);
    queue_free(&taking->queue);
    return NULL;
}

static void form_take_start(struct task *task)
{
    struct taking *taking = task_data(task);
    form_fill_start(&taking->fill, task, take_work);
}

extern const struct node_kind form_take_kind;
const struct node_kind form_take_kind = {
    .name = "form_take",
    .help = "Takes values into a form, each by way of a review.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct taking),
    .start = form_take_start,
    .cancel = form_fill_cancel,
};
