/* The reference of the idle streams: Probe.Count written directly on gRPC core, with nothing that the call does not
 * need. Each call is answered with one message and then held until its client goes. `raw-streams PORT`; port 0 picks
 * one. */
#include "probe.pb-c.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING     8
#define STREAMS_MAX 1000 /* on one connection, as ours */

enum call_state { CALL_AWAITED, CALL_OPEN };

struct call;

/* What a completion is about: the call itself, or the watch for its client's leaving. */
struct tag {
    struct call *call;
    int is_watch;
};

struct call {
    grpc_call *grpc;
    gpr_timespec deadline;
    grpc_metadata_array metadata;
    grpc_byte_buffer *request, *response;
    int cancelled;
    unsigned batches;
    enum call_state state;
    struct tag main, watch;
};

static grpc_server *server;
static grpc_completion_queue *cq;
static void *method;

static void await(void)
{
    struct call *call = calloc(1, sizeof *call);
    call->main.call = call->watch.call = call;
    call->watch.is_watch = 1;
    grpc_metadata_array_init(&call->metadata);
    grpc_server_request_registered_call(server, method, &call->grpc, &call->deadline, &call->metadata, &call->request,
                                        cq, cq, &call->main);
}

static grpc_byte_buffer *first_message(void)
{
    Renga__Test__CountResponse response = RENGA__TEST__COUNT_RESPONSE__INIT;
    grpc_slice slice = grpc_slice_malloc(renga__test__count_response__get_packed_size(&response));
    renga__test__count_response__pack(&response, GRPC_SLICE_START_PTR(slice));
    grpc_byte_buffer *packed = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return packed;
}

static void begin(struct call *call)
{
    call->state = CALL_OPEN;
    grpc_byte_buffer_destroy(call->request);
    call->response = first_message();
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                      {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = call->response}};
    grpc_call_start_batch(call->grpc, ops, 2, &call->main, NULL);
    grpc_op close = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &call->cancelled};
    grpc_call_start_batch(call->grpc, &close, 1, &call->watch, NULL);
    call->batches = 2;
}

static void go_on(struct tag *tag)
{
    struct call *call = tag->call;
    call->batches--;
    if (!tag->is_watch && call->response) {
        grpc_byte_buffer_destroy(call->response);
        call->response = NULL;
    }
    if (call->batches == 0) {
        grpc_metadata_array_destroy(&call->metadata);
        grpc_call_unref(call->grpc);
        free(call);
    }
}

int main(int argc, char **argv)
{
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    grpc_init();
    cq = grpc_completion_queue_create_for_next(NULL);
    grpc_arg streams = {.type = GRPC_ARG_INTEGER,
                        .key = (char *)(uintptr_t)GRPC_ARG_MAX_CONCURRENT_STREAMS,
                        .value.integer = STREAMS_MAX};
    grpc_channel_args arguments = {.num_args = 1, .args = &streams};
    server = grpc_server_create(&arguments, NULL);
    grpc_server_register_completion_queue(server, cq, NULL);
    method = grpc_server_register_method(server, "/renga.test.Probe/Count", NULL,
                                         GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
    int port = grpc_server_add_http2_port(server, address, credentials);
    if (!port)
        return 1;
    grpc_server_start(server);
    for (int i = 0; i < PENDING; i++)
        await();
    printf("listening %d\n", port);
    fflush(stdout);
    for (;;) {
        grpc_event event = grpc_completion_queue_next(cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct tag *tag = event.tag;
        if (tag->call->state == CALL_AWAITED && event.success) {
            await();
            begin(tag->call);
        } else {
            go_on(tag);
        }
    }
}
