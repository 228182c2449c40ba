/* Content that is unpacked, transfers that are paused, and what these do to each other. */
#include "http1_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <zlib.h>

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
    perform(fixture, &shared);
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

static void packed_content_that_is_cut_broken_or_unknown_is_malformed(void **state)
{
    packed_size = pack("hello, hello", 12, 31, packed, sizeof packed) - 4;
    assert_ended(unpacked(*state, "gzip"), TRANSFER_MALFORMED);
    packed_size += 4;
    assert_ended(unpacked(*state, "br"), TRANSFER_MALFORMED);
    assert_ended(unpacked(*state, "gzip, gzip"), TRANSFER_MALFORMED);
    packed[12] ^= 0x55;
    assert_ended(unpacked(*state, "gzip"), TRANSFER_MALFORMED);
    packed_size = pack("hello, hello", 12, 15, packed, sizeof packed);
    packed[packed_size++] = 'x';
    assert_ended(unpacked(*state, "deflate"), TRANSFER_MALFORMED);
}

/* ---- pauses ----------------------------------------------------------------------------------------------------- */

static struct exchange *get_with_pauses(struct fixture *fixture, bool decompress)
{
    prepare_pieces(fixture, &shared, "http", true);
    shared.transfer.decompress = decompress;
    start(fixture, &shared);
    finish_with_pauses(fixture);
    return &shared;
}

static void start_paused(struct fixture *fixture)
{
    prepare_pieces(fixture, &shared, "http", true);
    start(fixture, &shared);
    assert_true(WAIT_FOR(fixture->loop, shared.transfer.paused, 5000));
}

static void each_piece_waits_for_its_turn_and_none_is_lost(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n4\r\nghij\r\n0\r\n\r\n";
    peer_start(&fixture->peer, keep_answering);
    for (int i = 0; i < 2; i++) {
        assert_body(get_with_pauses(fixture, false), "abcdefghij");
        assert_int_equal(pieces, 4);
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
    assert_true(pieces > 5);
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
    start_paused(fixture);
    loop_enter(fixture->loop);
    atomic_store(&rest_is_due, true);
    peer_pause(50); /* until it is there */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i].run = nothing;
        loop_defer(fixture->loop, &others[i]);
    }
    pauses = false;
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
    start_paused(fixture);
    peer_pause(100);
    finish_with_pauses(fixture);
    assert_ended(&shared, TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gzip_and_both_kinds_of_deflate_are_unpacked),
        TEST(packed_content_that_is_cut_broken_or_unknown_is_malformed),
        TEST(each_piece_waits_for_its_turn_and_none_is_lost),
        TEST(unpacking_waits_too),
        TEST(an_answer_that_ends_in_a_pause_is_whole_after_it),
        TEST(what_is_held_comes_before_what_is_new),
        TEST(a_peer_that_goes_during_a_pause_is_noticed_after_it),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
