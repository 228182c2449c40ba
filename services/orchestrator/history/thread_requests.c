/* Threads as their callers see them: state at any checkpoint, changes by hand, checkpoints. */
#include "thread_requests.h"
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "journal/replay.h"
#include "lifecycle/request_queue.h"
#include "lists.h"
#include "log/ids.h"
#include "retention/retention.h"
#include "state/state.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/buffer.h"
#include "base/status.h"
#include "json/writer.h"

#include <stdlib.h>

#define STATE_MAX       FIELD_BYTES_MAX /* bytes: one field always fits */
#define ACTIVATIONS_MAX 1000
#define PAGE_DEFAULT    50
#define PAGE_MAX        500
#define SCAN_BYTES      ((size_t)16 << 20)

#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = xnonnull(arena_alloc(arena, sizeof *name));                                              \
    renga__v1__##name##__init(name)

/* A thread as it was at a checkpoint, for a single request. */
struct visit_of_past {
    struct request *request;
    struct thread *thread;
    void (*came)(struct request *request, struct thread *thread, struct thread *past);
    bool holds;
};

static void thread_requests_past_came(void *owner, struct thread *past, const struct status *st)
{
    struct visit_of_past *visit = owner;
    struct thread *thread = visit->thread;
    if (past)
        visit->came(visit->request, thread, past);
    else
        request_fail(visit->request, st, NULL);
    bool holds = visit->holds;
    free(visit);
    if (holds)
        thread_unhold(thread);
    else
        thread_settle(thread);
}

static void visit_past(struct request *request, struct thread *thread, uint64_t number, bool holds,
                       void (*came)(struct request *, struct thread *, struct thread *))
{
    struct visit_of_past *visit = xnonnull(calloc(1, sizeof *visit));
    *visit = (struct visit_of_past){.request = request, .thread = thread, .came = came, .holds = holds};
    if (holds)
        thread->held = true;
    thread_replay(thread, number, thread_requests_past_came, visit);
}

static bool find_checkpoint(struct request *request, const struct thread *thread, const char *id, uint64_t *number)
{
    *number = thread_state_checkpoint(thread);
    if (!*id || (id_checkpoint_number(id, thread->place, number) && *number && *number <= thread->last))
        return true;
    return request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id, id);
}

static Renga__V1__Checkpoint *brief_checkpoint(struct arena *arena, const struct thread *thread, uint64_t number)
{
    NEW(arena, checkpoint, Checkpoint);
    checkpoint->checkpoint_id = checkpoint_text(arena, thread, number);
    checkpoint->created_ms = thread->updated_ms;
    checkpoint->graph_version = unconst(thread->agent ? thread->agent->version : "");
    checkpoint->graph_version = xnonnull(arena_strdup(arena, checkpoint->graph_version));
    if (thread->run) {
        checkpoint->run_id = xnonnull(arena_strdup(arena, thread->run->id));
        checkpoint->step = thread->run->step;
    }
    return checkpoint;
}

/* ---- GetState ---------------------------------------------------------------------------------------------------- */

static struct frame *find_frame(struct frame *frame, const char *path)
{
    struct buffer own;
    buffer_init(&own, PATH_MAX_BYTES);
    frame_path(frame, &own);
    bool same = strcmp(buffer_text(&own), path) == 0;
    buffer_fini(&own);
    if (same)
        return frame;
    for (struct activation *activation = frame->activations; activation; activation = activation->next)
        for (size_t i = 0; i < activation->branch_count; i++) {
            struct frame *found =
                activation->branches[i].frame ? find_frame(activation->branches[i].frame, path) : NULL;
            if (found)
                return found;
        }
    return NULL;
}

static const struct state *find_state(struct thread *past, const char *path, struct frame **frame)
{
    *frame = past->root ? find_frame(past->root, path) : NULL;
    if (*frame)
        return (*frame)->state;
    for (struct memory *memory = past->memories; memory; memory = memory->next)
        if (strcmp(memory->path, path) == 0)
            return memory->state;
    return NULL;
}

