/* Messages for callers: copies in their own arena, since the state in memory goes on changing. */
#include "run_message.h"
#include "graph/agents.h"
#include "interrupt.h"
#include "log/ids.h"
#include "log/rows.h"
#include "memory.h"
#include "retention_limits.h"
#include "run.h"
#include "shard.h"
#include "state/state.h"
#include "thread.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "json/writer.h"

#include <inttypes.h>

#define INTERRUPTS_BYTES_MAX ((size_t)1 << 20)
#define INTERRUPTS_MAX       1000
#define OUTPUT_MAX           ((size_t)3145728)

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static char *text_in(struct arena *arena, const char *text)
{
    return xnonnull(arena_strdup(arena, text ? text : ""));
}

char *checkpoint_text(struct arena *arena, const struct thread *thread, uint64_t number)
{
    char id[ID_MAX] = "";
    if (number)
        id_make_checkpoint(id, thread->place, number);
    return text_in(arena, id);
}

struct listing {
    struct arena *arena;
    Renga__V1__Run *run;
    size_t bytes;
};

static void run_message_list_interrupt(struct interrupt_visit *visit, const struct frame *frame,
                                       const struct node *node, const struct activation *activation,
                                       struct interrupt *interrupt, Renga__V1__InterruptKind kind)
{
    struct listing *listing = visit->data;
    Renga__V1__Run *run = listing->run;
    if (run->n_interrupts == INTERRUPTS_MAX || listing->bytes > INTERRUPTS_BYTES_MAX) {
        run->more_interrupts = true;
        return;
    }
    if (!run->interrupts)
        run->interrupts = xnonnull(arena_alloc(listing->arena, INTERRUPTS_MAX * sizeof(*run->interrupts)));
    Renga__V1__Interrupt *message = interrupt_message(listing->arena, frame, node, activation, interrupt, kind);
    listing->bytes += renga__v1__interrupt__get_packed_size(message);
    run->interrupts[run->n_interrupts++] = message;
}

static bool has_output(const struct run *run)
{
    const struct frame *root = run->thread->root;
    return run == run->thread->run && root && run->state >= RENGA__V1__RUN_STATE__RUN_STATE_WAITING &&
           root->graph == run_graph(run);
}

size_t answer_output_size(const struct run *run)
{
    const struct frame *root = run->thread->root;
    return has_output(run) ? state_size(root->state, root->graph->output, root->graph->output_count) : 0;
}

static void write_output(const struct frame *root, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    state_write(root->state, root->graph->output, root->graph->output_count, &writer);
}

static void add_output(struct arena *arena, const struct run *run, size_t limit, Renga__V1__Run *message)
{
    struct buffer out;
    const struct frame *root = run->thread->root;
    if (!has_output(run))
        return;
    size_t most = answer_output_size(run);
    if (most < limit) { /* it fits: it is written once, in its place */
        out = state_room(xnonnull(arena_alloc(arena, most + 1)), most);
        write_output(root, &out);
        message->output_json = unconst(buffer_text(&out));
        return;
    }
    buffer_init(&out, limit);
    write_output(root, &out);
    message->output_omitted = out.failed;
    message->output_json = out.failed ? unconst("") : xnonnull(arena_strndup(arena, buffer_text(&out), out.length));
    buffer_fini(&out);
}

void answer_resumptions(struct arena *arena, const struct run *run, Renga__V1__Run *message)
{
    message->resumptions = xnonnull(arena_alloc(arena, (run->resumption_count + 1) * sizeof(*message->resumptions)));
    for (size_t i = 0; i < run->resumption_count; i++)
        message->resumptions[message->n_resumptions++] = xnonnull(message_copy(arena, &run->resumptions[i]->base));
}

static void add_details(struct arena *arena, const struct run *run, size_t output_max, Renga__V1__Run *message)
{
    message->failures = xnonnull(arena_alloc(arena, (run->failure_count + 1) * sizeof(*message->failures)));
    for (size_t i = 0; i < run->failure_count; i++)
        message->failures[message->n_failures++] = xnonnull(message_copy(arena, &run->failures[i]->base));
    if (run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING && run == run->thread->run) {
        struct listing listing = {.arena = arena, .run = message};
        struct interrupt_visit visit = {.came = run_message_list_interrupt, .data = &listing};
        interrupts_each(run->thread->root, &visit);
    }
    message->interrupt_timeout =
        run->request->interrupt_timeout ? xnonnull(message_copy(arena, &run->request->interrupt_timeout->base)) : NULL;
    answer_resumptions(arena, run, message);
    add_output(arena, run, output_max, message);
}

