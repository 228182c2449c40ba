/* Attempts at nodes that run in another loop than their run does: of this process, or of another orchestrator.
 *
 *      owner: fanout_send ---- begin ----> worker: the kind runs, as at home
 *             came, came, ended <--- events, then a result or a failure ---'
 *
 *             fanout_recall --- cancel --> it is stopped
 *             ended <--------- failed ---------'
 *
 * Workers pull: a loop with idle hands asks the others for work, and gets no more than it asked for; who is slow asks
 * seldom, and holds nobody up. A worker that shows no life for FANOUT_SILENCE_MS has what it was given taken over: it
 * ends as `lost`, may be begun anew, and what comes of it later is dropped. Every loop of the process is owner and
 * worker, and so are those of the orchestrators that share the store, where they listen; what they send each other is
 * proto/renga/v1/fanout.proto. All from inside the loop that is named. */
#ifndef RENGA_ORCHESTRATOR_FANOUT_H
#define RENGA_ORCHESTRATOR_FANOUT_H

#include "base/status.h"
#include "base/trace.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/node.pb-c.h"

#define FANOUT_BEAT_MS 250
#define FANOUT_SILENCE_MS                                                                                              \
    2500                     /* counted in beats of the owner: where the whole process stood still, nobody was silent */
#define FANOUT_HOME_FIRST 8  /* attempts a loop keeps: two wake-ups cost more than to have these under way */
#define FANOUT_HANDS      64 /* attempts a loop has at work, its own included, before it asks for no more */

struct agents;
struct dispatch;
struct fanout;
struct loop;
struct mail_tls;
struct members;
struct orchestrator;
struct store;
struct tally;

struct fanout_options {
    struct loop *const *loops; /* by their index; the list itself is needed for the creation alone */
    unsigned loop_count;
    struct agents *agents;
    struct orchestrator *orchestrator; /* for tasks; may be NULL */
    struct tally *tally;               /* may be NULL */
    size_t message_max;                /* bytes of a request or a result */

    /* For the others that share the store; NULL: none. Copied. */
    const char *listen;                     /* "tcp://0.0.0.0:15205", "tls+tcp://…"; port 0 takes one that is free */
    const char *host;                       /* where they reach it, if `listen` names no host of its own */
    const struct mail_tls *server, *client; /* for tls+tcp; borrowed: read again with each new line */
    struct store *store;                    /* has the agents of what comes */
};

/* Opens the mailboxes. Any thread. */
struct fanout *fanout_create(const struct fanout_options *options, struct status *st);
/* The loop takes part: it reads its mail and asks for work. Once, from inside it. */
bool fanout_join(struct fanout *fanout, struct loop *loop, struct status *st);
/* What this one's row has to tell the others; NULL: it does not listen. `fanout` may be NULL. */
const Renga__V1__MemberFanOut *fanout_port(const struct fanout *fanout);
/* It shares with those among the members that listen, until fanout_part. Once, from inside the loop, after it has
 * joined. */
void fanout_meet(struct fanout *fanout, struct loop *loop, struct members *members);
/* It takes no more from other orchestrators; what they have given ends. Any thread; `fanout` may be NULL. */
void fanout_rest(struct fanout *fanout);
/* They have waited long enough: what they have given to this loop is cancelled, what it has given to them is taken
 * over. From inside the loop, when it rests; `fanout` may be NULL. */
void fanout_abandon(struct fanout *fanout, struct loop *loop);
/* The members are asked no more. From outside of all loops; `fanout` may be NULL. */
void fanout_part(struct fanout *fanout);
/* From outside of all loops, when no attempt is at work. What still is in a worker is cancelled; what does not end then
 * keeps its memory. */
void fanout_destroy(struct fanout **fanout);

/* An attempt in another loop. Embedded in its owner, who keeps it until `ended`. */
struct dispatch_owner {
    void (*came)(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event); /* anything but a result */
    /* Once, also after a recall. Without a response `st` says why not. */
    void (*ended)(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st);
};
struct dispatch {
    const struct dispatch_owner *owner;
    const char *tenant;            /* whose run it is; may be NULL */
    const char *client;            /* who asked for it; may be NULL */
    bool lost;                     /* once it ended: its worker fell silent, or could not begin it */
    const Renga__V1__Usage *spent; /* for `ended` without a response: what was spent all the same; NULL: nothing */

    /* The room's. */
    struct station *station;
    struct peer *worker;
    bool recalled;
    uint64_t number; /* 0: it is not away */
};

/* Gives an attempt to the loop that has the least of ours, if one has asked and has less than `loop` itself; to one of
 * another orchestrator where none of this process has asked. False: it stays at home, and `dispatch` is as before. The
 * request is not needed any more afterwards. `fanout` may be NULL. */
bool fanout_send(struct fanout *fanout, struct loop *loop, struct dispatch *dispatch,
                 const Renga__V1__RunNodeRequest *request, int64_t deadline_ns, const struct trace_context *trace);
/* Nothing of it counts any more; `came` is not called again, `ended` still is, but never from within. */
void fanout_recall(struct dispatch *dispatch);

/* The loop has begun (1) or ended (-1) an attempt of its own of a kind that travels. */
void fanout_at_home(struct fanout *fanout, struct loop *loop, int change);

/* Attempts that are away, and not known to have ended. Any thread. */
unsigned fanout_away(const struct fanout *fanout);

#endif
