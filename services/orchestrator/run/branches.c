/* each and graph: nodes that are graphs of their own. Their input is taken when they are activated, so that it is the
 * same whenever the log is read again. */
#include "run_priv.h"
#include "trace.h"

#include "base/json.h"

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

static bool take_list(struct due *due, struct buffer *items, size_t **ends, size_t *count)
{
    const struct field *of = node_argument(due->node, EACH_OF)->field;
    const struct state *state = due->frame->state;
    *count = state_list_length(state, of);
    *ends = need(calloc(*count + 1, sizeof(**ends)));
    for (size_t i = 0; i < *count; i++) {
        state_list_item(state, of, i, items);
        (*ends)[i] = items->length;
    }
    return true;
}

static bool take_sent_list(struct due *due, struct buffer *items, size_t **ends, size_t *count, struct status *st)
{
    const struct field *of = node_argument(due->node, EACH_OF)->field;
    cJSON *tree = json_parse(due->input, strlen(due->input), NULL, st);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, of->name);
    struct json_writer out;
    *count = list && cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    *ends = need(calloc(*count + 1, sizeof(**ends)));
    size_t i = 0;
    for (const cJSON *item = *count ? list->child : NULL; item; item = item->next) {
        json_writer_init(&out, items);
        json_write_tree(&out, NULL, item);
        (*ends)[i++] = items->length;
    }
    cJSON_Delete(tree);
    return true;
}

static void write_field(const struct state *state, const struct field *from, const char *name, struct json_writer *out)
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
            write_field(from, field, pair->string, &writer);
    }
    for (size_t i = 0; !tree && i < open_count; i++) {
        const struct field *field = graph_field(state_graph(from), open[i]->name);
        if (field && graph_field(to, open[i]->name))
            write_field(from, field, open[i]->name, &writer);
    }
    json_write_end(&writer);
    cJSON_Delete(tree);
}

static bool take_beside(struct due *due, struct status *st)
{
    const char *map = node_argument(due->node, EACH_IN)->text;
    struct buffer beside;
    if (!map)
        return true;
    buffer_init(&beside, ITEMS_MAX);
    write_mapped(due->frame->state, map, branch_graph(due->node), NULL, 0, &beside);
    due->beside = buffer_take(&beside, NULL);
    return due->beside ||
           fail(st, RESOURCE_EXHAUSTED, "node '%s' is given more than %zu bytes", due->node->name, ITEMS_MAX);
}

bool branches_prepare(struct due *due, struct status *st)
{
    struct buffer items;
    size_t count = 1;
    if (due->branches)
        return true;
    if (due->frame->depth + 1 >= FRAME_DEPTH_MAX)
        return fail(st, FAILED_PRECONDITION, "more than %d graphs within each other", FRAME_DEPTH_MAX);
    due_close(due); /* drops the branches of a failed try */
    buffer_init(&items, ITEMS_MAX);
    if (due->node->kind->is_each) {
        if (!(due->sent ? take_sent_list(due, &items, &due->item_ends, &count, st)
                        : take_list(due, &items, &due->item_ends, &count)) ||
            !take_beside(due, st)) {
            buffer_fini(&items);
            return false;
        }
    } else {
        const struct graph *inner = branch_graph(due->node);
        due->item_ends = need(calloc(1, sizeof *due->item_ends));
        if (due->sent)
            buffer_print(&items, due->input);
        else
            write_mapped(due->frame->state, node_argument(due->node, GRAPH_IN)->text, inner, inner->input,
                         inner->input_count, &items);
        due->item_ends[0] = items.length;
    }
    bool good = !items.failed ||
                fail(st, RESOURCE_EXHAUSTED, "node '%s' is given more than %zu bytes", due->node->name, ITEMS_MAX);
    if (good && count > BRANCHES_MAX)
        good = fail(st, RESOURCE_EXHAUSTED, "node '%s' has %zu branches; at most %d are allowed", due->node->name,
                    count, BRANCHES_MAX);
    due->items = buffer_take(&items, NULL);
    due->branches = good ? need(calloc(count + 1, sizeof *due->branches)) : NULL;
    due->branch_count = good ? count : 0;
    return good;
}

void branches_prepare_early(struct due *due)
{
    struct status ignored;
    if (due->frame->graph->dataflow && node_holds_graph(due->node))
        branches_prepare(due, &ignored);
}

bool branches_wait(const struct due *due)
{
    if (!due->frame->graph->dataflow || !node_holds_graph(due->node) || due->branch)
        return false; /* all other ways differ */
    const struct due *earlier = due->frame->due;
    while (earlier != due && (earlier->node != due->node || earlier->branch))
        earlier = earlier->next;
    return earlier != due;
}

bool branches_logged(const struct due *due)
{
    for (size_t i = 0; i < due->branch_count; i++)
        if (due->branches[i].state == BRANCH_ENDED || (due->branches[i].frame && due->branches[i].frame->in_log))
            return true;
    return false;
}

void branches_forget(struct frame *frame)
{
    for (struct due *due = frame->due; due; due = due->next) {
        if (frame->graph->dataflow || branches_logged(due))
            continue;
        due->taken_up = attempts_within(due);
        due_close(due);
        due->opened = due->settled = due->hint = 0;
    }
}

