/* A process that is killed in the middle loses at most what it had not written yet, and tears no sum. The parent has
 * one thread, so that it may fork. */
#include "usage/ledger_priv.h"

#include "base/random.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "unit.h"

#define KILLS 20

static void nap_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Notes calls for as long as it lives, and says through the pipe how many are in the file for certain. */
static void note_until_killed(const char *path, int pipe_end)
{
    struct status st = {0};
    struct ledger_options options = {.path = path, .flush_ms = 1};
    struct ledger *ledger = ledger_create(&options, &st);
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    struct ledger_entry entry = {.ended_ms = 1, .tenant = "kyoto", .usage = &usage};
    struct ledger_stats stats;
    static const char *const clients[] = {"desk", "till", "shop"};
    usage.input_tokens = 3;
    usage.output_tokens = 5;
    usage.cost_micros = 7;
    for (int64_t noted = 0; ledger;) {
        for (uint64_t more = 1 + random_below(200); more; more--) {
            entry.client = clients[++noted % 3];
            ledger_note(ledger, &entry);
        }
        do {
            nap_us(100);
            ledger_stats(ledger, &stats);
        } while (stats.pending);
        if (write(pipe_end, &noted, sizeof noted) != sizeof noted)
            break;
    }
    _exit(1);
}

/* How many calls were acknowledged before the end. */
static int64_t kill_in_the_middle(const char *path)
{
    int ends[2], status;
    int64_t acknowledged = 0, number;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        note_until_killed(path, ends[1]);
    close(ends[1]);
    if (read(ends[0], &number, sizeof number) == sizeof number) /* it has begun */
        acknowledged = number;
    nap_us((long)random_below(30000));
    kill(child, SIGKILL);
    while (read(ends[0], &number, sizeof number) == sizeof number)
        acknowledged = number;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return acknowledged;
}

static int64_t check_file(const char *path)
{
    struct status st = {0};
    struct usage_query query = {
        .to = 1, .limit = 10, .group_count = 1, .groups = {RENGA__V1__USAGE_GROUP__USAGE_GROUP_CLIENT}};
    struct usage_answer answer;
    struct arena arena;
    struct ledger ledger = {.path = (char *)(uintptr_t)path};
    struct sql_file *database = ledger_open(&ledger, &st);
    assert_non_null(database);
    arena_init(&arena, NULL, 0, 1 << 20);
    assert_true(ledger_ask(database, &query, &arena, &answer, &st));
    int64_t calls = answer.totals->calls, of_rows = 0;
    for (size_t i = 0; i < answer.count; i++) {
        const Renga__V1__UsageRow *row = answer.rows[i];
        assert_int_equal(row->usage->input_tokens, 3 * row->calls);
        assert_int_equal(row->usage->output_tokens, 5 * row->calls);
        assert_int_equal(row->usage->cost_micros, 7 * row->calls);
        of_rows += row->calls;
    }
    assert_int_equal(of_rows, calls);
    arena_fini(&arena);
    sql_close(&database);
    return calls;
}

static void what_was_written_outlives_a_kill(void **state)
{
    char folder[] = "/tmp/renga-ledger-XXXXXX", path[64], other[80];
    int64_t before = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/accounts.db", folder);
    for (int i = 0; i < KILLS; i++) {
        int64_t acknowledged = kill_in_the_middle(path), after = check_file(path);
        assert_true(acknowledged > 0);
        assert_true(after - before >= acknowledged);
        before = after;
    }
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        snprintf(other, sizeof other, "%s%s", path, ends[i]);
        unlink(other);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_outlives_a_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
