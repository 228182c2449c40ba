/* The ledger's file: what survives, what happens while it cannot be used, what becomes of old days. */
#include "rpc/auth.h"
#include "telemetry/metrics.h"
#include "usage/ledger_priv.h"

#include <sys/resource.h>

#include "ledger_fixture.h"

/* ---- what survives ----------------------------------------------------------------------------------------------- */

static void what_was_noted_is_there_after_a_restart(void **state)
{
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    close_ledger();
    open_ledger(house.path);
    assert_int_equal(total_micros(REQUEST(.client = TEXT("desk"))), 5);
    spend("desk", "kyoto", MIDNIGHT, 6);
    close_ledger();
    open_ledger(house.path);
    assert_int_equal(total_micros(REQUEST(.client = TEXT("desk"))), 11);
}

static void in_memory_nothing_survives_and_nothing_is_shared(void **state)
{
    open_ledger("");
    for (int i = 1; i <= 20; i++) {
        spend("desk", "kyoto", clock_wall_ns() / NS_PER_MS, 1);
        assert_int_equal(total_micros(REQUEST(.from_ms = 0)), i);
    }
    close_ledger();
    open_ledger("");
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 0);
}

static void the_file_is_its_owners_alone(void **state)
{
    struct stat about;
    open_ledger(house.path);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 0);
    assert_int_equal(stat(house.path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
}

static void sums_are_written_without_being_asked_for(void **state)
{
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    await_written();
    assert_int_equal(stats_now().written, 1);
    assert_int_equal(stats_now().entries, 1);
    assert_int_equal(stats_now().failures, 0);
}

static void a_batch_in_doubt_is_not_written_twice(void **state)
{
    static const char *const names[SUM_NAMES] = {"desk"};
    static const int64_t counts[SUM_COUNTS] = {[SUM_COST] = 5};
    struct status st = {0};
    struct sums *sums = sums_create(10);
    sums_add(sums, 1, names, counts);
    struct sql_file *database = open_beside();
    struct sql *upsert = ledger_upsert(database, &st);
    assert_true(ledger_write(database, upsert, sums, 77, false, &st));
    assert_true(ledger_write(database, upsert, sums, 77, true, &st));
    assert_true(ledger_write(database, upsert, sums, 78, true, &st));
    sql_finalize(&upsert);
    sql_close(&database);
    sums_destroy(&sums);
    open_ledger(house.path);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 10);
}

static void add_spent(const char *name, int64_t micros, void *data)
{
    char *text = data;
    sprintf(text + strlen(text), "%s %d;", name, (int)micros);
}

static void what_was_spent_today_is_known_at_the_start(void **state)
{
    struct status st = {0};
    char clients[128] = "", tenants[128] = "";
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT - 1, 100);
    spend("desk", "kyoto", MIDNIGHT, 5);
    spend("desk", "osaka", MIDNIGHT + HOUR_MS, 6);
    spend("till", "kyoto", MIDNIGHT + HOUR_MS, 7);
    close_ledger();
    open_ledger(house.path);
    assert_true(ledger_spent(house.ledger, MIDNIGHT + 2 * HOUR_MS, false, add_spent, clients, &st));
    assert_true(ledger_spent(house.ledger, MIDNIGHT + 2 * HOUR_MS, true, add_spent, tenants, &st));
    assert_string_equal(clients, "desk 11;till 7;");
    assert_string_equal(tenants, "kyoto 12;osaka 6;");
}

/* ---- a dead store ------------------------------------------------------------------------------------------------ */

static void a_folder_that_is_not_there_yet_costs_no_call(void **state)
{
    assert_int_equal(rmdir(house.folder), 0);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    await_failure();
    assert_refused(REQUEST(.from_ms = 0), UNAVAILABLE, "calls to models go on");
    spend("desk", "kyoto", MIDNIGHT, 6);
    spend("till", "kyoto", MIDNIGHT, 7);
    assert_int_equal(stats_now().pending, 2);
    assert_true(stats_now().failures > 0);
    nap();
    assert_true(stats_now().behind_ms > 0);
    assert_int_equal(mkdir(house.folder, 0700), 0);
    assert_recovers(18);
}

static void a_folder_in_the_place_of_the_file_is_survived(void **state)
{
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    close_ledger();
    char aside[200];
    snprintf(aside, sizeof aside, "%s.aside", house.path);
    assert_int_equal(rename(house.path, aside), 0);
    assert_int_equal(mkdir(house.path, 0700), 0);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 6);
    await_failure();
    assert_refused(REQUEST(.from_ms = 0), UNAVAILABLE, "cannot be read now");
    assert_int_equal(rmdir(house.path), 0);
    assert_int_equal(rename(aside, house.path), 0);
    assert_recovers(11);
}

