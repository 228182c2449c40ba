/* The watchers of a thread, kept in its shard. A watcher reads the log up to its end; then it is live, and receives
 * events as they happen. A watcher that falls behind reads the log again: no events are kept for it. */
#include "subscribers.h"
#include "cluster/ownership.h"
#include "graph/agents.h"
#include "journal/events.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

#define PACKET_EVENTS 256
#define PACKET_BYTES                                                                                                   \
    ((size_t)64 << 10) /* and the events of one record; a client that does not read holds two packets */
#define PAGE_ROWS     256
#define PAGE_BYTES    ((size_t)256 << 10) /* of rows that are read for a packet; those that do not fit are read again */
#define HEARTBEAT_MS  15000
#define UNREAD_MS     60000 /* as WatchRun promises */
#define ROOM_RETRY_MS 200

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static bool subscribers_is_wanted(const struct subscription *subscription, const struct live_event *event)
{
    bool always = event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_HEARTBEAT ||
                  event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_STOPPED;
    return always || ((!subscription->kinds || subscription->kinds >> event->kind & 1) &&
                      !(subscription->skips_inner && event->inner));
}

bool subscription_is_full(const struct subscription *subscription)
{
    return subscription->packet.count >= PACKET_EVENTS || subscription->packet.bytes >= PACKET_BYTES;
}

static void subscribers_put(struct subscription *subscription, const struct live_event *event)
{
    struct live_event *copy = xnonnull(malloc(sizeof *copy + event->size));
    memcpy(copy, event, sizeof *copy + event->size);
    copy->next = NULL;
    if (subscription->packet.last)
        subscription->packet.last->next = copy;
    else
        subscription->packet.first = copy;
    subscription->packet.last = copy;
    subscription->packet.count++;
    subscription->packet.bytes += event->size;
}

void subscription_end(struct subscription *subscription, const struct status *why)
{
    if (subscription_has_ended(subscription) || subscription_has_left(subscription))
        return;
    subscription_move(subscription,
                      subscription->state == SUBSCRIPTION_READING ? SUBSCRIPTION_ENDING : SUBSCRIPTION_ENDED);
    subscription->packet.end = true;
    if (why)
        subscription->request.status = *why;
    subscription_send(subscription);
}

void subscription_fall_behind(struct subscription *subscription)
{
    subscription_move(subscription, SUBSCRIPTION_BEHIND);
    subscription->next_record = (uint64_t)subscription->cursor >> EVENT_NUMBER_BITS;
    subscription->text_from = subscription->misses_text ? subscription->text_from : subscription->cursor;
    subscription->misses_text = true;
}

/* ---- room for large events --------------------------------------------------------------------------------------- */

/* Behind a large packet that was not taken, none is made: a client that does not read holds one. */
static bool subscription_has_room(const struct subscription *subscription)
{
    return !subscription->room_awaited && !subscription_is_full(subscription) &&
           !(subscription->full && subscription->sent_large);
}

static bool subscription_may_read(const struct subscription *subscription)
{
    return subscription->state == SUBSCRIPTION_BEHIND && subscription_has_room(subscription) &&
           subscription->thread->phase == THREAD_READY;
}

static void subscription_retry_room(struct subscription *subscription, size_t size)
{
    subscription->room_awaited = size;
    loop_arm_after(subscription->thread->shard->loop, &subscription->room_retry, ROOM_RETRY_MS);
}

/* False: the event is read again when there is room. */
static bool subscription_hold(struct subscription *subscription, const struct live_event *event)
{
    uint64_t owner = budget_owner(subscription->thread->tenant, NULL);
    budget_give(subscription->answers, &subscription->room);
    if (packet_hold(&subscription->packet, event, subscription->answers, owner))
        return true;
    if (subscription->state == SUBSCRIPTION_LIVE)
        subscription_fall_behind(subscription);
    subscription_retry_room(subscription, event->size);
    subscription_send(subscription); /* the events before it */
    return false;
}

/* The room is taken before the event is read: many that wait do not read in vain. */
static void subscribers_room_retried(struct timer *timer)
{
    struct subscription *subscription = CONTAINER_OF(timer, struct subscription, room_retry);
    size_t size = subscription->room_awaited;
    subscription->room_awaited = 0;
    if (!subscription_may_read(subscription))
        return;
    subscription->room.owner = budget_owner(subscription->thread->tenant, NULL);
    if (budget_take(subscription->answers, &subscription->room, size, size))
        subscription_fill(subscription);
    else
        subscription_retry_room(subscription, size);
}

