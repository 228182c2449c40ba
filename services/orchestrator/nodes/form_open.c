/* Opens a form: checks it, keeps the facts that are known already, and queues its first values for review. */
#include "form_fill.h"
#include "form_queue.h"

#include "rpc/message_json.h"

#include <string.h>

enum { OPEN_PREFILLED = FORM_FILL_ROWS, OPEN_KNOWN, OPEN_QUEUE, OPEN_CREATED };

static const struct node_parameter parameters[] = {
    FORM_FILL_PARAMETERS,
    [OPEN_PREFILLED] = {"prefilled", READS_OBJECT, OPTIONAL,
                        "Values to begin with, an object: field_id to a person's words."},
    [OPEN_KNOWN] = {"known", READS_STRINGS, OPTIONAL, "Facts that are known, a string[]: \"fact_key: what is known\"."},
    [OPEN_QUEUE] = {"queue", WRITES_OBJECTS, REQUIRED, "Gets the values to be reviewed, an object[]."},
    [OPEN_CREATED] = {"created", WRITES_INTEGER, OPTIONAL,
                      "Gets the time at which the run was asked for, an integer: Unix time, ms."},
    {.name = NULL},
};
static const char *const outcomes[] = {"opened", NULL};

struct opening {
    struct form_fill fill; /* first */
    struct form_queue queue;
};

/* Every field that has a fact of this key learns it: the same fact is not asked for twice. */
static void keep_known(struct opening *opening, const char *known)
{
    const Renga__V1__FactDefinition *const *facts;
    const char *colon = strchr(known, ':');
    size_t length = colon ? (size_t)(colon - known) : 0;
    for (size_t i = 0; colon && i < form_field_count(opening->fill.form); i++) {
        size_t count = form_facts(opening->fill.form, i, &facts);
        for (size_t j = 0; j < count; j++)
            if (strncmp(facts[j]->fact_key, known, length) == 0 && facts[j]->fact_key[length] == '\0')
                queue_keep_fact(&opening->fill, i, known);
    }
}

/* The caller's values come before the form's own. */
static bool queue_prefilled(struct opening *opening, struct status *st)
{
    struct form_fill *fill = &opening->fill;
    const cJSON *prefilled = service_call_input(&fill->base, OPEN_PREFILLED), *item;
    cJSON_ArrayForEach(item, prefilled)
    {
        if (form_find(fill->form, item->string) < 0)
            return fail_field(st, "prefilled", "has '%.64s', which is no field of the form", item->string);
    }
    for (size_t i = 0; i < form_field_count(fill->form); i++) {
        const Renga__V1__FormField *field = form_field(fill->form, i);
        const char *given = form_fill_text(prefilled, field->field_id), *words = *given ? given : field->prefilled;
        if (*words && !queue_read(&opening->queue, fill, i, words, RENGA__V1__VALUE_ORIGIN__VALUE_ORIGIN_PREFILLED, st))
            return false;
    }
    return true;
}

static const char *open_work(struct form_fill *fill, struct update *update, struct status *st)
{
    struct opening *opening = (struct opening *)fill;
    struct task *task = fill->base.task;
    const cJSON *known;
    if (!queue_prefilled(opening, st)) {
        queue_free(&opening->queue);
        return NULL;
    }
    cJSON_ArrayForEach(known, service_call_input(&fill->base, OPEN_KNOWN))
    {
        keep_known(opening, cJSON_IsString(known) ? known->valuestring : "");
    }
    message_write_json(&update->out, update_field(task, FORM_FILL_FORM), &form_message(fill->form)->base);
    form_fill_write(fill, update);
    if (update_field(task, OPEN_CREATED))
        json_write_int(&update->out, update_field(task, OPEN_CREATED), fill->context.now_ms);
    queue_write(&opening->queue, update, update_field(task, OPEN_QUEUE));
    return outcomes[0];
}

static void form_open_start(struct task *task)
{
    struct opening *opening = task_data(task);
    form_fill_start(&opening->fill, task, open_work);
}

extern const struct node_kind form_open_kind;
const struct node_kind form_open_kind = {
    .name = "form_open",
    .help = "Checks a form, keeps what is known already, and queues the values it begins with.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct opening),
    .start = form_open_start,
    .cancel = form_fill_cancel,
};
