#include "interop.h"

#include "base/clock.h"
#include "grpc/testing/test.pb-c.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MAX (4 << 20)

typedef Grpc__Testing__TestService_Service service_functions;

/* Sends back the metadata that the custom_metadata case asks for. */
static void echo_metadata(struct rpc_call *call)
{
    static const char initial[] = "x-grpc-test-echo-initial", trailing[] = "x-grpc-test-echo-trailing-bin";
    size_t size;
    const void *value = rpc_call_metadata(call, initial, &size);
    if (value)
        rpc_call_add_initial(call, initial, value, size);
    value = rpc_call_metadata(call, trailing, &size);
    if (value)
        rpc_call_add_trailing(call, trailing, value, size);
}

static bool asked_to_fail(const Grpc__Testing__EchoStatus *status, struct rpc_call *call)
{
    if (!status || status->code == OK)
        return false;
    rpc_fail_with(call, (enum status_code)status->code, "%s", status->message);
    return true;
}

/* False where the client says that its message is compressed, or is not, and that is not so. */
static bool compression_is(const Grpc__Testing__BoolValue *expected, struct rpc_call *call)
{
    if (!expected || expected->value == rpc_call_was_compressed(call))
        return true;
    rpc_fail_with(call, INVALID_ARGUMENT, "the message came %scompressed", expected->value ? "un" : "");
    return false;
}

static Grpc__Testing__Payload zeroes(struct arena *arena, int32_t size)
{
    Grpc__Testing__Payload payload = GRPC__TESTING__PAYLOAD__INIT;
    payload.body.data = arena_zalloc(arena, (size_t)size);
    payload.body.len = payload.body.data ? (size_t)size : 0;
    return payload;
}

static void empty_call(service_functions *self, const Grpc__Testing__Empty *request, Grpc__Testing__Empty_Closure reply,
                       void *data)
{
    Grpc__Testing__Empty response = GRPC__TESTING__EMPTY__INIT;
    echo_metadata(data);
    reply(&response, data);
}

static void unary_call(service_functions *self, const Grpc__Testing__SimpleRequest *request,
                       Grpc__Testing__SimpleResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    echo_metadata(call);
    if (asked_to_fail(request->response_status, call) || !compression_is(request->expect_compressed, call))
        return;
    if (request->response_size < 0 || request->response_size > PAYLOAD_MAX) {
        rpc_fail_field(call, "response_size", "is %d; 0 to %d is right", request->response_size, PAYLOAD_MAX);
        return;
    }
    if (request->response_compressed && request->response_compressed->value)
        rpc_call_compress(call);
    Grpc__Testing__SimpleResponse response = GRPC__TESTING__SIMPLE_RESPONSE__INIT;
    Grpc__Testing__Payload payload = zeroes(rpc_call_arena(call), request->response_size);
    response.payload = &payload;
    reply(&response, call);
}

/* A stream of answers in the making: sizes and intervals that are still to come. */
struct output {
    struct timer timer;
    struct rpc_call *call;
    Grpc__Testing__StreamingOutputCallResponse_Closure reply;
    int32_t *sizes;
    int64_t *delays_us;
    size_t next, count;
    bool ended; /* no further request will come */
};

static void output_send(struct output *output)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, PAYLOAD_MAX + 64);
    Grpc__Testing__Payload payload = zeroes(&arena, output->sizes[output->next++]);
    Grpc__Testing__StreamingOutputCallResponse response = GRPC__TESTING__STREAMING_OUTPUT_CALL_RESPONSE__INIT;
    response.payload = &payload;
    output->reply(&response, output->call);
    arena_fini(&arena);
}

static void output_free(struct output *output)
{
    loop_disarm(rpc_call_loop(output->call), &output->timer);
    free(output->sizes);
    free(output->delays_us);
    free(output);
}

static void output_go_on(struct output *output)
{
    struct rpc_call *call = output->call;
    while (output->next < output->count) {
        int64_t delay_us = output->delays_us[output->next];
        output->delays_us[output->next] = 0;
        if (delay_us > 0) {
            loop_arm(rpc_call_loop(call), &output->timer, clock_now_ns() + delay_us * 1000);
            return;
        }
        output_send(output);
    }
    if (output->ended) {
        Grpc__Testing__StreamingOutputCallResponse_Closure reply = output->reply;
        output_free(output);
        reply(NULL, call);
    }
}

