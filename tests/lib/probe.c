#include "probe.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probe.pb-c.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"

#include "probe_descriptor_set.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 4096
#define KEY_SIZE 64

/* What was noticed under a key; shared by all loops, since the question may arrive in another. */
struct note {
    char key[KEY_SIZE];
    bool began, cancelled;
    int64_t began_ns, cancelled_ns;
};

static struct note notes[KEYS_MAX];
static size_t note_count;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;

struct stuck {
    struct stuck *next;
    char key[KEY_SIZE];
    struct rpc_call *call;
    Renga__Test__SleepResponse_Closure reply;
};

struct probe {
    Renga__Test__Probe_Service base; /* first */
    struct loop *loop;
    ProtobufCService *next;
    struct stuck *stuck;
};

static struct note *note_of(const char *key)
{
    for (size_t i = 0; i < note_count; i++)
        if (strcmp(notes[i].key, key) == 0)
            return &notes[i];
    struct note *note = &notes[note_count < KEYS_MAX ? note_count++ : 0];
    *note = (struct note){0};
    snprintf(note->key, sizeof note->key, "%s", key);
    return note;
}

static void note_began(const char *key)
{
    pthread_mutex_lock(&notes_lock);
    struct note *note = note_of(key);
    note->began = true;
    note->began_ns = clock_now_ns();
    pthread_mutex_unlock(&notes_lock);
}

static void note_cancelled(const char *key)
{
    pthread_mutex_lock(&notes_lock);
    struct note *note = note_of(key);
    note->cancelled = true;
    note->cancelled_ns = clock_now_ns();
    pthread_mutex_unlock(&notes_lock);
}

/* ---- Echo ------------------------------------------------------------------------------------------------------- */

static void copy_probe_metadata(struct rpc_call *call, const char *key, const char *as, bool trailing)
{
    size_t size;
    const void *value = rpc_call_metadata(call, key, &size);
    if (value && trailing)
        rpc_call_add_trailing(call, as, value, size);
    else if (value)
        rpc_call_add_initial(call, as, value, size);
}

static void fill_echo(Renga__Test__EchoResponse *response, const Renga__Test__EchoRequest *request,
                      struct rpc_call *call)
{
    renga__test__echo_response__init(response);
    response->text = request->text;
    response->payload = request->payload;
    response->principal = (char *)(uintptr_t)rpc_call_principal(call)->name;
    response->tenant = (char *)(uintptr_t)rpc_call_principal(call)->tenant;
    int64_t deadline_ns = rpc_call_deadline_ns(call);
    response->deadline_left_ms = deadline_ns == TIME_NEVER ? -1 : (deadline_ns - clock_now_ns()) / NS_PER_MS;
}

static void echo(Renga__Test__Probe_Service *self, const Renga__Test__EchoRequest *request,
                 Renga__Test__EchoResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    Renga__Test__EchoResponse response;
    fill_echo(&response, request, call);
    char traceparent[TRACEPARENT_LENGTH + 1];
    if (strcmp(request->text, "tell me more") == 0) {
        trace_format(rpc_call_trace(call), traceparent);
        response.traceparent = traceparent;
        response.peer = (char *)(uintptr_t)rpc_call_peer(call);
    }
    copy_probe_metadata(call, "probe-initial", "probe-initial", false);
    copy_probe_metadata(call, "probe-trailing-bin", "probe-trailing-bin", true);
    if (request->compress)
        rpc_call_compress(call);
    reply(&response, call);
}

/* ---- Sleep ------------------------------------------------------------------------------------------------------ */

struct nap {
    struct timer timer;
    struct rpc_call *call;
    Renga__Test__SleepResponse_Closure reply;
    char key[KEY_SIZE];
};

static void nap_over(struct timer *timer)
{
    struct nap *nap = (struct nap *)timer;
    Renga__Test__SleepResponse response = RENGA__TEST__SLEEP_RESPONSE__INIT;
    response.key = nap->key;
    nap->reply(&response, nap->call);
    free(nap);
}

static void nap_cancelled(struct rpc_call *call, void *data)
{
    struct nap *nap = data;
    note_cancelled(nap->key);
    loop_disarm(rpc_call_loop(call), &nap->timer);
    free(nap);
    rpc_fail_with(call, CANCELLED, "woken up");
}

