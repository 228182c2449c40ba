/* Pending events: beginnings of attempts, retries, progress. Watchers get them at once; the next record stores them. */
#include "pending_events.h"
#include "fanout/attempt_data.h"
#include "journal/events.h"
#include "journal/journal_writer.h"
#include "subscribers.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/thread.h"
#include "token_buffer.h"

#include "base/clock.h"

#include <stdlib.h>

#define PENDING_EVENTS_FIRST 8

static Renga__V1__ShownEvent *pending_event_new(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    struct thread *thread = run->thread;
    if (run->pending_event_count >= PENDING_EVENTS_MAX || run->pending_event_bytes >= PENDING_EVENT_BYTES_MAX) {
        Record record = RENGA__V1__LOG_RECORD__INIT;
        log_append(thread, run, &record);
    }
    if (run->pending_event_count == run->pending_event_capacity) {
        run->pending_event_capacity =
            run->pending_event_capacity ? 2 * run->pending_event_capacity : PENDING_EVENTS_FIRST;
        run->pending_events =
            xnonnull(realloc(run->pending_events, run->pending_event_capacity * sizeof(*run->pending_events)));
        run->pending_event_ms =
            xnonnull(realloc(run->pending_event_ms, run->pending_event_capacity * sizeof *run->pending_event_ms));
    }
    struct arena *arena = &run->pending_event_arena;
    Renga__V1__ShownEvent *event = xnonnull(arena_alloc(arena, sizeof *event));
    renga__v1__shown_event__init(event);
    event->number = thread->event_number++;
    event->node = (uint32_t)activation->node->index;
    event->branch = activation->branch;
    event->step = activation->frame->step + 1;
    event->attempts_before = activation->attempts ? activation->attempts - 1 : 0;
    if (activation->frame->parent) {
        event->place = xnonnull(arena_alloc(arena, 3 * FRAME_DEPTH_MAX * sizeof *event->place));
        event->n_place = frame_place(activation->frame, event->place);
    }
    run->pending_event_ms[run->pending_event_count] = wall_ms();
    run->pending_events[run->pending_event_count++] = event;
    return event;
}

void run_pending_started(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    Renga__V1__ShownEvent *event = pending_event_new(activation);
    subscribers_send_pending(run, event);
}

void run_pending_progress(struct activation *activation, const Renga__V1__NodeRetried *retried, const char *progress)
{
    struct run *run = frame_run(activation->frame);
    Renga__V1__ShownEvent *event = pending_event_new(activation);
    if (retried)
        event->retried = xnonnull(message_copy(&run->pending_event_arena, &retried->base));
    if (progress)
        event->progress_json = xnonnull(arena_strdup(&run->pending_event_arena, progress));
    run->pending_event_bytes += progress ? strlen(progress) : 0;
    subscribers_send_pending(run, event);
}

void run_pending_result(struct activation *activation, const char *progress)
{
    struct run *run = frame_run(activation->frame);
    Renga__V1__ShownEvent *event = pending_event_new(activation);
    event->of_result = true;
    event->progress_json = xnonnull(arena_strdup(&run->pending_event_arena, progress));
    run->pending_event_bytes += strlen(progress);
    subscribers_send_pending(run, event);
}

void run_token(struct activation *activation, const char *text, const char *channel)
{
    struct thread *thread = activation->frame->thread;
    uint32_t number = thread->event_number++;
    if (number >= 1u << (EVENT_NUMBER_BITS - 1)) {
        Record record = RENGA__V1__LOG_RECORD__INIT;
        log_append(thread, thread->run, &record);
        number = thread->event_number++;
    }
    int64_t id = (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | number);
    token_buffer_add(&activation->attempt->token_buffer, id, text, channel, thread->subscriptions != NULL);
    subscribers_send_token(activation, id, text, channel);
}