void subscription_add(struct subscription *subscription, const struct live_event *event)
{
    bool is_text = event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_TOKEN;
    bool takes = subscription->state == SUBSCRIPTION_BEHIND || subscription->state == SUBSCRIPTION_LIVE;
    if (event->run != subscription->run_number || event->id <= subscription->cursor || !takes ||
        (is_text && subscription->misses_text) || subscription->room_awaited)
        return;
    bool wanted = subscribers_is_wanted(subscription, event);
    if (wanted && !subscription_hold(subscription, event))
        return;
    subscription->cursor = event->id;
    if (wanted)
        subscribers_put(subscription, event);
    bool stays = event->waits && subscription->follow;
    if ((event->stops && !stays) || (subscription->until && event->id >= subscription->until))
        subscription_end(subscription, NULL);
}

/* ---- from the log ------------------------------------------------------------------------------------------------ */

static void subscribers_read_event(struct event_reader *reader, const Renga__V1__RunEvent *event)
{
    struct subscription *subscription = reader->data;
    struct live_event *live = live_event_of(event);
    live->run = subscription->run_number;
    /* A stop after which the run went on is not the end. */
    live->stops = live->stops && subscription->until && live->id >= subscription->until;
    subscription_add(subscription, live);
    free(live);
}

static bool run_is_over(const struct subscription *subscription, const struct run *run)
{
    bool waits = run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    return !run || (!run_is_open(run) && !(waits && subscription->follow));
}

static struct run *subscribers_run_of(const struct subscription *subscription)
{
    struct thread *thread = subscription->thread;
    if (thread->run && thread->run->number == subscription->run_number)
        return thread->run;
    for (struct run *run = thread->queue; run; run = run->next)
        if (run->number == subscription->run_number)
            return run;
    return NULL;
}

static void go_live(struct subscription *subscription)
{
    struct thread *thread = subscription->thread;
    struct run *run = subscribers_run_of(subscription);
    subscription_move(subscription, SUBSCRIPTION_LIVE);
    for (struct live_event *event = thread->live; event && event->record <= thread->committed; event = event->next)
        subscription_add(subscription, event);
    subscription_send_tokens(subscription);
    if (run_is_over(subscription, run) && (!run || run->last_event <= subscription->cursor) &&
        thread->committed == thread->last)
        subscription_end(subscription, NULL);
}

/* Records follow upon each other; only those that were begun when the process ended leave a gap. */
static bool subscribers_is_gone(const Record *record, uint64_t number, uint64_t wanted)
{
    bool recovered = record->goes_on && record->goes_on->recovered;
    return number > wanted && !(recovered && wanted > record->goes_on->after);
}

/* Records are read by the version that the run had. */
static void subscribers_take_version(struct subscription *subscription, const Record *record)
{
    if (!subscription->moves || record->run != subscription->run_number || !(record->begun || record->migrated))
        return;
    if (subscription->agent)
        agent_release(subscription->thread->shard->runner->options.agents, subscription->agent);
    subscription->agent = thread_agent_for(subscription->thread, record->migrated ? record->migrated->graph_version
                                                                                  : record->begun->graph_version);
}

bool packet_is_large(const struct packet *packet)
{
    return packet->bytes >= PACKET_BYTES;
}

void subscription_end_turn(struct subscription *subscription)
{
    turn_give(&subscription->thread->shard->event_turns, &subscription->turn);
}

void subscription_received(struct subscription *subscription)
{
    subscription->unreceived = false;
    if (subscription->thread && subscription->state != SUBSCRIPTION_READING &&
        subscription->state != SUBSCRIPTION_ENDING)
        subscription_end_turn(subscription);
}

