/* The watchers of a thread, kept in its shard. A watcher reads the log up to its end; then it is live, and receives
 * events as they happen. A watcher that falls behind reads the log again: no events are kept for it. */
#include "errand.h"
#include "events.h"
#include "migrate.h"
#include "run_priv.h"

#include "base/clock.h"

#include <stdlib.h>

#define PACKET_EVENTS 256
#define PACKET_BYTES  ((size_t)1 << 20)
#define PAGE_ROWS     256
#define PAGE_BYTES    ((size_t)4 << 20)
#define HEARTBEAT_MS  15000
#define UNREAD_MS     60000 /* as WatchRun promises */

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct seat *seat, const struct live_event *event)
{
    bool always = event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_HEARTBEAT ||
                  event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_STOPPED;
    return always || ((!seat->kinds || seat->kinds >> event->kind & 1) && !(seat->skips_inner && event->inner));
}

bool seat_is_full(const struct seat *seat)
{
    return seat->packet.count >= PACKET_EVENTS || seat->packet.bytes >= PACKET_BYTES;
}

static void put(struct seat *seat, const struct live_event *event)
{
    struct live_event *copy = need(malloc(sizeof *copy + event->size));
    memcpy(copy, event, sizeof *copy + event->size);
    copy->next = NULL;
    if (seat->packet.last)
        seat->packet.last->next = copy;
    else
        seat->packet.first = copy;
    seat->packet.last = copy;
    seat->packet.count++;
    seat->packet.bytes += event->size;
}

void seat_end(struct seat *seat, const struct status *why)
{
    if (seat->ended)
        return;
    seat->ended = true;
    seat->packet.end = true;
    if (why)
        seat->packet.status = *why;
    seat_send(seat);
}

void seat_add(struct seat *seat, const struct live_event *event)
{
    bool is_text = event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_TOKEN;
    if (event->run != seat->run_number || event->id <= seat->cursor || seat->ended || (is_text && seat->misses_text))
        return;
    seat->cursor = event->id;
    if (is_wanted(seat, event))
        put(seat, event);
    bool stays = event->waits && seat->follow;
    if ((event->stops && !stays) || (seat->until && event->id >= seat->until))
        seat_end(seat, NULL);
}

/* ---- from the log ------------------------------------------------------------------------------------------------ */

static void read_event(struct event_reader *reader, const Renga__V1__RunEvent *event)
{
    struct seat *seat = reader->data;
    struct live_event *live = live_event_of(event);
    live->run = seat->run_number;
    /* A stop after which the run went on is not the end. */
    live->stops = live->stops && seat->until && live->id >= seat->until;
    seat_add(seat, live);
    free(live);
}

static bool run_is_over(const struct seat *seat, const struct run *run)
{
    bool waits = run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    return !run || (!run_is_open(run) && !(waits && seat->follow));
}

static struct run *run_of(const struct seat *seat)
{
    struct thread *thread = seat->thread;
    if (thread->run && thread->run->number == seat->run_number)
        return thread->run;
    for (struct run *run = thread->queue; run; run = run->next)
        if (run->number == seat->run_number)
            return run;
    return NULL;
}

static void go_live(struct seat *seat)
{
    struct thread *thread = seat->thread;
    struct run *run = run_of(seat);
    seat->live = true;
    for (struct live_event *event = thread->live; event && event->record <= thread->committed; event = event->next)
        seat_add(seat, event);
    seat_tell_said(seat);
    if (run_is_over(seat, run) && (!run || run->last_event <= seat->cursor) && thread->committed == thread->last)
        seat_end(seat, NULL);
}

/* Records follow upon each other; only those that were begun when the process ended leave a gap. */
static bool is_gone(const Record *record, uint64_t number, uint64_t wanted)
{
    bool recovered = record->goes_on && record->goes_on->recovered;
    return number > wanted && !(recovered && wanted > record->goes_on->after);
}

/* Records are read by the version that the run had. */
static void take_version(struct seat *seat, const Record *record)
{
    if (!seat->moves || record->run != seat->run_number || !(record->begun || record->migrated))
        return;
    if (seat->agent)
        agent_release(seat->thread->home->runner->options.agents, seat->agent);
    seat->agent = thread_agent_for(seat->thread,
                                   record->migrated ? record->migrated->graph_version : record->begun->graph_version);
}

