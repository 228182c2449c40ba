/* A large message that a worker of the process writes as JSON, so that no loop is held by it.
 *
 *      writing_create ---> the caller writes a head to `out` ---> writing_start ---(a worker)---> `written`, in the
 * loop
 *
 * The message is copied when it starts. The edge is not drained before `written` has run; then all of it is freed. */
#ifndef RENGA_EDGE_WRITING_H
#define RENGA_EDGE_WRITING_H

#include "edge_priv.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "loop/jobs.h"

#define WRITE_INLINE_MAX ((size_t)64 << 10) /* bytes of a message, packed, that a loop writes */
#define WRITE_MAX        ((size_t)32 << 20) /* bytes of its JSON */

struct writing {
    struct job job; /* its status when `written` runs: OK, or why there is no JSON */
    struct edge *edge;
    struct buffer out; /* failed: above WRITE_MAX */
    void (*written)(struct writing *writing, void *data);
    void *data;

    /* Private. */
    struct arena arena;
    const ProtobufCMessage *message;
};

/* Takes the memory of a message of `size` bytes and of its JSON from the bytes that answers may hold; it stays the
 * request's until the answer has been sent. False: there is no room. */
bool writing_hold(struct edge *edge, struct http_request *request, size_t size, struct status *st);

/* `principal` is the client, which waits for it in its own lane of the jobs; NULL: none. */
struct writing *writing_create(struct edge *edge, const struct rpc_principal *principal);
/* `size` is the message's, packed. `written` runs once, perhaps within this function. */
void writing_start(struct writing *writing, const ProtobufCMessage *message, size_t size,
                   void (*written)(struct writing *writing, void *data), void *data);

#endif
