/* Attempts at nodes: what a task is told, how it ends, and whether there is another one. A task whose attempt is over
 * (timed out, cancelled) but which has not ended yet belongs to nobody any more: whatever it says is dropped. */
#include "run_priv.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define TASK_STORAGE    1024 /* bytes of its arena that need no heap */
#define TASK_MEMORY_MAX ((size_t)64 << 20)
#define PROGRESS_MAX    65536 /* bytes, as RunNodeEvent.progress_json */
#define MESSAGE_MAX     4096

struct task {
    struct due *due; /* NULL: nothing of it counts any more */
    struct thread *thread;
    uint32_t run_number;
    const struct node *node;
    bool ended, in_start, late; /* late: its time was over */
    int64_t began_ns, deadline_ns;
    struct timer limit, idle_limit;
    struct trace_context trace;
    Renga__V1__RunNodeRequest *request;
    struct arena arena;
    _Alignas(16) char storage[TASK_STORAGE];
    _Alignas(16) char data[];
};

/* ---- what a task has --------------------------------------------------------------------------------------------- */

const struct node *task_node(const struct task *task)
{
    return task->node;
}

struct loop *task_loop(const struct task *task)
{
    return task->thread->home->loop;
}

struct arena *task_arena(struct task *task)
{
    return &task->arena;
}

void *task_data(struct task *task)
{
    return task->data;
}

int64_t task_deadline_ns(const struct task *task)
{
    return task->deadline_ns;
}

const struct trace_context *task_trace(const struct task *task)
{
    return &task->trace;
}

const char *task_tenant(const struct task *task)
{
    return task->thread->tenant;
}

struct orchestrator *task_orchestrator(const struct task *task)
{
    return task->thread->home->runner->options.orchestrator;
}

