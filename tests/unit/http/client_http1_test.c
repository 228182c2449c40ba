/* HTTP/1.1 as the client speaks it, against peers whose every byte is written down: what is sent, which connections
 * serve again, what pausing and unpacking do to each other, and the same over TLS. */
#include "peer.h"
#include "tls_peer.h"

#include "base/clock.h"
#include "http/client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
};

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    int finished;
    struct status status;
    enum transfer_end end;
    int http_status;
    char body[1 << 18];
    size_t body_size;
    unsigned pieces;
    bool pauses; /* after each piece */
};

static char ca_path[] = "/tmp/renga-http1-XXXXXX";
static SSL_CTX *tls_context;

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){.ca_file = ca_path});
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    free(fixture);
    return 0;
}

static void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->status = transfer->status;
    exchange->end = transfer->end;
    exchange->http_status = transfer->http_status;
    if (!transfer->body_received) {
        assert_true(transfer->content_size < sizeof exchange->body);
        memcpy(exchange->body, transfer->content, transfer->content_size + 1);
        exchange->body_size = transfer->content_size;
    }
}

static void prepare(struct fixture *fixture, struct exchange *exchange, const char *scheme)
{
    char text[64];
    struct status st = {0};
    memset(exchange, 0, sizeof *exchange);
    snprintf(text, sizeof text, "%s://127.0.0.1:%d/path?key=1", scheme, fixture->peer.port);
    exchange->url = http_url_parse(text, &st);
    assert_non_null(exchange->url);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
    exchange->transfer.timeout_ms = 5000;
}

static void start(struct fixture *fixture, struct exchange *exchange)
{
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    loop_leave(fixture->loop);
}

static void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished == 1, 10000));
    http_url_destroy(&exchange->url);
}

static struct exchange shared;

/* One GET, to the end. */
static struct exchange *get(struct fixture *fixture, const char *scheme)
{
    prepare(fixture, &shared, scheme);
    start(fixture, &shared);
    finish(fixture, &shared);
    return &shared;
}

static void assert_body(const struct exchange *exchange, const char *body)
{
    if (exchange->status.code != OK)
        fail_msg("%s", exchange->status.text);
    assert_int_equal(exchange->body_size, strlen(body));
    assert_memory_equal(exchange->body, body, exchange->body_size);
}

static void assert_ended(const struct exchange *exchange, enum transfer_end end)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
}

/* ---- what is sent ----------------------------------------------------------------------------------------------- */

static char heard[4096];

static void hear(struct peer *peer, int fd)
{
    ssize_t got = recv(fd, heard, sizeof heard - 1, 0);
    heard[got > 0 ? got : 0] = '\0';
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

static void a_request_is_its_line_its_headers_and_its_body(void **state)
{
    struct fixture *fixture = *state;
    struct status st;
    char expected[512];
    peer_start(&fixture->peer, hear);
    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "X-Shared", "one", &st) && http_headers_add(headers, "X-Empty", "", &st));
    prepare(fixture, &shared, "http");
    shared.transfer.method = "PATCH";
    shared.transfer.headers = headers;
    shared.transfer.extra = &(struct http_header){"User-Agent", "us"};
    shared.transfer.extra_count = 1;
    shared.transfer.body = "body";
    shared.transfer.body_size = 4;
    start(fixture, &shared);
    finish(fixture, &shared);
    snprintf(expected, sizeof expected,
             "PATCH /path?key=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: us\r\nX-Shared: one\r\nX-Empty: \r\n"
             "Content-Length: 4\r\n\r\nbody",
             fixture->peer.port);
    assert_string_equal(heard, expected);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.extra = &(struct http_header){"Host", "elsewhere"};
    shared.transfer.extra_count = 1;
    start(fixture, &shared);
    finish(fixture, &shared);
    assert_non_null(strstr(heard, "Content-Length: 0\r\n"));
    assert_non_null(strstr(heard, "Host: elsewhere\r\n"));
    assert_null(strstr(heard, "Host: 127"));
    peer_stop(&fixture->peer);
    http_headers_destroy(&headers);
}

static void read_slowly(struct peer *peer, int fd)
{
    static char bytes[1 << 16];
    peer_pause(20); /* until the client's socket is full */
    size_t sum = 0, all = 0;
    while (all < (8u << 20)) {
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++)
            sum += bytes[i] == 'b';
        all += (size_t)got;
    }
    while (sum < (8u << 20)) { /* the head is in there */
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++)
            sum += bytes[i] == 'b';
    }
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall");
}

