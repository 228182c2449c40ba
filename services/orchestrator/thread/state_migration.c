/* The result of a node must be possible for the new node, and its input must fit the new node. A branch without a
 * record in the log counts as never opened. */
#include "state_migration.h"
#include "apply.h"
#include "branches.h"
#include "frame.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "graph/node_kind.h"
#include "interrupt.h"
#include "memory.h"
#include "node_response.h"
#include "state/state.h"
#include "thread.h"

#include "base/buffer.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

static void add_problem(const char *text, void *data)
{
    struct state_migration *migration = data;
    migration->fits = false;
    migration->problem(text, migration->data);
}

static void migration_problem(struct state_migration *migration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void migration_problem(struct state_migration *migration, const char *format, ...)
{
    va_list arguments;
    struct status st = {0};
    va_start(arguments, format);
    status_set(&st, FAILED_PRECONDITION, format, arguments);
    va_end(arguments);
    add_problem(st.text, migration);
}

/* ---- its place --------------------------------------------------------------------------------------------------- */

#define SPOT_MAX (PATH_MAX_BYTES + GRAPH_NAME_MAX + 2)

/* PATH/NODE in the old version. */
static const char *position_text(char text[SPOT_MAX], const struct frame *frame, const struct node *node)
{
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    snprintf(text, SPOT_MAX, "%s%s%s", buffer_text(&path), path.length ? "/" : "", node->name);
    buffer_fini(&path);
    return text;
}

static bool is_qualified(const char *key, const struct graph *graph, const struct node *node)
{
    size_t size = strlen(graph->name);
    return strncmp(key, graph->name, size) == 0 && key[size] == '/' && strcmp(key + size + 1, node->name) == 0;
}

/* Finds the node by the new name that the request gives it in its own graph or in all graphs; else by its old name. */
static const struct node *new_node(const struct state_migration *migration, const struct graph *to,
                                   const struct graph *from, const struct node *old)
{
    const Renga__V1__RunMigrated *wish = migration->wish;
    const char *name = old->name;
    for (size_t i = 0; i < wish->n_renamed_nodes; i++)
        if (is_qualified(wish->renamed_nodes[i]->key, from, old))
            return graph_node(to, wish->renamed_nodes[i]->value);
        else if (strcmp(wish->renamed_nodes[i]->key, old->name) == 0)
            name = wish->renamed_nodes[i]->value;
    return graph_node(to, name);
}

/* ---- an activation ----------------------------------------------------------------------------------------------- */

static void move_frame(struct state_migration *migration, struct frame *to, const struct frame *from);

static void copy_interrupts(struct activation *to, const struct activation *from)
{
    struct interrupt **link = &to->interrupts;
    for (const struct interrupt *old = from->interrupts; old; old = old->next) {
        struct interrupt *interrupt = xnonnull(arena_copy(to->frame->arena, old, sizeof *old)); /* its id stays */
        interrupt->asked = xnonnull(message_copy(to->frame->arena, &old->asked->base));
        interrupt->next = NULL;
        *link = interrupt;
        link = &interrupt->next;
    }
}

static void move_result(struct state_migration *migration, struct activation *to, const struct activation *from)
{
    char text[SPOT_MAX];
    struct status st = {0};
    if (!from->response)
        return;
    to->response = xnonnull(message_copy(to->frame->arena, &from->response->base));
    if (from->state == ACTIVATION_FINISHED &&
        (!response_check(to, to->response, &st) || !activation_read_write(to, &st)))
        migration_problem(migration, "what the node '%s' has come to: %s", position_text(text, from->frame, from->node),
                          st.text);
}

static void move_branch(struct state_migration *migration, struct activation *to, const struct activation *from,
                        size_t item)
{
    const struct branch *old = &from->branches[item];
    struct branch *branch = &to->branches[item];
    if (old->state == BRANCH_ENDED) {
        branch_move(branch, BRANCH_ENDED);
        branch->output_size = old->output_size;
        branch->output = old->output ? xnonnull(strndup(old->output, old->output_size)) : NULL;
        to->opened++;
        to->settled++;
    } else if (old->frame && old->frame->in_log) {
        branch_move(branch, BRANCH_OPEN);
        branch->frame = frame_create(migration->thread, branch_graph(to->node), to, (uint32_t)item);
        to->opened++;
        move_frame(migration, branch->frame, old->frame);
    }
}

/* Unopened branches, beside opened ones, get their input in the new graph later, so the input must fit that graph. */
static void check_given(struct state_migration *migration, const struct activation *to, const struct activation *from)
{
    bool whole = true; /* the input shared by all is checked once */
    char text[SPOT_MAX];
    for (size_t i = 0; i < to->branch_count; i++) {
        struct status st = {0};
        if (to->branches[i].state != BRANCH_UNOPENED)
            continue;
        if (!branch_fits(to, i, whole, &st)) {
            migration_problem(migration, "what branch %zu of '%s' is given: %s", i,
                              position_text(text, from->frame, from->node), st.text);
            return;
        }
        whole = false;
    }
}

static void move_branches(struct state_migration *migration, struct activation *to, const struct activation *from)
{
    size_t count = from->branch_count, size = count ? from->item_ends[count - 1] : 0;
    to->branch_count = count;
    to->branches = xnonnull(calloc(count + 1, sizeof *to->branches));
    to->items = from->items ? xnonnull(strndup(from->items, size)) : NULL;
    to->item_ends = xnonnull(calloc(count + 1, sizeof *to->item_ends));
    memcpy(to->item_ends, from->item_ends, count * sizeof *to->item_ends);
    to->beside = from->beside ? xnonnull(strdup(from->beside)) : NULL;
    to->jump = from->jump ? xnonnull(message_copy(to->frame->arena, &from->jump->base)) : NULL;
    for (size_t i = 0; i < count; i++)
        move_branch(migration, to, from, i);
    check_given(migration, to, from);
}

static const struct node *find_node(struct state_migration *migration, const struct frame *frame,
                                    const struct activation *from)
{
    char text[SPOT_MAX];
    const struct node *node = new_node(migration, frame->graph, from->frame->graph, from->node);
    if (!node) {
        migration_problem(migration,
                          "the node '%s' is due, and the new version has no such node; renamed_nodes can name another",
                          position_text(text, from->frame, from->node));
        return NULL;
    }
    if (branches_logged(from) && node->kind != from->node->kind) {
        migration_problem(migration,
                          "the run is within the sub-graph of '%s', which is of kind %s in the new version, not %s",
                          position_text(text, from->frame, from->node), node->kind->name, from->node->kind->name);
        return NULL;
    }
    return node;
}

/* Counts activations of a node that holds a graph in the new version. */
struct firings {
    const struct node *from; /* the first's old node */
    bool first;              /* the number 0 is used */
    uint32_t next;           /* an unused number */
};

static struct firings *count_firings(const struct state_migration *migration, const struct frame *frame,
                                     const struct frame *old)
{
    struct firings *all = xnonnull(calloc(frame->graph->node_count, sizeof *all));
    for (const struct activation *activation = old->activations; activation; activation = activation->next) {
        const struct node *node = new_node(migration, frame->graph, old->graph, activation->node);
        if (node && all[node->index].next <= activation->branch)
            all[node->index].next = activation->branch + 1;
    }
    return all;
}

/* If two nodes are merged now, their graphs are branches of the new node. The same holds for successive graphs, if the
 * new mode has no turns. */
static uint32_t new_branch(struct firings *firings, const struct graph *graph, const struct activation *from)
{
    bool merged = firings->from && firings->from != from->node;
    bool again = firings->first && !from->branch && !graph->dataflow;
    firings->from = firings->from ? firings->from : from->node;
    firings->first |= !from->branch;
    return merged || again ? firings->next++ : from->branch;
}

static void move_activation(struct state_migration *migration, struct frame *frame, const struct activation *from,
                            struct firings *firings)
{
    const struct node *node = find_node(migration, frame, from);
    if (!node)
        return;
    struct activation *to = frame_activate(frame, node);
    struct arena *arena = frame->arena;
    to->branch = node_holds_graph(node) ? new_branch(&firings[node->index], frame->graph, from) : from->branch;
    to->sent = from->sent;
    to->input = from->input ? xnonnull(arena_strdup(arena, from->input)) : NULL;
    to->step = from->step;
    activation_move(to, from->state);
    to->recorded = from->recorded;
    to->released = from->released;
    to->pauses_before = from->pauses_before;
    to->attempts = from->attempts;
    to->tries = from->tries;
    to->taken_up = attempts_within(from);
    to->duration_ms = from->duration_ms;
    to->conflict = from->conflict;
    to->code = from->code;
    to->message = from->message ? xnonnull(arena_strdup(arena, from->message)) : NULL;
    to->reason = from->reason ? xnonnull(arena_strdup(arena, from->reason)) : NULL;
    to->overrun = from->overrun;
    copy_interrupts(to, from);
    if (branches_logged(from)) /* else a reader of the log has taken no list yet: it is taken in the new version */
        move_branches(migration, to, from);
    else
        branches_prepare_early(to);
    move_result(migration, to, from);
}

/* ---- a graph ----------------------------------------------------------------------------------------------------- */

/* Moves the counts and the pending joins of the nodes that still exist. */
static void move_marks(struct state_migration *migration, struct frame *frame, const struct frame *old)
{
    char text[SPOT_MAX];
    const struct graph *from = old->graph, *to = frame->graph;
    size_t count = from->node_count, new_count = to->node_count;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = new_node(migration, to, from, &from->nodes[i]);
        if (!node && old->deferred[i])
            migration_problem(migration, "the node '%s' is deferred, and the new version has no such node",
                              position_text(text, old, &from->nodes[i]));
        if (!node)
            continue;
        frame->visits[node->index] = old->visits[i];
        frame->deferred[node->index] = old->deferred[i];
        for (size_t j = 0; old->arrived && j < count; j++) {
            const struct node *arrived =
                old->arrived[i * count + j] ? new_node(migration, to, from, &from->nodes[j]) : NULL;
            if (!arrived)
                continue;
            if (!frame->arrived)
                frame->arrived = xnonnull(calloc(new_count, new_count * sizeof *frame->arrived));
            frame->arrived[node->index * new_count + arrived->index] = true;
        }
    }
}

