/* Two loops with threads of their own at one store. */
#include <semaphore.h>
#include <stdatomic.h>

#include "store_fixture.h"

#define LOOPS    2
#define WRITERS  8   /* in each loop */
#define BATCHES  100 /* of each writer, one after another */
#define COUNTERS 4   /* that all writers raise */

/* A writer raises a counter that others raise too: reads, expects what it read, writes, reads what it wrote. */
struct writer {
    struct store_batch batch;
    struct store_scan scan;
    struct work start;
    struct loop *loop;
    char key;
    int32_t seen;
    int left;
    bool reading_back;
};

static struct writer writers[LOOPS][WRITERS];
static atomic_int tries_lost, wrong;
static sem_t ended;

static void raised(struct store_batch *batch);
static void read_counter(struct store_scan *scan);

static void look_at_counter(struct writer *writer)
{
    char next = (char)(writer->key + 1);
    store_scan_init(&writer->scan, writer->loop, read_counter);
    writer->scan.from = (struct store_bytes){&writer->key, 1};
    writer->scan.to = (struct store_bytes){&next, 1};
    store_scan(site.store, &writer->scan);
}

static void raise_counter(struct writer *writer)
{
    struct store_bytes key = {&writer->key, 1}, before = {&writer->seen, sizeof writer->seen};
    int32_t raise = writer->seen + 1;
    store_batch_init(&writer->batch, writer->loop, raised);
    store_expect(&writer->batch, key, writer->seen == 0 ? ABSENT : before);
    store_put(&writer->batch, key, (struct store_bytes){&raise, sizeof raise});
    store_commit(site.store, &writer->batch);
}

static void read_counter(struct store_scan *scan)
{
    struct writer *writer = CONTAINER_OF(scan, struct writer, scan);
    int32_t now = 0;
    if (scan->count == 1)
        memcpy(&now, scan->rows[0].value.bytes, sizeof now);
    wrong += scan->status.code != OK || scan->count > 1 || loop_current() != writer->loop;
    wrong += writer->reading_back && now < writer->seen + 1; /* what was committed before must be seen */
    writer->seen = now;
    store_scan_fini(scan);
    if (writer->left > 0)
        raise_counter(writer);
    else
        sem_post(&ended);
}

static void raised(struct store_batch *batch)
{
    struct writer *writer = CONTAINER_OF(batch, struct writer, batch);
    wrong += loop_current() != writer->loop || (batch->status.code != OK && batch->status.code != ABORTED);
    writer->reading_back = batch->status.code == OK;
    writer->left -= writer->reading_back;
    tries_lost += !writer->reading_back;
    store_batch_fini(batch);
    look_at_counter(writer);
}

static void start_writer(struct work *work)
{
    look_at_counter(CONTAINER_OF(work, struct writer, start));
}

static void start_writers(struct loop **loops)
{
    for (int i = 0; i < LOOPS; i++)
        for (int j = 0; j < WRITERS; j++) {
            writers[i][j] = (struct writer){.loop = loops[i], .left = BATCHES, .key = (char)('a' + j % COUNTERS)};
            writers[i][j].start.run = start_writer;
            loop_post(loops[i], &writers[i][j].start);
        }
}

static void writers_in_two_loops_lose_no_step_of_a_counter(void **state)
{
    struct status st = {0};
    struct loop *loops[LOOPS];
    tries_lost = wrong = 0;
    sem_init(&ended, 0, 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i] = loop_create(i + 1);
        assert_true(loop_start(loops[i], &st));
    }
    start_writers(loops);
    for (int i = 0; i < LOOPS * WRITERS; i++)
        sem_wait(&ended);
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_stop(loops[i]);
        loop_destroy(&loops[i]);
    }
    assert_int_equal(wrong, 0);

    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(scan_now(&looked)->count, COUNTERS);
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(*(const int32_t *)looked.scan.rows[i].value.bytes, LOOPS * WRITERS / COUNTERS * BATCHES);
    store_scan_fini(&looked.scan);

    struct store_stats stats;
    store_stats(site.store, &stats);
    assert_int_equal(stats.batches, LOOPS * WRITERS * BATCHES);
    assert_int_equal(stats.aborted, tries_lost);
    assert_true(stats.transactions <= stats.batches + stats.aborted);
    sem_destroy(&ended);
}

/* ---- scans while batches change what they read --------------------------------------------------------------------
 */

#define PAIRS 50

static atomic_bool stop_flipping;

struct flipper {
    struct store_batch batch;
    struct work start;
    struct loop *loop;
    int32_t turn;
};

/* Every batch writes the same number under all keys. */
static void flip(struct store_batch *batch)
{
    struct flipper *flipper = CONTAINER_OF(batch, struct flipper, batch);
    wrong += batch->status.code != OK;
    store_batch_fini(batch);
    if (stop_flipping) {
        sem_post(&ended);
        return;
    }
    flipper->turn++;
    store_batch_init(&flipper->batch, flipper->loop, flip);
    for (char key = 'A'; key < 'A' + PAIRS; key++)
        store_put(&flipper->batch, (struct store_bytes){&key, 1},
                  (struct store_bytes){&flipper->turn, sizeof flipper->turn});
    store_commit(site.store, &flipper->batch);
}

static void start_flipping(struct work *work)
{
    struct flipper *flipper = CONTAINER_OF(work, struct flipper, start);
    store_batch_init(&flipper->batch, flipper->loop, flip);
    flip(&flipper->batch);
}

static void a_scan_never_sees_half_a_batch(void **state)
{
    struct status st = {0};
    struct flipper flipper = {.loop = loop_create(1), .start.run = start_flipping};
    stop_flipping = false;
    wrong = 0;
    sem_init(&ended, 0, 0);
    assert_true(loop_start(flipper.loop, &st));
    loop_post(flipper.loop, &flipper.start);
    for (int i = 0; i < 200; i++) {
        struct looked looked;
        look(&looked, ABSENT, NO_END);
        looked.scan.backwards = i % 2;
        start_scan(&looked);
        while (looked.runs == 0)
            loop_step(site.loop, 0);
        assert_true(looked.scan.count == 0 || looked.scan.count == PAIRS);
        for (size_t row = 1; row < looked.scan.count; row++)
            assert_memory_equal(looked.scan.rows[row].value.bytes, looked.scan.rows[0].value.bytes, sizeof(int32_t));
        store_scan_fini(&looked.scan);
    }
    stop_flipping = true;
    sem_wait(&ended);
    loop_stop(flipper.loop);
    loop_destroy(&flipper.loop);
    sem_destroy(&ended);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct named_test tests[] = {NAMED(writers_in_two_loops_lose_no_step_of_a_counter),
                                              NAMED(a_scan_never_sees_half_a_batch)};
    return run_on_all_kinds(tests, COUNT(tests));
}
