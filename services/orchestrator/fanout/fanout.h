/* Attempts at nodes that run in another loop than their run: in this process, or in another orchestrator.
 *
 *      owner: fanout_send ---- begin ----> worker: the kind runs, as in its own loop
 *             came, came, ended <--- events, then a result or a failure ---'
 *
 *             fanout_recall --- cancel --> it is stopped
 *             ended <--------- failed ---------'
 *
 * Workers pull: a loop with idle slots asks the others for work, and gets no more than it asked for. A slow loop asks
 * seldom, and delays no other loop. If a worker shows no life for FANOUT_PEER_TIMEOUT_MS, its attempts are taken over:
 * they end as `lost`, may be begun anew, and their later results are dropped. Every loop of the process is owner and
 * worker, and so are those of the orchestrators that share the store, if they listen. Their messages are in
 * proto/renga/v1/fanout.proto. All from inside the loop that is named. */
#ifndef RENGA_ORCHESTRATOR_FANOUT_H
#define RENGA_ORCHESTRATOR_FANOUT_H

#include "base/status.h"
#include "base/trace.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/node.pb-c.h"

#define FANOUT_HEARTBEAT_MS    250
#define FANOUT_PEER_TIMEOUT_MS 2500 /* in heartbeats of the owner: a stop of the whole process does not count */
#define FANOUT_LOCAL_FIRST     8    /* attempts a loop keeps: two wake-ups cost more than to have these under way */
#define FANOUT_SLOTS           64   /* attempts a loop has at work, its own included, before it asks for no more */

struct agents;
struct dispatch;
struct fanout;
struct loop;
struct mail_tls;
struct membership;
struct node_services;
struct store;
struct runner_metrics;

struct fanout_options {
    struct loop *const *loops; /* by their index; the list itself is needed for the creation alone */
    unsigned loop_count;
    struct agents *agents;
    const struct node_services *services;  /* for tasks; may be NULL */
    struct runner_metrics *runner_metrics; /* may be NULL */
    size_t message_max;                    /* bytes of a request or a result */

    /* For the others that share the store; NULL: no listener. Copied. */
    const char *listen;                     /* "tcp://0.0.0.0:15205", "tls+tcp://…"; port 0 takes a free port */
    const char *host;                       /* the host at which they reach it, if `listen` names no specific host */
    const struct mail_tls *server, *client; /* for tls+tcp; borrowed: read again with each new connection */
    struct store *store;                    /* has the agents of received attempts */
};

/* Opens the mailboxes. Any thread. */
struct fanout *fanout_create(const struct fanout_options *options, struct status *st);
/* The loop takes part: it reads its mail and asks for work. Once, from inside it. */
bool fanout_join(struct fanout *fanout, struct loop *loop, struct status *st);
/* The fan-out part of this member's row; NULL: it does not listen. `fanout` may be NULL. */
const Renga__V1__MemberFanOut *fanout_member_row(const struct fanout *fanout);
/* It shares with those among the members that listen, until fanout_stop_sharing. Once, from inside the loop, after it
 * has joined. */
void fanout_start_sharing(struct fanout *fanout, struct loop *loop, struct membership *membership);
/* It takes no more attempts from other orchestrators; their present attempts run to their end. Any thread; `fanout` may
 * be NULL. */
void fanout_drain(struct fanout *fanout);
/* The wait is over: attempts of others in this loop are cancelled, attempts of this loop in others are taken over. From
 * inside the loop, while it drains; `fanout` may be NULL. */
void fanout_abandon(struct fanout *fanout, struct loop *loop);
/* The members are asked no more. From outside of all loops; `fanout` may be NULL. */
void fanout_stop_sharing(struct fanout *fanout);
/* From outside of all loops, when no attempt is at work. Attempts still in a worker are cancelled; an attempt that does
 * not end then keeps its memory. */
void fanout_destroy(struct fanout **fanout);

/* An attempt in another loop. Embedded in its owner, which keeps it until `ended`. */
struct dispatch_owner {
    void (*came)(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event); /* every event except a result */
    /* Once, also after a recall. Without a response `st` says why not. */
    void (*ended)(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st);
};
struct dispatch {
    const struct dispatch_owner *owner;
    const char *tenant;            /* the tenant of the run; may be NULL */
    const char *client;            /* the client that asked for it; may be NULL */
    bool lost;                     /* once it ended: its worker failed, or could not begin it */
    const Renga__V1__Usage *spent; /* for `ended` without a response: the usage all the same; NULL: no usage */

    /* The room's. */
    struct fanout_endpoint *endpoint;
    struct peer *worker;
    bool recalled;
    uint64_t number; /* 0: it is not dispatched */
};

/* Gives an attempt to the loop with the fewest of our attempts, if that loop has asked and has fewer than `loop`
 * itself. If no loop of this process has asked, a loop of another orchestrator gets it. False: it stays in its own
 * loop, and `dispatch` is as before. The request is not needed any more afterwards. `fanout` may be NULL. */
bool fanout_send(struct fanout *fanout, struct loop *loop, struct dispatch *dispatch,
                 const Renga__V1__RunNodeRequest *request, int64_t deadline_ns, const struct trace_context *trace);
/* Its events and result do not count any more; `came` is not called again, `ended` still is, but never from within. */
void fanout_recall(struct dispatch *dispatch);

/* The loop has begun (1) or ended (-1) an attempt of its own of a kind that travels. */
void fanout_local_attempts(struct fanout *fanout, struct loop *loop, int change);

/* Attempts that are dispatched, and not known to have ended. Any thread. */
unsigned fanout_dispatched(const struct fanout *fanout);

#endif
