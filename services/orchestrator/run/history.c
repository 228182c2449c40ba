/* Threads as their callers see them: state at any checkpoint, changes by hand, checkpoints. */
#include "errand.h"
#include "keep.h"
#include "migrate.h"
#include "run_priv.h"

#include <stdlib.h>

#define STATE_MAX    FIELD_BYTES_MAX /* bytes: one field always fits */
#define DUE_MAX      1000
#define PAGE_DEFAULT 50
#define PAGE_MAX     500
#define SCAN_BYTES   ((size_t)16 << 20)

#define TYPE(request, name) ((request)->descriptor == &renga__v1__##name##__descriptor)
#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = need(arena_alloc(arena, sizeof *name));                                                  \
    renga__v1__##name##__init(name)

/* A thread as it was at a checkpoint, for a single request. */
struct visit_of_past {
    struct errand *errand;
    struct thread *thread;
    void (*came)(struct errand *errand, struct thread *thread, struct thread *past);
    bool holds;
};

static void past_came(void *owner, struct thread *past, const struct status *st)
{
    struct visit_of_past *visit = owner;
    struct thread *thread = visit->thread;
    if (past)
        visit->came(visit->errand, thread, past);
    else
        errand_fail(visit->errand, st, NULL);
    bool holds = visit->holds;
    free(visit);
    if (holds)
        thread_unhold(thread);
    else
        thread_settle(thread);
}

static void visit_past(struct errand *errand, struct thread *thread, uint64_t number, bool holds,
                       void (*came)(struct errand *, struct thread *, struct thread *))
{
    struct visit_of_past *visit = need(calloc(1, sizeof *visit));
    *visit = (struct visit_of_past){.errand = errand, .thread = thread, .came = came, .holds = holds};
    if (holds)
        thread->held = true;
    thread_rebuild(thread, number, past_came, visit);
}

static bool find_checkpoint(struct errand *errand, const struct thread *thread, const char *id, uint64_t *number)
{
    *number = thread_stands_at(thread);
    if (!*id || (id_checkpoint_number(id, thread->place, number) && *number && *number <= thread->last))
        return true;
    return errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id, id);
}

