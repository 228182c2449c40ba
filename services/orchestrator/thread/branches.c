/* each and graph: nodes that are graphs of their own. Their input is taken when they are activated, so that it is the
 * same whenever the log is read again. */
#include "branches.h"
#include "apply.h"
#include "frame.h"
#include "graph/graph.h"
#include "graph/node_kind.h"
#include "memory.h"
#include "state/state.h"
#include "thread.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>

enum { EACH_OF, EACH_AS, EACH_GRAPH, EACH_INTO, EACH_IN, EACH_NUMBER }; /* the rows of nodes/each.c */
enum { GRAPH_GRAPH, GRAPH_IN, GRAPH_OUT };                              /* of nodes/graph.c */

#define ITEMS_MAX    ((size_t)64 << 20) /* bytes of a list, or of the branches' outputs */
#define BRANCHES_MAX 100000

bool node_holds_graph(const struct node *node)
{
    return node->kind->is_each || node->kind->is_graph;
}

const struct graph *branch_graph(const struct node *node)
{
    return node_argument(node, node->kind->is_each ? EACH_GRAPH : GRAPH_GRAPH)->graph;
}

/* ---- their input ------------------------------------------------------------------------------------------------- */

static bool take_list(struct activation *activation, struct buffer *items, size_t **ends, size_t *count)
{
    const struct field *of = node_argument(activation->node, EACH_OF)->field;
    const struct state *state = activation->frame->state;
    *count = state_list_length(state, of);
    *ends = xnonnull(calloc(*count + 1, sizeof(**ends)));
    for (size_t i = 0; i < *count; i++) {
        state_list_item(state, of, i, items);
        (*ends)[i] = items->length;
    }
    return true;
}

static bool take_sent_list(struct activation *activation, struct buffer *items, size_t **ends, size_t *count,
                           struct status *st)
{
    const struct field *of = node_argument(activation->node, EACH_OF)->field;
    cJSON *tree = json_parse(activation->input, strlen(activation->input), NULL, st);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, of->name);
    struct json_writer out;
    *count = list && cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    *ends = xnonnull(calloc(*count + 1, sizeof(**ends)));
    size_t i = 0;
    for (const cJSON *item = *count ? list->child : NULL; item; item = item->next) {
        json_writer_init(&out, items);
        json_write_tree(&out, NULL, item);
        (*ends)[i++] = items->length;
    }
    cJSON_Delete(tree);
    return true;
}

static void branches_write_field(const struct state *state, const struct field *from, const char *name,
                                 struct json_writer *out)
{
    struct buffer value;
    buffer_init(&value, ITEMS_MAX);
    if (state_value(state, from, &value))
        json_write_raw(out, name, value.data, value.length);
    buffer_fini(&value);
}

/* An object by a map {"TO": "FROM"}, or by equal names of the open fields. */
static void write_mapped(const struct state *from, const char *map, const struct graph *to,
                         const struct field *const *open, size_t open_count, struct buffer *out)
{
    struct json_writer writer;
    struct status ignored;
    cJSON *tree = map ? json_parse(map, strlen(map), NULL, &ignored) : NULL;
    json_writer_init(&writer, out);
    json_write_object(&writer, NULL);
    for (const cJSON *pair = tree ? tree->child : NULL; pair; pair = pair->next) {
        const struct field *field = graph_field(state_graph(from), pair->valuestring);
        if (field)
            branches_write_field(from, field, pair->string, &writer);
    }
    for (size_t i = 0; !tree && i < open_count; i++) {
        const struct field *field = graph_field(state_graph(from), open[i]->name);
        if (field && graph_field(to, open[i]->name))
            branches_write_field(from, field, open[i]->name, &writer);
    }
    json_write_end(&writer);
    cJSON_Delete(tree);
}

static bool take_beside(struct activation *activation, struct status *st)
{
    const char *map = node_argument(activation->node, EACH_IN)->text;
    struct buffer beside;
    if (!map)
        return true;
    buffer_init(&beside, ITEMS_MAX);
    write_mapped(activation->frame->state, map, branch_graph(activation->node), NULL, 0, &beside);
    activation->beside = buffer_take(&beside, NULL);
    return activation->beside ||
           fail(st, RESOURCE_EXHAUSTED, "node '%s' is given more than %zu bytes", activation->node->name, ITEMS_MAX);
}

