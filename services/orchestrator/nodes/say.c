/* Writes a text of the agent, filled with the node's inputs, in the language of the run: no model is asked. A field may
 * choose among several texts. */
#include "prompt.h"
#include "turns.h"

#include "graph/agents.h"
#include "json/json.h"

#include <string.h>

#define PROMPTS_MAX 256

enum { SAY_PROMPT, SAY_PROMPTS, SAY_BY, SAY_INTO, SAY_PICK, SAY_TURNS };

static const struct node_parameter parameters[] = {
    [SAY_PROMPT] = {"prompt", PARAMETER_PROMPT, OPTIONAL,
                    "The text, one of the prompts: {field} stands for an input of the node. With \"prompts\", the text "
                    "for all other values."},
    [SAY_PROMPTS] = {"prompts", PARAMETER_JSON, OPTIONAL,
                     "Several texts, {VALUE: PROMPT}, of which the value of \"by\" chooses one."},
    [SAY_BY] = {"by", READS_STRING, OPTIONAL, "The field that chooses, a string; an input."},
    [SAY_INTO] = {"into", WRITES_STRING, REQUIRED, "Where it goes, a string."},
    [SAY_PICK] = PICK_ROW,
    [SAY_TURNS] = {"turns", WRITES_OBJECTS, OPTIONAL,
                   "A list that gets the text as a turn of the assistant, an object[]."},
    {.name = NULL},
};
static const char *const outcomes[] = {"said", NULL};

struct chosen_prompt {
    const char *value, *name;
};

struct chosen_prompts {
    size_t count;
    struct chosen_prompt list[];
};

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool say_check(const struct node *node, struct status *st)
{
    const char *prompt = node_argument(node, SAY_PROMPT)->text, *prompts = node_argument(node, SAY_PROMPTS)->text;
    if (!prompt && !prompts)
        return fail(st, INVALID_ARGUMENT, "says nothing; give it a \"prompt\", or \"prompts\" and \"by\"");
    if (!prompts != !node_argument(node, SAY_BY)->field)
        return fail_field(st, prompts ? "prompts" : "by", "\"prompts\" and \"by\" go together; add the other");
    return pick_check(node, SAY_PICK, st);
}

static bool prepare_one(const struct node *node, struct arena *arena, const cJSON *item, struct chosen_prompt *one,
                        struct status *st)
{
    const char *name = cJSON_GetStringValue(item);
    const struct field *by = node_argument(node, SAY_BY)->field;
    if (!name || !agent_prompt(node->graph->agent, name, "en"))
        return fail_field(st, "prompts", "'%.64s' must have the name of a prompt that has an English text",
                          item->string);
    if (!field_allows(by, item->string))
        return fail_field(st, "prompts", "'%s' is never '%.64s', which is none of its \"values\"", by->name,
                          item->string);
    one->value = arena_strdup(arena, item->string);
    one->name = arena_strdup(arena, name);
    return (one->value && one->name) || fail(st, RESOURCE_EXHAUSTED, "no memory for the prompts of a node");
}

static const char *chosen_name(const struct chosen_prompts *prompts, const char *value)
{
    for (size_t i = 0; i < prompts->count; i++)
        if (strcmp(prompts->list[i].value, value) == 0)
            return prompts->list[i].name;
    return NULL;
}

/* Each value that the field may have is said, if the document tells them. */
static bool check_values(const struct node *node, const struct chosen_prompts *prompts, struct status *st)
{
    const struct field *by = node_argument(node, SAY_BY)->field;
    if (!by || node_argument(node, SAY_PROMPT)->text)
        return true;
    if (!by->value_count)
        return fail_field(st, "prompts", "'%s' may have any value; add a \"prompt\" for all others", by->name);
    for (size_t i = 0; i < by->value_count; i++)
        if (!chosen_name(prompts, by->values[i]))
            return fail_field(st, "prompts", "has no text for '%s', which '%s' may be", by->values[i], by->name);
    return true;
}

static const void *say_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    const char *text = node_argument(node, SAY_PROMPTS)->text;
    cJSON *given = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *item;
    int count = cJSON_GetArraySize(given);
    struct chosen_prompts *prompts =
        arena_zalloc(arena, sizeof *prompts + (size_t)count * sizeof(struct chosen_prompt));
    bool good = prompts;
    if (!prompts)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the prompts of a node");
    else if (text && (!cJSON_IsObject(given) || count < 1 || count > PROMPTS_MAX))
        good = fail_field(st, "prompts", "must be an object of 1 to %d texts, {\"VALUE\": \"PROMPT\"}", PROMPTS_MAX);
    cJSON_ArrayForEach(item, given) good = good && prepare_one(node, arena, item, &prompts->list[prompts->count++], st);
    cJSON_Delete(given);
    return good && check_values(node, prompts, st) ? prompts : NULL;
}

/* ---- saying it --------------------------------------------------------------------------------------------------- */

/* NULL if no text fits the field: then it has no value at all. */
static const char *choose_prompt(struct task *task)
{
    const struct node *node = task_node(task);
    const struct field *by = node_argument(node, SAY_BY)->field;
    const char *state = task_request(task)->state_json, *name = NULL;
    struct status ignored = {0};
    cJSON *inputs = by ? json_parse(state, strlen(state), NULL, &ignored) : NULL;
    const char *value = by ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(inputs, by->name)) : NULL;
    if (value)
        name = chosen_name(node->prepared, value);
    cJSON_Delete(inputs);
    return name ? name : node_argument(node, SAY_PROMPT)->text;
}

static void say_write_turn(const struct task *task, struct json_writer *out, const char *text)
{
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT;
    if (!update_field(task, SAY_TURNS))
        return;
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    turn.content = (char *)(uintptr_t)text;
    json_write_array(out, update_field(task, SAY_TURNS));
    turn_write(out, &turn);
    json_write_end(out);
}

static void say_start(struct task *task)
{
    struct status st = {0};
    struct update update;
    const char *name = choose_prompt(task);
    if (!name)
        fail(&st, FAILED_PRECONDITION, "'%s' has no value, and \"prompts\" has a text for each value alone",
             node_argument(task_node(task), SAY_BY)->field->name);
    const char *text = name ? prompt_say(task, name, SAY_PICK, &st) : NULL;
    if (!text) {
        task_fail(task, &st);
        return;
    }
    update_begin(&update);
    json_write_string(&update.out, update_field(task, SAY_INTO), text);
    say_write_turn(task, &update.out, text);
    update_finish(&update, task, outcomes[0]);
}

extern const struct node_kind say_kind;
const struct node_kind say_kind = {
    .name = "say",
    .help = "Writes a text of the agent; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_inputs = true,
    .check = say_check,
    .prepare = say_prepare,
    .start = say_start,
};
