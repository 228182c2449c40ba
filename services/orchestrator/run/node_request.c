/* The request of an attempt at a node. It is the same for a kind in this loop, for a kind in another loop, and for a
 * remote node.
 */
#include "attempt.h"

#include "base/clock.h"

#define STATE_MEMORY_MAX  ((size_t)64 << 20)
#define CONFIGURATION_MAX ((size_t)262144) /* bytes, as RunNodeRequest.configuration_json */

static char *state_text(struct arena *arena, const struct due *due)
{
    struct buffer out;
    struct json_writer writer;
    const struct node *node = due->node;
    if (due->sent)
        return unconst(due->input);
    buffer_init(&out, STATE_MEMORY_MAX);
    json_writer_init(&writer, &out);
    state_write(due->frame->state, node->inputs, node->input_count, &writer);
    char *text = need(arena_strndup(arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    return text;
}

/* The lessons of the run's playbook go to nodes of every graph; a remote node, and one in another process, get them,
 * too. They stand first, so that a reader takes them, and no member of that name from the client. */
static void write_lessons(const struct due *due, const struct field *field, const char *told, struct buffer *out)
{
    struct json_writer writer;
    struct buffer text;
    buffer_init(&text, STATE_MEMORY_MAX);
    json_writer_init(&writer, &text);
    state_write(due->frame->thread->root->state, &field, 1, &writer);
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

void due_write_configuration(const struct due *due, struct buffer *out)
{
    const struct frame *root = due->frame->thread->root;
    const char *told = frame_run(due->frame)->request->configuration_json;
    if (root && root->graph->playbook)
        write_lessons(due, root->graph->playbook, told, out);
    else
        buffer_print(out, told);
}

static char *configuration_text(struct arena *arena, const struct due *due)
{
    struct buffer out;
    if (!due->frame->thread->root || !due->frame->thread->root->graph->playbook)
        return frame_run(due->frame)->request->configuration_json;
    buffer_init(&out, STATE_MEMORY_MAX);
    due_write_configuration(due, &out);
    char *text = need(arena_strndup(arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    return text;
}

static Renga__V1__NodePosition *position_of(struct arena *arena, const struct due *due)
{
    struct buffer path;
    const struct frame *frame = due->frame;
    const struct run *run = frame_run(frame);
    Renga__V1__NodePosition *position = need(arena_alloc(arena, sizeof *position));
    renga__v1__node_position__init(position);
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    position->agent = unconst(run->request->agent);
    position->graph = unconst(frame->graph->name);
    position->graph_version = run->agent->version;
    position->run_id = unconst(run->id);
    position->thread_id = due->frame->thread->id;
    position->step = due->step > 0 ? due->step : 1; /* as fold_went_to_work has it */
    position->node = unconst(due->node->name);
    position->path = need(arena_strdup(arena, buffer_text(&path)));
    position->branch = (int32_t)due->branch;
    buffer_fini(&path);
    return position;
}

static void add_answers(struct arena *arena, const struct due *due, Renga__V1__RunNodeRequest *request)
{
    size_t count = 0;
    for (struct question *question = due->questions; question; question = question->next)
        count += question->answer != NULL;
    request->answers = need(arena_alloc(arena, (count + 1) * sizeof(*request->answers)));
    for (struct question *question = due->questions; question; question = question->next) {
        if (!question->answer)
            continue;
        Renga__V1__NodeAnswer *answer = need(arena_alloc(arena, sizeof *answer));
        renga__v1__node_answer__init(answer);
        answer->key = question->asked->key;
        answer->answer_json = unconst(question->answer);
        request->answers[request->n_answers++] = answer;
    }
}

const Renga__V1__RunNodeRequest *due_request(const struct due *due, int64_t deadline_ns, struct arena *arena)
{
    char key[ID_MAX];
    const struct run *run = frame_run(due->frame);
    Renga__V1__RunNodeRequest *request = need(arena_alloc(arena, sizeof *request));
    renga__v1__run_node_request__init(request);
    id_make_hashed(key, "n_", due_seed(due));
    request->function = unconst(due->node->name);
    request->state_json = state_text(arena, due);
    request->configuration_json = configuration_text(arena, due);
    request->model_requests = due_model_requests(due);
    request->run_created_ms = run->created_ms;
    request->budget_left = run_budget_message(run, arena);
    request->position = position_of(arena, due);
    request->attempt = (int32_t)due->attempts;
    request->fencing_token = owner_token(due->frame->thread);
    request->idempotency_key = need(arena_strdup(arena, key));
    request->labels = (Renga__V1__RunNodeRequest__LabelsEntry **)run->request->labels; /* maps of the same layout */
    request->n_labels = run->request->n_labels;
    if (deadline_ns != TIME_NEVER)
        request->deadline_ms = wall_ms() + (deadline_ns - clock_now_ns()) / NS_PER_MS;
    add_answers(arena, due, request);
    return request;
}
