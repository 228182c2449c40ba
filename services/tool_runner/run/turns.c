#include "turns.h"

#include "base/hash.h"
#include "base/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct turns {
    pthread_mutex_t lock;
    struct turn *buckets[BUCKETS];
};

struct turns *turns_create(void)
{
    struct turns *turns = calloc(1, sizeof *turns);
    if (!turns)
        fatal("tool_runner.memory", "no memory for the turns of requests");
    pthread_mutex_init(&turns->lock, NULL);
    return turns;
}

void turns_destroy(struct turns **turns_pointer)
{
    struct turns *turns = *turns_pointer;
    *turns_pointer = NULL;
    if (!turns)
        return;
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}

static struct turn **find(struct turns *turns, const char *tenant, const char *name)
{
    struct turn **at = &turns->buckets[hash_more_text(hash_text(tenant), name) % BUCKETS];
    while (*at && (strcmp((*at)->tenant, tenant) != 0 || strcmp((*at)->name, name) != 0))
        at = &(*at)->next_name;
    return at;
}

static void run_came(struct work *work)
{
    struct turn *turn = OWNER_OF(work, struct turn, work);
    turn->standing = TURN_TAKEN;
    turn->came(turn);
}

bool turn_ask(struct turns *turns, struct turn *turn, const char *tenant, const char *name)
{
    turn->tenant = tenant;
    turn->name = name;
    turn->next = turn->next_name = NULL;
    turn->work = (struct work){.run = run_came};
    pthread_mutex_lock(&turns->lock);
    struct turn **at = find(turns, tenant, name);
    bool first = *at == NULL;
    turn->standing = first ? TURN_TAKEN : TURN_WAITING;
    if (first) {
        *at = turn;
    } else {
        struct turn *last = *at;
        while (last->next)
            last = last->next;
        last->next = turn;
    }
    pthread_mutex_unlock(&turns->lock);
    return first;
}

/* Gives its turn to the next turn of the same name. */
static void hand_on(struct turn **at, struct turn *turn)
{
    struct turn *next = turn->next;
    *at = next ? next : turn->next_name;
    if (!next)
        return;
    next->next_name = turn->next_name;
    next->standing = TURN_COMING;
    loop_post(next->loop, &next->work);
}

static void step_out(struct turn *first, const struct turn *turn)
{
    while (first->next != turn)
        first = first->next;
    first->next = turn->next;
}

bool turn_leave(struct turns *turns, struct turn *turn)
{
    pthread_mutex_lock(&turns->lock);
    bool left = turn->standing != TURN_COMING;
    if (left && turn->standing != TURN_NONE) {
        struct turn **at = find(turns, turn->tenant, turn->name);
        assert(*at);
        if (turn->standing == TURN_TAKEN)
            hand_on(at, turn);
        else
            step_out(*at, turn);
        turn->standing = TURN_NONE;
    }
    pthread_mutex_unlock(&turns->lock);
    return left;
}