static void subscribers_read_page(struct work *work)
{
    struct subscription *subscription = CONTAINER_OF(work, struct subscription, page);
    struct store_scan *scan = &subscription->scan;
    struct thread *thread = subscription->thread;
    struct status st = scan->status;
    struct arena arena;
    uint64_t upto = subscription->upto;
    struct run *run = subscribers_run_of(subscription);
    size_t i = 0;
    if (subscription->state == SUBSCRIPTION_ENDING)
        subscription_move(subscription, SUBSCRIPTION_ENDED);
    else if (subscription->state == SUBSCRIPTION_READING)
        subscription_move(subscription, SUBSCRIPTION_BEHIND);
    for (; i < scan->count && st.code == OK && !subscription_is_full(subscription) &&
           subscription->state == SUBSCRIPTION_BEHIND && !subscription->room_awaited;
         i++) {
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, &scan->rows[i], &st);
        uint64_t number = key_number(scan->rows[i].key);
        if (record && subscribers_is_gone(record, number, subscription->next_record)) {
            fail(&st, OUT_OF_RANGE, "events before %lld are not kept any more", (long long)number << EVENT_NUMBER_BITS);
            record = NULL;
        }
        if (record)
            subscribers_take_version(subscription, record);
        bool last = run && run->last_event >> EVENT_NUMBER_BITS == (int64_t)number;
        struct event_reader reader = {.agent = subscription->agent,
                                      .run_id = subscription->run_id,
                                      .thread_id = thread->id,
                                      .place = thread->place,
                                      .live = last ? run : NULL,
                                      .arena = &arena,
                                      .came = subscribers_read_event,
                                      .data = subscription};
        if (record && record->run == subscription->run_number)
            events_of_record(&reader, record, number);
        if (record)
            subscription->next_record = subscription->room_awaited ? number : number + 1;
        arena_fini(&arena);
    }
    bool all = i == scan->count && !scan->more && !subscription->room_awaited;
    budget_give(subscription->answers, &subscription->room);
    subscription->turn.cost += read_cost(scan);
    store_scan_fini(scan);
    if (all && subscription->state == SUBSCRIPTION_BEHIND)
        subscription->next_record = upto + 1;
    if (st.code != OK)
        subscription_end(subscription, &st);
    else if (all && subscription->state == SUBSCRIPTION_BEHIND && subscription->next_record > thread->committed &&
             subscription->next_record >= subscription->live_from)
        go_live(subscription);
    subscription_send(subscription);
    if (subscription_has_left(subscription)) {
        subscription_leave(subscription);
    } else {
        if (!subscription->unreceived)
            subscription_end_turn(subscription);
        if (subscription->next_record <= thread->committed)
            subscription_fill(subscription);
    }
    thread->holds--; /* not before the subscription has gone */
    thread_settle(thread);
}

/* A page takes milliseconds: it has a visit of the loop for itself where several come at once. */
static void subscribers_page_came(struct store_scan *scan)
{
    struct subscription *subscription = CONTAINER_OF(scan, struct subscription, scan);
    subscription->page.run = subscribers_read_page;
    loop_defer(subscription->thread->shard->loop, &subscription->page);
}

static void subscription_read(struct subscription *subscription)
{
    struct key from, to;
    struct thread *thread = subscription->thread;
    subscription_move(subscription, SUBSCRIPTION_READING);
    subscription->upto = thread->committed;
    thread->holds++;
    key_numbered(&from, KEY_RECORD, thread->tenant, thread->id, subscription->next_record);
    key_numbered(&to, KEY_RECORD, thread->tenant, thread->id, thread->committed + 1);
    store_scan_init(&subscription->scan, thread->shard->loop, subscribers_page_came);
    subscription->scan.from = key_bytes(&from);
    subscription->scan.to = key_bytes(&to);
    subscription->scan.limit = PAGE_ROWS;
    subscription->scan.bytes_max = PAGE_BYTES;
    store_scan(thread->shard->runner->options.store, &subscription->scan);
}

static void subscription_turn_came(struct turn *turn)
{
    struct subscription *subscription = CONTAINER_OF(turn, struct subscription, turn);
    if (subscription_may_read(subscription))
        subscription_read(subscription);
    else
        subscription_end_turn(subscription);
}

void subscription_fill(struct subscription *subscription)
{
    if (!subscription_may_read(subscription) || turn_is_taken(&subscription->turn))
        return;
    subscription->turn.owner = hash_text(subscription->thread->tenant);
    subscription->turn.came = subscription_turn_came;
    if (turn_take(&subscription->thread->shard->event_turns, &subscription->turn))
        subscription_read(subscription);
}

/* ---- signs of life ----------------------------------------------------------------------------------------------- */

static void subscribers_beat(struct timer *timer)
{
    struct subscription *subscription = CONTAINER_OF(timer, struct subscription, heartbeat);
    struct run *run = subscribers_run_of(subscription);
    int64_t now_ns = clock_now_ns();
    if (subscription_has_ended(subscription) || subscription_has_left(subscription))
        return;
    loop_arm_after(subscription->thread->shard->loop, &subscription->heartbeat, subscription->heartbeat_ms);
    if (subscription->full && now_ns - subscription->sent_ns >= UNREAD_MS * NS_PER_MS) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "nothing was read for %d s; come back with the last event's id",
             UNREAD_MS / 1000);
        subscription_end(subscription, &st);
        return;
    }
    owner_recheck(subscription->thread);
    if (subscription->full || now_ns - subscription->sent_ns < subscription->heartbeat_ms * NS_PER_MS)
        return;
    Renga__V1__RunEvent event = RENGA__V1__RUN_EVENT__INIT;
    Renga__V1__Heartbeat heartbeat = RENGA__V1__HEARTBEAT__INIT;
    heartbeat.state = run ? run->state : RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED;
    heartbeat.nodes_running = run ? (int32_t)run->working : 0;
    event.event_id = subscription->cursor;
    event.run_id = subscription->run_id;
    event.time_ms = wall_ms();
    event.event_case = RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT;
    event.heartbeat = &heartbeat;
    struct live_event *live = live_event_of(&event);
    subscribers_put(subscription, live);
    free(live);
    subscription_send(subscription);
}

