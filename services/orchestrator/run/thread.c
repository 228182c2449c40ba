/* Threads in their home: found, loaded on demand, served one request after the other, forgotten when long idle. */
#include "errand.h"
#include "run_priv.h"
#include "transplant.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>

#define TABLE_FIRST 1024

static void go(struct work *work);

/* ---- the table --------------------------------------------------------------------------------------------------- */

static struct thread **slot_of(struct home *home, uint64_t place)
{
    return &home->table[place & (home->room - 1)];
}

static void grow(struct home *home)
{
    size_t room = home->room ? 2 * home->room : TABLE_FIRST, old_room = home->room;
    struct thread **old = home->table;
    home->table = need(calloc(room, sizeof(*home->table)));
    home->room = room;
    for (size_t i = 0; i < old_room; i++)
        for (struct thread *thread = old[i], *next; thread; thread = next) {
            next = thread->next;
            struct thread **slot = slot_of(home, thread->place);
            thread->next = *slot;
            *slot = thread;
        }
    free(old);
}

static void leave_table(struct thread *thread)
{
    struct thread **link = slot_of(thread->home, thread->place);
    while (*link && *link != thread)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = thread->next;
    thread->home->count--;
}

static void leave_idle(struct thread *thread)
{
    struct home *home = thread->home;
    if (!thread->idle)
        return;
    if (thread->idle_previous)
        thread->idle_previous->idle_next = thread->idle_next;
    else
        home->idle_first = thread->idle_next;
    if (thread->idle_next)
        thread->idle_next->idle_previous = thread->idle_previous;
    else
        home->idle_last = thread->idle_previous;
    thread->idle = false;
    home->idle_count--;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct thread *thread_new(struct home *home, const char *tenant, const char *id)
{
    struct thread *thread = need(calloc(1, sizeof *thread));
    atomic_fetch_add(&home->runner->holders, 1);
    thread->home = home;
    thread->tenant = need(strdup(tenant));
    thread->id = need(strdup(id));
    thread->place = id_of_place(tenant, id);
    thread->go.run = go;
    return thread;
}

void thread_free(struct thread *thread)
{
    loop_undefer(thread->home->loop, &thread->go);
    owner_forget(thread);
    struct agents *agents = thread->home->runner->options.agents;
    if (thread->run)
        thread->run->dirty = thread->run->to_begin = NULL;
    frame_destroy(&thread->root);
    live_drop(thread);
    if (thread->run)
        run_free(thread->run);
    for (struct run *run = thread->queue, *next; run; run = next) {
        next = run->next;
        run_free(run);
    }
    memories_drop(&thread->memories);
    if (thread->agent)
        agent_release(agents, thread->agent);
    if (thread->retention)
        renga__v1__retention__free_unpacked(thread->retention, NULL);
    free(thread->tenant);
    free(thread->id);
    runner_release(thread->home->runner);
    free(thread);
}

static void note_listed(struct run *run)
{
    if (!run || run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED)
        return;
    text_cut_copy(run->listed_version, sizeof run->listed_version, run->begun->graph_version);
    run->listed_before = true;
}

static void loaded(struct loader *loader)
{
    struct thread *thread = loader->owner;
    struct status st = loader->status;
    free(loader);
    thread->loader = NULL;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN) {
        thread_settle(thread);
        return;
    }
    if (st.code != OK) {
        if (!owner_doubts(thread, &st))
            thread_break(thread, &st);
        return;
    }
    if (owner_was_overtaken(thread)) {
        thread_lose(thread);
        return;
    }
    thread->phase = THREAD_READY;
    thread->committed = thread->last;
    thread->read_since = thread->since_snapshot;
    thread->pending = run_is_open(thread->run) || thread->queue;
    note_listed(thread->run);
    for (struct run *run = thread->queue; run; run = run->next)
        note_listed(run);
    if (thread->run && thread->run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING) {
        thread->last += RECORDS_LOST_MAX; /* what was shown after the last record, and is lost, keeps its ids */
        run_resume(thread->run, true, NULL);
    } else {
        run_next(thread);
    }
    loop_defer(thread->home->loop, &thread->go);
}