static void list_activations(struct arena *arena, const struct frame *frame, Renga__V1__GetStateResponse *response)
{
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    for (const struct activation *activation = frame->activations; activation && response->n_due < ACTIVATIONS_MAX;
         activation = activation->next) {
        NEW(arena, due_node, DueNode);
        due_node->path = xnonnull(arena_strdup(arena, buffer_text(&path)));
        due_node->node = xnonnull(arena_strdup(arena, activation->node->name));
        due_node->branch = (int32_t)activation->branch;
        due_node->state = activation->state == ACTIVATION_FINISHED  ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_FINISHED
                          : activation->state == ACTIVATION_FAILED  ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_FAILED
                          : activation->state == ACTIVATION_WAITING ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_WAITING
                                                                    : RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_PENDING;
        response->due[response->n_due++] = due_node;
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                list_activations(arena, activation->branches[i].frame, response);
    }
    buffer_fini(&path);
}

struct listing {
    struct arena *arena;
    Renga__V1__GetStateResponse *response;
};

static void thread_requests_list_interrupt(struct interrupt_visit *visit, const struct frame *frame,
                                           const struct node *node, const struct activation *activation,
                                           struct interrupt *interrupt, Renga__V1__InterruptKind kind)
{
    struct listing *listing = visit->data;
    Renga__V1__GetStateResponse *response = listing->response;
    if (response->n_interrupts < ACTIVATIONS_MAX)
        response->interrupts[response->n_interrupts++] =
            interrupt_message(listing->arena, frame, node, activation, interrupt, kind);
    else
        response->more_interrupts = true;
}

