/* What is shown at once: beginnings of attempts, retries, progress. It is kept with the next record. */
#include "attempt.h"

#include "base/clock.h"

#include <stdlib.h>

#define SHOWN_FIRST 8

static Renga__V1__ShownEvent *note(struct due *due)
{
    struct run *run = frame_run(due->frame);
    struct thread *thread = run->thread;
    if (run->shown_count >= EVENTS_SHOWN_MAX || run->shown_bytes >= SHOWN_BYTES_MAX) {
        Record record = RENGA__V1__LOG_RECORD__INIT;
        log_append(thread, run, &record);
    }
    if (run->shown_count == run->shown_room) {
        run->shown_room = run->shown_room ? 2 * run->shown_room : SHOWN_FIRST;
        run->shown = need(realloc(run->shown, run->shown_room * sizeof(*run->shown)));
        run->shown_ms = need(realloc(run->shown_ms, run->shown_room * sizeof *run->shown_ms));
    }
    struct arena *arena = &run->shown_arena;
    Renga__V1__ShownEvent *event = need(arena_alloc(arena, sizeof *event));
    renga__v1__shown_event__init(event);
    event->number = thread->event_number++;
    event->node = (uint32_t)due->node->index;
    event->branch = due->branch;
    event->step = due->frame->step + 1;
    event->attempts_before = due->attempts ? due->attempts - 1 : 0;
    if (due->frame->parent) {
        event->place = need(arena_alloc(arena, 3 * FRAME_DEPTH_MAX * sizeof *event->place));
        event->n_place = frame_place(due->frame, event->place);
    }
    run->shown_ms[run->shown_count] = wall_ms();
    run->shown[run->shown_count++] = event;
    return event;
}

void run_shown_start(struct due *due)
{
    struct run *run = frame_run(due->frame);
    Renga__V1__ShownEvent *event = note(due);
    audience_shown(run, event);
}

void run_shown(struct due *due, const Renga__V1__NodeRetried *retried, const char *progress)
{
    struct run *run = frame_run(due->frame);
    Renga__V1__ShownEvent *event = note(due);
    if (retried)
        event->retried = need(message_copy(&run->shown_arena, &retried->base));
    if (progress)
        event->progress_json = need(arena_strdup(&run->shown_arena, progress));
    run->shown_bytes += progress ? strlen(progress) : 0;
    audience_shown(run, event);
}

void run_shown_result(struct due *due, const char *progress)
{
    struct run *run = frame_run(due->frame);
    Renga__V1__ShownEvent *event = note(due);
    event->of_result = true;
    event->progress_json = need(arena_strdup(&run->shown_arena, progress));
    run->shown_bytes += strlen(progress);
    audience_shown(run, event);
}

void run_token(struct due *due, const char *text, const char *channel)
{
    struct thread *thread = due->frame->thread;
    uint32_t number = thread->event_number++;
    if (number >= 1u << (EVENT_NUMBER_BITS - 1)) {
        Record record = RENGA__V1__LOG_RECORD__INIT;
        log_append(thread, thread->run, &record);
        number = thread->event_number++;
    }
    int64_t id = (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | number);
    said_add(&due->attempt->said, id, text, channel, thread->seats != NULL);
    audience_token(due, id, text, channel);
}