/* Nothing is there under its name: a thread has an owner's row from its first batch to its last. */
static void thread_is_new(struct thread *thread)
{
    thread->phase = THREAD_READY;
    loop_defer(thread->home->loop, &thread->go);
}

static void read_log(struct thread *thread)
{
    struct loader *loader = thread->loader = need(calloc(1, sizeof *loader));
    *loader = (struct loader){.thread = thread, .loaded = loaded, .owner = thread};
    thread->holds++;
    loader_start(loader);
}

static void owner_is_known(struct owner_question *question)
{
    struct thread *thread = question->thread;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN)
        thread_settle(thread);
    else if (question->status.code == ABORTED)
        thread_go_elsewhere(thread, &question->status, question->address);
    else if (question->status.code != OK)
        thread_break(thread, &question->status);
    else if (!thread->own.known.there)
        thread_is_new(thread);
    else if (!thread_stays_elsewhere(thread))
        read_log(thread);
    free(question);
}

static void find_owner(struct thread *thread)
{
    struct owner_question *question = need(calloc(1, sizeof *question));
    question->thread = thread;
    question->asked = owner_is_known;
    thread->holds++;
    owner_ask(question);
}

static struct thread *find(struct home *home, const char *tenant, const char *id)
{
    uint64_t place = id_of_place(tenant, id);
    if (home->count >= home->room)
        grow(home);
    for (struct thread *thread = *slot_of(home, place); thread; thread = thread->next)
        if (thread->place == place && strcmp(thread->id, id) == 0 && strcmp(thread->tenant, tenant) == 0) {
            leave_idle(thread);
            return thread;
        }
    return NULL;
}

static struct thread *add(struct home *home, const char *tenant, const char *id)
{
    struct thread *thread = thread_new(home, tenant, id), **slot = slot_of(home, thread->place);
    thread->listed = true;
    thread->next = *slot;
    *slot = thread;
    home->count++;
    return thread;
}

struct thread *thread_get(struct home *home, const char *tenant, const char *id, bool drawn)
{
    struct thread *thread = find(home, tenant, id);
    if (thread)
        return thread;
    thread = add(home, tenant, id);
    if (drawn) {
        thread->unread = true;
        thread->own.known_at = home->arrivals;
        thread_is_new(thread);
    } else if (home->runner->members) {
        find_owner(thread);
    } else {
        read_log(thread);
    }
    return thread;
}

static bool is_quiet(const struct thread *thread)
{
    return !thread->holds && !thread->first_errand && !thread->held && !thread->filling && !thread->flying &&
           !thread->loader && !thread->seats && !thread->go.queued && !run_is_open(thread->run) && !thread->queue &&
           !(thread->run && (thread->run->waiters || thread->run->quiet_waiters));
}

void thread_settle(struct thread *thread)
{
    struct home *home = thread->home;
    if (thread->phase == THREAD_BROKEN && !thread->holds && !thread->filling && !thread->flying && !thread->loader &&
        !thread->seats) {
        thread_free(thread);
        return;
    }
    if (thread->phase != THREAD_READY || thread->idle || !is_quiet(thread))
        return;
    if (!thread->exists) {
        leave_table(thread);
        thread_free(thread);
        return;
    }
    thread->idle = true;
    thread->idle_next = NULL;
    thread->idle_previous = home->idle_last;
    if (home->idle_last)
        home->idle_last->idle_next = thread;
    else
        home->idle_first = thread;
    home->idle_last = thread;
    if (++home->idle_count <= THREADS_IDLE_MAX)
        return;
    struct thread *oldest = home->idle_first;
    leave_idle(oldest);
    leave_table(oldest);
    thread_free(oldest);
}

