/* The reference of the echo bench: Probe.Echo written directly on gRPC core, with nothing that the call does not need.
 * One thread, one completion queue, one registered method, one batch for the answer. `raw-echo PORT` */
#include "probe.pb-c.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING 8

struct call {
    grpc_call *grpc;
    gpr_timespec deadline;
    grpc_metadata_array metadata;
    grpc_byte_buffer *request, *response;
    int cancelled, answered;
};

static grpc_server *server;
static grpc_completion_queue *cq;
static void *method;

static void await(struct call *call)
{
    memset(call, 0, sizeof *call);
    grpc_metadata_array_init(&call->metadata);
    grpc_server_request_registered_call(server, method, &call->grpc, &call->deadline, &call->metadata, &call->request,
                                        cq, cq, call);
}

static grpc_byte_buffer *echo(grpc_byte_buffer *buffer)
{
    grpc_slice slice = buffer->data.raw.slice_buffer.slices[0];
    if (buffer->data.raw.slice_buffer.count != 1) {
        grpc_byte_buffer_reader reader;
        grpc_byte_buffer_reader_init(&reader, buffer);
        slice = grpc_byte_buffer_reader_readall(&reader);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    Renga__Test__EchoRequest *request =
        renga__test__echo_request__unpack(NULL, GRPC_SLICE_LENGTH(slice), GRPC_SLICE_START_PTR(slice));
    if (buffer->data.raw.slice_buffer.count != 1)
        grpc_slice_unref(slice);
    if (!request)
        exit(1);
    Renga__Test__EchoResponse response = RENGA__TEST__ECHO_RESPONSE__INIT;
    response.text = request->text;
    response.payload = request->payload;
    grpc_slice out = grpc_slice_malloc(renga__test__echo_response__get_packed_size(&response));
    renga__test__echo_response__pack(&response, GRPC_SLICE_START_PTR(out));
    renga__test__echo_request__free_unpacked(request, NULL);
    grpc_byte_buffer *packed = grpc_raw_byte_buffer_create(&out, 1);
    grpc_slice_unref(out);
    return packed;
}

static void answer(struct call *call)
{
    call->response = echo(call->request);
    call->answered = 1;
    grpc_op ops[4];
    memset(ops, 0, sizeof ops);
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = call->response;
    ops[2].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[2].data.send_status_from_server.status = GRPC_STATUS_OK;
    ops[3].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
    ops[3].data.recv_close_on_server.cancelled = &call->cancelled;
    grpc_call_start_batch(call->grpc, ops, 4, call, NULL);
}

static void finish(struct call *call)
{
    grpc_byte_buffer_destroy(call->request);
    grpc_byte_buffer_destroy(call->response);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_call_unref(call->grpc);
    free(call);
}

int main(int argc, char **argv)
{
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    grpc_init();
    cq = grpc_completion_queue_create_for_next(NULL);
    server = grpc_server_create(NULL, NULL);
    grpc_server_register_completion_queue(server, cq, NULL);
    method = grpc_server_register_method(server, "/renga.test.Probe/Echo", NULL,
                                         GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
    int port = grpc_server_add_http2_port(server, address, credentials);
    if (!port)
        return 1;
    grpc_server_start(server);
    for (int i = 0; i < PENDING; i++)
        await(malloc(sizeof(struct call)));
    printf("listening %d\n", port);
    fflush(stdout);
    for (;;) {
        grpc_event event = grpc_completion_queue_next(cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct call *call = event.tag;
        if (call->answered) {
            finish(call);
        } else if (event.success) {
            await(malloc(sizeof(struct call)));
            answer(call);
        }
    }
}
