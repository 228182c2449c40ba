/* Events that the log does not hold yet, or that wait for the disk: kept while anybody watches the thread's runs. */
#include "attempt.h"
#include "events.h"

#include <stdlib.h>

#define LIVE_MAX    4096              /* events of a thread */
#define LIVE_BYTES  ((size_t)4 << 20) /* of them */
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
    thread->live_bytes += event->size;
}

static void drop_first(struct thread *thread)
{
    struct live_event *event = thread->live;
    thread->live = event->next;
    if (!thread->live)
        thread->last_live = NULL;
    thread->live_count--;
    thread->live_bytes -= event->size;
    free(event);
}

void live_drop(struct thread *thread)
{
    while (thread->live)
        drop_first(thread);
}

static void hand_to(struct seat *seat, const struct live_event *event)
{
    if (seat->live && seat_is_full(seat) && seat->full) { /* too slow: it reads the log again */
        seat->live = false;
        seat->next_record = (uint64_t)seat->cursor >> EVENT_NUMBER_BITS;
        seat->text_from = seat->misses_text ? seat->text_from : seat->cursor;
        seat->misses_text = true;
    }
    if (seat->live)
        seat_add(seat, event);
}

/* Hands out what may be shown; what the log holds by now is dropped. */
static void hand_out(struct thread *thread)
{
    for (struct live_event *event = thread->live; event && event->record <= thread->committed; event = event->next)
        for (struct seat *seat = thread->seats, *next; seat; seat = next) {
            next = seat->next;
            hand_to(seat, event);
        }
    while (thread->live && (uint64_t)thread->live->id >> EVENT_NUMBER_BITS <= thread->committed)
        drop_first(thread);
    for (struct seat *seat = thread->seats; seat; seat = seat->next) {
        seat_tell_said(seat);
        if (seat->live)
            seat_send(seat);
    }
}

struct event_reader event_reader_of(struct run *run, struct arena *arena)
{
    return (struct event_reader){.agent = run->agent,
                                 .run_id = run->id,
                                 .thread_id = run->thread->id,
                                 .place = run->thread->place,
                                 .arena = arena};
}

/* What all have that are live makes room first: whoever comes later misses it. */
static bool make_room(struct thread *thread)
{
    while (thread->live_count >= LIVE_MAX || thread->live_bytes >= LIVE_BYTES) {
        if (thread->live->record > thread->committed)
            return false;
        drop_first(thread);
    }
    return true;
}

static struct live_event *live_of_run(const struct run *run, Renga__V1__RunEvent *event, bool of_result)
{
    event->provisional = !of_result;
    struct live_event *live = live_event_of(event);
    live->run = run->number;
    live->record = of_result ? run->thread->last + 1 : 0;
    return live;
}

static void show(struct run *run, Renga__V1__RunEvent *event, bool of_result)
{
    struct thread *thread = run->thread;
    if (!make_room(thread))
        return;
    struct live_event *live = live_of_run(run, event, of_result);
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
    /* It was noted last; who reads it again is told the same time. */
    int64_t at_ms = run->shown_ms[run->shown_count - 1];
    show(run, event_of_shown(&reader, shown, run->thread->last + 1, at_ms), shown->of_result);
    arena_fini(&arena);
}

/* Before anybody watched, or dropped since to make room. */
void live_recall(struct run *run)
{
    struct arena arena;
    struct thread *thread = run->thread;
    struct live_event **link = &thread->live;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    for (size_t i = 0; i < run->shown_count; i++) {
        Renga__V1__RunEvent *event = event_of_shown(&reader, run->shown[i], thread->last + 1, run->shown_ms[i]);
        while (*link && (*link)->id < event->event_id)
            link = &(*link)->next;
        if (*link && (*link)->id == event->event_id)
            continue;
        struct live_event *live = live_of_run(run, event, run->shown[i]->of_result);
        live->next = *link;
        *link = live;
        if (!live->next)
            thread->last_live = live;
        thread->live_count++;
        thread->live_bytes += live->size;
    }
    arena_fini(&arena);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void write_token(struct due *due, int64_t id, Renga__V1__NodeToken *token, struct buffer *path,
                        Renga__V1__RunEvent *event)
{
    buffer_init(path, PATH_MAX_BYTES);
    frame_path(due->frame, path);
    renga__v1__run_event__init(event);
    event->event_id = id;
    event->run_id = frame_run(due->frame)->id;
    event->time_ms = wall_ms();
    event->step = due->frame->step + 1;
    event->path = unconst(buffer_text(path));
    event->node = unconst(due->node->name);
    event->branch = (int32_t)due->branch;
    event->event_case = RENGA__V1__RUN_EVENT__EVENT_TOKEN;
    event->token = token;
}

void audience_token(struct due *due, int64_t id, const char *text, const char *channel)
{
    struct run *run = frame_run(due->frame);
    struct buffer path;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    Renga__V1__RunEvent event;
    if (!is_watched(run))
        return;
    token.text = unconst(text);
    token.channel = unconst(channel);
    write_token(due, id, &token, &path, &event);
    show(run, &event, false);
    buffer_fini(&path);
}

static void tell_text(struct seat *seat, struct due *due, struct said *said)
{
    struct buffer path;
    struct thread *thread = seat->thread;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    Renga__V1__RunEvent event;
    token.text = unconst(said_since(said, seat->text_from));
    token.channel = unconst(said_channel(said));
    if (!*token.text || seat_is_full(seat))
        return;
    write_token(due, (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | thread->event_number++), &token, &path,
                &event);
    struct live_event *live = live_of_run(frame_run(due->frame), &event, false);
    seat_add(seat, live);
    free(live);
    buffer_fini(&path);
}

static void tell_texts(struct seat *seat, struct frame *frame)
{
    for (struct due *due = frame->due; due; due = due->next) {
        for (struct said *said = due->attempt ? due->attempt->said : NULL; said; said = said_next(said))
            tell_text(seat, due, said);
        for (size_t i = 0; i < due->branch_count; i++)
            if (due->branches[i].frame)
                tell_texts(seat, due->branches[i].frame);
    }
}

/* Their events have ids of their own, above all that is on its way to the disk: so only when nothing is. */
void seat_tell_said(struct seat *seat)
{
    struct thread *thread = seat->thread;
    if (!seat->live || !seat->misses_text || thread->committed != thread->last)
        return;
    seat->misses_text = false;
    if (thread->root && thread->run && thread->run->number == seat->run_number)
        tell_texts(seat, thread->root);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

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
    hand_out(thread);
    for (struct seat *seat = thread->seats; seat; seat = seat->next)
        if (!seat->live)
            seat_fill(seat);
}

void audience_ended(struct thread *thread, const struct status *why)
{
    live_drop(thread);
    for (struct seat *seat = thread->seats; seat; seat = seat->next)
        seat_end(seat, why);
}
