/* A call that came in through gRPC core, for the two files that move it along: inbound.c accepts it, server_call.c
 * sends and ends it. Private to shared/rpc. */
#ifndef RENGA_RPC_SERVER_CALL_H
#define RENGA_RPC_SERVER_CALL_H

#include "base/budget.h"
#include "rpc/serving.h"

/* A message on its way out. */
struct outgoing {
    struct outgoing *next;
    grpc_slice slice;
    grpc_byte_buffer *buffer;
    size_t size;
};

struct server_call {
    struct rpc_call call; /* first: the transport finds itself again from it */
    struct rpc_shard *shard;
    struct rpc_binding *binding; /* NULL: unknown method */
    struct server_call *next, *previous;

    grpc_call *grpc;
    grpc_metadata_array metadata;
    gpr_timespec deadline;
    grpc_byte_buffer *incoming;
    grpc_call_details details; /* of an unknown method */

    struct rpc_tag arrived, received, closed, sent;
    struct timer limit; /* our own deadline, if the client set no earlier deadline */
    struct outgoing *first, *last;
    struct outgoing embedded;
    struct budget_hold hold; /* for its message */
    struct status abort_status;
    grpc_slice status_text;
    unsigned batches; /* under way */
    int client_gone;
    bool in_handler, embedded_taken, watched, sending, sending_status, initial_sent, finished, aborted;
};

#define server_call_from(tag, member) CONTAINER_OF(tag, struct server_call, member)

/* A call that waits to arrive, from the shard's pool; given back if it never does. */
struct server_call *server_call_take(struct rpc_shard *shard);
void server_call_give_back(struct server_call *sc);

/* It has arrived: the shard counts it among its calls until it is released. */
void server_call_enlist(struct server_call *sc);

void server_call_start(struct server_call *sc, const grpc_op *ops, size_t count, struct rpc_tag *tag);

/* Sends the due messages, unless a handler is at work that may add to them. */
void server_call_pump(struct server_call *sc);

/* From now on, reports when the client goes, or when our own limit is reached. */
void server_call_watch(struct server_call *sc);

/* Tells the handler, soon, that the client does not wait any more. */
void server_call_client_left(struct server_call *sc);

/* Gives the call back when none of its batches is under way: last thing in every function that a tag calls. */
void server_call_release_when_done(struct server_call *sc);

#endif
