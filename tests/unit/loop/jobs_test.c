/* Jobs on worker threads, with loops of their own threads. Each wait is for its event. */
#include "base/clock.h"
#include "loop/jobs.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_TEXT (JOB_INLINE_MAX + 1)

struct piece {
    struct job job;
    pthread_t ran_in;
    sem_t *begun, *may_go; /* NULL: it does not wait */
    int place;             /* in the order of the ends, from 1; 0: it has not ended */
};

static struct loop *loop;
static int ends;
static sem_t ended, begun, may_go;

static void sem_wait_long(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    assert_int_equal(sem_timedwait(semaphore, &until), 0);
}

static void piece_run(struct job *job)
{
    struct piece *piece = CONTAINER_OF(job, struct piece, job);
    piece->ran_in = pthread_self();
    if (piece->begun)
        sem_post(piece->begun);
    if (piece->may_go)
        sem_wait_long(piece->may_go);
}

static void piece_ended(struct job *job)
{
    struct piece *piece = CONTAINER_OF(job, struct piece, job);
    assert_ptr_equal(loop_current(), job->loop);
    piece->place = ++ends;
    sem_post(&ended);
}

static void piece_init(struct piece *piece, uint64_t owner)
{
    *piece = (struct piece){.job = {.loop = loop, .run = piece_run, .ended = piece_ended, .owner = owner}};
}

static void piece_start(struct piece *piece, size_t bytes)
{
    loop_enter(loop);
    job_start(&piece->job, bytes);
    loop_leave(loop);
}

/* Lane 0's owner takes the one worker that it may have, and holds it until may_go. */
static void piece_hold(struct piece *piece, uint64_t owner)
{
    piece_init(piece, owner);
    piece->begun = &begun;
    piece->may_go = &may_go;
    piece_start(piece, LONG_TEXT);
    sem_wait_long(&begun);
}

static int setup(void **state)
{
    struct status st = {0};
    loop = loop_create(0);
    ends = 0;
    sem_init(&ended, 0, 0);
    sem_init(&begun, 0, 0);
    sem_init(&may_go, 0, 0);
    return loop_start(loop, &st) ? 0 : -1;
}

static int teardown(void **state)
{
    jobs_stop();
    loop_stop(loop);
    loop_destroy(&loop);
    return 0;
}

static unsigned jobs_test_workers(void)
{
    struct jobs_count count;
    jobs_count(&count);
    return count.workers;
}

static void a_long_text_is_read_by_a_worker_and_ends_in_its_loop(void **state)
{
    struct piece piece;
    piece_init(&piece, 1);
    piece_start(&piece, LONG_TEXT);
    sem_wait_long(&ended);
    assert_int_equal(piece.job.status.code, OK);
    assert_false(pthread_equal(piece.ran_in, pthread_self()));
}

static void a_short_text_is_read_at_once_where_it_is(void **state)
{
    struct piece piece;
    piece_init(&piece, 1);
    piece_start(&piece, JOB_INLINE_MAX);
    assert_int_equal(piece.place, 1);
    assert_true(pthread_equal(piece.ran_in, pthread_self()));
}

static void a_loop_without_a_thread_reads_everything_itself(void **state)
{
    struct piece piece;
    struct loop *stepped = loop_create(1);
    piece_init(&piece, 1);
    piece.job.loop = stepped;
    loop_enter(stepped);
    job_start(&piece.job, LONG_TEXT);
    loop_leave(stepped);
    assert_int_equal(piece.place, 1);
    loop_destroy(&stepped);
}

static void an_owner_with_many_jobs_leaves_a_worker_to_the_others(void **state)
{
    struct piece held[16], other;
    unsigned most = jobs_test_workers() ? jobs_test_workers() : 2;
    piece_init(&other, 2);
    for (unsigned i = 0; i < 16; i++) {
        piece_init(&held[i], 1);
        held[i].begun = &begun;
        held[i].may_go = &may_go;
        piece_start(&held[i], LONG_TEXT);
    }
    for (unsigned i = 0; i + 1 < most; i++)
        sem_wait_long(&begun);
    piece_start(&other, LONG_TEXT);
    sem_wait_long(&ended);
    assert_int_equal(other.place, 1);
    for (unsigned i = 0; i < 16; i++)
        sem_post(&may_go);
    for (unsigned i = 0; i < 16; i++)
        sem_wait_long(&ended);
}