/* Entries of all string maps have the same layout. */
static void *copy_labels(struct arena *arena, const Renga__V1__StartRunRequest *request)
{
    void **labels = xnonnull(arena_alloc(arena, (request->n_labels + 1) * sizeof *labels));
    for (size_t i = 0; i < request->n_labels; i++)
        labels[i] = xnonnull(message_copy(arena, &request->labels[i]->base));
    return labels;
}

Renga__V1__Run *answer_run(struct arena *arena, const struct run *run, enum answer_form form)
{
    const struct thread *thread = run->thread;
    const Renga__V1__StartRunRequest *request = run->request;
    Renga__V1__Run *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__run__init(message);
    message->run_id = text_in(arena, run->id);
    message->thread_id = text_in(arena, thread->id);
    message->agent = text_in(arena, request->agent);
    message->graph_version = text_in(arena, run->begun->graph_version);
    message->state = run->state;
    message->stop_reason = run->reason;
    message->stop_text = text_in(arena, run->text);
    message->status_code = run->status_code;
    message->reason = text_in(arena, run->cause);
    message->undone = run->undone;
    message->usage = xnonnull(arena_copy(arena, &run->usage, sizeof run->usage));
    message->degradations = xnonnull(arena_alloc(arena, (run->degradation_count + 1) * sizeof(*message->degradations)));
    for (size_t i = 0; i < run->degradation_count; i++)
        message->degradations[message->n_degradations++] = xnonnull(message_copy(arena, &run->degradations[i]->base));
    message->step = run->step;
    message->checkpoint_id = checkpoint_text(arena, thread, run->checkpoint);
    message->last_event_id = run->last_event;
    message->created_ms = run->created_ms;
    message->started_ms = run->started_ms;
    message->updated_ms = run->updated_ms;
    message->ended_ms = run->ended_ms;
    message->owner = text_in(arena, run_is_open(run) ? run->owner : "");
    message->fencing_token = run_is_open(run) ? owner_token(run->thread) : 0;
    message->request_id = text_in(arena, request->request_id);
    message->labels = copy_labels(arena, request);
    message->n_labels = request->n_labels;
    if (form == ANSWER_LISTED)
        message->output_omitted = message->state >= RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    else
        add_details(arena, run, form == ANSWER_ROW ? OUTPUT_ROW_MAX : OUTPUT_MAX, message);
    return message;
}

Renga__V1__RunRow *answer_read_row(struct arena *arena, const struct store_row *row, struct status *st)
{
    Renga__V1__RunRow *message = row_read(arena, &renga__v1__run_row__descriptor, row, st);
    if (message && message->run->stop_reason == RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED &&
        !*message->run->stop_text)
        message->run->stop_text = unconst(RUN_COMPLETED_TEXT);
    return message;
}

Renga__V1__Thread *answer_thread(struct arena *arena, const struct thread *thread)
{
    Renga__V1__Thread *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__thread__init(message);
    const struct run *last = thread->run ? thread->run : thread->queue;
    message->thread_id = text_in(arena, thread->id);
    message->agent = text_in(arena, thread->agent ? thread->agent->name : last ? last->request->agent : "");
    message->checkpoint_id = checkpoint_text(arena, thread, thread_state_checkpoint(thread));
    message->run_id = text_in(arena, last ? last->id : "");
    message->run_state = last ? last->state : RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED;
    if (last) {
        message->labels = copy_labels(arena, last->request);
        message->n_labels = last->request->n_labels;
    }
    for (const struct run *run = thread->queue; run; run = run->next)
        message->queued_runs++;
    message->created_ms = thread->created_ms;
    message->updated_ms = thread->updated_ms;
    if (thread->retention)
        message->retention = xnonnull(message_copy(arena, &thread->retention->base));
    int64_t ttl_ms = retention_limits_of(thread->shard->runner, thread->retention).ttl_ms;
    if (ttl_ms > 0)
        message->expires_ms = ttl_ms < INT64_MAX - thread->updated_ms ? thread->updated_ms + ttl_ms : INT64_MAX;
    return message;
}
