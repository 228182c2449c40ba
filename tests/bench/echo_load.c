/* Calls Probe.Echo as fast as it is answered: `echo-load TARGET CALLS CONNECTIONS OUTSTANDING [PAYLOAD]`.
 * Prints one line: calls, failures, seconds, calls a second, and the latency's median and 99th percentile in µs. */
#include "probe.pb-c.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

struct call {
    grpc_channel *channel;
    void *method;
    grpc_call *grpc;
    grpc_metadata_array initial, trailing;
    grpc_byte_buffer *request, *response;
    grpc_status_code code;
    grpc_slice text;
    int64_t began_ns;
};

static grpc_completion_queue *cq;
static grpc_byte_buffer *request;
static long left, failures;
static size_t payload_size = 64;
static int64_t *latencies;
static long done;

static void begin(struct call *call)
{
    left--;
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    call->response = NULL;
    call->request = grpc_byte_buffer_copy(request); /* core takes the bytes out of what it sends */
    call->began_ns = now_ns();
    gpr_timespec deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(60, GPR_TIMESPAN));
    call->grpc = grpc_channel_create_registered_call(call->channel, NULL, 0, cq, call->method, deadline, NULL);
    grpc_op ops[6];
    memset(ops, 0, sizeof ops);
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = call->request;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
    ops[4].op = GRPC_OP_RECV_MESSAGE;
    ops[4].data.recv_message.recv_message = &call->response;
    ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    ops[5].data.recv_status_on_client.trailing_metadata = &call->trailing;
    ops[5].data.recv_status_on_client.status = &call->code;
    ops[5].data.recv_status_on_client.status_details = &call->text;
    grpc_call_start_batch(call->grpc, ops, 6, call, NULL);
}

static void end(struct call *call)
{
    latencies[done++] = now_ns() - call->began_ns;
    failures +=
        call->code != GRPC_STATUS_OK || !call->response || grpc_byte_buffer_length(call->response) < payload_size;
    grpc_byte_buffer_destroy(call->request);
    if (call->response)
        grpc_byte_buffer_destroy(call->response);
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->text);
    grpc_call_unref(call->grpc);
}

static grpc_byte_buffer *make_request(void)
{
    Renga__Test__EchoRequest message = RENGA__TEST__ECHO_REQUEST__INIT;
    message.text = (char *)(uintptr_t) "hello";
    message.payload = (ProtobufCBinaryData){.len = payload_size, .data = calloc(1, payload_size + 1)};
    grpc_slice slice = grpc_slice_malloc(renga__test__echo_request__get_packed_size(&message));
    renga__test__echo_request__pack(&message, GRPC_SLICE_START_PTR(slice));
    return grpc_raw_byte_buffer_create(&slice, 1);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    long calls = atol(argv[2]);
    int connections = atoi(argv[3]), outstanding = atoi(argv[4]);
    grpc_init();
    cq = grpc_completion_queue_create_for_next(NULL);
    if (argc > 5)
        payload_size = (size_t)atol(argv[5]);
    request = make_request();
    latencies = calloc((size_t)calls, sizeof *latencies);
    left = calls;
    int64_t began_ns = now_ns();
    for (int c = 0; c < connections; c++) {
        grpc_arg own = {
            .type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, .value.integer = 1};
        grpc_channel_args arguments = {.num_args = 1, .args = &own};
        grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
        grpc_channel *channel = grpc_channel_create(argv[1], credentials, &arguments);
        void *method = grpc_channel_register_call(channel, "/renga.test.Probe/Echo", NULL, NULL);
        for (int i = 0; i < outstanding && left > 0; i++) {
            struct call *call = calloc(1, sizeof *call);
            call->channel = channel;
            call->method = method;
            begin(call);
        }
    }
    while (done < calls) {
        grpc_event event = grpc_completion_queue_next(cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        end(event.tag);
        if (left > 0)
            begin(event.tag);
    }
    double seconds = (double)(now_ns() - began_ns) / 1e9;
    qsort(latencies, (size_t)done, sizeof *latencies, ascending);
    printf("calls %ld failures %ld seconds %.3f rate %.0f p50_us %.1f p99_us %.1f\n", calls, failures, seconds,
           (double)calls / seconds, (double)latencies[done / 2] / 1e3, (double)latencies[done * 99 / 100] / 1e3);
    return failures != 0;
}
