/* Private to run/: who watches runs. */
#ifndef RENGA_ORCHESTRATOR_AUDIENCE_H
#define RENGA_ORCHESTRATOR_AUDIENCE_H

#include "log/ids.h"
#include "run/runner.h"

#include "renga/v1/log.pb-c.h"

struct due;
struct run;
struct thread;

/* audience.c: who looks on, as the home of the thread has it. Events that the log holds are read from it; newer ones
 * are kept in memory while anybody watches, until the record with them is on disk and they were handed out. */
struct live_event {
    int64_t id;
    uint32_t run;
    uint64_t record; /* it is shown when this one is on disk; 0: at once, behind those before it */
    size_t size;
    Renga__V1__RunEventKind kind;
    bool inner, stops; /* stops: the last of the stream, but for those that follow */
    bool waits;        /* the run waits for a person */
    struct live_event *next;
    uint8_t bytes[];
};
struct packet { /* events on their way to a watcher */
    struct live_event *first, *last;
    size_t count, bytes;
    bool end;
    struct status status;
};
struct seat {
    /* The watcher's side. */
    struct watcher *watcher; /* NULL: it has left */
    bool paused, over, refused, has_packet;
    struct errand errand; /* on which it came */
    struct arena arena;
    struct packet delivered;
    struct work coming, acknowledged, leaving, gone;

    /* The home's. */
    struct thread *thread;
    struct seat *next;
    uint32_t run_number;
    char run_id[ID_MAX];
    struct agent *agent;
    uint64_t next_record, upto; /* to be read from the log */
    uint64_t live_from;         /* what comes from this record on is among the live events */
    int64_t cursor, until;      /* until: the last event of a run that is in memory no more; 0: it goes on */
    int64_t text_from;          /* `misses_text`: it has seen tokens up to this event */
    bool left, full, reading, ended, live, misses_text;
    bool follow, skips_inner;
    bool moves;     /* the run had other versions: the log says from where on */
    uint32_t kinds; /* a bit a kind; 0: all */
    struct packet packet;
    struct store_scan scan;
    struct timer heartbeat;
    int64_t heartbeat_ms, sent_ns;
};
void audience_join(struct errand *errand, struct thread *thread);
/* Whether a call waits for the run's end by watching it. From inside its home. */
bool audience_awaits(const struct run *run);
void audience_shown(struct run *run, const Renga__V1__ShownEvent *event);
void audience_token(struct due *due, int64_t id, const char *text, const char *channel);
void live_drop(struct thread *thread);
void live_recall(struct run *run); /* what was shown since the last record is there for whoever comes now */
void audience_recorded(struct run *run, const Renga__V1__LogRecord *record, uint64_t number);
void audience_committed(struct thread *thread);
void audience_ended(struct thread *thread, const struct status *why);
void seat_leave(struct seat *seat);
bool seat_is_full(const struct seat *seat);
void seat_fill(struct seat *seat);
void seat_add(struct seat *seat, const struct live_event *event);
void seat_send(struct seat *seat);      /* what is in its packet, when the one before was taken */
void seat_tell_said(struct seat *seat); /* the texts of attempts at work, as far as it has not seen them */
void seat_end(struct seat *seat, const struct status *why);
struct live_event *live_event_of(const Renga__V1__RunEvent *event);

#endif