static void nap_begin(struct rpc_call *call, const Renga__Test__SleepRequest *request,
                      Renga__Test__SleepResponse_Closure reply)
{
    struct nap *nap = calloc(1, sizeof *nap);
    nap->call = call;
    nap->reply = reply;
    snprintf(nap->key, sizeof nap->key, "%s", request->key);
    note_began(nap->key);
    nap->timer.expired = nap_over;
    rpc_call_on_cancel(call, nap_cancelled, nap);
    loop_arm_after(rpc_call_loop(call), &nap->timer, request->delay_ms);
}

static void sleep_call(Renga__Test__Probe_Service *self, const Renga__Test__SleepRequest *request,
                       Renga__Test__SleepResponse_Closure reply, void *data)
{
    nap_begin(data, request, reply);
}

static void noticed(Renga__Test__Probe_Service *self, const Renga__Test__NoticedRequest *request,
                    Renga__Test__NoticedResponse_Closure reply, void *data)
{
    Renga__Test__NoticedResponse response = RENGA__TEST__NOTICED_RESPONSE__INIT;
    pthread_mutex_lock(&notes_lock);
    const struct note *note = note_of(request->key);
    response.began = note->began;
    response.cancelled = note->cancelled;
    response.after_us = (note->cancelled_ns - note->began_ns) / 1000;
    pthread_mutex_unlock(&notes_lock);
    reply(&response, data);
}

/* ---- Fail ------------------------------------------------------------------------------------------------------- */

static void fail_call(Renga__Test__Probe_Service *self, const Renga__Test__FailRequest *request,
                      Renga__Test__EchoResponse_Closure reply, void *data)
{
    struct status status = {.code = (enum status_code)request->code, .retry_after_ms = request->retry_after_ms};
    snprintf(status.field, sizeof status.field, "%s", request->field);
    size_t length = text_cut(request->text, strlen(request->text), sizeof status.text - 1);
    memcpy(status.text, request->text, length);
    rpc_fail(data, &status);
}

/* ---- Count ------------------------------------------------------------------------------------------------------ */

struct count {
    struct timer timer;
    struct rpc_call *call;
    Renga__Test__CountResponse_Closure reply;
    int64_t sent, messages, interval_ms;
    size_t bytes;
    uint8_t *payload;
    bool ignore_window;
    enum status_code end_code;
    char key[KEY_SIZE];
};

static void count_free(struct count *count)
{
    loop_disarm(rpc_call_loop(count->call), &count->timer);
    free(count->payload);
    free(count);
}

static void count_go_on(struct count *count)
{
    struct rpc_call *call = count->call;
    while (count->sent < count->messages && (count->ignore_window || rpc_call_writable(call))) {
        Renga__Test__CountResponse message = RENGA__TEST__COUNT_RESPONSE__INIT;
        message.index = count->sent++;
        message.payload = (ProtobufCBinaryData){.len = count->bytes, .data = count->payload};
        Renga__Test__CountResponse_Closure reply = count->reply;
        reply(&message, call);
        if (count->interval_ms && count->sent < count->messages) {
            loop_arm_after(rpc_call_loop(call), &count->timer, count->interval_ms);
            return;
        }
    }
    if (count->sent < count->messages)
        return; /* the window will open */
    Renga__Test__CountResponse_Closure reply = count->reply;
    enum status_code end_code = count->end_code;
    count_free(count);
    if (end_code == OK)
        reply(NULL, call);
    else
        rpc_fail_with(call, end_code, "the count ended as it was told");
}

static void count_due(struct timer *timer)
{
    count_go_on((struct count *)timer);
}

static void count_writable(struct rpc_call *call, void *data)
{
    struct count *count = data;
    if (!count->interval_ms)
        count_go_on(count);
}

static void count_cancelled(struct rpc_call *call, void *data)
{
    struct count *count = data;
    note_cancelled(count->key);
    count_free(count);
    rpc_fail_with(call, CANCELLED, "nobody counts");
}

static void count_call(Renga__Test__Probe_Service *self, const Renga__Test__CountRequest *request,
                       Renga__Test__CountResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    struct count *count = calloc(1, sizeof *count);
    *count = (struct count){.call = call,
                            .reply = reply,
                            .messages = request->messages,
                            .interval_ms = request->interval_ms,
                            .bytes = (size_t)request->bytes,
                            .ignore_window = request->ignore_window,
                            .end_code = (enum status_code)request->end_code};
    snprintf(count->key, sizeof count->key, "%s", request->key);
    count->payload = calloc(1, count->bytes + 1);
    count->timer.expired = count_due;
    note_began(count->key);
    rpc_call_on_cancel(call, count_cancelled, count);
    rpc_call_on_writable(call, count_writable, count);
    count_go_on(count);
}

