#include "rpc/call.h"

#include "base/clock.h"
#include "loop/jobs.h"
#include "rpc/details.h"
#include "rpc/observe.h"
#include "rpc/outbound.h"
#include "rpc/traces.h"

#include <assert.h>
#include <string.h>

#define DETAIL_FRAME_MAX 12 /* bytes of tags and lengths around a detail */
#define UNARY_FACTOR     2  /* memory of a unary answer, in multiples of its size: the message, and its packed form */

static const char *const NO_ONE = "";

/* Names a call within the process; counted by each loop for itself. */
static uint64_t next_call_id(const struct loop *loop)
{
    static struct {
        _Alignas(64) uint64_t calls; /* a cache line each */
    } loops[LOOPS_MAX];
    return ++loops[loop_index(loop)].calls * LOOPS_MAX + loop_index(loop);
}

void rpc_call_begin(struct rpc_call *call)
{
    arena_init(&call->arena, call->storage, sizeof call->storage, call->memory_max);
    call->began_ns = clock_now_ns();
    if (!call->principal.name)
        call->principal = (struct rpc_principal){.name = NO_ONE, .tenant = NO_ONE};
    call->log = (struct log_context){
        .trace = &call->trace,
        .call_id = next_call_id(call->loop),
        .subject = call->method ? call->method->path + 1 : NULL,
    };
    rpc_observe_began(call->loop, RPC_SERVER, call->method);
}

void rpc_call_fini(struct rpc_call *call)
{
    assert(!call->children);
    loop_undefer(call->loop, &call->cancel_work);
    budget_give(call->answers, &call->answer_hold);
    arena_fini(&call->arena);
}

/* ---- queries of the handler -------------------------------------------------------------------------------------- */

struct arena *rpc_call_arena(struct rpc_call *call)
{
    return &call->arena;
}

struct loop *rpc_call_loop(const struct rpc_call *call)
{
    return call->loop;
}

int64_t rpc_call_deadline_ns(const struct rpc_call *call)
{
    return call->deadline_ns;
}

bool rpc_call_cancelled(const struct rpc_call *call)
{
    return call->cancelled;
}

void rpc_call_set_data(struct rpc_call *call, void *data)
{
    call->data = data;
}

void *rpc_call_data(const struct rpc_call *call)
{
    return call->data;
}

const char *rpc_call_method(const struct rpc_call *call)
{
    return call->log.subject;
}

const struct rpc_principal *rpc_call_principal(const struct rpc_call *call)
{
    return &call->principal;
}

void rpc_call_job(const struct rpc_call *call, struct job *job)
{
    job->loop = call->loop;
    job->deadline_ns = call->deadline_ns;
    job->owner = job_owner(call->principal.tenant, call->principal.name);
}

size_t rpc_call_received_bytes(const struct rpc_call *call)
{
    return call->received_bytes;
}

bool rpc_call_is_forwarded(const struct rpc_call *call)
{
    return call->forwarded;
}

const struct trace_context *rpc_call_trace(struct rpc_call *call)
{
    call->trace_is_used = true;
    return &call->trace;
}

const struct trace_context *rpc_call_trace_apart(const struct rpc_call *call)
{
    return &call->trace;
}

const char *rpc_call_peer(struct rpc_call *call)
{
    return call->ops->peer(call);
}

const void *rpc_call_metadata(const struct rpc_call *call, const char *key, size_t *size)
{
    return call->ops->metadata(call, key, size);
}

void rpc_call_compress(struct rpc_call *call)
{
    call->compress = true;
}

bool rpc_call_was_compressed(const struct rpc_call *call)
{
    return call->was_compressed;
}

bool rpc_call_writable(const struct rpc_call *call)
{
    return call->queued_bytes <= RPC_SEND_WINDOW;
}

void rpc_call_on_writable(struct rpc_call *call, void (*writable)(struct rpc_call *call, void *data), void *data)
{
    call->on_writable = writable;
    call->on_writable_data = data;
}