bool branches_prepare(struct activation *activation, struct status *st)
{
    struct buffer items;
    size_t count = 1;
    if (activation->branches)
        return true;
    if (activation->frame->depth + 1 >= FRAME_DEPTH_MAX)
        return fail(st, FAILED_PRECONDITION, "more than %d graphs within each other", FRAME_DEPTH_MAX);
    activation_close(activation); /* drops the branches of a failed try */
    buffer_init(&items, ITEMS_MAX);
    if (activation->node->kind->is_each) {
        if (!(activation->sent ? take_sent_list(activation, &items, &activation->item_ends, &count, st)
                               : take_list(activation, &items, &activation->item_ends, &count)) ||
            !take_beside(activation, st)) {
            buffer_fini(&items);
            return false;
        }
    } else {
        const struct graph *inner = branch_graph(activation->node);
        activation->item_ends = xnonnull(calloc(1, sizeof *activation->item_ends));
        if (activation->sent)
            buffer_print(&items, activation->input);
        else
            write_mapped(activation->frame->state, node_argument(activation->node, GRAPH_IN)->text, inner, inner->input,
                         inner->input_count, &items);
        activation->item_ends[0] = items.length;
    }
    bool good = !items.failed || fail(st, RESOURCE_EXHAUSTED, "node '%s' is given more than %zu bytes",
                                      activation->node->name, ITEMS_MAX);
    if (good && count > BRANCHES_MAX)
        good = fail(st, RESOURCE_EXHAUSTED, "node '%s' has %zu branches; at most %d are allowed",
                    activation->node->name, count, BRANCHES_MAX);
    activation->items = buffer_take(&items, NULL);
    activation->branches = good ? xnonnull(calloc(count + 1, sizeof *activation->branches)) : NULL;
    activation->branch_count = good ? count : 0;
    return good;
}

void branches_prepare_early(struct activation *activation)
{
    struct status ignored;
    if (activation->frame->graph->dataflow && node_holds_graph(activation->node))
        branches_prepare(activation, &ignored);
}

bool branches_wait(const struct activation *activation)
{
    if (!activation->frame->graph->dataflow || !node_holds_graph(activation->node) || activation->branch)
        return false; /* all other ways differ */
    const struct activation *earlier = activation->frame->activations;
    while (earlier != activation && (earlier->node != activation->node || earlier->branch))
        earlier = earlier->next;
    return earlier != activation;
}

bool branches_logged(const struct activation *activation)
{
    for (size_t i = 0; i < activation->branch_count; i++)
        if (activation->branches[i].state == BRANCH_ENDED ||
            (activation->branches[i].frame && activation->branches[i].frame->in_log))
            return true;
    return false;
}

void branches_discard_unlogged(struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (frame->graph->dataflow || branches_logged(activation))
            continue;
        activation->taken_up = attempts_within(activation);
        activation_close(activation);
        activation->opened = activation->settled = activation->hint = 0;
    }
}

/* Its item, and the values beside it. */
static void write_given(const struct activation *activation, size_t item, bool whole, struct buffer *out)
{
    size_t start = item ? activation->item_ends[item - 1] : 0, size = activation->item_ends[item] - start;
    if (!activation->node->kind->is_each) {
        buffer_append(out, activation->items + start, size);
        return;
    }
    const char *as = node_argument(activation->node, EACH_AS)->text;
    const char *number = node_argument(activation->node, EACH_NUMBER)->text;
    buffer_put(out, '{');
    json_append_string(out, as, strlen(as));
    buffer_put(out, ':');
    buffer_append(out, activation->items + start, size);
    if (number) {
        buffer_put(out, ',');
        json_append_string(out, number, strlen(number));
        buffer_printf(out, ":%zu", item + 1);
    }
    if (whole && activation->beside && activation->beside[1] != '}') {
        buffer_put(out, ',');
        buffer_append(out, activation->beside + 1, strlen(activation->beside) - 2);
    }
    buffer_put(out, '}');
}