/* ---- Sum, Chat -------------------------------------------------------------------------------------------------- */

static void sum(Renga__Test__Probe_Service *self, const Renga__Test__SumRequest *request,
                Renga__Test__SumResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    Renga__Test__SumResponse *total = rpc_call_data(call);
    if (!total) {
        total = arena_alloc(rpc_call_arena(call), sizeof *total);
        renga__test__sum_response__init(total);
        rpc_call_set_data(call, total);
    }
    if (!request) {
        reply(total, call);
        return;
    }
    total->sum += request->value;
    total->count++;
}

static void chat(Renga__Test__Probe_Service *self, const Renga__Test__EchoRequest *request,
                 Renga__Test__EchoResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    if (!request) {
        reply(NULL, call);
        return;
    }
    Renga__Test__EchoResponse response;
    fill_echo(&response, request, call);
    reply(&response, call);
}

/* ---- Forward ---------------------------------------------------------------------------------------------------- */

struct forward {
    struct rpc_client_call out;
    struct rpc_call *call;
    Renga__Test__SleepResponse_Closure reply;
};

static void forwarded(const Renga__Test__SleepResponse *response, void *data)
{
    struct rpc_client_call *out = data;
    struct forward *forward = out->owner;
    if (response)
        forward->reply(response, forward->call);
    else
        rpc_fail(forward->call, &out->status);
    free(forward);
}

static void forward_call(Renga__Test__Probe_Service *self, const Renga__Test__SleepRequest *request,
                         Renga__Test__SleepResponse_Closure reply, void *data)
{
    struct probe *probe = (struct probe *)self;
    struct forward *forward = calloc(1, sizeof *forward);
    forward->call = data;
    forward->reply = reply;
    rpc_client_call_init(&forward->out, rpc_call_loop(data), data);
    forward->out.owner = forward;
    renga__test__probe__sleep(probe->next, request, forwarded, &forward->out);
}

/* ---- Stick ------------------------------------------------------------------------------------------------------ */

static void stick(Renga__Test__Probe_Service *self, const Renga__Test__NoticedRequest *request,
                  Renga__Test__SleepResponse_Closure reply, void *data)
{
    struct probe *probe = (struct probe *)self;
    struct stuck *stuck = calloc(1, sizeof *stuck);
    *stuck = (struct stuck){.next = probe->stuck, .call = data, .reply = reply};
    snprintf(stuck->key, sizeof stuck->key, "%s", request->key);
    probe->stuck = stuck;
}

static void let_go(struct probe *probe)
{
    while (probe->stuck) {
        struct stuck *stuck = probe->stuck;
        probe->stuck = stuck->next;
        Renga__Test__SleepResponse response = RENGA__TEST__SLEEP_RESPONSE__INIT;
        response.key = stuck->key;
        stuck->reply(&response, stuck->call);
        free(stuck);
    }
}

static void release(Renga__Test__Probe_Service *self, const Renga__Test__NoticedRequest *request,
                    Renga__Test__SleepResponse_Closure reply, void *data)
{
    let_go((struct probe *)self);
    Renga__Test__SleepResponse response = RENGA__TEST__SLEEP_RESPONSE__INIT;
    reply(&response, data);
}

/* ---- the instance ----------------------------------------------------------------------------------------------- */

static const Renga__Test__Probe_Service functions = {
    .base = {.descriptor = &renga__test__probe__descriptor, .invoke = rpc_service_invoke},
    .echo = echo,
    .sleep = sleep_call,
    .noticed = noticed,
    .fail = fail_call,
    .count = count_call,
    .sum = sum,
    .chat = chat,
    .forward = forward_call,
    .stick = stick,
    .release = release,
};

ProtobufCService *probe_create(struct loop *loop, ProtobufCService *next)
{
    struct probe *probe = calloc(1, sizeof *probe);
    *probe = (struct probe){.base = functions, .loop = loop, .next = next};
    return &probe->base.base;
}

void probe_set_next(ProtobufCService *service, ProtobufCService *next)
{
    ((struct probe *)service)->next = next;
}

void probe_destroy(ProtobufCService *service)
{
    free(service);
}

struct rpc_schema *probe_schema(void)
{
    struct status st = {0};
    struct rpc_schema *schema = rpc_schema_load(probe_descriptor_set, probe_descriptor_set_size, &st);
    if (!schema)
        fatal("probe.schema", "%s", st.text);
    return schema;
}
