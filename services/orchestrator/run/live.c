/* Events that the log does not hold yet, or that wait for the disk: kept while anybody watches the thread's runs. */
#include "run_priv.h"

#include <stdlib.h>

#define LIVE_MAX    4096 /* events of a thread */
#define SCRATCH_MAX ((size_t)256 << 20)

static Renga__V1__RunEventKind kind_of(const Renga__V1__RunEvent *event)
{
    return (Renga__V1__RunEventKind)(event->event_case - RENGA__V1__RUN_EVENT__EVENT_STARTED + 1);
}

struct live_event *live_event_of(const Renga__V1__RunEvent *event)
{
    size_t size = renga__v1__run_event__get_packed_size(event);
    struct live_event *live = need(malloc(sizeof *live + size));
    *live = (struct live_event){.id = event->event_id, .size = size, .kind = kind_of(event), .inner = *event->path};
    live->stops = event->event_case == RENGA__V1__RUN_EVENT__EVENT_STOPPED;
    live->waits = live->stops && event->stopped->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    renga__v1__run_event__pack(event, live->bytes);
    return live;
}

static bool is_watched(const struct run *run)
{
    return run->thread->seats != NULL;
}

static void keep_live(struct thread *thread, struct live_event *event)
{
    if (thread->last_live)
        thread->last_live->next = event;
    else
        thread->live = event;
    thread->last_live = event;
    thread->live_count++;
}

static void drop_live(struct thread *thread)
{
    while (thread->live) {
        struct live_event *event = thread->live;
        thread->live = event->next;
        free(event);
    }
    thread->last_live = NULL;
    thread->live_count = 0;
}

/* Hands out what may be shown; what the log holds by now is dropped. */
static void hand_out(struct thread *thread)
{
    for (struct live_event *event = thread->live; event; event = event->next) {
        if (event->record > thread->committed)
            break;
        for (struct seat *seat = thread->seats, *next; seat; seat = next) {
            next = seat->next;
            if (seat->live && seat_is_full(seat) && seat->full) { /* too slow: it reads the log again */
                seat->live = false;
                seat->next_record = (uint64_t)seat->cursor >> EVENT_NUMBER_BITS;
            }
            if (seat->live)
                seat_add(seat, event);
        }
    }
    while (thread->live && (uint64_t)thread->live->id >> EVENT_NUMBER_BITS <= thread->committed) {
        struct live_event *event = thread->live;
        thread->live = event->next;
        thread->live_count--;
        free(event);
    }
    if (!thread->live)
        thread->last_live = NULL;
    for (struct seat *seat = thread->seats; seat; seat = seat->next)
        if (seat->live)
            seat_send(seat);
}

struct event_reader event_reader_of(struct run *run, struct arena *arena)
{
    return (struct event_reader){.agent = run->agent,
                                 .run_id = run->id,
                                 .thread_id = run->thread->id,
                                 .place = run->thread->place,
                                 .arena = arena};
}

static void show(struct run *run, Renga__V1__RunEvent *event)
{
    struct thread *thread = run->thread;
    if (thread->live_count >= LIVE_MAX)
        return;
    event->provisional = true;
    struct live_event *live = live_event_of(event);
    live->run = run->number;
    keep_live(thread, live);
    if (thread->live == live || thread->live->record <= thread->committed)
        hand_out(thread);
}

void audience_shown(struct run *run, const Renga__V1__ShownEvent *shown)
{
    struct arena arena;
    if (!is_watched(run))
        return;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    show(run, event_of_shown(&reader, shown, run->thread->last + 1, wall_ms()));
    arena_fini(&arena);
}

void audience_token(struct due *due, uint32_t number, const char *text, const char *channel)
{
    struct run *run = frame_run(due->frame);
    struct buffer path;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    Renga__V1__RunEvent event = RENGA__V1__RUN_EVENT__INIT;
    if (!is_watched(run))
        return;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(due->frame, &path);
    token.text = unconst(text);
    token.channel = unconst(channel);
    event.event_id = (int64_t)((run->thread->last + 1) << EVENT_NUMBER_BITS | number);
    event.run_id = run->id;
    event.time_ms = wall_ms();
    event.step = due->frame->step + 1;
    event.path = unconst(buffer_text(&path));
    event.node = unconst(due->node->name);
    event.branch = (int32_t)due->branch;
    event.event_case = RENGA__V1__RUN_EVENT__EVENT_TOKEN;
    event.token = &token;
    show(run, &event);
    buffer_fini(&path);
}

struct recording {
    struct run *run;
    uint64_t number;
    uint32_t first_kept;
};

static void recorded(struct event_reader *reader, const Renga__V1__RunEvent *event)
{
    struct recording *recording = reader->data;
    struct thread *thread = recording->run->thread;
    if ((event->event_id & ((1 << EVENT_NUMBER_BITS) - 1)) < recording->first_kept)
        return; /* was shown already */
    struct live_event *live = live_event_of(event);
    live->run = recording->run->number;
    live->record = recording->number;
    keep_live(thread, live);
}

void audience_recorded(struct run *run, const Record *record, uint64_t number)
{
    struct arena arena;
    struct recording recording = {run, number, record->first_event};
    if (!is_watched(run))
        return;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    reader.live = run;
    reader.came = recorded;
    reader.data = &recording;
    events_of_record(&reader, record, number);
    arena_fini(&arena);
}

void audience_committed(struct thread *thread)
{
    if (!thread->seats) {
        drop_live(thread);
        return;
    }
    hand_out(thread);
    for (struct seat *seat = thread->seats; seat; seat = seat->next)
        if (!seat->live)
            seat_fill(seat);
}

void audience_ended(struct thread *thread, const struct status *why)
{
    drop_live(thread);
    for (struct seat *seat = thread->seats; seat; seat = seat->next)
        seat_end(seat, why);
}
