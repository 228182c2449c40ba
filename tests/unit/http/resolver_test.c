/* Names that hang: getaddrinfo, which curl calls in a thread of its own, is this program's here and waits to be let
 * go. Every try leaves a thread behind, so tries must be bounded. */
#include "peer.h"

#include "http/client.h"

#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LEFT_BEHIND 32
#define HANGING_MAX (LEFT_BEHIND + 4) /* and those that are being tried */
#define TRIES       50

static atomic_uint asleep;
static atomic_bool let_go;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)found;
    atomic_fetch_add(&asleep, 1);
    while (!atomic_load(&let_go))
        usleep(1000);
    atomic_fetch_sub(&asleep, 1);
    return EAI_AGAIN;
}

struct
try {
    struct transfer transfer;
    bool finished;
    struct status status;
};

static int64_t patience_ms;
static struct loop *loop;
static struct http_client *client;

static void finished(struct transfer *transfer)
{
    struct try *try = transfer->owner;
    try->status = transfer->status;
    try->finished = true;
}

static void start(struct try *try, const struct http_url *url, bool by_curl)
{
    memset(try, 0, sizeof *try);
    transfer_init(&try->transfer, url, finished);
    try->transfer.owner = try;
    try->transfer.connect_timeout_ms = patience_ms;
    try->transfer.timeout_ms = 20000;
    try->transfer.redirects_max = by_curl;
    loop_enter(loop);
    transfer_start(client, &try->transfer);
    loop_leave(loop);
}

/* Some of them go on hanging until they are given up, and the next ones are not looked up meanwhile. */
static void few_are_looked_up_where_many_hang(const struct http_url *url, bool by_curl)
{
    static struct try tries[TRIES];
    unsigned refused = 0;
    patience_ms = 20;
    for (int i = 0; i < LEFT_BEHIND;) { /* on a busy machine a try may be over before its name is looked up */
        start(&tries[i], url, by_curl);
        assert_true(WAIT_FOR(loop, tries[i].finished, 5000));
        i += WAIT_FOR(loop, atomic_load(&asleep) > (unsigned)i, 500);
    }
    patience_ms = 2000; /* so that all of these are begun before the first is given up */
    for (int i = LEFT_BEHIND; i < TRIES; i++)
        start(&tries[i], url, by_curl);
    for (int i = 0; i < TRIES; i++) {
        assert_true(WAIT_FOR(loop, tries[i].finished, 10000));
        assert_int_equal(tries[i].status.code, UNAVAILABLE);
        refused += strstr(tries[i].status.text, "was not looked up") != NULL;
    }
    assert_int_equal(refused, TRIES - HANGING_MAX);
    assert_int_equal(atomic_load(&asleep), HANGING_MAX);
}

static void open_client(void)
{
    atomic_store(&let_go, false);
    loop = loop_started(0);
    loop_enter(loop);
    client = http_client_create(loop, &(struct http_client_options){0});
    loop_leave(loop);
}

static void close_client(void)
{
    atomic_store(&let_go, true);
    for (int ms = 0; atomic_load(&asleep) && ms < 10000; ms++)
        usleep(1000);
    assert_int_equal(atomic_load(&asleep), 0);
    loop_enter(loop);
    http_client_destroy(&client);
    loop_leave(loop);
    loop_ended(&loop);
}

static void answer(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

static void names_that_hang_leave_few_threads_behind_and_no_address_waits_for_them(void **state)
{
    const bool *by_curl = *state;
    struct status st = {0};
    struct peer peer;
    struct try hangs, works;
    char text[64];
    open_client();
    struct http_url *name = http_url_parse("http://hangs.test/", &st);
    few_are_looked_up_where_many_hang(name, *by_curl);

    peer_start(&peer, answer);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", peer.port);
    struct http_url *address = http_url_parse(text, &st);
    start(&hangs, name, *by_curl);
    start(&works, address, *by_curl);
    assert_true(WAIT_FOR(loop, works.finished && hangs.finished, 10000));
    if (works.status.code != OK)
        fail_msg("%s", works.status.text);

    close_client();
    peer_stop(&peer);
    http_url_destroy(&name);
    http_url_destroy(&address);
}

static unsigned ended(const struct try *tries, unsigned count)
{
    unsigned finished = 0;
    for (unsigned i = 0; i < count; i++)
        finished += tries[i].finished;
    return finished;
}

static void where_none_of_many_is_found_for_a_second_no_more_are_begun(void **state)
{
    (void)state;
    static struct try burst[LEFT_BEHIND + 8], later[8];
    struct status st = {0};
    struct http_url *name = http_url_parse("http://hangs.test/", &st);
    patience_ms = 5000;
    open_client();
    for (unsigned i = 0; i < sizeof burst / sizeof *burst; i++)
        start(&burst[i], name, false);
    /* All at once: it may be well. On a busy machine the last of them may come after a second, and are refused. */
    assert_true(
        WAIT_FOR(loop, atomic_load(&asleep) + ended(burst, sizeof burst / sizeof *burst) == LEFT_BEHIND + 8, 20000));
    assert_true(atomic_load(&asleep) >= LEFT_BEHIND);
    usleep(1100 * 1000);
    for (unsigned i = 0; i < sizeof later / sizeof *later; i++) {
        start(&later[i], name, false);
        assert_true(WAIT_FOR(loop, later[i].finished, 10000));
        assert_non_null(strstr(later[i].status.text, "was not looked up"));
    }
    for (unsigned i = 0; i < sizeof burst / sizeof *burst; i++)
        assert_true(WAIT_FOR(loop, burst[i].finished, 20000));
    close_client();
    http_url_destroy(&name);
}

int main(void)
{
    static bool direct = false, by_curl = true;
    const struct CMUnitTest tests[] = {
        {"over connections of our own", names_that_hang_leave_few_threads_behind_and_no_address_waits_for_them, NULL,
         NULL, &direct},
        cmocka_unit_test(where_none_of_many_is_found_for_a_second_no_more_are_begun),
        {"by curl", names_that_hang_leave_few_threads_behind_and_no_address_waits_for_them, NULL, NULL, &by_curl},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
