#include "rpc/queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/thread.h"
#include "rpc/mutexes.h"
#include "rpc/runtime.h"
#include "rpc/trim.h"

#include <assert.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CORE_LINES_PER_SECOND 10

/* How soon a channel without a thread of its own notices that its peer is back; the default of 5 s is an outage. */
#define BACKUP_POLL_MS "100"

struct queue {
    struct loop *loop;
    grpc_completion_queue *cq;
    pthread_t thread;
};

static struct queue queues[LOOPS_MAX];
static unsigned queue_count; /* 0 until core is started */
static struct loop *const *queue_loops;
static unsigned loop_count;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

static void *pump(void *data)
{
    struct queue *queue = data;
    thread_name("queue %u", loop_index(queue->loop));
    for (;;) {
        grpc_event event = grpc_completion_queue_next(queue->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        loop_enter(queue->loop);
        struct rpc_tag *tag = event.tag;
        tag->completed(tag, event.success);
        loop_leave(queue->loop);
    }
}

static void completed_at_once(struct work *work)
{
    struct rpc_tag *tag = CONTAINER_OF(work, struct rpc_tag, work);
    tag->completed(tag, tag->ok);
}

/* Core's cache of a thread holds back the first event that the thread completes; further ones take the queue. It may be
 * any event of this queue: a start that finds the connection at work does the work of others, too. */
void rpc_batch_start(struct loop *loop, grpc_call *call, const grpc_op *ops, size_t count, struct rpc_tag *tag)
{
    assert(loop_current() == loop);
    grpc_completion_queue *cq = rpc_queue(loop);
    grpc_completion_queue_thread_local_cache_init(cq);
    grpc_call_error error = grpc_call_start_batch(call, ops, count, tag, NULL);
    if (error != GRPC_CALL_OK)
        fatal("rpc.batch", "gRPC refuses a batch: %s", grpc_call_error_to_string(error));
    void *held;
    int ok;
    if (!grpc_completion_queue_thread_local_cache_flush(cq, &held, &ok))
        return;
    struct rpc_tag *completed = held;
    completed->ok = ok;
    completed->work.run = completed_at_once;
    loop_defer(loop, &completed->work);
}

/* A hostile peer may make core complain of every header it sends. */
static bool may_log(void)
{
    static _Atomic int64_t second;
    static _Atomic unsigned lines;
    int64_t now = clock_now_ns() / NS_PER_SEC;
    if (atomic_exchange_explicit(&second, now, memory_order_relaxed) != now)
        atomic_store_explicit(&lines, 0, memory_order_relaxed);
    return atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed) < CORE_LINES_PER_SECOND;
}

static void log_core(gpr_log_func_args *args)
{
    if (!may_log())
        return;
    const char *file = strrchr(args->file, '/');
    file = file ? file + 1 : args->file;
    bool ours = strncmp(args->message, "Failed accept4: Invalid", 23) == 0; /* a listener that drain.c shut down */
    if (args->severity == GPR_LOG_SEVERITY_ERROR && !ours)
        log_warn("grpc.core", "%s (%s:%d)", args->message, file, args->line);
    else
        log_debug("grpc.core", "%s (%s:%d)", args->message, file, args->line);
}

bool rpc_start(struct loop *const *loops, unsigned count, struct status *st)
{
    assert(queue_count == 0 && count <= LOOPS_MAX);
    setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", BACKUP_POLL_MS, 0);
    queue_loops = loops;
    loop_count = count;
    rpc_trim_start(loops[0]);
    return true;
}

static void core_start(void)
{
    gpr_set_log_function(log_core);
    srand((unsigned)random_u64()); /* core spreads the ages of connections by rand(): not alike in every process */
    rpc_mutexes_relieve();
    grpc_init();
    for (unsigned i = 0; i < loop_count; i++) {
        assert(loop_index(queue_loops[i]) == i);
        struct queue *queue = &queues[i];
        queue->loop = queue_loops[i];
        queue->cq = grpc_completion_queue_create_for_next(NULL);
        int error = pthread_create(&queue->thread, NULL, pump, queue);
        if (error)
            fatal("rpc.threads", "no thread for completion queue %u: errno %d", i, error);
        queue_count = i + 1;
    }
}

void rpc_core_start(void)
{
    pthread_mutex_lock(&start_lock);
    if (!queue_count)
        core_start();
    pthread_mutex_unlock(&start_lock);
}

void rpc_stop(void)
{
    if (loop_count)
        rpc_trim_stop();
    for (unsigned i = 0; i < queue_count; i++)
        grpc_completion_queue_shutdown(queues[i].cq);
    for (unsigned i = 0; i < queue_count; i++) {
        pthread_join(queues[i].thread, NULL);
        grpc_completion_queue_destroy(queues[i].cq);
    }
    if (queue_count)
        grpc_shutdown_blocking();
    queue_count = loop_count = 0;
}

grpc_completion_queue *rpc_queue(const struct loop *loop)
{
    assert(loop_index(loop) < queue_count);
    return queues[loop_index(loop)].cq;
}

gpr_timespec rpc_timespec(int64_t ns)
{
    if (ns == TIME_NEVER)
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    return (gpr_timespec){
        .tv_sec = ns / NS_PER_SEC, .tv_nsec = (int32_t)(ns % NS_PER_SEC), .clock_type = GPR_CLOCK_MONOTONIC};
}

int64_t rpc_nanoseconds(gpr_timespec time)
{
    if (time.tv_sec >= INT64_MAX / NS_PER_SEC - 1)
        return TIME_NEVER;
    time = gpr_convert_clock_type(time, GPR_CLOCK_MONOTONIC);
    return time.tv_sec * NS_PER_SEC + time.tv_nsec;
}