/* ---- a watcher arrives ------------------------------------------------------------------------------------------- */

/* While a run is at work, the events shown go beyond the records kept. */
static int64_t last_event_sent(const struct thread *thread, const struct run *run)
{
    return run_is_open(run) ? (int64_t)((thread->last + 2) << EVENT_NUMBER_BITS) - 1 : run->last_event;
}

/* The last event that was shown at all. */
static int64_t last_event_shown(const struct thread *thread, const struct run *run, int64_t last)
{
    bool shows = run && run == thread->run && thread->event_number;
    return shows ? (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | (thread->event_number - 1)) : last;
}

static bool set_cursor(struct subscription *subscription, int64_t after, int64_t last, int64_t last_sent,
                       uint64_t first_record, struct status *st)
{
    if (after > last_sent)
        return fail(st, OUT_OF_RANGE, "after_event_id %lld is beyond the run's last event, %lld", (long long)after,
                    (long long)last);
    subscription->cursor = after < 0 ? last : after;
    subscription->next_record = (uint64_t)subscription->cursor >> EVENT_NUMBER_BITS;
    if (subscription->next_record < first_record)
        subscription->next_record = first_record;
    return true;
}

bool subscribers_await_end(const struct run *run)
{
    for (const struct subscription *subscription = run->thread->subscriptions; subscription;
         subscription = subscription->next)
        if (subscription->request.in_call && !subscription_has_left(subscription) &&
            !subscription_has_ended(subscription) && strcmp(subscription->run_id, run->id) == 0)
            return true;
    return false;
}

void subscribers_add(struct request *request, struct thread *thread, struct agent *agent)
{
    struct subscription *subscription = request->owner;
    struct status st = {0};
    const Renga__V1__WatchRunRequest *message = (const void *)request->message;
    struct run *run = thread_find_run(thread, request->run_id);
    const Renga__V1__RunRow *row = request->place;
    if (!set_cursor(subscription, message->after_event_id,
                    run ? last_event_shown(thread, run, run->last_event) : row->run->last_event_id,
                    run ? last_event_sent(thread, run) : row->run->last_event_id,
                    run ? run->first_record : row->first_record, &st)) {
        if (agent)
            agent_release(thread->shard->runner->options.agents, agent);
        request_fail(request, &st, NULL);
        return;
    }
    subscription->thread = thread;
    subscription->moves = run ? run->migrated : row->migrated;
    if (subscription->moves) /* from its beginning: so it is known which version it had */
        subscription->next_record = run ? run->first_record : row->first_record;
    subscription->run_number = run ? run->number : row->number;
    subscription->until = run ? 0 : row->run->last_event_id;
    text_cut_copy(subscription->run_id, sizeof subscription->run_id, request->run_id);
    subscription->agent = agent;
    subscription->follow = message->follow;
    subscription->skips_inner = message->skip_subgraphs;
    for (size_t i = 0; i < message->n_kinds; i++)
        subscription->kinds |= 1u << message->kinds[i];
    subscription->misses_text = true;
    subscription->text_from = subscription->cursor;
    subscription->heartbeat_ms = message->heartbeat_ms ? message->heartbeat_ms : HEARTBEAT_MS;
    subscription->heartbeat.expired = subscribers_beat;
    subscription->sent_ns = clock_now_ns();
    subscription->answers = thread->shard->runner->options.answers;
    subscription->room_retry.expired = subscribers_room_retried;
    subscription->live_from = thread->last + 1;
    subscription->next = thread->subscriptions;
    thread->subscriptions = subscription;
    if (run && run == thread->run)
        live_recall(run);
    loop_arm_after(thread->shard->loop, &subscription->heartbeat, subscription->heartbeat_ms);
    if (subscription_has_left(subscription)) { /* while its thread was being read */
        subscription_leave(subscription);
        return;
    }
    subscription_move(subscription, SUBSCRIPTION_BEHIND);
    if (subscription->until && subscription->cursor >= subscription->until)
        subscription_end(subscription, NULL);
    else
        subscription_fill(subscription);
}
