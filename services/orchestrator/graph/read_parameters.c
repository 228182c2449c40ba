/* The parameters of a node, by the rows of its kind's table. */
#include "reading.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX     ((size_t)64 << 10)  /* bytes of a text */
#define JSON_MAX     ((size_t)256 << 10) /* bytes of a JSON value: as much as a question may carry */
#define ADDRESS_MAX  256                 /* bytes */
#define PORT_MAX     65535
#define INTEGER_MOST INT64_C(9007199254740991)
#define LONGEST_MS   (INT64_C(30) * 24 * 3600 * 1000)

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool read_parameters_field(struct reading *in, const struct node *node, const cJSON *item,
                                  union node_argument *argument)
{
    struct status why = {0};
    argument->field = graph_field_wanted(node->graph, item->valuestring, &why);
    return argument->field || fault(in, item, "%s: %s", item->string, why.text);
}

static bool read_graph(struct reading *in, const cJSON *item, union node_argument *argument)
{
    const char *name = item->valuestring;
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < in->draft_count; i++) {
        if (strcmp(in->drafts[i].graph->name, name) == 0)
            argument->graph = in->drafts[i].graph;
        if (!in->drafts[i].own)
            nearest_try(&nearest, in->drafts[i].graph->name);
    }
    if (argument->graph)
        return true;
    if (nearest.name)
        return fault(in, item, "there is no sub-graph '%.*s'; did you mean '%s'?", SHOWN, name, nearest.name);
    return fault(in, item, "there is no sub-graph '%.*s'; add it to \"graphs\"", SHOWN, name);
}

const char *prompt_find(const struct agent *agent, const char *language, const char *name)
{
    for (size_t i = 0; i < agent->prompt_count; i++) {
        const struct prompt *prompt = &agent->prompts[i];
        if (strcmp(prompt->language, language) == 0 && strcmp(prompt->name, name) == 0)
            return prompt->text;
    }
    return NULL;
}

static bool read_prompt(struct reading *in, const cJSON *item, union node_argument *argument)
{
    const char *name = item->valuestring;
    struct nearest nearest = nearest_to(name);
    argument->text = keep_text(in, name);
    if (!argument->text || prompt_find(in->agent, "en", name))
        return argument->text;
    for (size_t i = 0; i < in->agent->prompt_count; i++) {
        if (strcmp(in->agent->prompts[i].name, name) == 0)
            return fault(in, item,
                         "the prompt '%.*s' has no English text, which stands in for other languages; add "
                         "prompts/en/%.*s.md",
                         SHOWN, name, SHOWN, name);
        nearest_try(&nearest, in->agent->prompts[i].name);
    }
    if (nearest.name)
        return fault(in, item, "there is no prompt '%.*s'; did you mean '%s'?", SHOWN, name, nearest.name);
    return fault(in, item, "there is no prompt '%.*s'; add prompts/en/%.*s.md", SHOWN, name, SHOWN, name);
}

static bool read_parameters_is_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || strlen(text) > ADDRESS_MAX || text[strcspn(text, " \t\r\n\"\\,@")] != '\0')
        return false;
    char *end;
    long port = colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : 0;
    return port > 0 && port <= PORT_MAX && *end == '\0';
}

/* The text behind the scheme of a URL is the intended address. */
static bool refuse_url(struct reading *in, const cJSON *item)
{
    const char *host = strstr(item->valuestring, "://") + 3;
    int size = (int)strcspn(host, "/?#");
    bool port = memchr(host, ':', (size_t)size) != NULL;
    return fault(in, item,
                 "%s is '%.*s', which is a URL; a node speaks gRPC, so write \"%.*s%s\" without scheme and path",
                 item->string, SHOWN, item->valuestring, size < SHOWN ? size : SHOWN, host, port ? "" : ":PORT");
}

