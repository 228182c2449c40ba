/* The part of a graph that says how its nodes are logged (monitor/node_log.h). */
#include "reading.h"

#define NEAR_MAX 32 /* pairs: monitor/node_log.c has a bit for each */

static const struct field *log_count_field(struct reading *in, const struct graph *graph, const cJSON *item,
                                           const char *name)
{
    struct status why = {0};
    const struct field *field = graph_field_wanted(graph, name, &why);
    if (!field)
        fault(in, item, "log_near: %s", why.text);
    else if (field->type != FIELD_INTEGER || field->list)
        fault(in, item, "log_near: '%s' is of another type; it must be integer", field->name);
    else
        return field;
    return NULL;
}

static bool log_near_read(struct reading *in, const struct graph *graph, const cJSON *item, struct graph_near *near)
{
    near->value = log_count_field(in, graph, item, item->string);
    if (cJSON_IsString(item)) {
        near->limit = log_count_field(in, graph, item, item->valuestring);
        return near->value && near->limit;
    }
    if (!cJSON_IsNumber(item) || item->valuedouble < 1 || item->valuedouble > INT32_MAX)
        return fault(in, item, "log_near: the limit of '%.*s' must be a field, or a number from 1 to %d", SHOWN,
                     item->string, INT32_MAX);
    near->most = (int64_t)item->valuedouble;
    return near->value;
}

static bool log_nears_read(struct reading *in, struct graph *graph, const cJSON *object)
{
    const cJSON *item;
    bool good = true;
    int count = cJSON_GetArraySize(object);
    if (!cJSON_IsObject(object) || count > NEAR_MAX)
        return fault(in, object, "log_near must be an object of at most %d integer fields with their limits", NEAR_MAX);
    struct graph_near *near = keep(in, (size_t)count + 1, sizeof *near);
    graph->near = near;
    cJSON_ArrayForEach(item, object) if (near) good &= log_near_read(in, graph, item, &near[graph->near_count++]);
    return near && good;
}

bool log_read(struct reading *in, struct draft *draft)
{
    struct graph *graph = draft->graph;
    const cJSON *log = part(draft->item, "log"), *near = part(draft->item, "log_near");
    bool good = !log || fields_list_read(in, graph, log, "log", &graph->logged, &graph->logged_count);
    graph->is_logged = log || near;
    return (!near || log_nears_read(in, graph, near)) && good;
}
