/* Requests on their way: to the home of their thread, through the thread's queue, and back to the loop they came
 * from. */
#include "errand.h"
#include "run_priv.h"

#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MAX 8 /* threads that are lost before it is served; then its caller rests before it asks again */

#define TYPE(request, name) ((request)->descriptor == &renga__v1__##name##__descriptor)

/* ---- back -------------------------------------------------------------------------------------------------------- */

static void went(struct work *work)
{
    struct errand *errand = OWNER_OF(work, struct errand, going);
    errand->is_back = true;
    if (!errand->leaves) /* else its other message is still under way */
        errand->answered(errand);
}

void errand_answer(struct errand *errand)
{
    void (*before)(struct errand * errand) = errand->before_answer;
    errand->before_answer = NULL;
    if (before && errand->status.code == OK && errand->response) {
        before(errand);
        return;
    }
    errand->waits_on = NULL; /* the run may go before the caller's leaving is seen */
    errand->going.run = went;
    loop_post(errand->loop, &errand->going);
}

struct job errand_job(const struct errand *errand, const struct thread *thread, void (*run)(struct job *job),
                      void (*ended)(struct job *job))
{
    return (struct job){
        .loop = thread->home->loop,
        .run = run,
        .ended = ended,
        .owner = job_owner(errand->tenant, errand->rights.principal.name),
    };
}

void errand_fail(struct errand *errand, const struct status *st, const char *reason)
{
    errand->status = *st;
    errand->reason = reason;
    errand->response = NULL;
    errand_answer(errand);
}

bool errand_refuse(struct errand *errand, const char *reason, enum status_code code, const char *format, ...)
{
    va_list arguments;
    struct status st = {0};
    va_start(arguments, format);
    status_set(&st, code, format, arguments);
    va_end(arguments);
    errand_fail(errand, &st, reason);
    return false;
}

void errand_done(struct errand *errand, struct thread *thread, void *response)
{
    errand->response = response;
    log_await(thread, errand);
}

/* ---- at home ----------------------------------------------------------------------------------------------------- */

void errand_queue(struct errand *errand, struct thread *thread)
{
    errand->next = NULL;
    if (thread->last_errand)
        thread->last_errand->next = errand;
    else
        thread->first_errand = errand;
    thread->last_errand = errand;
    if (crashes_is_in_quarantine(thread))
        crashes_refuse(thread);
    loop_defer(thread->home->loop, &thread->go);
}

static void send_on(struct home *home, struct errand *errand)
{
    struct run *run = home_find_run(home, errand->tenant, errand->run_id);
    if (run)
        errand_queue(errand, run->thread);
    else
        errand_read_run(errand, home);
}

static void came(struct work *work)
{
    struct errand *errand = OWNER_OF(work, struct errand, coming);
    struct home *home = errand->home;
    errand->arrival = ++home->arrivals;
    if (errand->run_id)
        send_on(home, errand);
    else
        errand_queue(errand, thread_get(home, errand->tenant, errand->thread_id, errand->drawn));
}

/* ---- there ------------------------------------------------------------------------------------------------------- */

static void name_thread(struct errand *errand, const char *request_id)
{
    char id[ID_MAX];
    errand->drawn = !*request_id;
    uint64_t number = errand->drawn ? random_u64() : id_hash_text(id_hash_text(ID_HASH, errand->tenant), request_id);
    id_make_hashed(id, "t_", number);
    errand->thread_id = need(arena_strdup(errand->arena, id));
}