static void a_large_body_goes_out_as_the_socket_takes_it(void **state)
{
    struct fixture *fixture = *state;
    char *body = malloc(8u << 20);
    memset(body, 'b', 8u << 20);
    peer_start(&fixture->peer, read_slowly);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.body = body;
    shared.transfer.body_size = 8u << 20;
    start(fixture, &shared);
    finish(fixture, &shared);
    assert_body(&shared, "all");
    peer_stop(&fixture->peer);
    free(body);
}

static atomic_bool answer_was_read;

static void answer_before_the_body(struct peer *peer, int fd)
{
    char bytes[64];
    recv(fd, bytes, sizeof bytes, 0);
    peer_send(fd, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    while (!atomic_load(&peer->stopping) && !atomic_load(&answer_was_read))
        peer_pause(1);
    peer_wait_left(peer, fd);
}

static void an_answer_before_the_request_is_out_counts_and_its_connection_is_closed(void **state)
{
    struct fixture *fixture = *state;
    char *body = calloc(1, 16u << 20);
    peer_start(&fixture->peer, answer_before_the_body);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.body = body;
    shared.transfer.body_size = 16u << 20;
    start(fixture, &shared);
    finish(fixture, &shared);
    atomic_store(&answer_was_read, true);
    assert_body(&shared, "big");
    assert_int_equal(shared.http_status, 413);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
    free(body);
}

/* ---- which connections serve again ------------------------------------------------------------------------------ */

static const char *answer; /* of `keep_answering` */

static void keep_answering(struct peer *peer, int fd)
{
    while (peer_read_request(peer, fd))
        peer_send(fd, answer);
}

static int connections_for_two(struct fixture *fixture, const char *text, const char *body)
{
    answer = text;
    peer_start(&fixture->peer, keep_answering);
    for (int i = 0; i < 2; i++)
        assert_body(get(fixture, "http"), body);
    peer_stop(&fixture->peer);
    return fixture->peer.accepted;
}

static void a_connection_serves_again_where_the_answers_end_is_known(void **state)
{
    assert_int_equal(connections_for_two(*state, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"), 1);
    assert_int_equal(connections_for_two(*state, "HTTP/1.1 204 None\r\n\r\n", ""), 1);
    assert_int_equal(connections_for_two(*state,
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                         "2;a=b\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
                                         "ok"),
                     1);
    assert_int_equal(
        connections_for_two(*state, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "ok"),
        1);
}

static void it_does_not_where_the_server_says_so_or_says_more(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(connections_for_two(*state, texts[i], "ok"), 2);
}

static void speak_when_idle(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer_pause(5);
    peer_send(fd, "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n");
    peer_wait_left(peer, fd);
}

static void what_comes_unasked_on_an_idle_connection_is_no_answer(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, speak_when_idle);
    assert_body(get(fixture, "http"), "ok");
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    assert_body(get(fixture, "http"), "ok");
    assert_int_equal(fixture->peer.accepted, 2);
    peer_stop(&fixture->peer);
}

static void close_unread(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (atomic_load(&peer->requests) > 2) /* the third request is lost, and so is the fourth: it is the repetition */
        return;
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer_read_request(peer, fd);
}

static void a_repetition_goes_out_on_a_new_connection_and_once(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, close_unread);
    assert_body(get(fixture, "http"), "ok");
    assert_body(get(fixture, "http"), "ok");
    prepare(fixture, &shared, "http");
    shared.transfer.may_repeat = true;
    start(fixture, &shared);
    finish(fixture, &shared);
    assert_body(&shared, "ok");
    assert_int_equal(fixture->peer.requests, 4);
    assert_int_equal(fixture->peer.accepted, 2);
    peer_stop(&fixture->peer);
}

static void say_half_and_close(struct peer *peer, int fd)
{
    if (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nCont");
}

static void half_an_answer_on_a_kept_connection_is_neither_stale_nor_repeated(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, say_half_and_close);
    assert_body(get(fixture, "http"), "ok");
    prepare(fixture, &shared, "http");
    shared.transfer.may_repeat = true;
    start(fixture, &shared);
    finish(fixture, &shared);
    assert_ended(&shared, TRANSFER_CUT);
    assert_false(shared.transfer.stale);
    assert_int_equal(fixture->peer.requests, 2);
    peer_stop(&fixture->peer);
}

/* ---- how an answer ends ----------------------------------------------------------------------------------------- */

static void answer_and_close(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, answer);
}

static struct exchange *ended_with(struct fixture *fixture, const char *text)
{
    answer = text;
    peer_start(&fixture->peer, answer_and_close);
    get(fixture, "http");
    peer_stop(&fixture->peer);
    return &shared;
}

