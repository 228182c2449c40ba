/* Events that the log does not hold yet, or that wait for the disk: kept while a client watches a run of the thread. */
#include "fanout/attempt_data.h"
#include "journal/events.h"
#include "subscribers.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "token_buffer.h"

#include "base/arena.h"
#include "base/buffer.h"

#include <stdlib.h>

#define LIVE_MAX    4096              /* events of a thread */
#define LIVE_BYTES  ((size_t)4 << 20) /* of them */
#define SCRATCH_MAX ((size_t)256 << 20)

static Renga__V1__RunEventKind live_events_kind_of(const Renga__V1__RunEvent *event)
{
    return (Renga__V1__RunEventKind)(event->event_case - RENGA__V1__RUN_EVENT__EVENT_STARTED + 1);
}

struct live_event *live_event_of(const Renga__V1__RunEvent *event)
{
    size_t size = renga__v1__run_event__get_packed_size(event);
    struct live_event *live = xnonnull(malloc(sizeof *live + size));
    *live = (struct live_event){
        .id = event->event_id, .size = size, .kind = live_events_kind_of(event), .inner = *event->path};
    live->stops = event->event_case == RENGA__V1__RUN_EVENT__EVENT_STOPPED;
    live->waits = live->stops && event->stopped->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    renga__v1__run_event__pack(event, live->bytes);
    return live;
}

static bool live_events_is_watched(const struct run *run)
{
    return run->thread->subscriptions != NULL;
}

static void queue_live_event(struct thread *thread, struct live_event *event)
{
    if (thread->last_live)
        thread->last_live->next = event;
    else
        thread->live = event;
    thread->last_live = event;
    thread->live_count++;
    thread->live_bytes += event->size;
}

static void live_event_deliver(struct subscription *subscription, const struct live_event *event)
{
    if (subscription->state == SUBSCRIPTION_LIVE && subscription_is_full(subscription) &&
        subscription->full) /* too slow */
        subscription_fall_behind(subscription);
    if (subscription->state == SUBSCRIPTION_LIVE)
        subscription_add(subscription, event);
}

static void live_events_deliver_to(struct subscription *subscription)
{
    struct thread *thread = subscription->thread;
    for (struct live_event *event = thread->live; event && event->record <= thread->committed; event = event->next)
        live_event_deliver(subscription, event);
    subscription_send_tokens(subscription);
    if (subscription->state == SUBSCRIPTION_LIVE)
        subscription_send(subscription);
}

static void live_pass_begin(struct thread *thread)
{
    thread->live_pass.under_way = true;
    thread->live_pass.again = false;
    thread->live_pass.next = thread->subscriptions;
    thread->live_pass.upto = thread->committed;
}

/* True: all subscriptions have all events whose record is on disk. False: the rest waits for the next visit. */
static bool live_pass_go_on(struct thread *thread, bool at_once)
{
    struct live_pass *pass = &thread->live_pass;
    while (pass->next) {
        struct subscription *subscription = pass->next;
        pass->next = subscription->next;
        live_events_deliver_to(subscription);
        if (!at_once && pass->next && loop_should_yield(thread->shard->loop))
            return false;
    }
    while (thread->live && (uint64_t)thread->live->id >> EVENT_NUMBER_BITS <= pass->upto)
        live_drop_first(thread);
    pass->under_way = false;
    return true;
}

static void live_pass_work(struct work *work)
{
    struct thread *thread = CONTAINER_OF(work, struct thread, live_pass.work);
    bool done = live_pass_go_on(thread, false);
    if (done && thread->live_pass.again)
        live_pass_begin(thread);
    if (thread->live_pass.under_way) {
        loop_defer(thread->shard->loop, work);
        return;
    }
    thread->holds--;
    thread_settle(thread);
}

/* What is left of a pass is done now. */
static void live_pass_finish(struct thread *thread)
{
    if (!thread->live_pass.under_way)
        return;
    loop_undefer(thread->shard->loop, &thread->live_pass.work);
    thread->holds--;
    live_pass_go_on(thread, true);
    if (thread->live_pass.again) {
        live_pass_begin(thread);
        live_pass_go_on(thread, true);
    }
}

/* Delivers the events whose record is on disk, and drops those that the log holds by now. */
static void live_events_deliver(struct thread *thread)
{
    if (thread->live_pass.under_way) {
        thread->live_pass.again = true;
        return;
    }
    live_pass_begin(thread);
    if (live_pass_go_on(thread, false))
        return;
    thread->holds++;
    thread->live_pass.work.run = live_pass_work;
    loop_defer(thread->shard->loop, &thread->live_pass.work);
}

struct event_reader event_reader_of(struct run *run, struct arena *arena)
{
    return (struct event_reader){.agent = run->agent,
                                 .run_id = run->id,
                                 .thread_id = run->thread->id,
                                 .place = run->thread->place,
                                 .arena = arena};
}