static void page_came(struct store_scan *scan)
{
    struct seat *seat = OWNER_OF(scan, struct seat, scan);
    struct thread *thread = seat->thread;
    struct status st = scan->status;
    struct arena arena;
    uint64_t upto = seat->upto;
    struct run *run = run_of(seat);
    seat->reading = false;
    size_t i = 0;
    for (; i < scan->count && st.code == OK && !seat_is_full(seat) && !seat->ended; i++) {
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, &scan->rows[i], &st);
        uint64_t number = key_number(scan->rows[i].key);
        if (record && is_gone(record, number, seat->next_record)) {
            fail(&st, OUT_OF_RANGE, "events before %lld are not kept any more", (long long)number << EVENT_NUMBER_BITS);
            record = NULL;
        }
        if (record)
            take_version(seat, record);
        bool last = run && run->last_event >> EVENT_NUMBER_BITS == (int64_t)number;
        struct event_reader reader = {.agent = seat->agent,
                                      .run_id = seat->run_id,
                                      .thread_id = thread->id,
                                      .place = thread->place,
                                      .live = last ? run : NULL,
                                      .arena = &arena,
                                      .came = read_event,
                                      .data = seat};
        if (record && record->run == seat->run_number)
            events_of_record(&reader, record, number);
        if (record)
            seat->next_record = number + 1;
        arena_fini(&arena);
    }
    bool all = i == scan->count && !scan->more;
    store_scan_fini(scan);
    if (all && !seat->ended)
        seat->next_record = upto + 1;
    if (st.code != OK)
        seat_end(seat, &st);
    else if (all && !seat->ended && seat->next_record > thread->committed && seat->next_record >= seat->live_from)
        go_live(seat);
    seat_send(seat);
    if (seat->left)
        seat_leave(seat);
    else if (!seat->live && !seat->ended && seat->next_record <= thread->committed)
        seat_fill(seat);
    thread->holds--; /* not before the seat has gone */
    thread_settle(thread);
}

/* Reads on, if there is room and an unread record. */
void seat_fill(struct seat *seat)
{
    struct key from, to;
    struct thread *thread = seat->thread;
    if (seat->reading || seat->ended || seat->left || seat->live || seat_is_full(seat) || thread->phase != THREAD_READY)
        return;
    seat->reading = true;
    seat->upto = thread->committed;
    thread->holds++;
    key_numbered(&from, KEY_RECORD, thread->tenant, thread->id, seat->next_record);
    key_numbered(&to, KEY_RECORD, thread->tenant, thread->id, thread->committed + 1);
    store_scan_init(&seat->scan, thread->home->loop, page_came);
    seat->scan.from = key_bytes(&from);
    seat->scan.to = key_bytes(&to);
    seat->scan.limit = PAGE_ROWS;
    seat->scan.bytes_max = PAGE_BYTES;
    store_scan(thread->home->runner->options.store, &seat->scan);
}

/* ---- signs of life ----------------------------------------------------------------------------------------------- */

static void beat(struct timer *timer)
{
    struct seat *seat = OWNER_OF(timer, struct seat, heartbeat);
    struct run *run = run_of(seat);
    int64_t now_ns = clock_now_ns();
    if (seat->ended || seat->left)
        return;
    loop_arm_after(seat->thread->home->loop, &seat->heartbeat, seat->heartbeat_ms);
    if (seat->full && now_ns - seat->sent_ns >= UNREAD_MS * NS_PER_MS) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "nothing was read for %d s; come back with the last event's id",
             UNREAD_MS / 1000);
        seat_end(seat, &st);
        return;
    }
    owner_recheck(seat->thread);
    if (seat->full || now_ns - seat->sent_ns < seat->heartbeat_ms * NS_PER_MS)
        return;
    Renga__V1__RunEvent event = RENGA__V1__RUN_EVENT__INIT;
    Renga__V1__Heartbeat heartbeat = RENGA__V1__HEARTBEAT__INIT;
    heartbeat.state = run ? run->state : RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED;
    heartbeat.nodes_running = run ? (int32_t)run->working : 0;
    event.event_id = seat->cursor;
    event.run_id = seat->run_id;
    event.time_ms = wall_ms();
    event.event_case = RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT;
    event.heartbeat = &heartbeat;
    struct live_event *live = live_event_of(&event);
    put(seat, live);
    free(live);
    seat_send(seat);
}

