#include "prompt.h"

#include "graph/agents.h"
#include "json/json.h"
#include "json/template.h"

#include <stdio.h>
#include <string.h>

#define SPREAD_MAX 64 /* members of an object that a prompt may name: each is looked for among the others */

/* ---- pick -------------------------------------------------------------------------------------------------------- */

static bool is_spread(const cJSON *pick)
{
    return strcmp(pick->string, "*") == 0;
}

/* "*": the members of an object. */
static bool check_spread(const struct node *node, const cJSON *pick, struct status *st)
{
    const char *of = cJSON_GetStringValue(pick);
    struct status why = {0};
    const struct field *field = of ? graph_field_wanted(node->graph, of, &why) : NULL;
    if (!of)
        return fail_field(st, "pick", "'*' must be the name of a field");
    if (!field)
        return fail_field(st, "pick", "%s", why.text);
    return (!field->list && field->type == FIELD_OBJECT) ||
           fail_field(st, "pick", "'%s' is %s; the members of an object can be picked", of,
                      field_type_words(field->type, field->list));
}

static bool check_one(const struct node *node, const cJSON *pick, struct status *st)
{
    if (is_spread(pick))
        return check_spread(node, pick, st);
    const char *of = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(pick, "of"));
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(pick, "keys"), *key;
    struct status why = {0};
    if (!of || !cJSON_IsObject(keys) || cJSON_GetArraySize(pick) != 2)
        return fail_field(st, "pick", "'%.64s' must be {\"of\": FIELD, \"keys\": {NEW: OLD}}", pick->string);
    const struct field *field = graph_field_wanted(node->graph, of, &why);
    if (!field)
        return fail_field(st, "pick", "%s", why.text);
    if (!field->list)
        return fail_field(st, "pick", "'%s' is no list", of);
    cJSON_ArrayForEach(key, keys)
    {
        if (!cJSON_IsString(key))
            return fail_field(st, "pick", "the key '%.64s' must have the name of a member", key->string);
    }
    return true;
}

bool pick_check(const struct node *node, size_t row, struct status *st)
{
    const char *text = node_argument(node, row)->text;
    cJSON *picks = text ? json_parse(text, strlen(text), NULL, st) : NULL, *pick;
    if (!text)
        return true;
    bool good = cJSON_IsObject(picks) || fail_field(st, "pick", "must be an object");
    for (pick = good ? picks->child : NULL; good && pick; pick = pick->next)
        good = check_one(node, pick, st);
    cJSON_Delete(picks);
    return good;
}

static cJSON *pick_members(const cJSON *item, const cJSON *keys)
{
    cJSON *picked = cJSON_CreateObject();
    const cJSON *key;
    cJSON_ArrayForEach(key, keys)
    {
        const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, key->valuestring);
        if (member)
            cJSON_AddItemToObject(picked, key->string, cJSON_Duplicate(member, true));
    }
    return picked;
}

static void prompt_add_members(cJSON *inputs, const cJSON *object)
{
    const cJSON *member;
    int left = SPREAD_MAX;
    cJSON_ArrayForEach(member, object)
    {
        if (left-- == 0)
            return;
        cJSON_DeleteItemFromObjectCaseSensitive(inputs, member->string);
        cJSON_AddItemToObject(inputs, member->string, cJSON_Duplicate(member, true));
    }
}

static void add_pick(cJSON *inputs, const cJSON *pick)
{
    if (is_spread(pick)) {
        cJSON *object = cJSON_DetachItemFromObjectCaseSensitive(inputs, pick->valuestring);
        prompt_add_members(inputs, object);
        cJSON_Delete(object);
        return;
    }
    const char *of = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(pick, "of"));
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(pick, "keys"), *item;
    cJSON *list = cJSON_CreateArray();
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(inputs, of))
    {
        cJSON_AddItemToArray(list, pick_members(item, keys));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(inputs, pick->string);
    cJSON_AddItemToObject(inputs, pick->string, list);
}

/* As prompts name it to a model. */
static void prompt_add_language(cJSON *inputs, const char *language)
{
    char words[64];
    snprintf(words, sizeof words, "the language with the BCP 47 tag \"%s\"", language);
    const char *name = strcmp(language, "ja") == 0 ? "日本語" : strcmp(language, "en") == 0 ? "English" : words;
    cJSON_DeleteItemFromObjectCaseSensitive(inputs, "language");
    cJSON_AddStringToObject(inputs, "language", name);
}

bool prompt_values(cJSON *inputs, const struct node *node, size_t pick_row, const char *language, struct status *st)
{
    const char *text = node_argument(node, pick_row)->text;
    cJSON *picks = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *pick;
    cJSON_ArrayForEach(pick, picks)
    {
        add_pick(inputs, pick);
    }
    cJSON_Delete(picks);
    prompt_add_language(inputs, language);
    return picks || !text;
}

/* ---- the prompt -------------------------------------------------------------------------------------------------- */

const char *prompt_form(const struct node *node, const char **name, const cJSON *values, const char *language)
{
    if (!node->template_of)
        return agent_prompt(node->graph->agent, *name, language);
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(values, node->template_of->name));
    return agent_prompt_of(node->graph->agent, *name, value, language, name);
}

char *prompt_fill(struct task *task, const char *name, const cJSON *values, const char *language, struct status *st)
{
    struct buffer text;
    struct status why = {0};
    const char *form = prompt_form(task_node(task), &name, values, language);
    if (!form) {
        fail(st, FAILED_PRECONDITION, "the agent has no prompt '%s'", name);
        return NULL;
    }
    buffer_init(&text, PROMPT_MAX);
    bool good = template_fill(form, values, &text, &why) || fail(st, why.code, "the prompt '%s': %s", name, why.text);
    while (text.length && text.data[text.length - 1] == '\n')
        text.length--; /* that of the file's last line */
    char *copy = good ? arena_strdup(task_arena(task), buffer_text(&text)) : NULL;
    if (text.failed)
        fail(st, RESOURCE_EXHAUSTED, "the prompt '%s' is longer than %zu bytes when it is filled", name, PROMPT_MAX);
    else if (good && !copy)
        fail(st, RESOURCE_EXHAUSTED, "the prompt takes more memory than an attempt may have");
    good &= !text.failed;
    buffer_fini(&text);
    return good ? copy : NULL;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* A list of strings becomes lines, as people read it. */
static void write_lists(cJSON *inputs)
{
    for (cJSON *input = inputs->child, *next; input; input = next) {
        struct buffer lines;
        const cJSON *line;
        next = input->next;
        if (!cJSON_IsArray(input) || !cJSON_IsString(input->child))
            continue;
        buffer_init(&lines, PROMPT_MAX);
        cJSON_ArrayForEach(line, input)
        {
            buffer_printf(&lines, "%s- %s", lines.length ? "\n" : "", cJSON_IsString(line) ? line->valuestring : "");
        }
        cJSON_ReplaceItemInObjectCaseSensitive(inputs, input->string, cJSON_CreateString(buffer_text(&lines)));
        buffer_fini(&lines);
    }
}

char *prompt_say(struct task *task, const char *name, size_t pick_row, struct status *st)
{
    struct service_call run = {0};
    const struct node *node = task_node(task);
    char *text = NULL;
    if (service_call_inputs(&run, task, st) && prompt_values(run.inputs, node, pick_row, run.language, st)) {
        write_lists(run.inputs);
        text = prompt_fill(task, name, run.inputs, run.language, st);
    }
    service_call_close(&run);
    return text;
}