static void a_file_that_was_moved_away_is_made_anew(void **state)
{
    char aside[200];
    snprintf(aside, sizeof aside, "%s.aside", house.path);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 5);
    assert_int_equal(rename(house.path, aside), 0);
    unlink(strcat(strcpy(aside, house.path), "-wal"));
    unlink(strcat(strcpy(aside, house.path), "-shm"));
    spend("desk", "kyoto", MIDNIGHT, 6);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 6);
    assert_recovers(6);
}

static void a_full_disk_costs_no_call(void **state)
{
    struct rlimit before, none;
    char client[32];
    signal(SIGXFSZ, SIG_IGN);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    await_written();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){.rlim_cur = 8192, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    for (int i = 0; i < 2000; i++) {
        snprintf(client, sizeof client, "client-%d", i);
        spend(client, "kyoto", MIDNIGHT, 1);
    }
    await_failure();
    struct asked *asked = ask_as(NULL, REQUEST(.from_ms = 0));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(asked->status.code, UNAVAILABLE);
    asked_free(asked);
    assert_true(stats_now().pending >= 1000);
    assert_recovers(2005);
}

static void a_file_that_is_no_database_is_left_alone(void **state)
{
    static const char text[] = "This is a letter and no database. It is long enough to be looked at as if it were one, "
                               "since SQLite reads the first hundred bytes of a file.";
    char read_back[sizeof text] = "";
    int fd = open(house.path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    close(fd);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    assert_refused(REQUEST(.from_ms = 0), UNAVAILABLE, "not a database");
    close_ledger();
    fd = open(house.path, O_RDONLY);
    assert_int_equal(read(fd, read_back, sizeof read_back), sizeof text);
    close(fd);
    assert_string_equal(read_back, text);
}

static void the_file_of_a_newer_release_is_refused(void **state)
{
    struct status st = {0};
    struct sql_file *database = open_beside();
    assert_true(sql_run(database, "PRAGMA user_version = 4", &st));
    sql_close(&database);
    open_ledger(house.path);
    assert_refused(REQUEST(.from_ms = 0), UNAVAILABLE, "version 4 and this release knows up to 3");
}

/* Version 1 has no columns "unpriced_calls" and "seal". */
static void the_file_of_an_older_release_is_upgraded_and_keeps_its_sums(void **state)
{
    struct status st = {0};
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 5);
    close_ledger();
    struct sql_file *database = open_beside();
    assert_true(sql_run(database,
                        "ALTER TABLE sums DROP COLUMN seal; "
                        "ALTER TABLE sums DROP COLUMN unpriced_calls; PRAGMA user_version = 1",
                        &st));
    sql_close(&database);
    open_ledger(house.path);
    spend("desk", "kyoto", MIDNIGHT, 6);
    assert_int_equal(total_micros(REQUEST(.client = TEXT("desk"))), 11);
}

static void pending_sums_stay_bounded_and_no_money_is_lost(void **state)
{
    char run[32];
    assert_int_equal(rmdir(house.folder), 0);
    open_ledger(house.path);
    await_failure();
    for (int i = 0; i < 200000; i++) {
        snprintf(run, sizeof run, "run-%d", i);
        spend_run(run, MIDNIGHT, 3);
    }
    assert_true(stats_now().pending <= 65536 + 1);
    assert_int_equal(mkdir(house.folder, 0700), 0);
    assert_recovers(600000);
}

/* ---- old days ---------------------------------------------------------------------------------------------------- */

static size_t runs_of(int64_t from_ms, int64_t to_ms)
{
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(RUN), GROUP(THREAD)), .from_ms = from_ms, .to_ms = to_ms));
    size_t rows = asked->response->n_rows;
    asked_free(asked);
    return rows;
}

