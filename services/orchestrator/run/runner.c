#include "keep.h"
#include "recover.h"
#include "run_priv.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "fanout/fanout.h"

#include <stdlib.h>

#define RUNS_FIRST    1024
#define DRAIN_LOOK_MS 20

/* ---- homes ------------------------------------------------------------------------------------------------------- */

static size_t slot_of(const struct home *home, const char *id)
{
    return hash_text(id) & (home->run_room - 1);
}

/* Skips a broken thread that waits for its last holder: it serves no requests any more. */
struct run *home_find_run(struct home *home, const char *tenant, const char *id)
{
    for (struct run *run = home->runs[slot_of(home, id)]; run; run = run->home_next)
        if (strcmp(run->id, id) == 0 && strcmp(run->thread->tenant, tenant) == 0 && run->thread->phase != THREAD_BROKEN)
            return run;
    return NULL;
}

static void grow(struct home *home)
{
    struct run **old = home->runs;
    size_t old_room = home->run_room;
    home->run_room *= 2;
    home->runs = need(calloc(home->run_room, sizeof(*home->runs)));
    for (size_t i = 0; i < old_room; i++)
        for (struct run *run = old[i], *next; run; run = next) {
            next = run->home_next;
            size_t slot = slot_of(home, run->id);
            run->home_next = home->runs[slot];
            home->runs[slot] = run;
        }
    free(old);
}

void home_add_run(struct home *home, struct run *run)
{
    if (++home->run_count > home->run_room)
        grow(home);
    size_t slot = slot_of(home, run->id);
    run->home_next = home->runs[slot];
    home->runs[slot] = run;
    run->in_home = true;
}

void home_remove_run(struct home *home, struct run *run)
{
    struct run **link = &home->runs[slot_of(home, run->id)];
    while (*link && *link != run)
        link = &(*link)->home_next;
    if (*link)
        *link = run->home_next;
    run->in_home = false;
    home->run_count--;
}

struct bundle_note {
    char version[65];
    struct bundle_note *next;
};

bool home_knows_bundle(struct home *home, const char *version)
{
    for (struct bundle_note *note = home->bundles; note; note = note->next)
        if (strcmp(note->version, version) == 0)
            return true;
    struct bundle_note *note = need(calloc(1, sizeof *note));
    text_cut_copy(note->version, sizeof note->version, version);
    note->next = home->bundles;
    home->bundles = note;
    return false;
}

void home_forget_bundles(struct home *home)
{
    while (home->bundles) {
        struct bundle_note *note = home->bundles;
        home->bundles = note->next;
        free(note);
    }
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void lease_lapsed(void *data)
{
    owners_recheck(data);
}

static void runner_member_died(void *data)
{
    struct runner *runner = data;
    quarantine_note_death(runner->quarantine);
    recovery_look(runner);
}

static void join_members(struct runner *runner)
{
    const struct runner_options *options = &runner->options;
    struct members_options own = {.loop = runner->homes[0].loop,
                                  .store = options->store,
                                  .name = options->owner,
                                  .address = options->address ? options->address : "",
                                  .fan_out = fanout_port(options->fanout),
                                  .lease_ms = options->lease_ms,
                                  .died = runner_member_died,
                                  .lapsed = lease_lapsed,
                                  .data = runner};
    runner->members = members_create(&own);
    members_start(runner->members);
}

struct runner *runner_create(const struct runner_options *options, struct status *st)
{
    struct runner *runner = need(calloc(1, sizeof *runner));
    runner->options = *options;
    runner->holders = 1;
    if (!options->owner)
        runner->options.owner = "";
    runner->home_count = options->loop_count;
    runner->homes = need(calloc(options->loop_count, sizeof *runner->homes));
    for (unsigned i = 0; i < options->loop_count; i++) {
        struct home *home = &runner->homes[i];
        home->runner = runner;
        home->loop = options->loops[i];
        home->run_room = RUNS_FIRST;
        home->runs = need(calloc(home->run_room, sizeof(*home->runs)));
    }
    id_make_hashed(runner->session, "s_", random_u64());
    runner->quarantine = quarantine_create();
    if (options->shared)
        join_members(runner);
    return runner;
}

/* Store operations under way still return, and end in their threads; until then the thread holds the runner and its
 * tables. */
static void forget_threads(struct home *home, const char *text)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "%s", text);
    for (size_t i = 0; i < home->room; i++)
        while (home->table[i])
            thread_forget(home->table[i], &why);
}

static void clear_home(struct home *home)
{
    home_end_revivals(home);
    forget_threads(home, "the server ends");
    home_forget_bundles(home);
    home_free_commits(home);
}

