/* store-bench URL [BATCHES] [RUNS] [PUT_BYTES] [FOLDER]: how fast batches get on disk.
 * RUNS batches are always under way, as from as many agents: each puts a step into its log and two values that it
 * overwrites, PUT_BYTES each with their keys. One JSON object: batches a second, time of a batch, processor time, size
 * of transactions; before it what the disk needs for one fdatasync of 4 KiB in FOLDER. */
#include "store/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SYNCS 100

struct agent {
    struct store_batch batch;
    unsigned number, step;
    int64_t begun_ns;
};

static struct {
    struct store *store;
    struct loop *loop;
    unsigned agents, put_bytes;
    uint64_t started, wanted, finished;
    double *times_us;
    struct work start;
    sem_t end;
} bench;

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* ---- the disk ---------------------------------------------------------------------------------------------------- */

static double sync_us(const char *folder)
{
    static char page[4096];
    char path[4096];
    double times_us[SYNCS];
    snprintf(path, sizeof path, "%s/sync.tmp", folder);
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (fd < 0)
        return 0;
    for (int i = 0; i < SYNCS; i++) { /* the first round grows the file, so it does not count */
        if (i % 10 == 0)
            lseek(fd, 0, SEEK_SET);
        ssize_t written = write(fd, page, sizeof page);
        int64_t begun_ns = now_ns(CLOCK_MONOTONIC);
        if (written != sizeof page || fdatasync(fd) != 0)
            break;
        times_us[i] = (double)(now_ns(CLOCK_MONOTONIC) - begun_ns) / 1e3;
    }
    close(fd);
    unlink(path);
    qsort(times_us + 10, SYNCS - 10, sizeof *times_us, by_size);
    return times_us[10 + (SYNCS - 10) / 2];
}

/* ---- the agents -------------------------------------------------------------------------------------------------- */

static void put(struct agent *agent, const char *what, unsigned step)
{
    static const char filling[65536];
    char key[48];
    int length = snprintf(key, sizeof key, "t/%08x%08x/%s%08u", agent->number * 2654435761u, agent->number, what, step);
    size_t rest = bench.put_bytes > (unsigned)length ? bench.put_bytes - (unsigned)length : 0;
    store_put(&agent->batch, (struct store_bytes){key, (size_t)length}, (struct store_bytes){filling, rest});
}

static void went(struct store_batch *batch);

static void go(struct agent *agent)
{
    if (bench.started == bench.wanted)
        return;
    bench.started++;
    store_batch_init(&agent->batch, bench.loop, went);
    put(agent, "log/", agent->step++);
    put(agent, "head", 0);
    put(agent, "run", 0);
    agent->begun_ns = now_ns(CLOCK_MONOTONIC);
    store_commit(bench.store, &agent->batch);
}

static void went(struct store_batch *batch)
{
    struct agent *agent = (struct agent *)(void *)batch;
    if (batch->status.code != OK) {
        fprintf(stderr, "%s\n", batch->status.text);
        exit(1);
    }
    bench.times_us[bench.finished++] = (double)(now_ns(CLOCK_MONOTONIC) - agent->begun_ns) / 1e3;
    store_batch_fini(batch);
    go(agent);
    if (bench.finished == bench.wanted)
        sem_post(&bench.end);
}

static void start(struct work *work)
{
    struct agent *agents = calloc(bench.agents, sizeof *agents);
    for (unsigned i = 0; i < bench.agents; i++) {
        agents[i].number = i;
        go(&agents[i]);
    }
}

static void report(double seconds, double processor_seconds)
{
    struct store_stats stats;
    store_stats(bench.store, &stats);
    qsort(bench.times_us, bench.finished, sizeof *bench.times_us, by_size);
    double batches = (double)bench.finished;
    printf("\"batches_per_s\": %.0f, \"p50_us\": %.0f, \"p99_us\": %.0f, \"max_us\": %.0f, \"cpu_us\": %.2f, "
           "\"batches_per_transaction\": %.1f}\n",
           batches / seconds, bench.times_us[bench.finished / 2], bench.times_us[bench.finished * 99 / 100],
           bench.times_us[bench.finished - 1], processor_seconds * 1e6 / batches, batches / (double)stats.transactions);
}

static const char *argument(int count, char **arguments, int which, const char *otherwise)
{
    return count > which ? arguments[which] : otherwise;
}

int main(int count, char **arguments)
{
    struct status st = {0};
    bench.wanted = strtoull(argument(count, arguments, 2, "100000"), NULL, 10);
    bench.agents = (unsigned)atoi(argument(count, arguments, 3, "1000"));
    bench.put_bytes = (unsigned)atoi(argument(count, arguments, 4, "100"));
    bench.times_us = calloc(bench.wanted, sizeof *bench.times_us);
    bench.store = store_open(argument(count, arguments, 1, "memory:"), &st);
    bench.loop = loop_create(0);
    if (bench.store == NULL || !loop_start(bench.loop, &st)) {
        fprintf(stderr, "%s\n", st.text);
        return 1;
    }
    sem_init(&bench.end, 0, 0);
    printf("{\"sync_us\": %.0f, ", sync_us(argument(count, arguments, 5, ".")));
    bench.start.run = start;
    int64_t begun_ns = now_ns(CLOCK_MONOTONIC), busy_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    loop_post(bench.loop, &bench.start);
    sem_wait(&bench.end);
    report((double)(now_ns(CLOCK_MONOTONIC) - begun_ns) / 1e9,
           (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - busy_ns) / 1e9);
    loop_stop(bench.loop);
    store_close(&bench.store);
    return 0;
}
