/* A request that has a request id may be a repetition: then it is answered as the first one was. */
#include "engine/run_lifecycle.h"
#include "journal/journal_writer.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "request_queue.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define REQUEST_ROW_MAX 1024 /* bytes */

struct request_id_lookup {
    struct store_scan scan;
    struct request *request;
    struct thread *thread;
};

static uint64_t content_hash(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = xnonnull(malloc(size + 1));
    protobuf_c_message_pack(message, bytes);
    uint64_t hash = id_hash_text(id_hash(ID_HASH, bytes, size), message->descriptor->name);
    free(bytes);
    return hash;
}

static void request_repeat(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    if (row->content != content_hash(request->message)) {
        struct status st = {0};
        fail_field(&st, "request_id", "was used for another request; take a new one");
        request_fail(request, &st, NULL);
        return;
    }
    request->repeated = true;
    request->type->repeat(request, thread, xnonnull(message_copy(request->arena, &row->base)));
}

static void request_id_came(struct store_scan *scan)
{
    struct request_id_lookup *lookup = (struct request_id_lookup *)scan;
    struct request *request = lookup->request;
    struct thread *thread = lookup->thread;
    struct status st = scan->status;
    struct arena arena;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__RequestRow *row = NULL;
    thread->holds--;
    thread->held = false;
    if (st.code == OK && scan->count)
        row = row_read(&arena, &renga__v1__request_row__descriptor, &scan->rows[0], &st);
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    request->checked = true;
    if (st.code != OK)
        request_fail(request, &st, NULL);
    else if (row)
        request_repeat(request, thread, row);
    else
        request_serve(request, thread);
    arena_fini(&arena);
    store_scan_fini(scan);
    free(lookup);
    if (!thread->held)
        thread_unhold(thread);
    else
        loop_defer(thread->shard->loop, &thread->go);
}

static void repeat_pending(struct request *request, struct thread *thread, struct store_bytes bytes)
{
    struct status st = {0};
    const Renga__V1__RequestRow *row = message_read(request->arena, &renga__v1__request_row__descriptor, bytes, &st);
    request->checked = true;
    if (row)
        request_repeat(request, thread, row);
    else
        request_fail(request, &st, NULL);
}

bool request_is_new(struct request *request, struct thread *thread, const char *request_id)
{
    struct key key;
    char last[sizeof key.bytes + 1];
    if (!*request_id || request->checked)
        return true;
    if (log_pending_request(thread, request_id).bytes) { /* not on disk yet */
        repeat_pending(request, thread, log_pending_request(thread, request_id));
        return false;
    }
    struct request_id_lookup *lookup = xnonnull(calloc(1, sizeof *lookup));
    lookup->request = request;
    lookup->thread = thread;
    thread->held = true;
    thread->holds++;
    key_named(&key, KEY_REQUEST, request->tenant, request_id);
    memcpy(last, key.bytes, key.size);
    last[key.size] = '\0';
    store_scan_init(&lookup->scan, thread->shard->loop, request_id_came);
    lookup->scan.from = key_bytes(&key);
    lookup->scan.to = (struct store_bytes){last, key.size + 1};
    lookup->scan.limit = 1;
    lookup->scan.bytes_max = REQUEST_ROW_MAX;
    store_scan(thread->shard->runner->options.store, &lookup->scan);
    return false;
}

void request_remember(struct request *request, struct thread *thread, const char *request_id, const char *run_id,
                      uint64_t checkpoint)
{
    char id[ID_MAX] = "";
    Renga__V1__RequestRow row = RENGA__V1__REQUEST_ROW__INIT;
    if (!*request_id)
        return;
    if (checkpoint)
        id_make_checkpoint(id, thread->place, checkpoint);
    row.content = content_hash(request->message);
    row.thread_id = thread->id;
    row.run_id = unconst(run_id);
    row.checkpoint_id = id;
    log_put_request(thread, request_id, &row);
}
