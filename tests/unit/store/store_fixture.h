/* A store of each kind in a folder of its own, and one loop that is stepped. The same test bodies run on all kinds, on
 * Redis with a server of the test program's own. */
#ifndef RENGA_STORE_FIXTURE_H
#define RENGA_STORE_FIXTURE_H

#include "store/store.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>

#include "redis_server.h"

#include "unit.h"

#define TEXT(text) ((struct store_bytes){text, sizeof(text) - 1})
#define ABSENT     ((struct store_bytes){NULL, 0})
#define NO_END     ((struct store_bytes){NULL, 0})

enum site_kind { SITE_MEMORY, SITE_SQLITE, SITE_REDIS };

struct site {
    enum site_kind kind;
    char folder[64], path[96], url[256];
    struct store *store;
    struct loop *loop;
};
static struct site site;
static struct server redis; /* runs from the first test that needs it on */

static inline struct store_bytes text_of(const char *text)
{
    return (struct store_bytes){text, strlen(text)};
}

/* ---- the place --------------------------------------------------------------------------------------------------- */

static inline void open_store(void)
{
    struct status st = {0};
    for (int tries = 0; tries < 50 && site.store == NULL && (tries == 0 || st.code == UNAVAILABLE); tries++)
        site.store = store_open(site.url, &st); /* a Redis may be slow for once */
    if (site.store == NULL)
        fail_msg("%s: %s", site.url, st.text);
}

static inline void start_redis(void)
{
    if (redis.pid == 0 && redis.folder[0] != '\0')
        server_run(&redis);
    if (redis.pid != 0)
        return;
    redis.durable = true;
    server_start(&redis, NULL);
}

/* A busy machine may let a Redis wait for longer than our timeout; tests of that timeout say "". */
#ifndef REDIS_TIMEOUT
#define REDIS_TIMEOUT "timeout=20000&"
#endif

/* Each test has names of its own in the one Redis. */
static inline void name_store(void)
{
    static unsigned number;
    if (site.kind == SITE_REDIS)
        start_redis();
    if (site.kind == SITE_REDIS)
        snprintf(site.url, sizeof site.url, "redis://127.0.0.1:%d?" REDIS_TIMEOUT "name=test-%u", redis.port, ++number);
    else
        snprintf(site.url, sizeof site.url, site.kind == SITE_SQLITE ? "sqlite:%s" : "memory:", site.path);
}

static inline void make_folder(void)
{
    snprintf(site.folder, sizeof site.folder, "/tmp/renga_store_XXXXXX");
    assert_non_null(mkdtemp(site.folder));
    snprintf(site.path, sizeof site.path, "%s/store.db", site.folder);
    name_store();
}

static inline int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    return remove(path);
}