/* Reads the input of a branch; with `state`, also writes it there. */
static bool branches_give(const struct activation *activation, size_t item, bool whole, struct state *state,
                          uint64_t seed, struct status *st)
{
    struct arena arena;
    struct write write;
    struct buffer input;
    buffer_init(&input, ITEMS_MAX);
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    write_given(activation, item, whole, &input);
    struct write_source source = {
        .node = activation->node->name, .update_json = buffer_text(&input), .update_size = input.length, .seed = seed};
    bool good = write_parse(branch_graph(activation->node), &source, &arena, &write, st) &&
                (!state || activation->frame->thread->replays || state_takes(state, &write, 1, st)) &&
                (!state || !write.count || state_reduce(state, &write, 1, NULL, NULL, st));
    buffer_fini(&input);
    arena_fini(&arena);
    return good;
}

bool branch_fits(const struct activation *activation, size_t item, bool whole, struct status *st)
{
    return branches_give(activation, item, whole, NULL, 1, st);
}

struct frame *branch_open(struct activation *activation, size_t item, struct status *st)
{
    struct branch *branch = &activation->branches[item];
    struct frame *frame =
        frame_create(activation->frame->thread, branch_graph(activation->node), activation, (uint32_t)item);
    if (!branches_give(activation, item, true, frame->state, frame_visit_seed(frame) | 1, st)) {
        frame_destroy(&frame);
        return NULL;
    }
    frame_start(frame);
    frame_move(frame, frame->activations ? FRAME_TO_BEGIN : FRAME_ENDED);
    for (struct activation *first = frame->activations; first && activation->taken_up; first = first->next) {
        first->attempts = first->taken_up = activation->taken_up;
        first->begun_in_log = activation->begun_in_log;
    }
    if (branch->state == BRANCH_UNOPENED)
        activation->opened++;
    branch_move(branch, BRANCH_OPEN);
    branch->frame = frame;
    return frame;
}

/* ---- their output ------------------------------------------------------------------------------------------------ */

static void store_output(struct branch *branch, struct activation *activation, const struct frame *frame)
{
    struct buffer out;
    struct json_writer writer;
    const struct graph *inner = frame->graph;
    buffer_init(&out, ITEMS_MAX);
    json_writer_init(&writer, &out);
    if (activation->node->kind->is_each)
        state_write(frame->state, inner->output, inner->output_count, &writer);
    else
        write_mapped(frame->state, node_argument(activation->node, GRAPH_OUT)->text, activation->frame->graph,
                     inner->output, inner->output_count, &out);
    branch->output = buffer_take(&out, &branch->output_size);
}

void branch_ended(struct frame *frame)
{
    struct activation *activation = frame->parent;
    struct branch *branch = &activation->branches[frame->item];
    if (frame->jump)
        activation->jump = frame->jump;
    else
        store_output(branch, activation, frame);
    branch_move(branch, BRANCH_ENDED);
    activation->settled++;
    frame_destroy(&branch->frame);
}

static bool gather_list(struct activation *activation, struct buffer *out)
{
    const char *into = node_argument(activation->node, EACH_INTO)->field->name;
    buffer_put(out, '{');
    json_append_string(out, into, strlen(into));
    buffer_print(out, ":[");
    for (size_t i = 0; i < activation->branch_count; i++) {
        if (i)
            buffer_put(out, ',');
        buffer_append(out, activation->branches[i].output ? activation->branches[i].output : "{}",
                      activation->branches[i].output ? activation->branches[i].output_size : 2);
    }
    buffer_print(out, "]}");
    return !out->failed;
}

bool branches_gather(struct activation *activation, struct status *st)
{
    static const Response nothing = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    struct buffer out;
    bool good = true;
    Response *response = xnonnull(
        arena_copy(activation->frame->arena, activation->jump ? activation->jump : &nothing, sizeof *response));
    buffer_init(&out, ITEMS_MAX);
    if (activation->node->kind->is_each)
        good = gather_list(activation, &out);
    else if (!activation->jump && activation->branch_count && activation->branches[0].output)
        buffer_append(&out, activation->branches[0].output, activation->branches[0].output_size);
    if (!activation->jump) {
        response->outcome = unconst("done");
        response->update_json = xnonnull(arena_strndup(activation->frame->arena, buffer_text(&out), out.length));
    }
    response->usage = NULL; /* was counted by the attempt that spent it */
    response->n_degradations = 0;
    buffer_fini(&out);
    activation->response = response;
    activation->written = false;
    return good ||
           fail(st, RESOURCE_EXHAUSTED, "node '%s' gives more than %zu bytes", activation->node->name, ITEMS_MAX);
}
