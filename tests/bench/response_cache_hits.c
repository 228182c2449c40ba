/* What a hit of the answer cache costs: the key of a request, the question, letting go.
 *
 *      response-cache-hits [REQUEST_BYTES] [THREADS] [HITS]
 *
 * Prints nanoseconds of CPU for each part; under callgrind, give it 1 thread and 20000 hits. */
#include "base/clock.h"
#include "cache/response_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 64

static struct response_cache *cache;
static Renga__V1__ChatRequest requests[KEYS];
static long hits = 1000000;

struct runner {
    struct loop *loop;
    int64_t key_ns, ask_ns;
    pthread_t thread;
};

static void make_requests(size_t size)
{
    for (int i = 0; i < KEYS; i++) {
        Renga__V1__ChatMessage **turns = calloc(4, sizeof *turns);
        renga__v1__chat_request__init(&requests[i]);
        requests[i].model = strdup("gpt-4.1-mini");
        requests[i].messages = turns;
        requests[i].n_messages = 4;
        for (int k = 0; k < 4; k++) {
            turns[k] = calloc(1, sizeof **turns);
            renga__v1__chat_message__init(turns[k]);
            turns[k]->role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
            turns[k]->content = calloc(1, size / 4 + 1);
            memset(turns[k]->content, 'a' + i % 26, size / 4);
            turns[k]->id = calloc(1, 8);
            snprintf(turns[k]->id, 8, "%d-%d", i, k);
        }
    }
}

static bool ask(struct loop *loop, const struct response_cache_key *key, bool first)
{
    static const uint8_t answer[1024];
    struct response_cache_query query = {
        .loop = loop, .key = *key, .content = *key, .reads = true, .shares = true, .resolved = NULL};
    bool there = response_cache_lookup(cache, &query);
    if (first && there && query.result == RESPONSE_CACHE_MISS)
        response_cache_complete(&query, answer, sizeof answer, 3600000);
    bool hit = there && query.result == RESPONSE_CACHE_HIT;
    response_cache_release(&query);
    return hit || first;
}

/* Of the thread: the machine has other things to do. */
static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static void *run(void *data)
{
    struct runner *runner = data;
    struct response_cache_key keys[KEYS];
    loop_enter(runner->loop);
    response_cache_open(cache, runner->loop);
    for (int i = 0; i < KEYS; i++) {
        response_cache_key_of_chat("tenant", &requests[i], &keys[i]);
        ask(runner->loop, &keys[i], true);
    }
    int64_t began_ns = cpu_ns();
    for (long i = 0; i < hits; i++)
        response_cache_key_of_chat("tenant", &requests[i % KEYS], &keys[i % KEYS]);
    runner->key_ns = cpu_ns() - began_ns;
    began_ns = cpu_ns();
    for (long i = 0; i < hits; i++)
        if (!ask(runner->loop, &keys[i % KEYS], false))
            abort();
    runner->ask_ns = cpu_ns() - began_ns;
    response_cache_close(cache, runner->loop);
    loop_leave(runner->loop);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct runner runners[LOOPS_MAX];
    struct status st = {0};
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    hits = argc > 3 ? atol(argv[3]) : hits;
    make_requests(argc > 1 ? (size_t)atol(argv[1]) : 2048);
    cache = response_cache_create(&(struct response_cache_options){.bytes_max = 64 << 20}, &st);
    if (!cache || threads < 1 || threads > LOOPS_MAX || hits < 1)
        return 2;
    for (unsigned i = 0; i < threads; i++) {
        runners[i].loop = loop_create(i);
        pthread_create(&runners[i].thread, NULL, run, &runners[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(runners[i].thread, NULL);
        printf("thread %u: key %.0f ns, ask and done %.0f ns\n", i, (double)runners[i].key_ns / (double)hits,
               (double)runners[i].ask_ns / (double)hits);
        loop_destroy(&runners[i].loop);
    }
    response_cache_destroy(&cache);
    return 0;
}