static void a_body_without_a_length_is_whole_when_the_connection_ends(void **state)
{
    assert_body(ended_with(*state, "HTTP/1.1 200 OK\r\n\r\nto the end"), "to the end");
    assert_body(ended_with(*state, "HTTP/1.0 200 OK\r\n\r\n"), "");
}

static void reset_in_body(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n\r\nto the");
    peer_pause(20);
    peer_reset_on_close(fd);
}

static void it_is_cut_where_the_connection_is_reset(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, reset_in_body);
    assert_ended(get(fixture, "http"), TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

static void answers_that_could_be_smuggled_in_are_garbled(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_ended(ended_with(*state, texts[i]), TRANSFER_GARBLED);
}

/* ---- packed content --------------------------------------------------------------------------------------------- */

static unsigned char packed[1 << 16];
static size_t packed_size;
static const char *packed_as;

static size_t pack(const char *text, size_t size, int window, unsigned char *to, size_t room)
{
    z_stream stream = {0};
    deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return stream.total_out;
}

static void send_packed(struct peer *peer, int fd)
{
    char head[160];
    while (peer_read_request(peer, fd)) {
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n", packed_as,
                 packed_size);
        peer_send(fd, head);
        peer_send_bytes(fd, packed, packed_size);
    }
}

static struct exchange *unpacked(struct fixture *fixture, const char *coding)
{
    packed_as = coding;
    peer_start(&fixture->peer, send_packed);
    prepare(fixture, &shared, "http");
    shared.transfer.decompress = true;
    start(fixture, &shared);
    finish(fixture, &shared);
    peer_stop(&fixture->peer);
    return &shared;
}

static void gzip_and_both_kinds_of_deflate_are_unpacked(void **state)
{
    static const struct {
        const char *name;
        int window;
    } codings[] = {{"gzip", 31}, {"x-gzip", 31}, {"deflate", 15}, {"deflate", -15}, {"GZIP", 31}};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        packed_size = pack("hello, hello", 12, codings[i].window, packed, sizeof packed);
        assert_body(unpacked(*state, codings[i].name), "hello, hello");
    }
    packed_size = pack("one, ", 5, 31, packed, sizeof packed);
    packed_size += pack("two", 3, 31, packed + packed_size, sizeof packed - packed_size);
    assert_body(unpacked(*state, "gzip"), "one, two");
    memcpy(packed, "plain", packed_size = 5);
    assert_body(unpacked(*state, "identity"), "plain");
}

static void packed_content_that_is_cut_broken_or_unknown_is_garbled(void **state)
{
    packed_size = pack("hello, hello", 12, 31, packed, sizeof packed) - 4;
    assert_ended(unpacked(*state, "gzip"), TRANSFER_GARBLED);
    packed_size += 4;
    assert_ended(unpacked(*state, "br"), TRANSFER_GARBLED);
    assert_ended(unpacked(*state, "gzip, gzip"), TRANSFER_GARBLED);
    packed[12] ^= 0x55;
    assert_ended(unpacked(*state, "gzip"), TRANSFER_GARBLED);
    packed_size = pack("hello, hello", 12, 15, packed, sizeof packed);
    packed[packed_size++] = 'x';
    assert_ended(unpacked(*state, "deflate"), TRANSFER_GARBLED);
}

/* ---- pauses ----------------------------------------------------------------------------------------------------- */

static void gather(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_false(transfer->paused);
    assert_true(exchange->body_size + size < sizeof exchange->body);
    memcpy(exchange->body + exchange->body_size, bytes, size);
    exchange->body_size += size;
    exchange->pieces++;
    if (exchange->pauses)
        transfer_pause(transfer);
}

static void finish_with_pauses(struct fixture *fixture)
{
    bool over = false, one = true;
    for (unsigned resumed = 0; !over; assert_true(one)) {
        assert_true(WAIT_FOR(fixture->loop, shared.finished || shared.transfer.paused, 5000));
        loop_enter(fixture->loop);
        one = !shared.pauses || shared.pieces <= resumed + 1;
        resumed = shared.pieces;
        transfer_resume(&shared.transfer);
        over = shared.finished;
        loop_leave(fixture->loop);
    }
    finish(fixture, &shared);
}

static struct exchange *get_with_pauses(struct fixture *fixture, bool decompress)
{
    prepare(fixture, &shared, "http");
    shared.transfer.body_received = gather;
    shared.transfer.decompress = decompress;
    shared.pauses = true;
    start(fixture, &shared);
    finish_with_pauses(fixture);
    return &shared;
}