static bool write_state(struct request *request, const struct state *state, const Renga__V1__GetStateRequest *message,
                        Renga__V1__GetStateResponse *response)
{
    struct buffer out;
    struct json_writer writer;
    const struct field **fields = xnonnull(arena_alloc(request->arena, (message->n_fields + 1) * sizeof(*fields)));
    struct status st = {0};
    for (size_t i = 0; i < message->n_fields; i++)
        if (!(fields[i] = graph_field_wanted(state_graph(state), message->fields[i], &st))) {
            st.code = NOT_FOUND;
            request_fail(request, &st, NULL);
            return false;
        }
    size_t size = state_size(state, message->n_fields ? fields : NULL, message->n_fields);
    if (!request_hold(request, size, &st)) {
        request_fail(request, &st, NULL);
        return false;
    }
    buffer_init(&out, STATE_MAX);
    json_writer_init(&writer, &out);
    state_write(state, message->n_fields ? fields : NULL, message->n_fields, &writer);
    bool good = !out.failed;
    response->state_json = xnonnull(arena_strndup(request->arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    if (good)
        return true;
    char largest[3 * (GRAPH_NAME_MAX + 48)];
    const struct field *const *asked = message->n_fields ? fields : NULL;
    state_tell_largest(state, asked, message->n_fields, largest, sizeof largest);
    return request_refuse(
        request, NULL, RESOURCE_EXHAUSTED,
        "%s %zu bytes, and an answer has at most %zu: %s; ask for some of the fields, each fits alone",
        asked ? "these fields have" : "the state has", state_size(state, asked, message->n_fields), STATE_MAX, largest);
}

static bool make_state(struct request *request, struct thread *thread, struct thread *past, uint64_t number)
{
    const Renga__V1__GetStateRequest *message = (const void *)request->message;
    struct frame *frame;
    const struct state *state = find_state(past, message->path, &frame);
    if (!state && *message->path)
        return request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no sub-graph at '%.200s'", thread->id,
                              message->path);
    NEW(request->arena, get_state_response, GetStateResponse);
    if (!state)
        get_state_response->state_json = unconst("{}");
    else if (!write_state(request, state, message, get_state_response))
        return false;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *agent = thread->agent ? thread->agent->name : last ? last->request->agent : "";
    get_state_response->agent = xnonnull(arena_strdup(request->arena, agent));
    get_state_response->checkpoint = brief_checkpoint(request->arena, past, number);
    get_state_response->due = xnonnull(arena_alloc(request->arena, ACTIVATIONS_MAX * sizeof(*get_state_response->due)));
    get_state_response->interrupts =
        xnonnull(arena_alloc(request->arena, ACTIVATIONS_MAX * sizeof(*get_state_response->interrupts)));
    if (frame) {
        struct listing listing = {request->arena, get_state_response};
        struct interrupt_visit visit = {.came = thread_requests_list_interrupt, .data = &listing};
        list_activations(request->arena, frame, get_state_response);
        if (past->run)
            interrupts_each(frame, &visit);
    }
    if (thread->run) {
        get_state_response->run_id = xnonnull(arena_strdup(request->arena, thread->run->id));
        get_state_response->run_state = thread->run->state;
    }
    request_answer_with_checkpoint(request, thread, get_state_response);
    return true;
}

static void state_came(struct request *request, struct thread *thread, struct thread *past)
{
    make_state(request, thread, past, past->head);
    thread_free(past);
}

void request_get_state(struct request *request, struct thread *thread)
{
    uint64_t number;
    const Renga__V1__GetStateRequest *message = (const void *)request->message;
    if (!find_checkpoint(request, thread, message->checkpoint_id, &number))
        return;
    if (number == thread->head)
        make_state(request, thread, thread, number);
    else if (number)
        visit_past(request, thread, number, false, state_came);
    else /* its only run is undone */
        state_came(request, thread, thread_new(thread->shard, thread->tenant, thread->id));
}

/* ---- UpdateState ------------------------------------------------------------------------------------------------- */

static void past_to_update(struct request *request, struct thread *thread, struct thread *past)
{
    if (!request_update_state(request, thread, past))
        thread_free(past);
}

void request_serve_update(struct request *request, struct thread *thread)
{
    uint64_t number, expected;
    const Renga__V1__UpdateStateRequest *message = (const void *)request->message;
    if (!request_is_new(request, thread, message->request_id))
        return;
    if (thread_busy(thread)) {
        request_refuse(request, "THREAD_BUSY", ABORTED, "a run is at work on thread '%s'", thread->id);
        return;
    }
    if (*message->expected_checkpoint_id &&
        (!id_checkpoint_number(message->expected_checkpoint_id, thread->place, &expected) ||
         expected != thread_state_checkpoint(thread))) {
        request_refuse(request, "STALE", ABORTED, "'%.64s' is not the thread's head any more",
                       message->expected_checkpoint_id);
        return;
    }
    if (!find_checkpoint(request, thread, message->checkpoint_id, &number))
        return;
    if (number == thread->head)
        request_update_state(request, thread, thread);
    else if (!number)
        request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no state yet", thread->id);
    else if (thread_may_go_back(thread, request))
        visit_past(request, thread, number, true, past_to_update);
}

/* ---- DeleteThread, ListCheckpoints ------------------------------------------------------------------------------- */

void request_delete_thread(struct request *request, struct thread *thread)
{
    if (thread->exists) {
        history_delete(request, thread);
        return;
    }
    NEW(request->arena, delete_thread_response, DeleteThreadResponse);
    request_answer_on_commit(request, thread, delete_thread_response);
}

void request_list_checkpoints(struct request *request, struct thread *thread)
{
    list_checkpoints(request);
}

/* ---- requests that are sent again -------------------------------------------------------------------------------- */

void request_repeat_update(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    NEW(request->arena, update_state_response, UpdateStateResponse);
    NEW(request->arena, checkpoint, Checkpoint);
    checkpoint->checkpoint_id = row->checkpoint_id;
    update_state_response->checkpoint = checkpoint;
    request_answer_with_checkpoint(request, thread, update_state_response);
}

void request_repeat_copy(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    NEW(request->arena, copy_thread_response, CopyThreadResponse);
    copy_thread_response->thread = answer_thread(request->arena, thread);
    request_answer_on_commit(request, thread, copy_thread_response);
}

void request_repeat_fork(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    NEW(request->arena, fork_thread_response, ForkThreadResponse);
    fork_thread_response->thread = answer_thread(request->arena, thread);
    request_answer_on_commit(request, thread, fork_thread_response);
}