static void move_after(struct state_migration *migration, struct frame *frame, const struct frame *old)
{
    char text[SPOT_MAX];
    frame->after = xnonnull(calloc(frame->graph->node_count + old->after_count, sizeof(*frame->after)));
    for (size_t i = 0; i < old->after_count; i++) {
        const struct node *node = new_node(migration, frame->graph, old->graph, old->after[i]);
        if (node)
            frame->after[frame->after_count++] = node;
        else
            migration_problem(migration, "the run is paused after '%s', and the new version has no such node",
                              position_text(text, old, old->after[i]));
    }
}

static void add_state_problem(const char *text, void *data)
{
    struct state_migration *migration = data;
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(migration->at, &path);
    if (path.length)
        migration_problem(migration, "in '%s': %s", buffer_text(&path), text);
    else
        add_problem(text, migration);
    buffer_fini(&path);
}

static void move_state(struct state_migration *migration, struct frame *frame, const struct frame *old)
{
    migration->at = old;
    if (!old->memory || !frame->memory) /* else it was moved with the others */
        state_move(old->state, frame->state, add_state_problem, migration);
}

static void move_frame(struct state_migration *migration, struct frame *frame, const struct frame *old)
{
    move_state(migration, frame, old);
    frame->step = old->step;
    frame->steps_before = old->steps_before;
    frame_move(frame, old->phase);
    frame->in_log = old->in_log;
    struct firings *firings = count_firings(migration, frame, old);
    for (const struct activation *activation = old->activations; activation; activation = activation->next)
        move_activation(migration, frame, activation, firings);
    free(firings);
    move_marks(migration, frame, old);
    move_after(migration, frame, old);
}

