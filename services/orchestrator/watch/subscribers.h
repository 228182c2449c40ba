/* Private to the orchestrator: the watchers of runs. From inside the loop of the shard, but for the watcher's side of a
 * subscription: its own loop. */
#ifndef RENGA_ORCHESTRATOR_SUBSCRIBERS_H
#define RENGA_ORCHESTRATOR_SUBSCRIBERS_H

#include "log/ids.h"
#include "subscription_state.h"
#include "thread/live_event.h"
#include "thread/request.h"

#include "base/arena.h"
#include "base/budget.h"
#include "base/status.h"
#include "base/turns.h"
#include "loop/loop.h"
#include "store/store.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct activation;
struct agent;
struct event_reader;
struct run;
struct thread;
struct watcher;

/* subscribers.c: the subscribers of a thread, as the shard of the thread has it. Events that the log holds are read
 * from it; newer ones are live events. */
struct packet { /* events on their way to a watcher */
    struct live_event *first, *last;
    size_t count, bytes;
    struct budget_hold hold; /* of its large events */
    bool end;                /* for the reason in `request.status` */
};
struct subscription {
    /* The watcher's side. */
    struct watcher *watcher; /* NULL: it has left */
    enum watcher_state watcher_state;
    bool paused, has_packet;        /* paused by the watcher; the shard awaits that a packet is taken */
    struct request request;         /* on which it came; its status is why the stream ends */
    _Alignas(16) char storage[384]; /* the first block of `arena`: the request fits, so most need no other */
    struct arena arena;
    struct packet delivered;
    struct work coming, taking, received, acknowledged, leaving, gone;

    /* The shard's. */
    struct thread *thread;
    struct subscription *next;
    uint32_t run_number;
    char run_id[ID_MAX];
    struct agent *agent;
    uint64_t next_record, upto; /* to be read from the log */
    uint64_t live_from;         /* events from this record on are among the live events */
    int64_t cursor, until;      /* until: the last event of a run that is in memory no more; 0: it goes on */
    int64_t text_from;          /* `misses_text`: it has seen tokens up to this event */
    enum subscription_state state;
    bool full; /* a packet is on its way, and not taken */
    bool misses_text;
    bool follow, skips_inner;
    bool moves;     /* the run had other versions: the log says from where on */
    uint32_t kinds; /* a bit a kind; 0: all */
    struct packet packet;
    bool sent_large, unreceived; /* the last packet is large; a large packet has not reached the watcher's loop */
    struct budget *answers;      /* of the process, for large events; NULL: no bound. Both sides */
    size_t room_awaited;         /* bytes of the next event, for which there is no room; 0: it awaits none */
    struct budget_hold room;
    struct timer room_retry;
    struct store_scan scan;
    struct work page;
    /* To read a page. Held until the page has come, and its packet, if it is large, has reached the watcher's loop. */
    struct turn turn;
    struct timer heartbeat;
    int64_t heartbeat_ms, sent_ns;
};
/* The reader of the events of a run in memory. */
struct event_reader event_reader_of(struct run *run, struct arena *arena);
/* For WatchRun: its run is in memory, or `place` is the row of its run. `agent` of its version is held, and taken over;
 * NULL: its version is missing. */
void subscribers_add(struct request *request, struct thread *thread, struct agent *agent);
/* Of a watcher that is about to send the request in it: the subscription belongs to the request from then on. */
struct request *subscription_open(struct watcher *watcher);
/* Whether a call waits for the run's end by watching it. From inside its shard. */
bool subscribers_await_end(const struct run *run);
void subscribers_send_pending(struct run *run, const Renga__V1__ShownEvent *event);
void subscribers_send_token(struct activation *activation, int64_t id, const char *text, const char *channel);
void live_recall(struct run *run); /* events since the last record become live events again, for a new watcher */
void subscribers_recorded(struct run *run, const Renga__V1__LogRecord *record, uint64_t number);
void subscribers_committed(struct thread *thread);
void subscribers_end(struct thread *thread, const struct status *why);
void subscription_leave(struct subscription *subscription);
bool subscription_is_full(const struct subscription *subscription);
/* Reads on in the log, if there is room and an unread record; it may have to wait for its turn. */
void subscription_fill(struct subscription *subscription);
/* Takes the memory of a large event, in the name of the tenant. False: there is no room. */
bool packet_hold(struct packet *packet, const struct live_event *event, struct budget *answers, uint64_t owner);
bool packet_is_large(const struct packet *packet);
void subscription_received(struct subscription *subscription); /* a large packet has reached the watcher's loop */
void subscription_end_turn(struct subscription *subscription); /* or it does not wait for one any more */
void subscription_add(struct subscription *subscription, const struct live_event *event);
void subscription_fall_behind(struct subscription *subscription); /* it was live, and reads the log again */
void subscription_send(struct subscription *subscription);        /* its packet, when the one before was taken */
void subscription_send_tokens(
    struct subscription *subscription); /* the texts of attempts at work, as far as it has not seen them */
void subscription_end(struct subscription *subscription, const struct status *why);
struct live_event *live_event_of(const Renga__V1__RunEvent *event);

#endif