static void each_piece_waits_for_its_turn_and_none_is_lost(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n4\r\nghij\r\n0\r\n\r\n";
    peer_start(&fixture->peer, keep_answering);
    for (int i = 0; i < 2; i++) {
        assert_body(get_with_pauses(fixture, false), "abcdefghij");
        assert_int_equal(shared.pieces, 4);
    }
    assert_int_equal(fixture->peer.accepted, 1);
    peer_stop(&fixture->peer);
}

static void unpacking_waits_too(void **state)
{
    struct fixture *fixture = *state;
    static char text[200000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i / 1000 % 26);
    packed_size = pack(text, sizeof text, 31, packed, sizeof packed);
    packed_as = "gzip";
    peer_start(&fixture->peer, send_packed);
    get_with_pauses(fixture, true);
    assert_int_equal(shared.status.code, OK);
    assert_true(shared.pieces > 5);
    assert_int_equal(shared.body_size, sizeof text);
    assert_memory_equal(shared.body, text, sizeof text);
    peer_stop(&fixture->peer);
}

static void an_answer_that_ends_in_a_pause_is_whole_after_it(void **state)
{
    struct fixture *fixture = *state;
    packed_size = pack("hello, hello", 12, 31, packed, sizeof packed);
    packed_as = "gzip";
    peer_start(&fixture->peer, send_packed);
    for (int i = 0; i < 2; i++)
        assert_body(get_with_pauses(fixture, true), "hello, hello");
    assert_int_equal(fixture->peer.accepted, 1);
    peer_stop(&fixture->peer);
}

static atomic_bool rest_is_due;

static void send_in_two(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n");
    while (!atomic_load(&rest_is_due))
        peer_pause(1);
    peer_send(fd, "1\r\nc\r\n0\r\n\r\n");
    peer_read_request(peer, fd);
}

static void nothing(struct work *work)
{
    (void)work;
}

/* More is deferred than one visit of the loop does, so that the socket is looked at before the transfer goes on. */
static void what_is_held_comes_before_what_is_new(void **state)
{
    struct fixture *fixture = *state;
    static struct work others[600];
    atomic_store(&rest_is_due, false);
    peer_start(&fixture->peer, send_in_two);
    prepare(fixture, &shared, "http");
    shared.transfer.body_received = gather;
    shared.pauses = true;
    start(fixture, &shared);
    assert_true(WAIT_FOR(fixture->loop, shared.transfer.paused, 5000));
    loop_enter(fixture->loop);
    atomic_store(&rest_is_due, true);
    peer_pause(50); /* until it is there */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i].run = nothing;
        loop_defer(fixture->loop, &others[i]);
    }
    shared.pauses = false;
    transfer_resume(&shared.transfer);
    loop_leave(fixture->loop);
    peer_pause(50); /* the loop goes on by itself; whoever enters it would do what was deferred */
    finish(fixture, &shared);
    assert_body(&shared, "abc");
    peer_stop(&fixture->peer);
}

static void send_and_reset(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
    peer_pause(20);
    peer_send(fd, "more");
    peer_pause(20);
    peer_reset_on_close(fd);
}

static void a_peer_that_goes_during_a_pause_is_noticed_after_it(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, send_and_reset);
    prepare(fixture, &shared, "http");
    shared.transfer.body_received = gather;
    shared.pauses = true;
    start(fixture, &shared);
    assert_true(WAIT_FOR(fixture->loop, shared.transfer.paused, 5000));
    peer_pause(100);
    finish_with_pauses(fixture);
    assert_ended(&shared, TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

/* ---- TLS -------------------------------------------------------------------------------------------------------- */

static void answer_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    while (ssl && tls_peer_read_request(peer, ssl))
        tls_peer_send(ssl, answer, strlen(answer));
    SSL_free(ssl);
}

static void over_tls_connections_serve_again_too(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    peer_start(&fixture->peer, answer_over_tls);
    for (int i = 0; i < 3; i++) {
        assert_body(get(fixture, "https"), "ok");
        peer_pause(5); /* session tickets come while it is idle */
    }
    assert_int_equal(fixture->peer.accepted, 1);
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){0});
    loop_leave(fixture->loop);
    assert_ended(get(fixture, "https"), TRANSFER_UNCONNECTED); /* nobody vouches for it */
    peer_stop(&fixture->peer);
}

