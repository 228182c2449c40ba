#include "loop/jobs.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/random.h"
#include "base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WORKERS_MIN 2 /* so that one owner's job leaves another owner a worker */
#define WORKERS_MAX 16
#define WORKER_NICE 5  /* a third of a loop's share of a busy processor */
#define LANES       64 /* two of a dozen busy owners share one with a probability of 2/3, all of them never */
#define RETRY_MS    1000

struct lane {
    struct job *first, *last;
    unsigned waiting, running;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t threads[WORKERS_MAX];
    unsigned workers;
    bool closing;
    struct lane lanes[LANES];
    unsigned turn; /* the next lane to be served */
    unsigned waiting, running;
    uint64_t run, refused;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---- owners ------------------------------------------------------------------------------------------------------ */

/* FNV-1a from a seed of the process, so that an owner cannot choose names that share another owner's lane. */
static uint64_t hash_on(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return (hash ^ 0xFF) * UINT64_C(0x100000001B3);
}

static uint64_t seed;

static void jobs_make_seed(void)
{
    seed = random_u64();
}

uint64_t job_owner(const char *tenant, const char *client)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, jobs_make_seed);
    return hash_on(hash_on(seed, tenant), client);
}

static struct lane *lane_of(const struct job *job)
{
    return &pool.lanes[(job->owner ^ job->owner >> 32) % LANES];
}

/* ---- the queue, under the lock ----------------------------------------------------------------------------------- */

static void lane_enqueue(struct lane *lane, struct job *job)
{
    job->waits = true;
    LIST_APPEND(lane->first, lane->last, job);
    lane->waiting++;
    pool.waiting++;
}

static void lane_unqueue(struct lane *lane, struct job *job)
{
    LIST_REMOVE(lane->first, lane->last, job);
    job->waits = false;
    lane->waiting--;
    pool.waiting--;
}

/* The first job of the next lane that may have a worker. */
static struct job *jobs_dequeue(void)
{
    for (unsigned i = 0; pool.waiting && i < LANES; i++) {
        struct lane *lane = &pool.lanes[(pool.turn + i) % LANES];
        if (!lane->first || lane->running + 1 >= pool.workers)
            continue;
        struct job *job = lane->first;
        pool.turn = (pool.turn + i + 1) % LANES;
        lane_unqueue(lane, job);
        lane->running++;
        pool.running++;
        return job;
    }
    return NULL;
}

/* ---- a worker ---------------------------------------------------------------------------------------------------- */

bool job_is_over(const struct job *job)
{
    bool late = job->deadline_ns && clock_now_ns() >= job->deadline_ns;
    return late || atomic_load_explicit(&job->stop, memory_order_relaxed);
}

static void job_ended(struct work *work)
{
    struct job *job = CONTAINER_OF(work, struct job, work);
    job->ended(job);
}

static struct job *await_job(void)
{
    struct job *job = NULL;
    while (!pool.closing && !(job = jobs_dequeue()))
        pthread_cond_wait(&pool.wake, &pool.lock);
    return job;
}

static void *worker_main(void *data)
{
    (void)data;
    struct job *job;
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + WORKER_NICE); /* of this thread alone, on Linux */
    thread_name("worker");
    pthread_mutex_lock(&pool.lock);
    while ((job = await_job())) {
        struct lane *lane = lane_of(job);
        pthread_mutex_unlock(&pool.lock);
        if (atomic_load_explicit(&job->stop, memory_order_relaxed))
            fail(&job->status, CANCELLED, "the caller has left");
        else if (job_is_over(job))
            fail(&job->status, DEADLINE_EXCEEDED, "no worker was free before the deadline; ask again, or for less");
        else
            job->run(job);
        loop_post(job->loop, &job->work); /* the owner may free it from here on */
        pthread_mutex_lock(&pool.lock);
        lane->running--;
        pool.running--;
        pool.run++;
        if (lane->first)
            pthread_cond_signal(&pool.wake);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void start_workers(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = processors < WORKERS_MIN ? WORKERS_MIN : processors > WORKERS_MAX ? WORKERS_MAX : processors;
    while (pool.workers < wanted && pthread_create(&pool.threads[pool.workers], NULL, worker_main, NULL) == 0)
        pool.workers++;
    if (pool.workers < WORKERS_MIN)
        fatal("jobs.threads", "no threads for long work: %u of %u could be started", pool.workers, wanted);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

static bool job_queued(struct job *job)
{
    struct lane *lane = lane_of(job);
    pthread_mutex_lock(&pool.lock);
    if (!pool.workers)
        start_workers();
    bool room = pool.waiting < JOBS_WAITING_MAX && lane->waiting < JOBS_LANE_WAITING_MAX;
    if (room) {
        lane_enqueue(lane, job);
        pthread_cond_signal(&pool.wake);
    } else {
        pool.refused++;
    }
    pthread_mutex_unlock(&pool.lock);
    return room;
}

void job_start(struct job *job, size_t bytes)
{
    assert(loop_current() == job->loop);
    job->status = (struct status){0};
    job->work.run = job_ended;
    atomic_store(&job->stop, false);
    if (bytes <= JOB_INLINE_MAX || !loop_has_thread(job->loop)) {
        job->run(job);
        job->ended(job);
        return;
    }
    if (job_queued(job))
        return;
    fail(&job->status, RESOURCE_EXHAUSTED, "too many long texts wait to be read; ask again");
    job->status.retry_after_ms = RETRY_MS;
    job->ended(job);
}

void job_cancel(struct job *job)
{
    atomic_store(&job->stop, true);
    pthread_mutex_lock(&pool.lock);
    bool waited = job->waits;
    if (waited)
        lane_unqueue(lane_of(job), job);
    pthread_mutex_unlock(&pool.lock);
    if (!waited)
        return;
    fail(&job->status, CANCELLED, "the caller has left");
    loop_post(job->loop, &job->work);
}

void jobs_count(struct jobs_count *count)
{
    pthread_mutex_lock(&pool.lock);
    *count = (struct jobs_count){.waiting = pool.waiting,
                                 .running = pool.running,
                                 .workers = pool.workers,
                                 .run = pool.run,
                                 .refused = pool.refused};
    pthread_mutex_unlock(&pool.lock);
}

void jobs_stop(void)
{
    pthread_mutex_lock(&pool.lock);
    assert(!pool.waiting);
    pool.closing = true;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < pool.workers; i++)
        pthread_join(pool.threads[i], NULL);
    pool.workers = 0;
    pool.closing = false;
}