static bool read_address(struct reading *in, const cJSON *item, union node_argument *argument)
{
    const char *scheme = strstr(item->valuestring, "://");
    if (scheme && scheme[3] != '/') /* as "dns:///HOST:PORT" has it, which gRPC knows */
        return refuse_url(in, item);
    if (!read_parameters_is_address(item->valuestring))
        return fault(in, item, "%s is '%.*s'; must be \"host:port\", such as \"127.0.0.1:9000\"", item->string, SHOWN,
                     item->valuestring);
    argument->text = keep_text(in, item->valuestring);
    return argument->text;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool read_parameters_text(struct reading *in, const cJSON *item, union node_argument *argument)
{
    if (strlen(item->valuestring) > TEXT_MAX)
        return fault(in, item, "%s has %zu bytes; at most %zu are allowed", item->string, strlen(item->valuestring),
                     TEXT_MAX);
    argument->text = keep_text(in, item->valuestring);
    return argument->text;
}

static bool read_parameters_json(struct reading *in, const cJSON *item, union node_argument *argument)
{
    argument->text = keep_json(in, item);
    if (!argument->text)
        return false;
    return strlen(argument->text) <= JSON_MAX ||
           fault(in, item, "%s has %zu bytes; at most %zu are allowed", item->string, strlen(argument->text), JSON_MAX);
}

static bool read_parameters_number(struct reading *in, const struct node_parameter *row, const cJSON *item,
                                   union node_argument *argument)
{
    struct option option = {.name = row->name, .type = OPTION_INTEGER, .max = INTEGER_MOST};
    struct config_item value;
    struct status why = {0};
    if (row->type == PARAMETER_DURATION) {
        option.type = OPTION_DURATION;
        option.max = LONGEST_MS;
    } else if (row->type == PARAMETER_BOOLEAN) {
        option.type = OPTION_BOOLEAN;
        option.max = 0;
    }
    if (!config_read_item(in->values, &option, item, "", &value, &why))
        return fault(in, item, "%s", why.text + strspn(why.text, ": "));
    if (row->type == PARAMETER_BOOLEAN)
        argument->flag = value.number != 0;
    else
        argument->number = value.number;
    return true;
}

static bool read_parameters_one(struct reading *in, const struct node *node, const struct node_parameter *row,
                                const cJSON *item, union node_argument *argument)
{
    if (row->type <= PARAMETER_ADDRESS && !cJSON_IsString(item))
        return fault(in, item, "%s must be a string", row->name);
    if (row->type <= WRITES_BOOLEAN)
        return read_parameters_field(in, node, item, argument);
    switch (row->type) {
    case PARAMETER_TEXT:
        return read_parameters_text(in, item, argument);
    case PARAMETER_GRAPH:
        return read_graph(in, item, argument);
    case PARAMETER_PROMPT:
        return read_prompt(in, item, argument);
    case PARAMETER_ADDRESS:
        return read_address(in, item, argument);
    case PARAMETER_JSON:
        return read_parameters_json(in, item, argument);
    default:
        return read_parameters_number(in, row, item, argument);
    }
}

bool parameters_read(struct reading *in, struct node *node, const cJSON *item)
{
    const struct node_parameter *rows = node->kind->parameters;
    size_t count = 0;
    bool good = true;
    while (rows[count].name)
        count++;
    union node_argument *arguments = keep(in, count, sizeof *arguments);
    if (!arguments)
        return false;
    for (size_t i = 0; i < count; i++) {
        const cJSON *given = part(item, rows[i].name);
        if (given)
            good &= read_parameters_one(in, node, &rows[i], given, &arguments[i]);
        else if (rows[i].need == REQUIRED)
            good = fault(in, item, "the node '%s' needs \"%s\": %s", node->name, rows[i].name, rows[i].help);
    }
    node->parameters = arguments;
    return good;
}

/* ---- types of fields --------------------------------------------------------------------------------------------- */

bool field_type_check(const struct node *node, size_t row, enum field_type type, bool list, struct status *st)
{
    const struct field *field = node_argument(node, row)->field;
    if (!field || (field->list == list && (field->type == type || field->type == FIELD_ANY)) ||
        (field->type == FIELD_ANY && !field->list))
        return true;
    return fail_field(st, node->kind->parameters[row].name, "'%s' is %s; it must be %s", field->name,
                      field_type_words(field->type, field->list), field_type_words(type, list));
}

static bool field_is_input(const struct node *node, const struct field *field)
{
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] == field)
            return true;
    return false;
}

bool parameters_check(const struct node *node, struct status *st)
{
    static const struct {
        enum field_type type;
        bool list;
    } types[] = {
        [READS_STRING] = {FIELD_STRING, false},    [READS_STRINGS] = {FIELD_STRING, true},
        [READS_OBJECT] = {FIELD_OBJECT, false},    [READS_OBJECTS] = {FIELD_OBJECT, true},
        [READS_INTEGER] = {FIELD_INTEGER, false},  [READS_BOOLEAN] = {FIELD_BOOLEAN, false},
        [WRITES_STRING] = {FIELD_STRING, false},   [WRITES_STRINGS] = {FIELD_STRING, true},
        [WRITES_OBJECT] = {FIELD_OBJECT, false},   [WRITES_OBJECTS] = {FIELD_OBJECT, true},
        [WRITES_INTEGER] = {FIELD_INTEGER, false}, [WRITES_BOOLEAN] = {FIELD_BOOLEAN, false},
    };
    const struct node_parameter *rows = node->kind->parameters;
    for (size_t i = 0; rows[i].name; i++) {
        if (rows[i].type == PARAMETER_FIELD || rows[i].type > WRITES_BOOLEAN)
            continue;
        const struct field *field = node_argument(node, i)->field;
        if (field && rows[i].type <= READS_BOOLEAN && !field_is_input(node, field))
            return fail_field(st, rows[i].name, "'%s' is not among the node's \"inputs\"; add it there", field->name);
        if (rows[i].type != READS_FIELD &&
            !field_type_check(node, i, types[rows[i].type].type, types[rows[i].type].list, st))
            return false;
    }
    return true;
}