/* Its item, and the values beside it. */
static void write_given(const struct due *due, size_t item, bool whole, struct buffer *out)
{
    size_t start = item ? due->item_ends[item - 1] : 0, size = due->item_ends[item] - start;
    if (!due->node->kind->is_each) {
        buffer_append(out, due->items + start, size);
        return;
    }
    const char *as = node_argument(due->node, EACH_AS)->text;
    const char *number = node_argument(due->node, EACH_NUMBER)->text;
    buffer_put(out, '{');
    json_append_string(out, as, strlen(as));
    buffer_put(out, ':');
    buffer_append(out, due->items + start, size);
    if (number) {
        buffer_put(out, ',');
        json_append_string(out, number, strlen(number));
        buffer_printf(out, ":%zu", item + 1);
    }
    if (whole && due->beside && due->beside[1] != '}') {
        buffer_put(out, ',');
        buffer_append(out, due->beside + 1, strlen(due->beside) - 2);
    }
    buffer_put(out, '}');
}

/* Reads the input of a branch; with `state`, also writes it there. */
static bool give(const struct due *due, size_t item, bool whole, struct state *state, uint64_t seed, struct status *st)
{
    struct arena arena;
    struct write write;
    struct buffer input;
    buffer_init(&input, ITEMS_MAX);
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    write_given(due, item, whole, &input);
    struct write_source source = {
        .node = due->node->name, .update_json = buffer_text(&input), .update_size = input.length, .seed = seed};
    bool good = write_parse(branch_graph(due->node), &source, &arena, &write, st) &&
                (!state || due->frame->thread->replays || state_takes(state, &write, 1, st)) &&
                (!state || !write.count || state_reduce(state, &write, 1, NULL, NULL, st));
    buffer_fini(&input);
    arena_fini(&arena);
    return good;
}

bool branch_fits(const struct due *due, size_t item, bool whole, struct status *st)
{
    return give(due, item, whole, NULL, 1, st);
}

struct frame *branch_open(struct due *due, size_t item, struct status *st)
{
    struct branch *branch = &due->branches[item];
    struct frame *frame = frame_create(due->frame->thread, branch_graph(due->node), due, (uint32_t)item);
    if (!give(due, item, true, frame->state, frame_visit_seed(frame) | 1, st)) {
        frame_destroy(&frame);
        return NULL;
    }
    trace_branch_began(frame);
    frame_start(frame);
    frame->phase = frame->due ? FRAME_TO_BEGIN : FRAME_ENDED;
    for (struct due *first = frame->due; first && due->taken_up; first = first->next) {
        first->attempts = first->taken_up = due->taken_up;
        first->begun_in_log = due->begun_in_log;
    }
    if (branch->state == BRANCH_UNOPENED)
        due->opened++;
    branch->state = BRANCH_OPEN;
    branch->frame = frame;
    return frame;
}

/* ---- their output ------------------------------------------------------------------------------------------------ */

static void keep_output(struct branch *branch, struct due *due, const struct frame *frame)
{
    struct buffer out;
    struct json_writer writer;
    const struct graph *inner = frame->graph;
    buffer_init(&out, ITEMS_MAX);
    json_writer_init(&writer, &out);
    if (due->node->kind->is_each)
        state_write(frame->state, inner->output, inner->output_count, &writer);
    else
        write_mapped(frame->state, node_argument(due->node, GRAPH_OUT)->text, due->frame->graph, inner->output,
                     inner->output_count, &out);
    branch->output = buffer_take(&out, &branch->output_size);
}

void branch_ended(struct frame *frame)
{
    struct due *due = frame->parent;
    struct branch *branch = &due->branches[frame->item];
    if (frame->jump)
        due->jump = frame->jump;
    else
        keep_output(branch, due, frame);
    branch->state = BRANCH_ENDED;
    due->settled++;
    frame_destroy(&branch->frame);
}

static bool gather_list(struct due *due, struct buffer *out)
{
    const char *into = node_argument(due->node, EACH_INTO)->field->name;
    buffer_put(out, '{');
    json_append_string(out, into, strlen(into));
    buffer_print(out, ":[");
    for (size_t i = 0; i < due->branch_count; i++) {
        if (i)
            buffer_put(out, ',');
        buffer_append(out, due->branches[i].output ? due->branches[i].output : "{}",
                      due->branches[i].output ? due->branches[i].output_size : 2);
    }
    buffer_print(out, "]}");
    return !out->failed;
}

bool branches_gather(struct due *due, struct status *st)
{
    static const Response nothing = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    struct buffer out;
    bool good = true;
    Response *response = need(arena_copy(due->frame->arena, due->jump ? due->jump : &nothing, sizeof *response));
    buffer_init(&out, ITEMS_MAX);
    if (due->node->kind->is_each)
        good = gather_list(due, &out);
    else if (!due->jump && due->branch_count && due->branches[0].output)
        buffer_append(&out, due->branches[0].output, due->branches[0].output_size);
    if (!due->jump) {
        response->outcome = unconst("done");
        response->update_json = need(arena_strndup(due->frame->arena, buffer_text(&out), out.length));
    }
    response->usage = NULL; /* was counted by the attempt that spent it */
    response->n_degradations = 0;
    buffer_fini(&out);
    due->response = response;
    due->state = DUE_FINISHED;
    due->written = false;
    return good || fail(st, RESOURCE_EXHAUSTED, "node '%s' gives more than %zu bytes", due->node->name, ITEMS_MAX);
}
