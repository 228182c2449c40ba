#include "core_peer.h"

#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCH_PATH "/grpc.health.v1.Health/Watch"

/* A call that the peer has been sent, or waits for. */
struct peer_call {
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    int cancelled;
    bool answered;
};

static void call_await(struct core_peer *peer)
{
    struct peer_call *call = calloc(1, sizeof *call);
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    grpc_server_request_call(peer->server, &call->call, &call->details, &call->metadata, peer->queue, peer->queue,
                             call);
}

static void call_free(struct peer_call *call)
{
    if (call->call)
        grpc_call_unref(call->call);
    grpc_call_details_destroy(&call->details);
    grpc_metadata_array_destroy(&call->metadata);
    free(call);
}

static void call_answer(struct core_peer *peer, struct peer_call *call)
{
    bool watches = grpc_slice_str_cmp(call->details.method, WATCH_PATH) == 0;
    grpc_status_code code = watches ? GRPC_STATUS_UNIMPLEMENTED : GRPC_STATUS_OK;
    if (!watches) {
        size_t turn = atomic_fetch_add(&peer->calls, 1);
        if (peer->script_length > 0)
            code = peer->script[turn < peer->script_length ? turn : peer->script_length - 1];
    }
    const char health[2] = {0x08, (char)peer->health};
    bool stays = watches && peer->health != 0;
    grpc_slice slice = stays ? grpc_slice_from_copied_buffer(health, sizeof health) : grpc_empty_slice();
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_op ops[4] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_CLOSE_ON_SERVER}};
    size_t count = 2;
    ops[1].data.recv_close_on_server.cancelled = &call->cancelled;
    if (stays || code == GRPC_STATUS_OK) {
        ops[count].op = GRPC_OP_SEND_MESSAGE;
        ops[count++].data.send_message.send_message = message;
    }
    if (!stays) { /* a watcher stays until it goes away */
        ops[count].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
        ops[count++].data.send_status_from_server.status = code;
    }
    call->answered = true;
    grpc_call_start_batch(call->call, ops, count, call, NULL);
    grpc_byte_buffer_destroy(message);
    grpc_slice_unref(slice);
}

static void *peer_run(void *data)
{
    struct core_peer *peer = data;
    for (;;) {
        grpc_event event = grpc_completion_queue_next(peer->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        struct peer_call *call = event.tag;
        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (!call) { /* the server has shut down */
            grpc_completion_queue_shutdown(peer->queue);
        } else if (!event.success || call->answered) {
            call_free(call);
        } else {
            call_await(peer);
            call_answer(peer, call);
        }
    }
}

bool core_peer_start(struct core_peer *peer, grpc_server_credentials *credentials, int port)
{
    grpc_arg alone = {.type = GRPC_ARG_INTEGER, .key = (char[]){GRPC_ARG_ALLOW_REUSEPORT}, .value.integer = 0};
    grpc_channel_args arguments = {.num_args = 1, .args = &alone};
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    atomic_store(&peer->calls, 0);
    peer->server = grpc_server_create(&arguments, NULL);
    peer->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(peer->server, peer->queue, NULL);
    for (int tries = 0;
         tries < 100 && (peer->port = grpc_server_add_http2_port(peer->server, address, credentials)) == 0; tries++)
        usleep(10000); /* the one before may still be letting go of the port */
    grpc_server_credentials_release(credentials);
    grpc_server_start(peer->server);
    call_await(peer);
    return peer->port != 0 && pthread_create(&peer->thread, NULL, peer_run, peer) == 0;
}

void core_peer_stop(struct core_peer *peer)
{
    grpc_server_shutdown_and_notify(peer->server, peer->queue, NULL);
    grpc_server_cancel_all_calls(peer->server);
    pthread_join(peer->thread, NULL);
    grpc_completion_queue_destroy(peer->queue);
    grpc_server_destroy(peer->server);
}

grpc_status_code core_call(grpc_channel *channel, const char *path, int timeout_ms)
{
    gpr_timespec deadline = gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
    grpc_completion_queue *queue = grpc_completion_queue_create_for_pluck(NULL);
    grpc_call *call = grpc_channel_create_call(channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                               grpc_slice_from_static_string(path), NULL, deadline, NULL);
    grpc_slice empty = grpc_empty_slice(), text;
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&empty, 1), *reply = NULL;
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_op ops[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
                      {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
                      {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    ops[1].data.send_message.send_message = message;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &initial;
    ops[4].data.recv_message.recv_message = &reply;
    ops[5].data.recv_status_on_client.trailing_metadata = &trailing;
    ops[5].data.recv_status_on_client.status = &code;
    ops[5].data.recv_status_on_client.status_details = &text;
    grpc_call_start_batch(call, ops, 6, call, NULL);
    grpc_completion_queue_pluck(queue, call, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    grpc_slice_unref(text);
    grpc_byte_buffer_destroy(message);
    grpc_byte_buffer_destroy(reply);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(queue);
    grpc_completion_queue_destroy(queue);
    return code;
}

bool core_connects(grpc_channel *channel, int timeout_ms)
{
    for (int waited = 0; waited < timeout_ms; waited += 5) {
        if (grpc_channel_check_connectivity_state(channel, 1) == GRPC_CHANNEL_READY)
            return true;
        usleep(5000);
    }
    return false;
}