static Renga__V1__Checkpoint *brief_checkpoint(struct arena *arena, const struct thread *thread, uint64_t number)
{
    NEW(arena, checkpoint, Checkpoint);
    checkpoint->checkpoint_id = checkpoint_text(arena, thread, number);
    checkpoint->created_ms = thread->updated_ms;
    checkpoint->graph_version = unconst(thread->agent ? thread->agent->version : "");
    checkpoint->graph_version = need(arena_strdup(arena, checkpoint->graph_version));
    if (thread->run) {
        checkpoint->run_id = need(arena_strdup(arena, thread->run->id));
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
    for (struct due *due = frame->due; due; due = due->next)
        for (size_t i = 0; i < due->branch_count; i++) {
            struct frame *found = due->branches[i].frame ? find_frame(due->branches[i].frame, path) : NULL;
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

static void list_due(struct arena *arena, const struct frame *frame, Renga__V1__GetStateResponse *response)
{
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    for (const struct due *due = frame->due; due && response->n_due < DUE_MAX; due = due->next) {
        NEW(arena, due_node, DueNode);
        due_node->path = need(arena_strdup(arena, buffer_text(&path)));
        due_node->node = need(arena_strdup(arena, due->node->name));
        due_node->branch = (int32_t)due->branch;
        due_node->state = due->state == DUE_FINISHED  ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_FINISHED
                          : due->state == DUE_FAILED  ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_FAILED
                          : due->state == DUE_WAITING ? RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_WAITING
                                                      : RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_PENDING;
        response->due[response->n_due++] = due_node;
        for (size_t i = 0; i < due->branch_count; i++)
            if (due->branches[i].frame)
                list_due(arena, due->branches[i].frame, response);
    }
    buffer_fini(&path);
}

struct listing {
    struct arena *arena;
    Renga__V1__GetStateResponse *response;
};

static void list_interrupt(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                           const struct due *due, struct question *question, Renga__V1__InterruptKind kind)
{
    struct listing *listing = visit->data;
    Renga__V1__GetStateResponse *response = listing->response;
    if (response->n_interrupts < DUE_MAX)
        response->interrupts[response->n_interrupts++] =
            question_message(listing->arena, frame, node, due, question, kind);
    else
        response->more_interrupts = true;
}

static bool write_state(struct errand *errand, const struct state *state, const Renga__V1__GetStateRequest *request,
                        Renga__V1__GetStateResponse *response)
{
    struct buffer out;
    struct json_writer writer;
    const struct field **fields = need(arena_alloc(errand->arena, (request->n_fields + 1) * sizeof(*fields)));
    struct status st = {0};
    for (size_t i = 0; i < request->n_fields; i++)
        if (!(fields[i] = graph_field_wanted(state_graph(state), request->fields[i], &st))) {
            st.code = NOT_FOUND;
            errand_fail(errand, &st, NULL);
            return false;
        }
    buffer_init(&out, STATE_MAX);
    json_writer_init(&writer, &out);
    state_write(state, request->n_fields ? fields : NULL, request->n_fields, &writer);
    bool good = !out.failed;
    response->state_json = need(arena_strndup(errand->arena, buffer_text(&out), out.length));
    buffer_fini(&out);
    if (good)
        return true;
    char largest[3 * (GRAPH_NAME_MAX + 48)];
    const struct field *const *asked = request->n_fields ? fields : NULL;
    state_tell_largest(state, asked, request->n_fields, largest, sizeof largest);
    return errand_refuse(errand, NULL, RESOURCE_EXHAUSTED,
                         "%s %zu bytes, and an answer has at most %zu: %s; ask for some of the fields, each fits alone",
                         asked ? "these fields have" : "the state has", state_size(state, asked, request->n_fields),
                         STATE_MAX, largest);
}

static bool make_state(struct errand *errand, struct thread *thread, struct thread *past, uint64_t number)
{
    const Renga__V1__GetStateRequest *request = (const void *)errand->request;
    struct frame *frame;
    const struct state *state = find_state(past, request->path, &frame);
    if (!state && *request->path)
        return errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no sub-graph at '%.200s'", thread->id,
                             request->path);
    NEW(errand->arena, get_state_response, GetStateResponse);
    if (!state)
        get_state_response->state_json = unconst("{}");
    else if (!write_state(errand, state, request, get_state_response))
        return false;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *agent = thread->agent ? thread->agent->name : last ? last->request->agent : "";
    get_state_response->agent = need(arena_strdup(errand->arena, agent));
    get_state_response->checkpoint = brief_checkpoint(errand->arena, past, number);
    get_state_response->due = need(arena_alloc(errand->arena, DUE_MAX * sizeof(*get_state_response->due)));
    get_state_response->interrupts =
        need(arena_alloc(errand->arena, DUE_MAX * sizeof(*get_state_response->interrupts)));
    if (frame) {
        struct listing listing = {errand->arena, get_state_response};
        struct interrupt_visit visit = {.came = list_interrupt, .data = &listing};
        list_due(errand->arena, frame, get_state_response);
        if (past->run)
            question_each(frame, &visit);
    }
    if (thread->run) {
        get_state_response->run_id = need(arena_strdup(errand->arena, thread->run->id));
        get_state_response->run_state = thread->run->state;
    }
    errand_done_with_checkpoint(errand, thread, get_state_response);
    return true;
}

static void state_came(struct errand *errand, struct thread *thread, struct thread *past)
{
    make_state(errand, thread, past, past->head);
    thread_free(past);
}

static void serve_state(struct errand *errand, struct thread *thread)
{
    uint64_t number;
    const Renga__V1__GetStateRequest *request = (const void *)errand->request;
    if (!find_checkpoint(errand, thread, request->checkpoint_id, &number))
        return;
    if (number == thread->head)
        make_state(errand, thread, thread, number);
    else if (number)
        visit_past(errand, thread, number, false, state_came);
    else /* its only run is undone */
        state_came(errand, thread, thread_new(thread->home, thread->tenant, thread->id));
}

/* ---- UpdateState ------------------------------------------------------------------------------------------------- */

static void past_to_update(struct errand *errand, struct thread *thread, struct thread *past)
{
    if (!errand_update(errand, thread, past))
        thread_free(past);
}

static void serve_update(struct errand *errand, struct thread *thread)
{
    uint64_t number, expected;
    const Renga__V1__UpdateStateRequest *request = (const void *)errand->request;
    if (!errand_is_new(errand, thread, request->request_id))
        return;
    if (thread_busy(thread)) {
        errand_refuse(errand, "THREAD_BUSY", ABORTED, "a run is at work on thread '%s'", thread->id);
        return;
    }
    if (*request->expected_checkpoint_id &&
        (!id_checkpoint_number(request->expected_checkpoint_id, thread->place, &expected) ||
         expected != thread_stands_at(thread))) {
        errand_refuse(errand, "STALE", ABORTED, "'%.64s' is not the thread's head any more",
                      request->expected_checkpoint_id);
        return;
    }
    if (!find_checkpoint(errand, thread, request->checkpoint_id, &number))
        return;
    if (number == thread->head)
        errand_update(errand, thread, thread);
    else if (!number)
        errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no state yet", thread->id);
    else if (thread_may_go_back(thread, errand))
        visit_past(errand, thread, number, true, past_to_update);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void errand_repeat_thread(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    if (TYPE(errand->request, update_state_request)) {
        NEW(errand->arena, update_state_response, UpdateStateResponse);
        NEW(errand->arena, checkpoint, Checkpoint);
        checkpoint->checkpoint_id = row->checkpoint_id;
        update_state_response->checkpoint = checkpoint;
        errand_done_with_checkpoint(errand, thread, update_state_response);
        return;
    }
    if (TYPE(errand->request, copy_thread_request)) {
        NEW(errand->arena, copy_thread_response, CopyThreadResponse);
        copy_thread_response->thread = answer_thread(errand->arena, thread);
        errand_done(errand, thread, copy_thread_response);
        return;
    }
    NEW(errand->arena, fork_thread_response, ForkThreadResponse);
    fork_thread_response->thread = answer_thread(errand->arena, thread);
    errand_done(errand, thread, fork_thread_response);
}

void errand_serve_history(struct errand *errand, struct thread *thread)
{
    if (TYPE(errand->request, fork_thread_request)) {
        history_fork(errand, thread);
        return;
    }
    if (TYPE(errand->request, delete_thread_request) && !thread->exists) {
        NEW(errand->arena, delete_thread_response, DeleteThreadResponse);
        errand_done(errand, thread, delete_thread_response);
        return;
    }
    if (TYPE(errand->request, copy_thread_request)) {
        history_copy(errand, thread);
        return;
    }
    if (TYPE(errand->request, migrate_run_request)) {
        history_migrate(errand, thread);
        return;
    }
    if (!thread->exists)
        errand_refuse(errand, NULL, NOT_FOUND, "there is no thread '%s'", thread->id);
    else if (TYPE(errand->request, get_state_request))
        serve_state(errand, thread);
    else if (TYPE(errand->request, update_state_request))
        serve_update(errand, thread);
    else if (TYPE(errand->request, delete_thread_request))
        history_delete(errand, thread);
    else if (TYPE(errand->request, list_checkpoints_request))
        errand_list(errand);
    else
        errand_refuse(errand, NULL, UNIMPLEMENTED, "this server does not know %s", errand->request->descriptor->name);
}