/* gRPC refuses the whole answer because of a single other byte, and values may be a client's. */
bool rpc_metadata_is_sendable(const char *key, const void *bytes, size_t size)
{
    const char *value = bytes;
    size_t length = strlen(key);
    if (length >= 4 && strcmp(key + length - 4, "-bin") == 0)
        return true;
    for (size_t i = 0; i < size; i++)
        if (value[i] < ' ' || value[i] > '~')
            return false;
    return true;
}

static bool add_metadata(struct rpc_call *call, struct rpc_metadata_item **list, const char *key, const void *value,
                         size_t size)
{
    size_t whole = strlen(key) + size;
    if (call->metadata_size + whole > CALL_METADATA_MAX || !rpc_metadata_is_sendable(key, value, size))
        return false;
    struct rpc_metadata_item *item = arena_zalloc(&call->arena, sizeof *item);
    char *key_copy = arena_strdup(&call->arena, key);
    void *value_copy = arena_copy(&call->arena, value, size);
    if (!item || !key_copy || !value_copy)
        return false;
    item->metadata = (struct rpc_metadata){.key = key_copy, .value = value_copy, .size = size};
    while (*list)
        list = &(*list)->next;
    *list = item;
    call->metadata_size += whole;
    return true;
}

bool rpc_call_add_initial(struct rpc_call *call, const char *key, const void *value, size_t size)
{
    return add_metadata(call, &call->initial, key, value, size);
}

bool rpc_call_add_trailing(struct rpc_call *call, const char *key, const void *value, size_t size)
{
    return add_metadata(call, &call->trailing, key, value, size);
}

bool rpc_call_add_detail(struct rpc_call *call, const char *type_url, const void *bytes, size_t size)
{
    size_t whole = strlen(type_url) + size + DETAIL_FRAME_MAX;
    if (call->details_size + whole > RPC_DETAILS_ADDED_MAX)
        return false;
    struct rpc_detail *detail = arena_alloc(&call->arena, sizeof *detail);
    char *url_copy = arena_strdup(&call->arena, type_url);
    void *copy = arena_copy(&call->arena, bytes, size);
    if (!detail || !url_copy || !copy)
        return false;
    *detail = (struct rpc_detail){.next = call->details, .type_url = url_copy, .bytes = copy, .size = size};
    call->details = detail;
    call->details_size += whole;
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static bool is_our_fault(enum status_code code)
{
    return code == INTERNAL || code == UNKNOWN || code == DATA_LOSS;
}

static void call_end(struct rpc_call *call)
{
    call->ended = true;
    call->on_cancel = NULL;
    call->on_writable = NULL;
    call->trace_is_used |= call->children != NULL;
    while (call->children) {
        struct rpc_outbound *child = call->children;
        rpc_outbound_detach(child);
        child->ops->cancel(child);
    }
    if (is_our_fault(call->status.code))
        log_error("rpc.failed", "%s: %s", status_code_name(call->status.code), call->status.text);
    if (rpc_observed()) {
        bool late = call->cancelled && call->status.code == OK;
        rpc_observe_ended(call->loop, RPC_SERVER, call->method, late ? CANCELLED : call->status.code, call->status.text,
                          call->began_ns, rpc_trace_of_call(call), call->received_bytes, call->sent_bytes);
    }
    /* The client of an aborted call has a status already, to which the handler's details do not belong. */
    const void *bytes = NULL;
    size_t size = call->cancelled ? 0 : rpc_details_encode(&call->status, call->details, &call->arena, &bytes);
    if (size)
        rpc_call_add_trailing(call, RPC_DETAILS_KEY, bytes, size);
    call->ops->end(call);
}

void rpc_fail(struct rpc_call *call, const struct status *status)
{
    assert(!call->ended && status->code != OK);
    call->status = *status;
    call_end(call);
}

void rpc_fail_with(struct rpc_call *call, enum status_code code, const char *format, ...)
{
    struct status status = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&status, code, format, arguments);
    va_end(arguments);
    rpc_fail(call, &status);
}