static void large_bodies_pass_over_tls_both_ways(void **state)
{
    struct fixture *fixture = *state;
    static char text[200000 + 128], body[200000];
    size_t head = (size_t)sprintf(text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", sizeof body);
    for (size_t i = 0; i < sizeof body; i++)
        text[head + i] = body[i] = (char)('a' + i % 26);
    answer = text;
    peer_start(&fixture->peer, answer_over_tls);
    for (int pauses = 0; pauses < 2; pauses++) {
        prepare(fixture, &shared, "https");
        shared.transfer.method = "POST";
        shared.transfer.body = body;
        shared.transfer.body_size = sizeof body;
        shared.transfer.body_received = gather;
        shared.pauses = pauses;
        start(fixture, &shared);
        finish_with_pauses(fixture);
        assert_int_equal(shared.status.code, OK);
        assert_int_equal(shared.body_size, sizeof body);
        assert_memory_equal(shared.body, body, sizeof body);
    }
    assert_int_equal(fixture->peer.accepted, 1);
    peer_stop(&fixture->peer);
}

static void cut_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl))
        tls_peer_send(ssl, answer, strlen(answer));
    SSL_free(ssl); /* without a word of TLS's */
}

static void an_end_of_the_connection_that_tls_does_not_know_of_is_a_cut(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\n\r\nall of it?";
    peer_start(&fixture->peer, cut_over_tls);
    assert_ended(get(fixture, "https"), TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

static void wait_over_tls(struct peer *peer, int fd)
{
    char byte;
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl) && SSL_read(ssl, &byte, 1) <= 0)
        atomic_store(&peer->left, true);
    SSL_free(ssl);
}

static void cancelling_closes_a_connection_over_tls(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, wait_over_tls);
    prepare(fixture, &shared, "https");
    start(fixture, &shared);
    peer_pause(50);
    loop_enter(fixture->loop);
    transfer_cancel(&shared.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &shared);
    assert_int_equal(shared.status.code, CANCELLED);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
}

/* While one connection is opened, curl looks for dead ones among those it knows: that of a stream is none. */
static void stream_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl)) {
        tls_peer_send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", 42);
        while (!atomic_load(&peer->left) && !atomic_load(&peer->stopping))
            peer_pause(1);
        tls_peer_send(ssl, "half", 4);
    }
    SSL_free(ssl);
}

static void opening_a_connection_does_not_disturb_the_others(void **state)
{
    struct fixture *fixture = *state;
    static struct exchange stream;
    struct peer other;
    peer_start(&fixture->peer, stream_over_tls);
    prepare(fixture, &stream, "https");
    start(fixture, &stream);
    assert_true(WAIT_FOR(fixture->loop, stream.transfer.answered, 3000));
    struct peer streaming = fixture->peer;
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    peer_start(&other, answer_over_tls);
    fixture->peer.port = other.port;
    for (int i = 0; i < 12; i++) { /* it looks once a second */
        assert_body(get(fixture, "https"), "ok");
        peer_pause(100);
    }
    fixture->peer.port = streaming.port;
    atomic_store(&fixture->peer.left, true);
    finish(fixture, &stream);
    assert_body(&stream, "halfhalf");
    peer_stop(&other);
    peer_stop(&fixture->peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_its_line_its_headers_and_its_body),
        TEST(a_large_body_goes_out_as_the_socket_takes_it),
        TEST(an_answer_before_the_request_is_out_counts_and_its_connection_is_closed),
        TEST(a_connection_serves_again_where_the_answers_end_is_known),
        TEST(it_does_not_where_the_server_says_so_or_says_more),
        TEST(what_comes_unasked_on_an_idle_connection_is_no_answer),
        TEST(a_repetition_goes_out_on_a_new_connection_and_once),
        TEST(half_an_answer_on_a_kept_connection_is_neither_stale_nor_repeated),
        TEST(a_body_without_a_length_is_whole_when_the_connection_ends),
        TEST(it_is_cut_where_the_connection_is_reset),
        TEST(answers_that_could_be_smuggled_in_are_garbled),
        TEST(gzip_and_both_kinds_of_deflate_are_unpacked),
        TEST(packed_content_that_is_cut_broken_or_unknown_is_garbled),
        TEST(each_piece_waits_for_its_turn_and_none_is_lost),
        TEST(unpacking_waits_too),
        TEST(an_answer_that_ends_in_a_pause_is_whole_after_it),
        TEST(what_is_held_comes_before_what_is_new),
        TEST(a_peer_that_goes_during_a_pause_is_noticed_after_it),
        TEST(over_tls_connections_serve_again_too),
        TEST(large_bodies_pass_over_tls_both_ways),
        TEST(an_end_of_the_connection_that_tls_does_not_know_of_is_a_cut),
        TEST(cancelling_closes_a_connection_over_tls),
        TEST(opening_a_connection_does_not_disturb_the_others),
    };
    signal(SIGPIPE, SIG_IGN);
    tls_context = tls_peer_context(ca_path);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    SSL_CTX_free(tls_context);
    unlink(ca_path);
    return failed;
}
