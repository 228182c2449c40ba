/* In which thread, and when, what was started is completed: with real calls of gRPC core. A batch without operations is
 * complete at once; one that waits for an answer is completed by whoever polls. */
#include "rpc/queue.h"

#include "base/clock.h"
#include "rpc/runtime.h"

#include <dirent.h>
#include <grpc/grpc_security.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define BATCHES     100
#define PATIENCE_NS (300 * NS_PER_MS) /* of a call that nobody answers; our own thread is out of the loop by then */
#define LIMIT_NS    (10 * NS_PER_SEC)

/* A batch, and what its completion saw. */
struct batch {
    struct rpc_tag tag;
    grpc_call *call; /* where another batch without operations is to be started on it */
    unsigned repeats;
    pthread_t thread;
    struct loop *inside;
    atomic_uint times; /* written last */
    bool ok;
};

static struct loop *loop;
static bool starting;

static void start_empty(struct batch *batch)
{
    starting = true;
    rpc_batch_start(loop, batch->call, NULL, 0, &batch->tag);
    starting = false;
}

static void completed(struct rpc_tag *tag, bool ok)
{
    struct batch *batch = (struct batch *)tag;
    assert_false(starting);
    batch->thread = pthread_self();
    batch->inside = loop_current();
    batch->ok = ok;
    if (batch->times++ < batch->repeats)
        start_empty(batch);
}

static unsigned threads_count(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static int begin(void **state)
{
    struct status st;
    loop = loop_create(0);
    return !rpc_start(&loop, 1, &st);
}

static int end(void **state)
{
    rpc_stop();
    loop_destroy(&loop);
    return 0;
}

static grpc_call *call_on(grpc_channel *channel, gpr_timespec deadline)
{
    grpc_slice path = grpc_slice_from_static_string("/renga.test.Nobody/Answers");
    return grpc_channel_create_call(channel, NULL, 0, rpc_queue(loop), path, NULL, deadline, NULL);
}

static void core_has_no_thread_until_it_is_needed(void **state)
{
    unsigned before = threads_count();
    rpc_core_start();
    unsigned threads = threads_count();
    assert_true(threads > before);
    rpc_core_start();
    assert_int_equal(threads_count(), threads);
}

static void what_is_complete_at_once_is_completed_in_the_same_visit_by_the_same_thread(void **state)
{
    grpc_channel *channel = grpc_lame_client_channel_create("nowhere", GRPC_STATUS_UNAVAILABLE, "nobody");
    grpc_call *call = call_on(channel, rpc_timespec(TIME_NEVER));
    struct batch batches[BATCHES] = {0};
    loop_enter(loop);
    for (int i = 0; i < BATCHES; i++) {
        batches[i].call = call;
        batches[i].tag.completed = completed;
        start_empty(&batches[i]);
        assert_int_equal(batches[i].times, 0);
    }
    loop_leave(loop);
    for (int i = 0; i < BATCHES; i++) {
        assert_int_equal(batches[i].times, 1);
        assert_true(batches[i].ok);
        assert_ptr_equal(batches[i].inside, loop);
        assert_true(pthread_equal(batches[i].thread, pthread_self()));
    }
    grpc_call_unref(call);
    grpc_channel_destroy(channel);
}

static void a_completion_may_start_the_next_batch_with_its_own_tag(void **state)
{
    grpc_channel *channel = grpc_lame_client_channel_create("nowhere", GRPC_STATUS_UNAVAILABLE, "nobody");
    struct batch batch = {
        .tag.completed = completed, .call = call_on(channel, rpc_timespec(TIME_NEVER)), .repeats = BATCHES};
    loop_enter(loop);
    start_empty(&batch);
    loop_leave(loop);
    assert_int_equal(batch.times, BATCHES + 1);
    assert_true(pthread_equal(batch.thread, pthread_self()));
    grpc_call_unref(batch.call);
    grpc_channel_destroy(channel);
}

/* Connections to it are made, by the kernel, and nobody takes them. */
static int deaf_port(int *listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(*listener, 1), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

static void what_completes_later_comes_into_the_loop_from_the_queues_own_thread(void **state)
{
    int listener;
    char target[32];
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", deaf_port(&listener));
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(target, credentials, NULL);
    grpc_channel_credentials_release(credentials);
    grpc_call *call = call_on(channel, rpc_timespec(clock_now_ns() + PATIENCE_NS));
    grpc_metadata_array trailing;
    grpc_metadata_array_init(&trailing);
    grpc_status_code code;
    grpc_slice text = grpc_empty_slice();
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    ops[1].data.recv_status_on_client.trailing_metadata = &trailing;
    ops[1].data.recv_status_on_client.status = &code;
    ops[1].data.recv_status_on_client.status_details = &text;
    struct batch batch = {.tag.completed = completed};
    loop_enter(loop);
    rpc_batch_start(loop, call, ops, 2, &batch.tag);
    loop_leave(loop);
    /* Not from inside the loop: whoever leaves it completes what is due. */
    for (int64_t until_ns = clock_now_ns() + LIMIT_NS; !atomic_load(&batch.times) && clock_now_ns() < until_ns;)
        usleep(1000);
    assert_int_equal(atomic_load(&batch.times), 1);
    assert_ptr_equal(batch.inside, loop);
    assert_false(pthread_equal(batch.thread, pthread_self()));
    assert_int_equal(code, GRPC_STATUS_DEADLINE_EXCEEDED);
    grpc_slice_unref(text);
    grpc_metadata_array_destroy(&trailing);
    grpc_call_unref(call);
    grpc_channel_destroy(channel);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_has_no_thread_until_it_is_needed), /* the others need it */
        cmocka_unit_test(what_is_complete_at_once_is_completed_in_the_same_visit_by_the_same_thread),
        cmocka_unit_test(a_completion_may_start_the_next_batch_with_its_own_tag),
        cmocka_unit_test(what_completes_later_comes_into_the_loop_from_the_queues_own_thread),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