void rpc_fail_field(struct rpc_call *call, const char *field, const char *format, ...)
{
    struct status reason = {0}, status = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&reason, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    fail_field(&status, field, "%s", reason.text);
    rpc_fail(call, &status);
}

void rpc_call_finish(struct rpc_call *call)
{
    assert(!call->ended);
    call_end(call);
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

/* Makes the call's bytes of the budget at least `bytes`, for a message of `size` bytes. */
static bool call_hold_bytes(struct rpc_call *call, size_t bytes, size_t size, struct status *st)
{
    struct budget_hold *hold = &call->answer_hold;
    if (!call->answers || bytes <= hold->bytes)
        return true;
    if (!hold->bytes)
        hold->owner = budget_owner(call->principal.tenant, call->principal.name);
    if (budget_take(call->answers, hold, bytes, bytes - hold->bytes))
        return true;
    fail(st, RESOURCE_EXHAUSTED,
         "the answers that their clients have not read leave no room for one of %zu bytes: together they may hold four "
         "times rpc.memory_max, those of one tenant half of that; read the answers under way, ask for less at once, or "
         "try again later",
         size);
    st->retry_after_ms = BUDGET_RETRY_MS;
    return false;
}

bool rpc_call_hold(struct rpc_call *call, size_t size, struct status *st)
{
    return call_hold_bytes(call, UNARY_FACTOR * size, size, st);
}

/* Takes the bytes of a message until it is sent. A caller in this process reads a unary answer in its next turn. */
static bool call_charge(struct rpc_call *call, size_t size, struct status *st)
{
    if (call->method->server_streams)
        return call_hold_bytes(call, call->answer_hold.bytes + size, size, st);
    return rpc_call_is_local(call) || rpc_call_hold(call, size, st);
}

/* The runtime itself ends the call. A handler in the middle of its stream is aborted instead: it cannot know yet, may
 * go on to send, and ends the call when it hears of it. */
static void call_refuse(struct rpc_call *call, const struct status *status)
{
    if (call->method->server_streams)
        call->ops->abort(call, status);
    else
        rpc_fail(call, status);
}

/* True if a message of `size` bytes may be queued; otherwise the call has been refused. */
static bool may_send(struct rpc_call *call, size_t size)
{
    struct status st = {0};
    if (size > call->message_max)
        fail(&st, RESOURCE_EXHAUSTED, "the answer has %zu bytes, more than the %zu that a message may have", size,
             call->message_max);
    else if (call->queued_bytes && call->queued_bytes + size > RPC_SEND_QUEUE_MAX)
        fail(&st, RESOURCE_EXHAUSTED, "the client reads too slowly: %zu bytes wait for it", call->queued_bytes);
    else
        call_charge(call, size, &st);
    if (st.code != OK)
        call_refuse(call, &st);
    return st.code == OK;
}

static void call_committed(struct rpc_call *call, size_t size)
{
    call->queued_bytes += size;
    call->sent_bytes += size;
    call->ops->commit(call);
}

void rpc_reply_packed(struct rpc_call *call, const void *bytes, size_t size)
{
    assert(!call->ended);
    if (call->cancelled || !may_send(call, size))
        return;
    memcpy(call->ops->reserve(call, size), bytes, size);
    call_committed(call, size);
}

static void replied(const ProtobufCMessage *message, void *data)
{
    struct rpc_call *call = data;
    assert(!call->ended);
    bool streams = call->method->server_streams;
    if (message && !call->cancelled) {
        size_t size = protobuf_c_message_get_packed_size(message);
        if (!may_send(call, size))
            return;
        if (streams || !call->ops->pass || !call->ops->pass(call, message, size))
            protobuf_c_message_pack(message, call->ops->reserve(call, size));
        call_committed(call, size);
    } else if (!message && !streams) {
        rpc_fail_with(call, INTERNAL, "the handler ended without an answer");
        return;
    }
    if (!streams || !message)
        call_end(call);
}

void rpc_call_sent(struct rpc_call *call, size_t size)
{
    bool was_open = rpc_call_writable(call);
    call->queued_bytes -= size;
    if (call->method->server_streams)
        budget_give_part(call->answers, &call->answer_hold, size);
    if (!was_open && rpc_call_writable(call) && call->on_writable && !call->ended && !call->cancelled) {
        const struct log_context *before = log_enter(&call->log);
        call->on_writable(call, call->on_writable_data);
        log_enter(before);
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static const ProtobufCMethodDescriptor *method_of(const struct rpc_call *call)
{
    return &call->service->descriptor->methods[call->method->index];
}

static void call_handle(struct rpc_call *call, const ProtobufCMessage *message)
{
    const struct log_context *before = log_enter(&call->log);
    call->service->invoke(call->service, call->method->index, message, replied, call);
    log_enter(before);
}

void rpc_call_deliver(struct rpc_call *call, const uint8_t *bytes, size_t size)
{
    call->received_bytes += size;
    struct status st = {0};
    if (!call->method->client_streams) {
        ProtobufCMessage *message = rpc_unpack(method_of(call)->input, bytes, size, &call->arena, &st);
        if (message)
            call_handle(call, message);
        else
            rpc_fail(call, &st);
        return;
    }
    struct arena passing;
    arena_init(&passing, NULL, 0, call->memory_max);
    ProtobufCMessage *message = rpc_unpack(method_of(call)->input, bytes, size, &passing, &st);
    if (message)
        call_handle(call, message);
    else
        rpc_fail(call, &st);
    arena_fini(&passing);
}

void rpc_call_deliver_message(struct rpc_call *call, const ProtobufCMessage *message, size_t size)
{
    call->received_bytes += size;
    call_handle(call, message);
}

void rpc_call_deliver_end(struct rpc_call *call)
{
    call_handle(call, NULL);
}

typedef void (*service_function)(ProtobufCService *service, const ProtobufCMessage *input, ProtobufCClosure closure,
                                 void *closure_data);

void rpc_service_invoke(ProtobufCService *service, unsigned method_index, const ProtobufCMessage *input,
                        ProtobufCClosure closure, void *closure_data)
{
    const service_function *functions = (const service_function *)(service + 1); /* as protoc-c lays them out */
    if (functions[method_index])
        functions[method_index](service, input, closure, closure_data);
    else
        rpc_fail_with(closure_data, UNIMPLEMENTED, "%s is in the contract, but this release does not have it yet",
                      rpc_call_method(closure_data));
}

/* ---- cancellation ------------------------------------------------------------------------------------------------ */

static void tell_handler(struct work *work)
{
    struct rpc_call *call = CONTAINER_OF(work, struct rpc_call, cancel_work);
    void (*on_cancel)(struct rpc_call *, void *) = call->on_cancel;
    call->on_cancel = NULL;
    if (call->ended || !on_cancel)
        return;
    call->told = true;
    const struct log_context *before = log_enter(&call->log);
    on_cancel(call, call->on_cancel_data);
    log_enter(before);
}

void rpc_call_on_cancel(struct rpc_call *call, void (*cancelled)(struct rpc_call *call, void *data), void *data)
{
    call->on_cancel = cancelled;
    call->on_cancel_data = data;
    if (call->cancelled) {
        call->cancel_work.run = tell_handler;
        loop_defer(call->loop, &call->cancel_work);
    }
}

void rpc_call_abort(struct rpc_call *call, enum status_code code)
{
    if (call->ended || call->cancelled)
        return;
    call->cancelled = true;
    call->status.code = code;
    for (struct rpc_outbound *child = call->children, *next; child; child = next) {
        next = child->next;
        child->ops->cancel(child);
    }
    call->cancel_work.run = tell_handler;
    loop_defer(call->loop, &call->cancel_work);
}
