/* The request of an attempt at a node. It is the same for a kind in this loop, for a kind in another loop, and for a
 * remote node.
 */
#include "node_request.h"
#include "graph/agents.h"
#include "log/ids.h"
#include "model_retries.h"
#include "state/state.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/ownership_state.h"
#include "thread/run.h"
#include "thread/thread.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "json/writer.h"

#define STATE_MEMORY_MAX  ((size_t)64 << 20)
#define CONFIGURATION_MAX ((size_t)262144) /* bytes, as RunNodeRequest.configuration_json */

static char *state_text(struct arena *arena, const struct activation *activation)
{
    struct buffer out;
    struct json_writer writer;
    const struct node *node = activation->node;
    if (activation->sent)
        return unconst(activation->input);
    buffer_init(&out, STATE_MEMORY_MAX);
    json_writer_init(&writer, &out);
    state_write(activation->frame->state, node->inputs, node->input_count, &writer);
    char *text = xnonnull(arena_strndup(arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    return text;
}

/* The lessons of the run's playbook go to nodes of every graph; a remote node, and one in another process, get them,
 * too. They come first, so that a reader takes them, and no member of that name from the client. */
static void write_lessons(const struct activation *activation, const struct field *field, const char *told,
                          struct buffer *out)
{
    struct json_writer writer;
    struct buffer text;
    buffer_init(&text, STATE_MEMORY_MAX);
    json_writer_init(&writer, &text);
    state_write(activation->frame->thread->root->state, &field, 1, &writer);
    const char *value = strchr(buffer_text(&text), ':'); /* {"playbook_text":"…"} */
    bool fits = value && text.length + strlen(told) <= CONFIGURATION_MAX;
    told += strspn(told, " \t\r\n{");
    buffer_print(out, "{\"playbook\":");
    if (fits)
        buffer_append(out, value + 1, text.length - (size_t)(value - buffer_text(&text)) - 2);
    else
        buffer_print(out, "\"\"");
    buffer_printf(out, "%s%s", *told && *told != '}' ? "," : "", *told ? told : "}");
    buffer_fini(&text);
}

void activation_write_configuration(const struct activation *activation, struct buffer *out)
{
    const struct frame *root = activation->frame->thread->root;
    const char *told = frame_run(activation->frame)->request->configuration_json;
    if (root && root->graph->playbook)
        write_lessons(activation, root->graph->playbook, told, out);
    else
        buffer_print(out, told);
}

static char *configuration_text(struct arena *arena, const struct activation *activation)
{
    struct buffer out;
    if (!activation->frame->thread->root || !activation->frame->thread->root->graph->playbook)
        return frame_run(activation->frame)->request->configuration_json;
    buffer_init(&out, STATE_MEMORY_MAX);
    activation_write_configuration(activation, &out);
    char *text = xnonnull(arena_strndup(arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    return text;
}

static Renga__V1__NodePosition *node_request_position_of(struct arena *arena, const struct activation *activation)
{
    struct buffer path;
    const struct frame *frame = activation->frame;
    const struct run *run = frame_run(frame);
    Renga__V1__NodePosition *position = xnonnull(arena_alloc(arena, sizeof *position));
    renga__v1__node_position__init(position);
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    position->agent = unconst(run->request->agent);
    position->graph = unconst(frame->graph->name);
    position->graph_version = run->agent->version;
    position->run_id = unconst(run->id);
    position->thread_id = activation->frame->thread->id;
    position->step = activation->step > 0 ? activation->step : 1; /* as apply_went_to_work has it */
    position->node = unconst(activation->node->name);
    position->path = xnonnull(arena_strdup(arena, buffer_text(&path)));
    position->branch = (int32_t)activation->branch;
    buffer_fini(&path);
    return position;
}

static void add_answers(struct arena *arena, const struct activation *activation, Renga__V1__RunNodeRequest *request)
{
    size_t count = 0;
    for (struct interrupt *interrupt = activation->interrupts; interrupt; interrupt = interrupt->next)
        count += interrupt->answer != NULL;
    request->answers = xnonnull(arena_alloc(arena, (count + 1) * sizeof(*request->answers)));
    for (struct interrupt *interrupt = activation->interrupts; interrupt; interrupt = interrupt->next) {
        if (!interrupt->answer)
            continue;
        Renga__V1__NodeAnswer *answer = xnonnull(arena_alloc(arena, sizeof *answer));
        renga__v1__node_answer__init(answer);
        answer->key = interrupt->asked->key;
        answer->answer_json = unconst(interrupt->answer);
        request->answers[request->n_answers++] = answer;
    }
}

const Renga__V1__RunNodeRequest *activation_node_request(const struct activation *activation, int64_t deadline_ns,
                                                         struct arena *arena)
{
    char key[ID_MAX];
    const struct run *run = frame_run(activation->frame);
    Renga__V1__RunNodeRequest *request = xnonnull(arena_alloc(arena, sizeof *request));
    renga__v1__run_node_request__init(request);
    id_make_hashed(key, "n_", activation_seed(activation));
    request->function = unconst(activation->node->name);
    request->state_json = state_text(arena, activation);
    request->configuration_json = configuration_text(arena, activation);
    request->model_requests = activation_model_requests(activation);
    request->run_created_ms = run->created_ms;
    request->budget_left = run_budget_message(run, arena);
    request->position = node_request_position_of(arena, activation);
    request->attempt = (int32_t)activation->attempts;
    request->fencing_token = owner_token(activation->frame->thread);
    request->idempotency_key = xnonnull(arena_strdup(arena, key));
    request->labels = (Renga__V1__RunNodeRequest__LabelsEntry **)run->request->labels; /* maps of the same layout */
    request->n_labels = run->request->n_labels;
    if (deadline_ns != TIME_NEVER)
        request->deadline_ms = wall_ms() + (deadline_ns - clock_now_ns()) / NS_PER_MS;
    add_answers(arena, activation, request);
    return request;
}