static void stop_chores(struct runner *runner)
{
    recovery_stop(&runner->recovery);
    sweep_stop(&runner->sweep);
    sweep_stop(&runner->stands);
    members_stop(runner->members);
}

void runner_destroy(struct runner **runner_pointer)
{
    struct runner *runner = *runner_pointer;
    if (!runner)
        return;
    *runner_pointer = NULL;
    runner->draining = runner->closing = true;
    for (unsigned i = 0; i < runner->home_count; i++) {
        struct loop *loop = runner->homes[i].loop, *present = loop_current();
        if (present != loop)
            loop_enter(loop);
        if (i == 0)
            stop_chores(runner);
        clear_home(&runner->homes[i]);
        if (present != loop)
            loop_leave(loop);
    }
    runner_release(runner);
}

struct members *runner_members(const struct runner *runner)
{
    return runner->members;
}

void runner_release(struct runner *runner)
{
    if (atomic_fetch_sub(&runner->holders, 1) > 1)
        return;
    members_release(&runner->members);
    quarantine_destroy(&runner->quarantine);
    for (unsigned i = 0; i < runner->home_count; i++) {
        free(runner->homes[i].table);
        free(runner->homes[i].runs);
    }
    free(runner->homes);
    free(runner);
}

/* ---- an orderly end ---------------------------------------------------------------------------------------------- */

struct drain {
    struct work work;
    struct timer timer;
    struct runner *runner;
    unsigned next;
    bool busy, closing; /* closing: waiting requests get an error */
    int64_t until_ns;
};

/* After a node that ends as it begins, no task works and no batch is in flight, until the deferred work has written its
 * result.
 */
static bool thread_works(const struct thread *thread)
{
    return thread->flying || thread->filling || thread->go.queued || (thread->run && thread->run->working);
}

static bool home_works(const struct home *home)
{
    for (size_t i = 0; i < home->room; i++)
        for (const struct thread *thread = home->table[i]; thread; thread = thread->next)
            if (thread_works(thread))
                return true;
    return false;
}

/* Steps of runs with durability EXIT gather no longer. */
static void write_gathered(struct home *home)
{
    for (size_t i = 0; i < home->room; i++)
        for (struct thread *thread = home->table[i]; thread; thread = thread->next)
            if (thread->filling && !thread->flying)
                loop_defer(home->loop, &thread->go);
}

/* Attempts of other orchestrators that are here count: they would have to be begun again elsewhere. */
static bool is_busy(const struct runner *runner)
{
    return sweep_is_busy(runner->sweep) || sweep_is_busy(runner->stands) || fanout_away(runner->options.fanout);
}

static void close_home(struct home *home)
{
    forget_threads(home, "the server is draining; the run goes on when it is back");
    fanout_abandon(home->runner->options.fanout, home->loop);
}

static void look_at_home(struct work *work);

static void look_again(struct timer *timer)
{
    struct drain *drain = OWNER_OF(timer, struct drain, timer);
    drain->next = 0;
    drain->busy = false;
    look_at_home(&drain->work);
}

static void look_at_home(struct work *work)
{
    struct drain *drain = (struct drain *)work;
    struct runner *runner = drain->runner;
    if (drain->next < runner->home_count) {
        struct home *home = &runner->homes[drain->next];
        if (loop_current() != home->loop) {
            loop_post(home->loop, work);
            return;
        }
        if (!drain->closing)
            write_gathered(home);
        if (drain->closing)
            close_home(home);
        else
            drain->busy |= home_works(home) || (home == runner->homes && is_busy(runner));
        drain->next++;
        struct loop *next = runner->homes[drain->next < runner->home_count ? drain->next : 0].loop;
        loop_post(next, work);
        return;
    }
    if (!drain->closing && !(drain->busy && clock_now_ns() < drain->until_ns)) {
        drain->closing = true;
        runner->closing = true;
        drain->next = 0;
        look_at_home(work);
        return;
    }
    if (!drain->closing) {
        loop_arm_after(runner->homes[0].loop, &drain->timer, DRAIN_LOOK_MS);
        return;
    }
    free(drain);
    if (runner->members)
        members_leave(runner->members, runner->drained, runner->drained_data);
    else
        session_end(runner, runner->drained, runner->drained_data);
}

void runner_drain(struct runner *runner, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct drain *drain = need(calloc(1, sizeof *drain));
    runner->draining = true;
    fanout_rest(runner->options.fanout);
    runner->drained = drained;
    runner->drained_data = data;
    drain->runner = runner;
    drain->until_ns = clock_now_ns() + limit_ms * NS_PER_MS;
    drain->work.run = look_at_home;
    drain->timer.expired = look_again;
    loop_post(runner->homes[0].loop, &drain->work);
}
