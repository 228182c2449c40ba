#include "gateway_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_S 150

/* ---- calls ------------------------------------------------------------------------------------------------------- */

void question_init(struct question *question, const char *model)
{
    *question = (struct question){.timeout_ms = 10000};
    renga__v1__chat_request__init(&question->request);
    renga__v1__chat_message__init(&question->message);
    question->message.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    question->message.content = (char *)(uintptr_t) "What of the pond?";
    question->messages[0] = &question->message;
    question->request.messages = question->messages;
    question->request.n_messages = 1;
    question->request.model = (char *)(uintptr_t)model;
}

static ProtobufCMessage *copied(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    free(bytes);
    return copy;
}

static void ended(struct reply *reply)
{
    size_t size = 0;
    const void *details = rpc_client_call_metadata(&reply->call, "grpc-status-details-bin", &size);
    if (details)
        reply->details = google__rpc__status__unpack(NULL, size, details);
    reply->status = reply->call.status;
    sem_post(&reply->began);
    sem_post(&reply->done);
}

static void answered(const Renga__V1__ChatResponse *response, void *data)
{
    struct reply *reply = ((struct rpc_client_call *)data)->owner;
    if (response)
        reply->response = (Renga__V1__ChatResponse *)copied(&response->base);
    ended(reply);
}

static void event_came(const Renga__V1__ChatStreamEvent *event, void *data)
{
    struct reply *reply = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        ended(reply);
        return;
    }
    if (reply->seen++ == 0 && reply->pause_at_first)
        rpc_client_call_pause(&reply->call);
    if (reply->seen == 1)
        sem_post(&reply->began);
    if (event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT)
        buffer_print(&reply->text, event->text);
    if (event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING)
        buffer_print(&reply->reasoning, event->reasoning);
    if (reply->event_count < sizeof reply->events / sizeof reply->events[0])
        reply->events[reply->event_count++] = (Renga__V1__ChatStreamEvent *)copied(&event->base);
}

struct reply *reply_create(struct fixture *fixture)
{
    struct reply *reply = calloc(1, sizeof *reply);
    reply->fixture = fixture;
    sem_init(&reply->done, 0, 0);
    sem_init(&reply->began, 0, 0);
    buffer_init(&reply->text, 64 << 20);
    buffer_init(&reply->reasoning, 1 << 20);
    return reply;
}

static void prepare(struct reply *reply, const struct question *question)
{
    rpc_client_call_init(&reply->call, reply->fixture->loop, NULL);
    reply->call.timeout_ms = question->timeout_ms;
    reply->call.owner = reply;
}

void begin_ask(struct reply *reply, const struct question *question)
{
    loop_enter(reply->fixture->loop);
    prepare(reply, question);
    renga__v1__llm_gateway__chat(reply->fixture->stub, &question->request, answered, &reply->call);
    loop_leave(reply->fixture->loop);
}

void begin_stream(struct reply *reply, const struct question *question)
{
    loop_enter(reply->fixture->loop);
    prepare(reply, question);
    renga__v1__llm_gateway__chat_stream(reply->fixture->stub, &question->request, event_came, &reply->call);
    loop_leave(reply->fixture->loop);
}

void await(struct reply *reply)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(&reply->done, &until), 0);
}

void reply_free(struct reply *reply)
{
    if (reply->response)
        renga__v1__chat_response__free_unpacked(reply->response, NULL);
    if (reply->details)
        google__rpc__status__free_unpacked(reply->details, NULL);
    for (size_t i = 0; i < reply->event_count; i++)
        renga__v1__chat_stream_event__free_unpacked(reply->events[i], NULL);
    buffer_fini(&reply->text);
    buffer_fini(&reply->reasoning);
    free(reply);
}

struct reply *ask(struct fixture *fixture, const struct question *question)
{
    struct reply *reply = reply_create(fixture);
    begin_ask(reply, question);
    await(reply);
    return reply;
}

struct reply *ask_stream(struct fixture *fixture, const struct question *question)
{
    struct reply *reply = reply_create(fixture);
    begin_stream(reply, question);
    await(reply);
    return reply;
}

struct reply *ask_model(struct fixture *fixture, const char *model)
{
    struct question question;
    question_init(&question, model);
    return ask(fixture, &question);
}

struct reply *stream_model(struct fixture *fixture, const char *model)
{
    struct question question;
    question_init(&question, model);
    return ask_stream(fixture, &question);
}

/* ---- what came of it --------------------------------------------------------------------------------------------- */

const Renga__V1__ChatStreamEvent *last_event(const struct reply *reply, Renga__V1__ChatStreamEvent__EventCase kind)
{
    const Renga__V1__ChatStreamEvent *last = reply->event_count ? reply->events[reply->event_count - 1] : NULL;
    return last && last->event_case == kind ? last : NULL;
}

ProtobufCMessage *detail(const struct reply *reply, const ProtobufCMessageDescriptor *descriptor)
{
    for (size_t i = 0; reply->details && i < reply->details->n_details; i++) {
        const Google__Protobuf__Any *any = reply->details->details[i];
        const char *slash = strrchr(any->type_url, '/');
        if (slash && strcmp(slash + 1, descriptor->name) == 0)
            return protobuf_c_message_unpack(descriptor, NULL, any->value.len, any->value.data);
    }
    return NULL;
}

void assert_status(const struct reply *reply, enum status_code code, const char *part_of_text)
{
    if (reply->status.code != code || !strstr(reply->status.text, part_of_text)) {
        print_error("%s instead of %s: %s\n", status_code_name((int)reply->status.code), status_code_name((int)code),
                    reply->status.text);
        assert_int_equal(reply->status.code, code);
        assert_non_null(strstr(reply->status.text, part_of_text));
    }
    assert_null(strstr(reply->status.text, KEY));
}
