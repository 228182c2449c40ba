/* Redis is killed in the middle of batches and started again: what was acknowledged is there, and nothing was written
 * twice. `store_redis_kill_test KILLS` for the long form. */
#include "base/random.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "store_fixture.h"

#define KILLS      12
#define COMMITTERS 16

/* Counts: expects the number that it wrote last, and writes the next with a row of its own. */
struct committer {
    struct store_batch batch;
    struct store_scan scan;
    struct work start;
    uint32_t number, acknowledged; /* its last, and how many it was told of */
    char key[8];
};

static struct committer committers[COMMITTERS];
static struct loop *loop;
static atomic_bool ends;
static atomic_uint told, doubted, wrong;
static sem_t ended;
static unsigned kills = KILLS;

static void committed(struct store_batch *batch);

static struct store_bytes row_of(const struct committer *committer, uint32_t number)
{
    static _Thread_local char key[32];
    return (struct store_bytes){key,
                                (size_t)snprintf(key, sizeof key, "row/%s/%08x", committer->key, number * 2654435761u)};
}

static void commit_next(struct committer *committer)
{
    if (ends) {
        sem_post(&ended);
        return;
    }
    uint32_t next = committer->number + 1;
    struct store_bytes key = text_of(committer->key), before = {&committer->number, sizeof committer->number};
    store_batch_init(&committer->batch, loop, committed);
    store_expect(&committer->batch, key, committer->number == 0 ? ABSENT : before);
    store_put(&committer->batch, key, (struct store_bytes){&next, sizeof next});
    store_put(&committer->batch, row_of(committer, next), (struct store_bytes){&next, sizeof next});
    store_commit(site.store, &committer->batch);
}

static void look_again(struct committer *committer);

/* Nobody was told of the next number: it is there or not. What was told is. */
static void looked_again(struct store_scan *scan)
{
    struct committer *committer = CONTAINER_OF(scan, struct committer, scan);
    uint32_t now = 0;
    bool good = scan->status.code == OK;
    if (good && scan->count == 1)
        memcpy(&now, scan->rows[0].value.bytes, sizeof now);
    store_scan_fini(scan);
    if (!good) {
        look_again(committer);
        return;
    }
    wrong += now != committer->number && now != committer->number + 1;
    committer->number = now;
    commit_next(committer);
}

static void look_again(struct committer *committer)
{
    store_scan_init(&committer->scan, loop, looked_again);
    committer->scan.from = text_of(committer->key);
    committer->scan.limit = 1;
    store_scan(site.store, &committer->scan);
}

static void committed(struct store_batch *batch)
{
    struct committer *committer = (struct committer *)(void *)batch;
    enum status_code code = batch->status.code;
    wrong += code != OK && code != UNAVAILABLE;
    if (code != OK && code != UNAVAILABLE)
        print_error("%s\n", batch->status.text);
    store_batch_fini(batch);
    if (code == OK) {
        committer->acknowledged = ++committer->number;
        told++;
        commit_next(committer);
    } else {
        doubted++;
        look_again(committer);
    }
}

static void start(struct work *work)
{
    commit_next(CONTAINER_OF(work, struct committer, start));
}

static void kill_and_start_again(void)
{
    for (unsigned i = 0; i < kills; i++) {
        unsigned before = told;
        usleep(10000 + (unsigned)random_below(40000));
        server_kill(&redis);
        if (i % 4 == 3)
            usleep(700000); /* longer than the timeout */
        server_run(&redis);
        for (int tries = 0; tries < 60000 && told == before; tries++)
            usleep(1000);
        assert_true(told > before); /* it goes on after each */
    }
}

static void count_rows(const struct committer *committer)
{
    char prefix[32], behind[32];
    uint32_t rows = 0;
    size_t size = (size_t)snprintf(prefix, sizeof prefix, "row/%s/", committer->key);
    memcpy(behind, prefix, sizeof prefix);
    behind[size - 1]++;
    struct store_bytes from = {prefix, size};
    char after[64];
    for (bool more = true; more;) {
        struct looked looked;
        look(&looked, from, (struct store_bytes){behind, size});
        struct store_scan *scan = scan_now(&looked);
        for (int tries = 0; tries < 300 && scan->status.code == UNAVAILABLE; tries++) { /* its connection comes later */
            store_scan_fini(scan);
            usleep(100000);
            look(&looked, from, (struct store_bytes){behind, size});
            scan = scan_now(&looked);
        }
        assert_int_equal(scan->status.code, OK);
        rows += (uint32_t)scan->count;
        more = scan->more;
        if (more) {
            const struct store_bytes *last = &scan->rows[scan->count - 1].key;
            memcpy(after, last->bytes, last->size);
            after[last->size] = '\0';
            from = (struct store_bytes){after, last->size + 1};
        }
        store_scan_fini(scan);
    }
    assert_int_equal(rows, committer->number);
    assert_true(committer->number >= committer->acknowledged);
}

static void what_was_acknowledged_survives_kills_of_redis_and_nothing_is_written_twice(void **state)
{
    struct status st = {0};
    loop = loop_create(1);
    sem_init(&ended, 0, 0);
    assert_true(loop_start(loop, &st));
    for (int i = 0; i < COMMITTERS; i++) {
        snprintf(committers[i].key, sizeof committers[i].key, "c%02d", i);
        committers[i].start.run = start;
        loop_post(loop, &committers[i].start);
    }
    kill_and_start_again();
    ends = true;
    for (int i = 0; i < COMMITTERS; i++)
        sem_wait(&ended);
    loop_stop(loop);
    loop_destroy(&loop);
    print_message("%u batches acknowledged, %u in doubt\n", told, doubted);
    assert_int_equal(wrong, 0);
    assert_true(told > kills);
    for (int i = 0; i < COMMITTERS; i++)
        count_rows(&committers[i]);
    sem_destroy(&ended);
}

static int set_up_hasty(void **state)
{
    set_up(SITE_REDIS);
    store_close(&site.store);
    strcat(site.url, "&timeout=400");
    open_store();
    return 0;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_acknowledged_survives_kills_of_redis_and_nothing_is_written_twice,
                                        set_up_hasty, tear_down),
    };
    kills = count > 1 ? (unsigned)atoi(arguments[1]) : KILLS;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_end(&redis);
    return failed;
}