/* ---- memories of sub-graphs -------------------------------------------------------------------------------------- */

/* Its path by the new names, and the graph at that place; NULL: there is no graph. */
static const struct graph *new_place(const struct state_migration *migration, const char *path, struct buffer *out)
{
    const struct graph *from = migration->thread->root->graph, *to = migration->agent->graph;
    for (const char *at = path; *at;) {
        char name[GRAPH_NAME_MAX + 1];
        size_t size = strcspn(at, "[/"), whole = strcspn(at, "/");
        if (size >= sizeof name)
            return NULL;
        memcpy(name, at, size);
        name[size] = '\0';
        const struct node *old = graph_node(from, name), *node = old ? new_node(migration, to, from, old) : NULL;
        if (!node || !node_holds_graph(node) || node->kind != old->kind)
            return NULL;
        buffer_print(out, node->name);
        buffer_append(out, at + size, whole - size + (at[whole] == '/'));
        at += whole + (at[whole] == '/');
        from = branch_graph(old);
        to = branch_graph(node);
    }
    return to;
}

static void move_memory(struct state_migration *migration, const struct memory *old)
{
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    const struct graph *graph = new_place(migration, old->path, &path);
    if (graph && !path.failed) {
        struct memory *memory = xnonnull(calloc(1, sizeof *memory));
        memory->path = xnonnull(strdup(buffer_text(&path)));
        memory->state = state_create(graph);
        memory->next = migration->memories;
        migration->memories = memory;
        state_move(old->state, memory->state, add_problem, migration);
    } else {
        migration_problem(migration,
                          "the sub-graph '%s' remembers something at '%s', and the new version has none there",
                          state_graph(old->state)->name, old->path);
    }
    buffer_fini(&path);
}

void memories_drop(struct memory **memories)
{
    while (*memories) {
        struct memory *memory = *memories;
        *memories = memory->next;
        state_destroy(&memory->state);
        free(memory->path);
        free(memory);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void state_migration_make(struct state_migration *migration,
                                 void (*move)(struct state_migration *migration, struct frame *frame,
                                              const struct frame *old))
{
    struct thread *thread = migration->thread;
    struct memory *copied = thread->memories;
    migration->fits = true;
    migration->memories = NULL;
    for (const struct memory *memory = copied; memory; memory = memory->next)
        move_memory(migration, memory);
    thread->memories = migration->memories; /* new frames find their memory there */
    migration->root = frame_create(thread, migration->agent->graph, NULL, 0);
    move(migration, migration->root, thread->root);
    migration->memories = thread->memories;
    thread->memories = copied;
}

void state_migration_build(struct state_migration *migration)
{
    state_migration_make(migration, move_frame);
}

void state_migration_move_fields(struct state_migration *migration)
{
    state_migration_make(migration, move_state);
}

void state_migration_drop(struct state_migration *migration)
{
    frame_destroy(&migration->root);
    memories_drop(&migration->memories);
}
