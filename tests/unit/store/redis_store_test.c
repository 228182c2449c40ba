/* A store on Redis: its URL, what it asks of the server, and several processes at one store. */
#include "store_fixture.h"

static struct status open_with(const char *format, ...)
{
    char url[512];
    struct status st = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(url, sizeof url, format, arguments);
    va_end(arguments);
    struct store *store = store_open(url, &st);
    assert_int_equal(store == NULL, st.code != OK);
    store_close(&store);
    assert_lacks(st.text, "s3cret");
    return st;
}

static void assert_status(struct status st, enum status_code code, const char *part)
{
    if (st.code != code)
        fail_msg("it is %s: %s", status_code_name((int)st.code), st.text);
    assert_contains(st.text, part);
}

/* Of the store that the fixture made: what its keys are called. */
static const char *own_name(void)
{
    static char name[32];
    snprintf(name, sizeof name, "%s", strstr(site.url, "name=") + 5);
    return name;
}

/* ---- the URL ----------------------------------------------------------------------------------------------------- */

static void what_is_not_right_about_a_url_is_named_and_the_url_is_not(void **state)
{
    static const struct {
        const char *url, *part;
    } cases[] = {
        {"redis:s3cret", "redis://"},
        {"redis://:s3cret@host:port", "port"},
        {"redis://:s3cret@host?s3cret=1", "behind its '?'"},
        {"redis://:s3cret@host?name", "behind its '?'"},
        {"redis://:s3cret@host?name=", "'name'"},
        {"redis://:s3cret@host?name={s3cret}", "'name'"},
        {"redis://:s3cret@host?name=a123456789b123456789c123456789d12", "'name'"},
        {"redis://:s3cret@host?durability=none", "'durability'"},
        {"redis://:s3cret@host?replicas=-1", "'replicas'"},
        {"redis://:s3cret@host?replicas=s3cret", "'replicas'"},
        {"redis://:s3cret@host?timeout=0", "'timeout'"},
        {"redis://:s3cret@host?name=a&timeout=1h", "'timeout'"},
        {"unix:/run/redis.sock?db=none", "'db'"},
        {"unix:run/redis.sock", "absolute"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_status(open_with("%s", cases[i].url), INVALID_ARGUMENT, cases[i].part);
    assert_status(open_with("redis://127.0.0.1?password_file=/nowhere/s3cret"), FAILED_PRECONDITION, "password_file");
}

static void a_store_at_a_path_and_in_a_database_of_its_own_is_another(void **state)
{
    put_now("k", "here");
    const char *name = own_name();
    char here[256];
    memcpy(here, site.url, sizeof here);
    store_close(&site.store);
    snprintf(site.url, sizeof site.url, "unix:%s?db=2&name=%s", redis.path, name);
    open_store();
    assert_all("");
    put_now("k", "there");
    store_close(&site.store);
    snprintf(site.url, sizeof site.url, "unix:%s?name=%s", redis.path, name);
    open_store();
    assert_all("k=here ");
    store_close(&site.store);
    memcpy(site.url, here, sizeof here);
    open_store();
}

static void a_password_is_taken_from_a_file(void **state)
{
    struct server guarded = {.durable = true};
    char path[96];
    server_start(&guarded, "s3cret");
    snprintf(path, sizeof path, "%s/password", guarded.folder);
    FILE *file = fopen(path, "w");
    fputs("s3cret\n", file);
    fclose(file);
    struct status none = open_with("redis://127.0.0.1:%d", guarded.port);
    struct status wrong = open_with("redis://:wrong@127.0.0.1:%d", guarded.port);
    struct status right = open_with("redis://127.0.0.1:%d?password_file=%s", guarded.port, path);
    struct status within = open_with("redis://:s%%33cret@127.0.0.1:%d", guarded.port);
    server_end(&guarded);
    assert_status(none, UNAUTHENTICATED, "password_file");
    assert_status(wrong, UNAUTHENTICATED, "refuses the user or password");
    assert_status(right, OK, "");
    assert_status(within, OK, "");
}

/* ---- TLS --------------------------------------------------------------------------------------------------------- */

static void write_certificate(const char *certificate, const char *key)
{
    char command[512];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=redis "
             "-addext subjectAltName=IP:127.0.0.1 -out %s -keyout %s 2>/dev/null",
             certificate, key);
    assert_int_equal(system(command), 0);
}

#define TRIES 10 /* what is said is how the last attempt ended, which on a busy machine may be by the deadline */

static void tls_is_spoken_with_whom_it_shall_be_and_with_nobody_else(void **state)
{
    char folder[] = "/tmp/renga_tls_XXXXXX", certificate[64], key[64], port[8];
    int tls_port;
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    write_certificate(certificate, key);
    close(server_bind(&tls_port, 0));
    snprintf(port, sizeof port, "%d", tls_port);
    struct server guarded = {.durable = true,
                             .more = {"--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key,
                                      "--tls-ca-cert-file", certificate, "--tls-auth-clients", "yes"}};
    server_start(&guarded, "s3cret");
    const char *at = "rediss://:s3cret@127.0.0.1", *ours = "timeout=20000&authorities";
    struct status right =
        open_with("%s:%d?%s=%s&certificate=%s&key=%s", at, tls_port, ours, certificate, certificate, key);
    struct status nobody = {0}, plain = {0};
    for (int tries = 0; tries < TRIES && !strstr(nobody.text, "closed"); tries++)
        nobody = open_with("%s:%d?%s=%s&timeout=600", at, tls_port, ours, certificate);
    struct status stranger = open_with("%s:%d?timeout=20000", at, tls_port);
    struct status other = open_with("rediss://:s3cret@localhost:%d?%s=%s", tls_port, ours, certificate);
    for (int tries = 0; tries < TRIES && !strstr(plain.text, "closed"); tries++)
        plain = open_with("redis://:s3cret@127.0.0.1:%d?timeout=400", tls_port);
    struct status no_file = open_with("%s:%d?%s=/nowhere", at, tls_port, ours);
    server_end(&guarded);
    unlink(certificate);
    unlink(key);
    rmdir(folder);
    assert_status(right, OK, "");
    assert_status(nobody, UNAVAILABLE, "has closed the connection");
    assert_status(stranger, UNAUTHENTICATED, "not to be trusted");
    assert_status(other, UNAUTHENTICATED, "another's");
    assert_status(plain, UNAVAILABLE, "has closed the connection");
    assert_status(no_file, FAILED_PRECONDITION, "/nowhere");
}

/* ---- what is asked of the server --------------------------------------------------------------------------------- */

static void a_redis_that_may_lose_what_it_acknowledged_is_refused_unless_that_was_asked_for(void **state)
{
    struct store_stats stats;
    server_say(&redis, "CONFIG SET appendfsync everysec");
    struct status strict = open_with("redis://127.0.0.1:%d?name=weak", redis.port);
    struct status st = {0};
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?name=weak&durability=weak", redis.port);
    struct store *weak = store_open(url, &st);
    server_say(&redis, "CONFIG SET appendfsync always");
    assert_status(strict, FAILED_PRECONDITION, "appendfsync 'everysec'");
    assert_non_null(weak);
    store_stats(weak, &stats);
    assert_true(stats.weak);
    store_close(&weak);
    store_stats(site.store, &stats);
    assert_false(stats.weak);
}

static void a_redis_that_throws_rows_away_is_refused(void **state)
{
    server_say(&redis, "CONFIG SET maxmemory-policy allkeys-lru");
    struct status strict = open_with("redis://127.0.0.1:%d", redis.port);
    struct status weak = open_with("redis://127.0.0.1:%d?durability=weak", redis.port);
    server_say(&redis, "CONFIG SET maxmemory-policy noeviction");
    assert_status(strict, FAILED_PRECONDITION, "'noeviction'");
    assert_status(weak, FAILED_PRECONDITION, "'noeviction'");
}

static void what_stands_under_its_keys_already_is_left_alone(void **state)
{
    server_say(&redis, "SET renga:{alien}:rows 1");
    server_say(&redis, "HSET renga:{newer}:writers form 2");
    assert_status(open_with("redis://127.0.0.1:%d?name=alien", redis.port), FAILED_PRECONDITION, "something else");
    assert_status(open_with("redis://127.0.0.1:%d?name=newer", redis.port), FAILED_PRECONDITION, "newer form");
}

static void one_that_is_not_there_or_no_redis_is_told_in_time(void **state)
{
    int port, listener = server_bind(&port, 4);
    struct status silent = open_with("redis://127.0.0.1:%d?timeout=200", port);
    close(listener);
    struct status gone = open_with("redis://127.0.0.1:%d?timeout=20000", port); /* told at once */
    assert_status(silent, UNAVAILABLE, "does not answer in time");
    assert_status(gone, UNAVAILABLE, "cannot be reached");
    assert_status(open_with("redis://no.such.name.invalid?timeout=200"), UNAVAILABLE, "name");
}

/* ---- several at one store ---------------------------------------------------------------------------------------- */

static void of_two_processes_that_expect_the_same_one_is_written(void **state)
{
    struct status st = {0};
    struct store *own = site.store, *other = store_open(site.url, &st);
    struct written one, two;
    assert_non_null(other);
    put_now("k", "0");
    store_expect(begin(&one), TEXT("k"), TEXT("0"));
    store_put(&one.batch, TEXT("k"), TEXT("1"));
    store_expect(begin(&two), TEXT("k"), TEXT("0"));
    store_put(&two.batch, TEXT("k"), TEXT("2"));
    site.store = other;
    commit(&two);
    site.store = own;
    commit(&one);
    store_settle(other);
    settle();
    assert_int_equal((one.batch.status.code == OK) + (two.batch.status.code == OK), 1);
    assert_int_equal((one.batch.status.code == ABORTED) + (two.batch.status.code == ABORTED), 1);
    assert_all(one.batch.status.code == OK ? "k=1 " : "k=2 ");
    store_batch_fini(&one.batch);
    store_batch_fini(&two.batch);
    store_close(&other);
}

/* Each opens a store in its turn. */
static void those_that_came_long_ago_are_forgotten(void **state)
{
    char command[512];
    const char *name = own_name();
    snprintf(command, sizeof command,
             "EVAL \"for i=1,1200 do redis.call('HSET',KEYS[1],'w'..i,i..' 7 ') end "
             "redis.call('HSET',KEYS[1],'count',1200)\" 1 renga:{%s}:writers",
             name);
    assert_contains(server_say(&redis, command), "$-1");
    store_close(&site.store);
    open_store();
    snprintf(command, sizeof command, "HLEN renga:{%s}:writers", name);
    assert_contains(server_say(&redis, command), ":1002\r\n"); /* the latest thousand, "form" and "count" */
}

/* ---- forgetting -------------------------------------------------------------------------------------------------- */

static int hits; /* files of Redis that have the word */

static int look_for_word(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    static char bytes[1 << 20];
    FILE *file = kind == FTW_F ? fopen(path, "r") : NULL;
    if (file == NULL)
        return 0;
    hits += memmem(bytes, fread(bytes, 1, sizeof bytes, file), "s3cret", 6) != NULL;
    fclose(file);
    return 0;
}

static int files_with_word(void)
{
    hits = 0;
    nftw(redis.folder, look_for_word, 8, FTW_PHYS);
    return hits;
}

static void what_shall_be_forgotten_is_in_no_file_of_redis(void **state)
{
    struct written written;
    put_now("k", "s3cret");
    put_now("j", "1");
    assert_int_equal(files_with_word(), 1);
    store_delete(begin(&written), TEXT("k"));
    store_forget(&written.batch);
    assert_int_equal(commit_now(&written).code, OK);
    for (int i = 0; i < 200 && files_with_word() > 0; i++)
        usleep(20000);
    assert_int_equal(files_with_word(), 0);
    assert_all("j=1 ");
}

/* ---- replicas ---------------------------------------------------------------------------------------------------- */

static void a_batch_is_acknowledged_when_as_many_replicas_have_it(void **state)
{
    struct server replica = {.durable = true};
    struct written written;
    char command[64];
    const char *name = own_name();
    char url[256];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?timeout=2000&replicas=1&name=%s", redis.port, name);
    store_close(&site.store);
    memcpy(site.url, url, sizeof url);
    open_store();
    store_put(begin(&written), TEXT("a"), TEXT("1"));
    struct status alone = commit_now(&written);
    server_say(&redis, "CONFIG SET repl-diskless-sync-delay 0");
    server_start(&replica, NULL);
    snprintf(command, sizeof command, "REPLICAOF 127.0.0.1 %d", redis.port);
    server_say(&replica, command);
    for (int i = 0; i < 500 && strstr(server_say(&replica, "ROLE"), "connected") == NULL; i++)
        usleep(10000);
    store_put(begin(&written), TEXT("b"), TEXT("1"));
    struct status both = commit_now(&written);
    snprintf(command, sizeof command, "ZCARD renga:{%s}:rows", name);
    const char *rows = strdup(server_say(&replica, command));
    server_end(&replica);
    assert_status(alone, UNAVAILABLE, "of its replicas 0 instead of 1");
    assert_status(both, OK, "");
    assert_string_equal(rows, ":2\r\n");
    free((void *)(uintptr_t)rows);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, set_up_redis, tear_down)

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as every service does */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_right_about_a_url_is_named_and_the_url_is_not),
        ON(a_store_at_a_path_and_in_a_database_of_its_own_is_another),
        cmocka_unit_test(a_password_is_taken_from_a_file),
        cmocka_unit_test(tls_is_spoken_with_whom_it_shall_be_and_with_nobody_else),
        ON(a_redis_that_may_lose_what_it_acknowledged_is_refused_unless_that_was_asked_for),
        ON(a_redis_that_throws_rows_away_is_refused),
        ON(what_stands_under_its_keys_already_is_left_alone),
        cmocka_unit_test(one_that_is_not_there_or_no_redis_is_told_in_time),
        ON(of_two_processes_that_expect_the_same_one_is_written),
        ON(those_that_came_long_ago_are_forgotten),
        ON(what_shall_be_forgotten_is_in_no_file_of_redis),
        ON(a_batch_is_acknowledged_when_as_many_replicas_have_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_end(&redis);
    return failed;
}