/* ---- a watcher arrives ------------------------------------------------------------------------------------------- */

/* While a run is at work, the events shown go beyond the records kept. */
static int64_t last_shown(const struct thread *thread, const struct run *run)
{
    return run_is_open(run) ? (int64_t)((thread->last + 2) << EVENT_NUMBER_BITS) - 1 : run->last_event;
}

/* The last event that was shown at all. */
static int64_t present(const struct thread *thread, const struct run *run, int64_t last)
{
    bool shows = run && run == thread->run && thread->event_number;
    return shows ? (int64_t)((thread->last + 1) << EVENT_NUMBER_BITS | (thread->event_number - 1)) : last;
}

static bool set_cursor(struct seat *seat, int64_t after, int64_t last, int64_t shown, uint64_t first_record,
                       struct status *st)
{
    if (after > shown)
        return fail(st, OUT_OF_RANGE, "after_event_id %lld is beyond the run's last event, %lld", (long long)after,
                    (long long)last);
    seat->cursor = after < 0 ? last : after;
    seat->next_record = (uint64_t)seat->cursor >> EVENT_NUMBER_BITS;
    if (seat->next_record < first_record)
        seat->next_record = first_record;
    return true;
}

bool audience_awaits(const struct run *run)
{
    for (const struct seat *seat = run->thread->seats; seat; seat = seat->next)
        if (seat->errand.in_call && !seat->left && !seat->ended && strcmp(seat->run_id, run->id) == 0)
            return true;
    return false;
}

void audience_join(struct errand *errand, struct thread *thread)
{
    struct seat *seat = errand->owner;
    struct status st = {0};
    const Renga__V1__WatchRunRequest *request = (const void *)errand->request;
    struct run *run = errand_run(errand, thread, errand->run_id);
    const Renga__V1__RunRow *row = errand->place;
    struct agent *agent;
    if (!run && !row) {
        errand_refuse(errand, NULL, NOT_FOUND, "there is no run '%.64s'", errand->run_id);
        return;
    }
    if (!errand_agent_if_any(errand, thread, run ? run->begun->graph_version : row->run->graph_version, &agent))
        return;
    if (!set_cursor(seat, request->after_event_id,
                    run ? present(thread, run, run->last_event) : row->run->last_event_id,
                    run ? last_shown(thread, run) : row->run->last_event_id,
                    run ? run->first_record : row->first_record, &st)) {
        if (agent)
            agent_release(thread->home->runner->options.agents, agent);
        errand_fail(errand, &st, NULL);
        return;
    }
    seat->thread = thread;
    seat->moves = run ? run->migrated : row->migrated;
    if (seat->moves) /* from its beginning: so it is known which version it had */
        seat->next_record = run ? run->first_record : row->first_record;
    seat->run_number = run ? run->number : row->number;
    seat->until = run ? 0 : row->run->last_event_id;
    text_cut_copy(seat->run_id, sizeof seat->run_id, errand->run_id);
    seat->agent = agent;
    seat->follow = request->follow;
    seat->skips_inner = request->skip_subgraphs;
    for (size_t i = 0; i < request->n_kinds; i++)
        seat->kinds |= 1u << request->kinds[i];
    seat->misses_text = true;
    seat->text_from = seat->cursor;
    seat->heartbeat_ms = request->heartbeat_ms ? request->heartbeat_ms : HEARTBEAT_MS;
    seat->heartbeat.expired = beat;
    seat->sent_ns = clock_now_ns();
    seat->live_from = thread->last + 1;
    seat->next = thread->seats;
    thread->seats = seat;
    if (run && run == thread->run)
        live_recall(run);
    loop_arm_after(thread->home->loop, &seat->heartbeat, seat->heartbeat_ms);
    if (seat->left) /* while its thread was being read */
        seat_leave(seat);
    else if (seat->until && seat->cursor >= seat->until)
        seat_end(seat, NULL);
    else
        seat_fill(seat);
}