#define ABOUT_THREAD(name, Name)                                                                                       \
    if (TYPE(errand->request, name##_request))                                                                         \
        errand->thread_id = ((const Renga__V1__##Name##Request *)errand->request)->thread_id;
#define ABOUT_RUN(name, Name)                                                                                          \
    if (TYPE(errand->request, name##_request))                                                                         \
        errand->run_id = ((const Renga__V1__##Name##Request *)errand->request)->run_id;

static void find_subject(struct errand *errand)
{
    ABOUT_THREAD(start_run, StartRun)
    ABOUT_THREAD(get_state, GetState)
    ABOUT_THREAD(update_state, UpdateState)
    ABOUT_THREAD(list_checkpoints, ListCheckpoints)
    ABOUT_THREAD(delete_thread, DeleteThread)
    ABOUT_RUN(get_run, GetRun)
    ABOUT_RUN(cancel_run, CancelRun)
    ABOUT_RUN(migrate_run, MigrateRun)
    ABOUT_RUN(watch_run, WatchRun)
    if (TYPE(errand->request, resume_run_request)) {
        const Renga__V1__ResumeRunRequest *request = (const void *)errand->request;
        if (*request->run_id)
            errand->run_id = request->run_id;
        else
            errand->thread_id = request->thread_id;
    }
    if (TYPE(errand->request, fork_thread_request)) {
        const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
        errand->thread_id = request->new_thread_id;
        if (!*errand->thread_id)
            name_thread(errand, request->request_id);
    }
    if (TYPE(errand->request, copy_thread_request)) {
        const Renga__V1__CopyThreadRequest *request = (const void *)errand->request;
        errand->thread_id = request->new_thread_id;
        if (!*errand->thread_id)
            name_thread(errand, request->request_id);
    }
    if (TYPE(errand->request, start_run_request) && errand->thread_id && !*errand->thread_id)
        name_thread(errand, ((const Renga__V1__StartRunRequest *)errand->request)->request_id);
}

struct home *home_of_place(struct runner *runner, uint64_t place)
{
    return &runner->homes[(place & 0x3FFFFFFF) % runner->home_count];
}

/* Sets it to the state of a new request. */
static void reset(struct errand *errand)
{
    errand->place = errand->waits_on = NULL;
    errand->repeated = errand->checked = errand->looked_up = errand->drawn = errand->at_rest = false;
    errand->response = NULL;
    errand->reason = errand->elsewhere = NULL;
    errand->status = (struct status){0};
    errand->coming = (struct work){.run = came};
    errand->going = (struct work){.run = went};
}

static void prepare(struct runner *runner, struct errand *errand)
{
    reset(errand);
    errand->runner = runner;
    errand->thread_id = errand->run_id = NULL;
    errand->leaves = errand->is_back = false;
    errand->again = 0;
    errand->home = NULL;
}

void errand_do_chore(struct runner *runner, struct errand *errand, const char *thread_id)
{
    void *place = errand->place;
    prepare(runner, errand);
    errand->place = place;
    errand->thread_id = thread_id;
    errand->home = home_of_place(runner, id_of_place(errand->tenant, thread_id));
    loop_post(errand->home->loop, &errand->coming);
}

void runner_run(struct runner *runner, struct errand *errand)
{
    uint32_t place = 0;
    prepare(runner, errand);
    if (runner->closing || (runner->draining && !errand->in_call)) {
        errand->elsewhere = errand->given ? "" : NULL;
        errand_refuse(errand, NULL, UNAVAILABLE, "the server is draining");
        return;
    }
    find_subject(errand);
    if (errand->run_id && !id_run_place(errand->run_id, &place)) {
        errand_refuse(errand, NULL, NOT_FOUND, "there is no run '%.64s'", errand->run_id);
        return;
    }
    if (!errand->run_id && !errand->thread_id) {
        errand_list(errand);
        return;
    }
    errand->home = home_of_place(runner, errand->run_id ? place : id_of_place(errand->tenant, errand->thread_id));
    loop_post(errand->home->loop, &errand->coming);
}

/* From inside its shard: the fields of the loop that it comes from are left alone, since its caller may leave now. */
void errand_again(struct errand *errand, const struct status *why)
{
    if (!errand->request || errand->again++ == AGAIN_MAX || errand->runner->draining) {
        errand->elsewhere = errand->request && (errand->given || !errand->runner->draining) ? "" : NULL;
        errand_fail(errand, why, NULL);
        return;
    }
    reset(errand);
    if (errand->thread_id)
        errand->run_id = NULL; /* of a request that was repeated */
    loop_post(errand->home->loop, &errand->coming);
}

/* ---- the caller leaves ------------------------------------------------------------------------------------------- */

static bool take_from(struct errand **list, struct errand *errand)
{
    while (*list && *list != errand)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = errand->next;
    return true;
}

static bool cancels(const struct errand *errand)
{
    if (TYPE(errand->request, start_run_request))
        return ((const Renga__V1__StartRunRequest *)errand->request)->cancel_on_disconnect;
    return TYPE(errand->request, resume_run_request) &&
           ((const Renga__V1__ResumeRunRequest *)errand->request)->cancel_on_disconnect;
}

static void left_and_back(struct work *work)
{
    struct errand *errand = OWNER_OF(work, struct errand, leaving);
    errand->leaves = false;
    if (errand->is_back)
        errand->answered(errand);
}

struct run *errand_wait_no_more(struct errand *errand)
{
    struct run *run = errand->waits_on;
    errand->waits_on = NULL;
    return run && (take_from(&run->waiters, errand) || take_from(&run->quiet_waiters, errand)) ? run : NULL;
}

static void stop_waiting(struct errand *errand)
{
    struct run *run = errand_wait_no_more(errand);
    if (!run)
        return;
    struct thread *thread = run->thread;
    errand_refuse(errand, NULL, CANCELLED, "the caller went away");
    if (!cancels(errand) || !run_is_open(run))
        return;
    run_halt(run);
    if (run_is_open(run))
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT,
                   CANCELLED, "the caller that waited for it went away");
    loop_defer(thread->home->loop, &thread->go);
}

static void left(struct work *work)
{
    struct errand *errand = OWNER_OF(work, struct errand, leaving);
    stop_waiting(errand);
    errand->leaving.run = left_and_back;
    loop_post(errand->loop, &errand->leaving);
}

void runner_forget(struct errand *errand)
{
    if (!errand->home || errand->leaves || errand->is_back)
        return;
    errand->leaves = true;
    errand->leaving = (struct work){.run = left};
    loop_post(errand->home->loop, &errand->leaving);
}