static void output_due(struct timer *timer)
{
    output_go_on((struct output *)timer);
}

static void output_cancelled(struct rpc_call *call, void *data)
{
    output_free(data);
    rpc_fail_with(call, CANCELLED, "the client left");
}

static struct output *output_of(struct rpc_call *call, Grpc__Testing__StreamingOutputCallResponse_Closure reply)
{
    struct output *output = rpc_call_data(call);
    if (output)
        return output;
    output = calloc(1, sizeof *output);
    output->call = call;
    output->reply = reply;
    output->timer.expired = output_due;
    rpc_call_set_data(call, output);
    rpc_call_on_cancel(call, output_cancelled, output);
    return output;
}

static void output_add(struct output *output, const Grpc__Testing__StreamingOutputCallRequest *request)
{
    size_t count = output->count + request->n_response_parameters;
    output->sizes = realloc(output->sizes, (count + 1) * sizeof *output->sizes);
    output->delays_us = realloc(output->delays_us, (count + 1) * sizeof *output->delays_us);
    for (size_t i = 0; i < request->n_response_parameters; i++) {
        int32_t size = request->response_parameters[i]->size;
        output->sizes[output->count] = size < 0 || size > PAYLOAD_MAX ? 0 : size;
        output->delays_us[output->count++] = request->response_parameters[i]->interval_us;
    }
}

static void streaming_output_call(service_functions *self, const Grpc__Testing__StreamingOutputCallRequest *request,
                                  Grpc__Testing__StreamingOutputCallResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    if (asked_to_fail(request->response_status, call))
        return;
    for (size_t i = 0; i < request->n_response_parameters; i++)
        if (request->response_parameters[i]->compressed && request->response_parameters[i]->compressed->value)
            rpc_call_compress(call);
    struct output *output = output_of(call, reply);
    output_add(output, request);
    output->ended = true;
    output_go_on(output);
}

static void full_duplex_call(service_functions *self, const Grpc__Testing__StreamingOutputCallRequest *request,
                             Grpc__Testing__StreamingOutputCallResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    if (!rpc_call_data(call)) /* once, whatever the number of messages */
        echo_metadata(call);
    struct output *output = output_of(call, reply);
    if (!request) {
        output->ended = true;
    } else if (request->response_status && request->response_status->code != OK) {
        output_free(output);
        asked_to_fail(request->response_status, call);
        return;
    } else {
        output_add(output, request);
    }
    output_go_on(output);
}

static void half_duplex_call(service_functions *self, const Grpc__Testing__StreamingOutputCallRequest *request,
                             Grpc__Testing__StreamingOutputCallResponse_Closure reply, void *data)
{
    struct output *output = output_of(data, reply);
    if (request) {
        output_add(output, request);
        return;
    }
    output->ended = true;
    output_go_on(output);
}

static void streaming_input_call(service_functions *self, const Grpc__Testing__StreamingInputCallRequest *request,
                                 Grpc__Testing__StreamingInputCallResponse_Closure reply, void *data)
{
    struct rpc_call *call = data;
    Grpc__Testing__StreamingInputCallResponse *total = rpc_call_data(call);
    if (!total) {
        total = arena_alloc(rpc_call_arena(call), sizeof *total);
        grpc__testing__streaming_input_call_response__init(total);
        rpc_call_set_data(call, total);
    }
    if (!request) {
        reply(total, call);
        return;
    }
    if (!compression_is(request->expect_compressed, call))
        return;
    if (request->payload)
        total->aggregated_payload_size += (int32_t)request->payload->body.len;
}

static void unimplemented_call(service_functions *self, const Grpc__Testing__Empty *request,
                               Grpc__Testing__Empty_Closure reply, void *data)
{
    rpc_fail_with(data, UNIMPLEMENTED, "this method is here to be missing");
}

static service_functions functions = {
    .base = {.descriptor = &grpc__testing__test_service__descriptor, .invoke = rpc_service_invoke},
    .empty_call = empty_call,
    .unary_call = unary_call,
    .cacheable_unary_call = unary_call,
    .streaming_output_call = streaming_output_call,
    .streaming_input_call = streaming_input_call,
    .full_duplex_call = full_duplex_call,
    .half_duplex_call = half_duplex_call,
    .unimplemented_call = unimplemented_call,
};

ProtobufCService *interop_service(void)
{
    return &functions.base;
}