/* Drops the oldest events, which all live subscriptions have. A later watcher does not get them. */
static bool live_events_make_room(struct thread *thread)
{
    if (thread->live_count >= LIVE_MAX || thread->live_bytes >= LIVE_BYTES)
        live_pass_finish(thread);
    while (thread->live_count >= LIVE_MAX || thread->live_bytes >= LIVE_BYTES) {
        if (thread->live->record > thread->committed)
            return false;
        live_drop_first(thread);
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

static void live_events_show(struct run *run, Renga__V1__RunEvent *event, bool of_result)
{
    struct thread *thread = run->thread;
    if (!live_events_make_room(thread))
        return;
    struct live_event *live = live_of_run(run, event, of_result);
    queue_live_event(thread, live);
    if (thread->live == live || thread->live->record <= thread->committed)
        live_events_deliver(thread);
}

void subscribers_send_pending(struct run *run, const Renga__V1__ShownEvent *pending)
{
    struct arena arena;
    if (!live_events_is_watched(run))
        return;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    /* It was noted last. A later reader gets the same time. */
    int64_t at_ms = run->pending_event_ms[run->pending_event_count - 1];
    live_events_show(run, event_of_pending(&reader, pending, run->thread->last + 1, at_ms), pending->of_result);
    arena_fini(&arena);
}

/* Events from before the first watcher, and events that were dropped since to make room. */
void live_recall(struct run *run)
{
    struct arena arena;
    struct thread *thread = run->thread;
    struct live_event **link = &thread->live;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    for (size_t i = 0; i < run->pending_event_count; i++) {
        Renga__V1__RunEvent *event =
            event_of_pending(&reader, run->pending_events[i], thread->last + 1, run->pending_event_ms[i]);
        while (*link && (*link)->id < event->event_id)
            link = &(*link)->next;
        if (*link && (*link)->id == event->event_id)
            continue;
        struct live_event *live = live_of_run(run, event, run->pending_events[i]->of_result);
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

static void write_token(struct activation *activation, int64_t id, Renga__V1__NodeToken *token, struct buffer *path,
                        Renga__V1__RunEvent *event)
{
    buffer_init(path, PATH_MAX_BYTES);
    frame_path(activation->frame, path);
    renga__v1__run_event__init(event);
    event->event_id = id;
    event->run_id = frame_run(activation->frame)->id;
    event->time_ms = wall_ms();
    event->step = activation->frame->step + 1;
    event->path = unconst(buffer_text(path));
    event->node = unconst(activation->node->name);
    event->branch = (int32_t)activation->branch;
    event->event_case = RENGA__V1__RUN_EVENT__EVENT_TOKEN;
    event->token = token;
}

void subscribers_send_token(struct activation *activation, int64_t id, const char *text, const char *channel)
{
    struct run *run = frame_run(activation->frame);
    struct buffer path;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    Renga__V1__RunEvent event;
    if (!live_events_is_watched(run))
        return;
    token.text = unconst(text);
    token.channel = unconst(channel);
    write_token(activation, id, &token, &path, &event);
    live_events_show(run, &event, false);
    buffer_fini(&path);
}

static void send_tokens_of_buffer(struct subscription *subscription, struct activation *activation,
                                  struct token_buffer *token_buffer)
{
    struct buffer path;
    struct thread *thread = subscription->thread;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    Renga__V1__RunEvent event;
    token.text = unconst(token_buffer_since(token_buffer, subscription->text_from));
    token.channel = unconst(token_buffer_channel(token_buffer));
    if (!*token.text || subscription_is_full(subscription))
        return;
    write_token(activation, (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | thread->event_number++), &token, &path,
                &event);
    struct live_event *live = live_of_run(frame_run(activation->frame), &event, false);
    subscription_add(subscription, live);
    free(live);
    buffer_fini(&path);
}

static void send_tokens_of_frame(struct subscription *subscription, struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (struct token_buffer *token_buffer = activation->attempt ? activation->attempt->token_buffer : NULL;
             token_buffer; token_buffer = token_buffer_next(token_buffer))
            send_tokens_of_buffer(subscription, activation, token_buffer);
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                send_tokens_of_frame(subscription, activation->branches[i].frame);
    }
}

/* The ids of token events are above those of all records, so they are sent only when all records are on disk. */
void subscription_send_tokens(struct subscription *subscription)
{
    struct thread *thread = subscription->thread;
    if (subscription->state != SUBSCRIPTION_LIVE || !subscription->misses_text || thread->committed != thread->last)
        return;
    subscription->misses_text = false;
    if (thread->root && thread->run && thread->run->number == subscription->run_number)
        send_tokens_of_frame(subscription, thread->root);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

struct recording {
    struct run *run;
    uint64_t number;
    uint32_t first_kept;
};

static void live_event_of_record(struct event_reader *reader, const Renga__V1__RunEvent *event)
{
    struct recording *recording = reader->data;
    struct thread *thread = recording->run->thread;
    if ((event->event_id & ((1 << EVENT_NUMBER_BITS) - 1)) < recording->first_kept)
        return; /* was shown already */
    struct live_event *live = live_event_of(event);
    live->run = recording->run->number;
    live->record = recording->number;
    queue_live_event(thread, live);
}

void subscribers_recorded(struct run *run, const Record *record, uint64_t number)
{
    struct arena arena;
    struct recording recording = {run, number, record->first_event};
    if (!live_events_is_watched(run))
        return;
    arena_init(&arena, NULL, 0, SCRATCH_MAX);
    struct event_reader reader = event_reader_of(run, &arena);
    reader.live = run;
    reader.came = live_event_of_record;
    reader.data = &recording;
    events_of_record(&reader, record, number);
    arena_fini(&arena);
}

void subscribers_committed(struct thread *thread)
{
    live_events_deliver(thread);
    for (struct subscription *subscription = thread->subscriptions; subscription; subscription = subscription->next)
        subscription_fill(subscription);
}

void subscribers_end(struct thread *thread, const struct status *why)
{
    live_pass_finish(thread);
    live_drop(thread);
    for (struct subscription *subscription = thread->subscriptions; subscription; subscription = subscription->next)
        subscription_end(subscription, why);
}