static char *state_text(struct task *task)
{
    struct buffer out;
    struct json_writer writer;
    const struct node *node = task->node;
    if (task->due->sent)
        return unconst(task->due->input);
    buffer_init(&out, TASK_MEMORY_MAX);
    json_writer_init(&writer, &out);
    state_write(task->due->frame->state, node->inputs, node->input_count, &writer);
    char *text = need(arena_strndup(&task->arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    return text;
}

static Renga__V1__NodePosition *position(struct task *task)
{
    struct buffer path;
    const struct frame *frame = task->due->frame;
    const struct run *run = frame_run(frame);
    Renga__V1__NodePosition *position = need(arena_alloc(&task->arena, sizeof *position));
    renga__v1__node_position__init(position);
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    position->agent = unconst(run->request->agent);
    position->graph = unconst(frame->graph->name);
    position->graph_version = run->agent->version;
    position->run_id = unconst(run->id);
    position->thread_id = task->thread->id;
    position->step = task->due->step;
    position->node = unconst(task->node->name);
    position->path = need(arena_strdup(&task->arena, buffer_text(&path)));
    position->branch = (int32_t)task->due->branch;
    buffer_fini(&path);
    return position;
}

static void add_answers(struct task *task, Renga__V1__RunNodeRequest *request)
{
    size_t count = 0;
    for (struct question *question = task->due->questions; question; question = question->next)
        count += question->answer != NULL;
    request->answers = need(arena_alloc(&task->arena, (count + 1) * sizeof(*request->answers)));
    for (struct question *question = task->due->questions; question; question = question->next) {
        if (!question->answer)
            continue;
        Renga__V1__NodeAnswer *answer = need(arena_alloc(&task->arena, sizeof *answer));
        renga__v1__node_answer__init(answer);
        answer->key = question->asked->key;
        answer->answer_json = unconst(question->answer);
        request->answers[request->n_answers++] = answer;
    }
}

const Renga__V1__RunNodeRequest *task_request(struct task *task)
{
    char key[ID_MAX];
    if (task->request || !task->due)
        return task->request;
    const struct run *run = frame_run(task->due->frame);
    Renga__V1__RunNodeRequest *request = need(arena_alloc(&task->arena, sizeof *request));
    renga__v1__run_node_request__init(request);
    id_make_hashed(key, "n_", due_seed(task->due));
    request->function = unconst(task->node->name);
    request->state_json = state_text(task);
    request->configuration_json = run->request->configuration_json;
    request->budget_left = run_budget_message(run, &task->arena);
    request->position = position(task);
    request->attempt = (int32_t)task->due->attempts;
    request->idempotency_key = need(arena_strdup(&task->arena, key));
    request->labels = (Renga__V1__RunNodeRequest__LabelsEntry **)run->request->labels; /* maps of one form */
    request->n_labels = run->request->n_labels;
    if (task->deadline_ns != TIME_NEVER)
        request->deadline_ms = wall_ms() + (task->deadline_ns - clock_now_ns()) / NS_PER_MS;
    add_answers(task, request);
    task->request = request;
    return request;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void free_if_done(struct task *task)
{
    struct thread *thread = task->thread;
    if (!task->ended || task->due || task->in_start)
        return;
    arena_fini(&task->arena);
    free(task);
    thread->holds--;
    thread_settle(thread);
}

/* The attempt is over; the task may still have to end. */
static void detach(struct task *task, enum status_code code)
{
    struct due *due = task->due;
    struct run *run = frame_run(due->frame);
    tally_task_ended(task->thread->home->runner->options.tally, task_loop(task), task->node->kind, code,
                     clock_now_ns() - task->began_ns);
    loop_disarm(task_loop(task), &task->limit);
    loop_disarm(task_loop(task), &task->idle_limit);
    due->duration_ms = (uint32_t)((clock_now_ns() - task->began_ns) / NS_PER_MS);
    due->task = NULL;
    task->due = NULL;
    run->working--;
    if (!task->ended)
        run->loose++;
    run_alive(run);
    free_if_done(task);
}

/* True where the task still counts. */
static bool ends(struct task *task)
{
    struct run *run = task->thread->run;
    task->ended = true;
    if (task->due)
        return true;
    if (run && run->number == task->run_number && run->loose)
        run_loose_ended(run);
    free_if_done(task);
    return false;
}

void task_drop(struct due *due)
{
    struct task *task = due->task;
    if (due->state == DUE_RESTS)
        loop_disarm(due->frame->thread->home->loop, &due->rest);
    if (!task)
        return;
    task->in_start = true; /* it lives until we are done with it */
    detach(task, task->late ? DEADLINE_EXCEEDED : CANCELLED);
    if (!task->ended && task->node->kind->cancel) /* NOLINT(clang-analyzer-unix.Malloc): in_start keeps it */
        task->node->kind->cancel(task);
    task->in_start = false;
    free_if_done(task);
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

static int64_t rest_ms(const struct due *due, const struct status *st)
{
    const struct node_retry *retry = &due->node->retry;
    int64_t rest = retry->base_ms ? retry->base_ms : 100, most = retry->max_ms ? retry->max_ms : 30000;
    for (unsigned i = 1; i < due->tries && rest < most; i++)
        rest *= 2;
    rest = rest < most ? rest : most;
    return rest > st->retry_after_ms ? rest : st->retry_after_ms;
}

static void rested(struct timer *timer)
{
    struct due *due = (struct due *)((char *)timer - offsetof(struct due, rest));
    due_again(due);
}

static void attempt_failed(struct due *due, const struct status *st, bool final)
{
    struct run *run = frame_run(due->frame);
    char message[MESSAGE_MAX];
    text_cut_copy(message, sizeof message, st->text);
    due->code = (int)st->code;
    due->message = need(arena_strdup(due->frame->arena, message));
    bool again =
        !final && !run->stopping && due->tries < due->node->retry.attempts && due->node->retry.codes >> st->code & 1;
    if (!again) {
        due->state = DUE_FAILED;
        due_finished(due);
        run_pump(run);
        return;
    }
    Renga__V1__NodeRetried retried = RENGA__V1__NODE_RETRIED__INIT;
    int64_t rest = rest_ms(due, st);
    retried.attempt = (int32_t)due->attempts;
    retried.status_code = due->code;
    retried.message = message;
    retried.next_attempt_ms = wall_ms() + rest;
    run_shown(due, &retried, NULL);
    due->state = DUE_RESTS;
    due->rest = (struct timer){.expired = rested};
    loop_arm_after(due->frame->thread->home->loop, &due->rest, rest);
    run_pump(run);
}

void task_fail(struct task *task, const struct status *status)
{
    struct due *due = task->due;
    if (!ends(task))
        return;
    struct status st = *status;
    detach(task, st.code);
    attempt_failed(due, &st, false);
}

static void timed_out(struct task *task, const char *which, int64_t ms)
{
    struct due *due = task->due;
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "node '%s' %s %lld ms", due->node->name, which, (long long)ms);
    task->late = true;
    task_drop(due);
    attempt_failed(due, &st, false);
}

static void limit_passed(struct timer *timer)
{
    struct task *task = (struct task *)((char *)timer - offsetof(struct task, limit));
    timed_out(task, "has not ended within", task->node->timeout_ms);
}

static void idle_limit_passed(struct timer *timer)
{
    struct task *task = (struct task *)((char *)timer - offsetof(struct task, idle_limit));
    timed_out(task, "gave no sign of life for", task->node->idle_timeout_ms);
}

/* ---- success ----------------------------------------------------------------------------------------------------- */

/* The update is read at once: a fault in it is this node's. A jump writes to the graph around it. */
static bool read_update(struct due *due, struct status *st)
{
    struct frame *parent = due->frame->parent ? due->frame->parent->frame : NULL;
    if (!*due->response->goto_parent || !parent)
        return due_read_write(due, st);
    struct write write;
    struct write_source source = {.node = due->node->name,
                                  .update_json = due->response->update_json,
                                  .update_size = strlen(due->response->update_json),
                                  .overwrite_fields = due->response->overwrite_fields,
                                  .overwrite_count = due->response->n_overwrite_fields,
                                  .clear_fields = due->response->clear_fields,
                                  .clear_count = due->response->n_clear_fields};
    return write_parse(parent->graph, &source, due->frame->arena, &write, st);
}

static Response *keep(struct due *due, const Response *response)
{
    Response slim = *response;
    slim.n_progress_json = 0;
    if (response->n_interrupts) {
        slim.outcome = slim.update_json = slim.goto_parent = unconst("");
        slim.n_overwrite_fields = slim.n_clear_fields = slim.n_sends = 0;
    }
    return need(message_copy(due->frame->arena, &slim.base));
}

static void show_progress(struct due *due, const Response *response)
{
    struct status ignored;
    for (size_t i = 0; i < response->n_progress_json && i < 100; i++)
        if (response_check_json("progress", response->progress_json[i], PROGRESS_MAX, 0, &ignored))
            run_shown(due, NULL, response->progress_json[i]);
}

void task_finish(struct task *task, const Response *response)
{
    struct due *due = task->due;
    struct status st = {0};
    if (!ends(task))
        return;
    struct run *run = frame_run(due->frame);
    due->conflict = false;
    bool good = response_check(due, response, &st);
    if (good) {
        show_progress(due, response);
        due->response = keep(due, response);
        due->written = false;
    }
    if (good && !due->response->n_interrupts && !read_update(due, &st)) {
        good = false;
        due->conflict = true;
    }
    detach(task, good ? OK : st.code);
    if (!good) {
        attempt_failed(due, &st, true);
        return;
    }
    fold_spent(run, due->response);
    due->state = DUE_FINISHED;
    if (due->response->n_interrupts) {
        question_ask(due, due->response, wall_ms());
        due->state = DUE_WAITING;
    }
    due_finished(due);
    run_pump(run);
}

void task_progress(struct task *task, const char *json)
{
    struct status ignored;
    task_alive(task);
    if (task->due && response_check_json("progress", json, PROGRESS_MAX, 0, &ignored))
        run_shown(task->due, NULL, json);
}

void task_token(struct task *task, const char *text, const char *channel)
{
    task_alive(task);
    if (task->due)
        run_token(task->due, text, channel);
}

void task_alive(struct task *task)
{
    if (!task->due)
        return;
    if (task->node->idle_timeout_ms)
        loop_arm_after(task_loop(task), &task->idle_limit, task->node->idle_timeout_ms);
    run_alive(frame_run(task->due->frame));
}

/* ---- an attempt begins ------------------------------------------------------------------------------------------- */

static void arm_limits(struct task *task)
{
    const struct node *node = task->node;
    task->limit.expired = limit_passed;
    task->idle_limit.expired = idle_limit_passed;
    task->deadline_ns = TIME_NEVER;
    if (node->timeout_ms) {
        task->deadline_ns = task->began_ns + node->timeout_ms * NS_PER_MS;
        loop_arm(task_loop(task), &task->limit, task->deadline_ns);
    }
    if (node->idle_timeout_ms)
        loop_arm_after(task_loop(task), &task->idle_limit, node->idle_timeout_ms);
}

void task_begin(struct due *due)
{
    const struct node_kind *kind = due->node->kind;
    struct thread *thread = due->frame->thread;
    struct run *run = thread->run;
    struct task *task = need(malloc(sizeof *task + kind->size));
    memset(task, 0, offsetof(struct task, storage));
    memset(task->data, 0, kind->size);
    task->due = due;
    task->thread = thread;
    task->run_number = run->number;
    task->node = due->node;
    task->began_ns = clock_now_ns();
    arena_init(&task->arena, task->storage, sizeof task->storage, TASK_MEMORY_MAX);
    thread->holds++;
    tally_task_began(thread->home->runner->options.tally, thread->home->loop);
    due->task = task;
    due->state = DUE_AT_WORK;
    due->attempts++;
    due->tries++;
    due->cached = false;
    run->working++;
    arm_limits(task);
    run_shown_start(due);
    task->in_start = true;
    kind->start(task);
    task->in_start = false;
    free_if_done(task);
}