static void a_job_that_waits_is_cancelled_and_never_runs(void **state)
{
    struct piece first, second;
    piece_hold(&first, 1);
    for (unsigned i = 2; i < jobs_test_workers(); i++) { /* machines of many processors: the lane's other workers */
        static struct piece more[16];
        piece_hold(&more[i], 1);
    }
    piece_init(&second, 1);
    piece_start(&second, LONG_TEXT);
    loop_enter(loop);
    job_cancel(&second.job);
    loop_leave(loop);
    sem_wait_long(&ended);
    assert_int_equal(second.job.status.code, CANCELLED);
    assert_int_equal(second.place, 1);
    for (unsigned i = 1; i < jobs_test_workers(); i++)
        sem_post(&may_go);
    for (unsigned i = 1; i < jobs_test_workers(); i++)
        sem_wait_long(&ended);
}

static void a_job_past_its_deadline_never_runs(void **state)
{
    struct piece piece;
    piece_init(&piece, 1);
    piece.job.deadline_ns = clock_now_ns() - 1;
    piece.ran_in = pthread_self();
    piece_start(&piece, LONG_TEXT);
    sem_wait_long(&ended);
    assert_int_equal(piece.job.status.code, DEADLINE_EXCEEDED);
}

static void what_the_queue_has_no_room_for_is_refused_at_once(void **state)
{
    static struct piece pieces[JOBS_LANE_WAITING_MAX], held[16];
    struct piece late, other;
    struct jobs_count before, after;
    unsigned holders = 0;
    for (; holders == 0 || holders + 1 < jobs_test_workers(); holders++)
        piece_hold(&held[holders], 1);
    for (size_t i = 0; i < JOBS_LANE_WAITING_MAX; i++) {
        piece_init(&pieces[i], 1);
        piece_start(&pieces[i], LONG_TEXT);
    }
    piece_init(&late, 1);
    jobs_count(&before);
    piece_start(&late, LONG_TEXT);
    jobs_count(&after);
    assert_int_equal(late.place, 1);
    assert_int_equal(late.job.status.code, RESOURCE_EXHAUSTED);
    assert_true(late.job.status.retry_after_ms > 0);
    assert_int_equal(after.refused - before.refused, 1);
    piece_init(&other, 2); /* another owner still has room */
    piece_start(&other, LONG_TEXT);
    sem_wait_long(&ended);
    sem_wait_long(&ended);
    assert_int_equal(other.job.status.code, OK);
    for (unsigned i = 0; i < holders; i++)
        sem_post(&may_go);
    for (size_t i = 0; i < JOBS_LANE_WAITING_MAX + holders; i++)
        sem_wait_long(&ended);
}

static void owners_differ_by_tenant_and_by_client(void **state)
{
    assert_true(job_owner("a", "b") == job_owner("a", "b"));
    assert_true(job_owner("a", "b") != job_owner("ab", ""));
    assert_true(job_owner("a", "b") != job_owner("b", "a"));
    assert_true(job_owner(NULL, NULL) == job_owner("", ""));
}

static int64_t longest_ns;

static void note_held(const struct loop *held, int64_t held_ns, void *data)
{
    longest_ns = held_ns > longest_ns ? held_ns : longest_ns;
}

static void a_visit_tells_how_long_it_held_the_loop(void **state)
{
    struct timespec nap = {.tv_nsec = 20 * NS_PER_MS};
    loop_enter(loop);
    loop_on_held(loop, note_held, NULL);
    loop_leave(loop);
    loop_enter(loop);
    nanosleep(&nap, NULL);
    loop_leave(loop);
    assert_true(longest_ns >= 20 * NS_PER_MS);
    loop_enter(loop);
    loop_on_held(loop, NULL, NULL);
    loop_leave(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_long_text_is_read_by_a_worker_and_ends_in_its_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(a_short_text_is_read_at_once_where_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(a_loop_without_a_thread_reads_everything_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_with_many_jobs_leaves_a_worker_to_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_that_waits_is_cancelled_and_never_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_past_its_deadline_never_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_queue_has_no_room_for_is_refused_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(owners_differ_by_tenant_and_by_client, setup, teardown),
        cmocka_unit_test_setup_teardown(a_visit_tells_how_long_it_held_the_loop, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