/* ---- when its log cannot be written or read ---------------------------------------------------------------------- */

static void fail_errands(struct errand **list, const struct status *why)
{
    while (*list) {
        struct errand *errand = *list;
        *list = errand->next;
        errand_fail(errand, why, NULL);
    }
}

void thread_forget(struct thread *thread, const struct status *why)
{
    thread->phase = THREAD_BROKEN;
    leave_idle(thread);
    leave_table(thread);
    thread->last_errand = NULL;
    fail_errands(&thread->first_errand, why);
    audience_ended(thread, why);
    struct run *run = thread->run;
    if (run) {
        fail_errands(&run->waiters, why);
        fail_errands(&run->quiet_waiters, why);
        loop_disarm(thread->home->loop, &run->limit);
        loop_disarm(thread->home->loop, &run->idle_limit);
        run->spell_ns = 0;
        run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED; /* nothing more begins */
    }
    for (struct run *queued = thread->queue; queued; queued = queued->next) {
        fail_errands(&queued->waiters, why);
        fail_errands(&queued->quiet_waiters, why);
    }
    thread->holds++;
    if (run && thread->root)
        frame_stop(thread->root);
    thread->holds--;
    commit_drop(&thread->filling, why);
    thread_settle(thread);
}

void thread_break(struct thread *thread, const struct status *why)
{
    log_error("thread.broken", "thread %s: %s", thread->id, why->text);
    if (thread->phase != THREAD_BROKEN && why->code == UNAVAILABLE && (run_is_open(thread->run) || thread->queue) &&
        !thread->home->runner->draining)
        thread_revive_later(thread);
    thread_forget(thread, why);
}

/* ---- its turn ---------------------------------------------------------------------------------------------------- */

void thread_serve(struct thread *thread)
{
    while (thread->phase == THREAD_READY && !thread->held && thread->first_errand &&
           owner_vouches(thread, thread->first_errand)) {
        struct errand *errand = thread->first_errand;
        thread->first_errand = errand->next;
        if (!thread->first_errand)
            thread->last_errand = NULL;
        errand->next = NULL;
        if (thread_serves(thread, errand))
            errand_serve(errand, thread);
    }
}

static void go(struct work *work)
{
    struct thread *thread = OWNER_OF(work, struct thread, go);
    if (thread->phase == THREAD_READY) {
        thread->holds++;
        thread_serve(thread);
        thread_tidy(thread);
        thread_serve(thread);
        log_flush(thread);
        thread->holds--;
    }
    thread_settle(thread);
}

void thread_unhold(struct thread *thread)
{
    thread->held = false;
    if (thread->phase == THREAD_READY)
        run_next(thread);
    loop_defer(thread->home->loop, &thread->go);
}

/* ---- what it has ------------------------------------------------------------------------------------------------- */

void thread_keep(struct thread *thread, const Renga__V1__Retention *retention)
{
    size_t size = renga__v1__retention__get_packed_size(retention);
    uint8_t *bytes = need(malloc(size + 1));
    renga__v1__retention__pack(retention, bytes);
    if (thread->retention)
        renga__v1__retention__free_unpacked(thread->retention, NULL);
    thread->retention = renga__v1__retention__unpack(NULL, size, bytes);
    free(bytes);
}

void thread_take_agent(struct thread *thread, struct agent *agent)
{
    if (thread->agent == agent)
        return;
    agent_hold(agent);
    if (thread->agent)
        agent_release(thread->home->runner->options.agents, thread->agent);
    thread->agent = agent;
}

struct agent *thread_agent_for(struct thread *thread, const char *version)
{
    struct status ignored = {0};
    return agents_find(thread->home->runner->options.agents, NULL, version, &ignored);
}

void thread_unqueue(struct thread *thread, struct run *run)
{
    struct run **link = &thread->queue;
    while (*link && *link != run)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = run->next;
    run_free(run);
}