static void old_days_are_folded_over_runs_and_young_ones_are_not(void **state)
{
    int64_t now_ms = clock_wall_ns() / NS_PER_MS, old_ms = now_ms - 40 * DAY_MS;
    char run[16];
    open_ledger(house.path);
    for (int i = 0; i < 100; i++) {
        snprintf(run, sizeof run, "run-%d", i);
        spend_run(run, old_ms + i % 10 * HOUR_MS, 1);
        spend_run(run, now_ms, 1);
    }
    spend("desk", "kyoto", old_ms, 1000);
    close_ledger();
    open_ledger_keeping(house.path, 20, 30);
    for (int i = 0; i < TRIES && runs_of(0, now_ms - 35 * DAY_MS) > 1; i++)
        nap();
    assert_int_equal(runs_of(0, now_ms - 35 * DAY_MS), 1);
    assert_int_equal(runs_of(now_ms - DAY_MS, now_ms + 1), 100);
    assert_int_equal(total_micros(REQUEST(.to_ms = now_ms - 35 * DAY_MS)), 1100);
    assert_int_equal(total_micros(REQUEST(.run_id = TEXT("run-7"))), 1);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(HOUR)), .to_ms = now_ms - 35 * DAY_MS));
    assert_int_equal(asked->response->n_rows, 10);
    asked_free(asked);
}

/* ---- threads, cost, metrics -------------------------------------------------------------------------------------- */

#define NOTES 20000

static void *note_many(void *data)
{
    char run[32];
    for (int i = 0; i < NOTES; i++) {
        snprintf(run, sizeof run, "run-%d", i % 500);
        spend_run(run, MIDNIGHT, 1);
    }
    return NULL;
}

static void threads_note_while_reports_are_read(void **state)
{
    pthread_t threads[2];
    open_ledger(house.path);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, note_many, NULL), 0);
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        int64_t micros = total_micros(REQUEST(.from_ms = 0));
        assert_true(micros >= last);
        last = micros;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_recovers(2 * NOTES);
}

static void a_note_costs_a_call_next_to_nothing(void **state)
{
    enum { MILLION = 1000000 };
    char runs[64][24];
    struct spending spending;
    for (int i = 0; i < 64; i++)
        snprintf(runs[i], sizeof runs[i], "run-2f8c1a77-%d", i);
    open_ledger_keeping(house.path, 1000, 0);
    spend_init(&spending, MIDNIGHT, 1);
    spending.entry.usage = &spending.usage;
    int64_t began_ns = ledger_clock_ns();
    for (int i = 0; i < MILLION; i++) {
        spending.entry.run_id = spending.entry.thread_id = runs[i % 64];
        ledger_note(house.ledger, &spending.entry);
    }
    int64_t each_ns = (ledger_clock_ns() - began_ns) / MILLION;
    print_message("a note takes %d ns\n", (int)each_ns);
    assert_true(each_ns < 20000); /* some 150 where nothing else runs; this is for a crowded machine and sanitizers */
    assert_recovers(MILLION);
}

static void a_scrape_shows_how_it_goes_also_after_the_end(void **state)
{
    struct metrics *metrics = metrics_create(1);
    struct buffer out;
    buffer_init(&out, 1 << 20);
    open_ledger(house.path);
    ledger_show(house.ledger, metrics);
    spend("desk", "kyoto", MIDNIGHT, 5);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 5);
    metrics_write(metrics, &out);
    assert_contains(buffer_text(&out), "renga_ledger_entries_total 1\n");
    assert_contains(buffer_text(&out), "renga_ledger_sums_written_total 1\n");
    assert_contains(buffer_text(&out), "renga_ledger_pending_sums 0\n");
    assert_contains(buffer_text(&out), "renga_ledger_behind_seconds 0\n");
    assert_contains(buffer_text(&out), "renga_ledger_write_failures_total 0\n");
    close_ledger();
    buffer_clear(&out);
    metrics_write(metrics, &out);
    assert_lacks(buffer_text(&out), "renga_ledger");
    metrics_destroy(&metrics);
    buffer_fini(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_noted_is_there_after_a_restart),
        TEST(in_memory_nothing_survives_and_nothing_is_shared),
        TEST(the_file_is_its_owners_alone),
        TEST(sums_are_written_without_being_asked_for),
        TEST(a_batch_in_doubt_is_not_written_twice),
        TEST(what_was_spent_today_is_known_at_the_start),
        TEST(a_folder_that_is_not_there_yet_costs_no_call),
        TEST(a_folder_in_the_place_of_the_file_is_survived),
        TEST(a_file_that_was_moved_away_is_made_anew),
        TEST(a_full_disk_costs_no_call),
        TEST(a_file_that_is_no_database_is_left_alone),
        TEST(the_file_of_a_newer_release_is_refused),
        TEST(the_file_of_an_older_release_is_upgraded_and_keeps_its_sums),
        TEST(pending_sums_stay_bounded_and_no_money_is_lost),
        TEST(old_days_are_folded_over_runs_and_young_ones_are_not),
        TEST(threads_note_while_reports_are_read),
        TEST(a_note_costs_a_call_next_to_nothing),
        TEST(a_scrape_shows_how_it_goes_also_after_the_end),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