static inline void remove_folder(void)
{
    nftw(site.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int set_up(enum site_kind kind)
{
    site = (struct site){.kind = kind, .loop = loop_create(0)};
    make_folder();
    open_store();
    return 0;
}

static inline int set_up_memory(void **state)
{
    return set_up(SITE_MEMORY);
}

static inline int set_up_sqlite(void **state)
{
    return set_up(SITE_SQLITE);
}

static inline int set_up_redis(void **state)
{
    return set_up(SITE_REDIS);
}

static inline int tear_down(void **state)
{
    store_close(&site.store);
    loop_destroy(&site.loop);
    remove_folder();
    if (site.kind == SITE_REDIS)
        server_say(&redis, "FLUSHALL"); /* its memory */
    return 0;
}

/* ---- the same tests on every kind -------------------------------------------------------------------------------- */

struct named_test {
    const char *name;
    CMUnitTestFunction body;
};
#define NAMED(test)                                                                                                    \
    {                                                                                                                  \
#test, test                                                                                                    \
    }
#define TESTS_MAX 32

static inline int run_on_all_kinds(const struct named_test *tests, size_t count)
{
    static const struct {
        const char *name;
        CMFixtureFunction set_up;
    } kinds[] = {{"memory", set_up_memory}, {"sqlite", set_up_sqlite}, {"redis", set_up_redis}};
    int failed = 0;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        struct CMUnitTest group[TESTS_MAX];
        for (size_t i = 0; i < count; i++)
            group[i] = (struct CMUnitTest){tests[i].name, tests[i].body, kinds[kind].set_up, tear_down, NULL};
        failed += _cmocka_run_group_tests(kinds[kind].name, group, count, NULL, NULL);
    }
    server_end(&redis);
    return failed;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

struct written {
    struct store_batch batch;
    int runs;      /* of `committed` */
    int64_t place; /* among all that came home, from 1 */
};
static int64_t came_home;

static inline void came(struct store_batch *batch)
{
    struct written *written = (struct written *)(void *)batch;
    assert_ptr_equal(loop_current(), batch->loop);
    written->runs++;
    written->place = ++came_home;
}

static inline struct store_batch *begin(struct written *written)
{
    *written = (struct written){0};
    store_batch_init(&written->batch, site.loop, came);
    return &written->batch;
}

static inline void commit(struct written *written)
{
    loop_enter(site.loop);
    store_commit(site.store, &written->batch);
    loop_leave(site.loop);
}

/* Everything that is under way comes home. */
static inline void settle(void)
{
    store_settle(site.store);
    loop_step(site.loop, 0);
}

/* Commits, waits, lets go; the status. */
static inline struct status commit_now(struct written *written)
{
    commit(written);
    settle();
    assert_int_equal(written->runs, 1);
    struct status st = written->batch.status;
    store_batch_fini(&written->batch);
    return st;
}

static inline void put_now(const char *key, const char *value)
{
    struct written written;
    store_put(begin(&written), text_of(key), text_of(value));
    struct status st = commit_now(&written);
    if (st.code != OK)
        fail_msg("put of '%s': %s", key, st.text);
}

/* ---- scans ------------------------------------------------------------------------------------------------------- */

struct looked {
    struct store_scan scan;
    int runs;
};

static inline void looked_through(struct store_scan *scan)
{
    assert_ptr_equal(loop_current(), scan->loop);
    ((struct looked *)(void *)scan)->runs++;
}

static inline struct store_scan *look(struct looked *looked, struct store_bytes from, struct store_bytes to)
{
    *looked = (struct looked){0};
    store_scan_init(&looked->scan, site.loop, looked_through);
    looked->scan.from = from;
    looked->scan.to = to;
    return &looked->scan;
}

static inline void start_scan(struct looked *looked)
{
    loop_enter(site.loop);
    store_scan(site.store, &looked->scan);
    loop_leave(site.loop);
}

static inline struct store_scan *scan_now(struct looked *looked)
{
    start_scan(looked);
    settle();
    assert_int_equal(looked->runs, 1);
    return &looked->scan;
}

/* Of `count` keys "key 0", …, of which every third is not there, each is looked for by a scan of its own, all at once.
 */
static inline void assert_found_together(unsigned count)
{
    struct looked *looked = calloc(count, sizeof *looked);
    char key[32], value[32];
    for (unsigned i = 0; i < count; i++) {
        char from[32], to[32];
        int size = snprintf(from, sizeof from, "key %u", i);
        memcpy(to, from, sizeof to); /* up to its NUL */
        look(&looked[i], text_of(from), (struct store_bytes){to, (size_t)size + 1})->limit = 1;
        looked[i].scan.bytes_max = i % 7 ? 64 : STORE_SCAN_BYTES_MAX;
        start_scan(&looked[i]); /* copies its bounds */
    }
    settle();
    for (unsigned i = 0; i < count; i++) {
        struct store_scan *scan = &looked[i].scan;
        assert_int_equal(looked[i].runs, 1);
        assert_int_equal(scan->status.code, OK);
        assert_int_equal(scan->count, i % 3 != 0);
        snprintf(key, sizeof key, "key %u", i);
        snprintf(value, sizeof value, "value %u", i);
        if (scan->count) {
            assert_memory_equal(scan->rows[0].key.bytes, key, scan->rows[0].key.size);
            assert_int_equal(scan->rows[0].value.size, strlen(value));
            assert_memory_equal(scan->rows[0].value.bytes, value, strlen(value));
        }
        store_scan_fini(scan);
    }
    free(looked);
}

static inline void put_for_together(unsigned count)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    for (unsigned i = 0; i < count; i++) {
        char key[32], value[32];
        snprintf(key, sizeof key, "key %u", i);
        snprintf(value, sizeof value, "value %u", i);
        if (i % 3 != 0)
            store_put(batch, text_of(key), text_of(value));
    }
    assert_int_equal(commit_now(&written).code, OK);
}

/* "a=1 b=2 ", and "…" at the end where there is more. */
static inline const char *rows_text(const struct store_scan *scan)
{
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < scan->count && length < sizeof text; i++) {
        const struct store_row *row = &scan->rows[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s=%.*s ", (int)row->key.size,
                                   (const char *)row->key.bytes, (int)row->value.size, (const char *)row->value.bytes);
    }
    if (scan->more && length < sizeof text)
        snprintf(text + length, sizeof text - length, "…");
    return text;
}

static inline void assert_rows(struct store_bytes from, struct store_bytes to, const char *expected)
{
    struct looked looked;
    look(&looked, from, to);
    struct store_scan *scan = scan_now(&looked);
    assert_int_equal(scan->status.code, OK);
    assert_string_equal(rows_text(scan), expected);
    store_scan_fini(scan);
}

static inline void assert_all(const char *expected)
{
    assert_rows(ABSENT, NO_END, expected);
}

#endif
