/* A process that is killed in the middle has on disk what it was told is on disk, and no batch in part. The parent has
 * one thread, so that it may fork. */
#include "base/random.h"

#include <poll.h>
#include <stdatomic.h>
#include <time.h>

#include "store_fixture.h"

#define KILLS      30
#define COMMITTERS 16 /* batches under way at once */
#define ROWS       4  /* of a batch, on different pages */
#define VALUE_MAX  3000

struct committer {
    struct store_batch batch;
    struct work start;
    uint32_t number;
};

static struct {
    struct loop *loop;
    int pipe_end;
    uint32_t next;
} child;

static void commit_next(struct committer *committer);

static void said(struct store_batch *batch)
{
    struct committer *committer = (struct committer *)(void *)batch;
    if (batch->status.code != OK || write(child.pipe_end, &committer->number, sizeof committer->number) < 0)
        _exit(1);
    store_batch_fini(batch);
    commit_next(committer);
}

/* Row r of batch n, in an order that spreads the rows over the file. */
static struct store_bytes row_key(uint32_t number, unsigned row)
{
    static char key[32];
    return (struct store_bytes){key,
                                (size_t)snprintf(key, sizeof key, "%u/%08x/%u", row, number * 2654435761u, number)};
}

/* Some stand beside their keys, others apart. */
static size_t size_of(uint32_t number)
{
    return number % 4 == 0 ? VALUE_MAX : 300;
}

static void commit_next(struct committer *committer)
{
    char value[VALUE_MAX];
    committer->number = child.next++;
    memset(value, (int)committer->number & 0xff, sizeof value);
    store_batch_init(&committer->batch, child.loop, said);
    for (unsigned row = 0; row < ROWS; row++)
        store_put(&committer->batch, row_key(committer->number, row),
                  (struct store_bytes){value, size_of(committer->number)});
    store_commit(site.store, &committer->batch);
}

static void start(struct work *work)
{
    commit_next(CONTAINER_OF(work, struct committer, start));
}

static void commit_until_killed(uint32_t first, int pipe_end)
{
    static struct committer committers[COMMITTERS];
    struct status st = {0};
    child.next = first;
    child.pipe_end = pipe_end;
    child.loop = loop_create(1);
    open_store();
    loop_start(child.loop, &st);
    for (int i = 0; i < COMMITTERS; i++) {
        committers[i].start.run = start;
        loop_post(child.loop, &committers[i].start);
    }
    for (;;)
        pause();
}

/* ---- the parent -------------------------------------------------------------------------------------------------- */

#define NUMBERS_MAX (1 << 20)

static unsigned char told[NUMBERS_MAX]; /* batches that were acknowledged */
static uint32_t highest;

static void listen_to(int pipe_end)
{
    uint32_t numbers[1024];
    ssize_t length;
    while ((length = read(pipe_end, numbers, sizeof numbers)) > 0)
        for (size_t i = 0; i < (size_t)length / sizeof *numbers; i++) {
            assert_true(numbers[i] < NUMBERS_MAX);
            told[numbers[i]] = 1;
            highest = numbers[i] > highest ? numbers[i] : highest;
        }
}

/* Two of three are killed at work, the others perhaps on their way to it. */
static void kill_one(bool at_work)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        commit_until_killed(highest + 1000, ends[1]);
    close(ends[1]);
    if (at_work)
        poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 60000);
    nanosleep(&(struct timespec){.tv_nsec = 20000000 + (long)random_below(80000000)}, NULL);
    kill(pid, SIGKILL);
    listen_to(ends[0]);
    close(ends[0]);
    waitpid(pid, NULL, 0);
}

/* How many rows of each batch are there. */
static unsigned char rows_there[NUMBERS_MAX];

static void count_row(const struct store_row *row)
{
    char key[32] = {0};
    memcpy(key, row->key.bytes, row->key.size);
    uint32_t number = (uint32_t)strtoul(strrchr(key, '/') + 1, NULL, 10);
    assert_true(number < NUMBERS_MAX);
    rows_there[number]++;
    assert_int_equal(row->value.size, size_of(number));
    for (size_t i = 0; i < row->value.size; i++)
        assert_int_equal(((const unsigned char *)row->value.bytes)[i], number & 0xff);
}

static void count_rows(void)
{
    char after[64] = "";
    bool more = true;
    memset(rows_there, 0, sizeof rows_there);
    while (more) {
        struct looked looked;
        look(&looked, (struct store_bytes){after, strlen(after) + (*after != '\0')}, NO_END);
        struct store_scan *scan = scan_now(&looked);
        assert_int_equal(scan->status.code, OK);
        for (size_t i = 0; i < scan->count; i++)
            count_row(&scan->rows[i]);
        more = scan->more;
        if (more)
            snprintf(after, sizeof after, "%.*s", (int)scan->rows[scan->count - 1].key.size,
                     (const char *)scan->rows[scan->count - 1].key.bytes);
        store_scan_fini(scan);
    }
}

static void what_was_acknowledged_survives_thirty_kills_and_nothing_is_torn(void **state)
{
    unsigned acknowledged = 0;
    for (int i = 0; i < KILLS; i++) {
        kill_one(i % 3 != 0);
        if (i % 10 != 9)
            continue; /* the next child opens what this one left */
        site.loop = loop_create(0);
        open_store();
        count_rows();
        store_close(&site.store);
        loop_destroy(&site.loop);
        for (uint32_t number = 0; number < NUMBERS_MAX; number++) {
            assert_true(rows_there[number] == 0 || rows_there[number] == ROWS);
            assert_true(!told[number] || rows_there[number] == ROWS);
        }
    }
    for (uint32_t number = 0; number < NUMBERS_MAX; number++)
        acknowledged += told[number];
    print_message("%u batches acknowledged\n", acknowledged);
    assert_true(acknowledged >= KILLS / 3 * 2);
}

static int set_up_folder(void **state)
{
    site = (struct site){.kind = SITE_SQLITE};
    make_folder();
    return 0;
}

static int tear_down_folder(void **state)
{
    remove_folder();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_acknowledged_survives_thirty_kills_and_nothing_is_torn, set_up_folder,
                                        tear_down_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
