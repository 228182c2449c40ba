/* A checkpoint, from the record that made it. */
#include "checkpoint.h"
#include "events.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "log/ids.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"

#include "base/buffer.h"
#include "base/status.h"
#include "json/pull.h"

#define NODES_MAX 100 /* of a checkpoint that are named */

static bool checkpoint_is_named(char **names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void checkpoint_name_node(const struct graph *graph, uint32_t index, char **names, size_t *count)
{
    const struct node *node = node_at(graph, index);
    if (node && *count < NODES_MAX && !checkpoint_is_named(names, *count, node->name))
        names[(*count)++] = unconst(node->name);
}

/* The object was checked before it was kept. */
void name_fields(struct arena *arena, const char *json, char **names, size_t *count, size_t room)
{
    struct status ignored;
    struct json_pull in;
    struct json_scope root;
    json_pull_init(&in, json, strlen(json), NULL, arena, &ignored);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);) {
        char *name = xnonnull(arena_strndup(arena, root.key, root.key_length));
        if (*count < room && !checkpoint_is_named(names, *count, name))
            names[(*count)++] = name;
        json_pull_hop(&in);
    }
    json_pull_end(&in);
}

static void describe_step(struct arena *arena, const struct graph *graph, const Renga__V1__StepResults *step,
                          Renga__V1__Checkpoint *checkpoint)
{
    for (size_t i = 0; i < step->n_earlier; i++)
        checkpoint_name_node(graph, step->earlier[i], checkpoint->nodes, &checkpoint->n_nodes);
    for (size_t i = 0; i < step->n_results; i++) {
        const Response *response = step->results[i]->response;
        checkpoint_name_node(graph, step->results[i]->node, checkpoint->nodes, &checkpoint->n_nodes);
        if (!response)
            continue;
        if (*response->update_json)
            name_fields(arena, response->update_json, checkpoint->changed_fields, &checkpoint->n_changed_fields,
                        GRAPH_FIELDS_MAX);
        for (size_t k = 0; k < response->n_clear_fields && checkpoint->n_changed_fields < GRAPH_FIELDS_MAX; k++)
            checkpoint->changed_fields[checkpoint->n_changed_fields++] = response->clear_fields[k];
    }
    for (size_t i = 0; i < step->n_changed_fields && checkpoint->n_changed_fields < GRAPH_FIELDS_MAX; i++)
        if (graph && step->changed_fields[i] < graph->field_count) {
            const char *name = graph->fields[step->changed_fields[i]].name;
            if (!checkpoint_is_named(checkpoint->changed_fields, checkpoint->n_changed_fields, name))
                checkpoint->changed_fields[checkpoint->n_changed_fields++] = unconst(name);
        }
    for (size_t i = 0; i < step->n_due; i++)
        checkpoint_name_node(graph, step->due[i], checkpoint->next_nodes, &checkpoint->n_next_nodes);
    checkpoint->step = step->step;
}

bool record_is_checkpoint(const Record *record)
{
    return record->step || record->went_to_work || record->update || record->origin ||
           (record->migrated && !record->migrated->queued);
}

static Renga__V1__CheckpointCause cause_of(const Record *record)
{
    if (record->step)
        return RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_STEP;
    if (record->went_to_work)
        return RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_INPUT;
    if (record->update)
        return RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_UPDATE;
    if (record->migrated)
        return RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_MIGRATION;
    return RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_FORK;
}

Renga__V1__Checkpoint *checkpoint_of_record(struct arena *arena, const struct agent *agent, uint64_t place,
                                            const Record *record, uint64_t number, uint64_t parent)
{
    char id[ID_MAX];
    struct buffer path;
    const struct graph *graph = agent ? agent->graph : NULL;
    Renga__V1__Checkpoint *checkpoint = xnonnull(arena_alloc(arena, sizeof *checkpoint));
    renga__v1__checkpoint__init(checkpoint);
    id_make_checkpoint(id, place, number);
    checkpoint->checkpoint_id = xnonnull(arena_strdup(arena, id));
    if (record->parent)
        parent = record->parent;
    if (parent) {
        id_make_checkpoint(id, place, parent);
        checkpoint->parent_checkpoint_id = xnonnull(arena_strdup(arena, id));
    }
    checkpoint->cause = cause_of(record);
    checkpoint->created_ms = record->time_ms;
    checkpoint->graph_version = unconst(agent ? agent->version : "");
    checkpoint->stored_bytes = (int64_t)renga__v1__log_record__get_packed_size(record);
    checkpoint->nodes = xnonnull(arena_alloc(arena, NODES_MAX * sizeof(*checkpoint->nodes)));
    checkpoint->next_nodes = xnonnull(arena_alloc(arena, NODES_MAX * sizeof(*checkpoint->next_nodes)));
    checkpoint->changed_fields = xnonnull(arena_alloc(arena, GRAPH_FIELDS_MAX * sizeof(*checkpoint->changed_fields)));
    if (record->step) {
        buffer_init(&path, PATH_MAX_BYTES);
        path_of_place(agent, record->step->place, record->step->n_place, &path, &graph);
        checkpoint->path = xnonnull(arena_strdup(arena, buffer_text(&path)));
        buffer_fini(&path);
        describe_step(arena, graph, record->step, checkpoint);
    }
    for (size_t i = 0; record->went_to_work && i < record->went_to_work->n_due; i++)
        checkpoint_name_node(graph, record->went_to_work->due[i], checkpoint->next_nodes, &checkpoint->n_next_nodes);
    for (size_t i = 0; record->migrated && i < record->migrated->n_due; i++)
        checkpoint_name_node(graph, record->migrated->due[i], checkpoint->next_nodes, &checkpoint->n_next_nodes);
    for (size_t i = 0; record->update && i < record->update->n_due; i++)
        checkpoint_name_node(graph, record->update->due[i], checkpoint->next_nodes, &checkpoint->n_next_nodes);
    if (record->update && record->update->request)
        name_fields(arena, record->update->request->update_json, checkpoint->changed_fields,
                    &checkpoint->n_changed_fields, GRAPH_FIELDS_MAX);
    for (size_t i = 0; record->update && record->update->request && i < record->update->request->n_clear_fields; i++)
        if (checkpoint->n_changed_fields < GRAPH_FIELDS_MAX)
            checkpoint->changed_fields[checkpoint->n_changed_fields++] = record->update->request->clear_fields[i];
    return checkpoint;
}
