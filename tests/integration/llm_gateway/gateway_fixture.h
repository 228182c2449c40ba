/* A gateway in this process, called in process and over gRPC, before a scripted upstream in another (upstream.py). */
#ifndef RENGA_TESTS_LLM_GATEWAY_FIXTURE_H
#define RENGA_TESTS_LLM_GATEWAY_FIXTURE_H

#include "base/buffer.h"
#include "loop/loop.h"
#include "rpc/rpc.h"

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* the macro; ours is a function of base/status.h */

#define KEY "sk-test-0123456789abcdef"

struct fixture {
    struct loop *loop;
    struct http_client *http;
    ProtobufCService *stub; /* of the gateway, by the way that is being tested */
    ProtobufCService *instance;
    int upstream_port;
};

/* Runs the tests twice, once for each way; the state of each is the fixture. Gives what main returns. */
int run_both_ways(const char *name, const struct CMUnitTest *tests, size_t count);
/* The same with a document of routes in place of the upstream's behaviours one by one; "PORT" in it is the upstream's.
 */
int run_both_ways_over(const char *document, const char *name, const struct CMUnitTest *tests, size_t count);

/* A question to one of the upstream's behaviours, to be changed before it is asked. */
struct question {
    Renga__V1__ChatRequest request;
    Renga__V1__ChatMessage message, *messages[1];
    int64_t timeout_ms;
};
void question_init(struct question *question, const char *model);

/* How a call ended. */
struct reply {
    struct rpc_client_call call;
    struct fixture *fixture;
    sem_t done, began; /* began: the first event has come */
    struct status status;
    Google__Rpc__Status *details;
    Renga__V1__ChatResponse *response;
    Renga__V1__ChatStreamEvent *events[20000];
    size_t event_count;
    struct buffer text, reasoning;
    size_t seen;
    bool pause_at_first;
};

/* Asks and waits. The reply is freed with reply_fini. */
struct reply *ask(struct fixture *fixture, const struct question *question);
struct reply *ask_stream(struct fixture *fixture, const struct question *question);
struct reply *ask_model(struct fixture *fixture, const char *model);
struct reply *stream_model(struct fixture *fixture, const char *model);

/* In two steps. */
struct reply *reply_create(struct fixture *fixture);
void begin_ask(struct reply *reply, const struct question *question);
void begin_stream(struct reply *reply, const struct question *question);
void await(struct reply *reply);
void reply_free(struct reply *reply);

/* The last event where it is of this kind, else NULL. */
const Renga__V1__ChatStreamEvent *last_event(const struct reply *reply, Renga__V1__ChatStreamEvent__EventCase kind);

/* The detail of this type, unpacked, to be freed with protobuf_c_message_free_unpacked; NULL where there is none. */
ProtobufCMessage *detail(const struct reply *reply, const ProtobufCMessageDescriptor *descriptor);

void assert_status(const struct reply *reply, enum status_code code, const char *part_of_text);

/* What the upstream saw of a model: a number or a text by its name. */
int64_t seen_number(struct fixture *fixture, const char *model, const char *name);
char *seen_text(struct fixture *fixture, const char *model, const char *name);
/* How long after `since_ns` the upstream saw its client leave; waits for it. */
int64_t left_after_ns(struct fixture *fixture, const char *model, int64_t since_ns);

#endif
