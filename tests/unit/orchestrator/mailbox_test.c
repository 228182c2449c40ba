/* Mail between two loops: order, bounds, and what a reader that does not read leaves standing. */
#include "unit.h"

#include "base/clock.h"
#include "fanout/mailbox.h"
#include "loop/loop.h"

#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DATAGRAM_MAX 65536
#define HEAD_SIZE    4

struct post {
    struct loop *writer, *reader;
    struct mailbox *mailbox;
    struct mail_connection *connection;
    unsigned datagrams, received, wrong;
    size_t bytes;
};

/* A message is its number, repeated. */
static void received(void *data, struct mail *mail)
{
    struct post *post = data;
    const uint8_t *header = mail_take(mail, HEAD_SIZE), *bytes;
    size_t size;
    assert_non_null(header);
    post->wrong += header[0] != 7 || header[1] != (uint8_t)post->datagrams++;
    while ((bytes = mail_next(mail, &size))) {
        uint32_t number;
        assert_true(size >= sizeof number);
        memcpy(&number, bytes, sizeof number);
        post->wrong += number != post->received || bytes[size - 1] != (uint8_t)number;
        post->received++;
        post->bytes += size;
    }
    mail_free(mail);
}

static void stamp(void *data, uint32_t number, uint8_t *header)
{
    header[0] = (uint8_t)(uintptr_t)data;
    header[1] = (uint8_t)number;
}

static struct mail_connection *open_connection(struct loop *loop, const char *address, struct status *st)
{
    struct mail_connection_options options = {.address = address,
                                              .datagram_max = DATAGRAM_MAX,
                                              .header_size = HEAD_SIZE,
                                              .stamp = stamp,
                                              .data = (void *)(uintptr_t)7};
    return mail_connection_open(loop, &options, st);
}

static struct post post_open(void)
{
    static unsigned serial;
    char address[64];
    struct status st = {0};
    struct post post = {.writer = loop_create(0), .reader = loop_create(1)};
    snprintf(address, sizeof address, "inproc://test.%u", serial++);
    post.mailbox = mailbox_open(address, NULL, DATAGRAM_MAX, &st);
    post.connection = open_connection(post.writer, address, &st);
    if (!post.mailbox || !post.connection)
        fail_msg("%s", st.text);
    return post;
}

static void attend(struct post *post)
{
    loop_enter(post->reader);
    assert_true(mailbox_attach(post->mailbox, post->reader, received, post));
    loop_leave(post->reader);
}

static void post_close(struct post *post)
{
    loop_enter(post->writer);
    mail_connection_close(&post->connection);
    loop_leave(post->writer);
    loop_enter(post->reader);
    mailbox_leave(&post->mailbox);
    loop_leave(post->reader);
    loop_destroy(&post->writer);
    loop_destroy(&post->reader);
}

static void write_one(struct post *post, uint32_t number, size_t size)
{
    uint8_t *bytes = mail_connection_reserve(post->connection, size);
    assert_non_null(bytes);
    memset(bytes, (int)(number & 0xff), size);
    memcpy(bytes, &number, sizeof number);
    bytes[size - 1] = (uint8_t)number;
}

static void read_until(struct post *post, unsigned count)
{
    for (int i = 0; i < 50000 && post->received < count; i++) {
        loop_step(post->reader, 0);
        loop_step(post->writer, 0);
        usleep(20);
    }
    assert_int_equal(post->received, count);
    assert_int_equal(post->wrong, 0);
}

static void messages_arrive_in_their_order_whatever_their_size(void **state)
{
    static const size_t sizes[] = {5, 100, 4000, 60000, 6, DATAGRAM_MAX - 8};
    struct post post = post_open();
    uint32_t number = 0;
    attend(&post);
    for (unsigned visit = 0; visit < 100; visit++) {
        loop_enter(post.writer);
        for (unsigned i = 0; i <= visit % 12; i++, number++)
            write_one(&post, number, sizes[number % COUNT(sizes)]);
        loop_leave(post.writer);
    }
    read_until(&post, number);
    assert_int_equal(mail_connection_waiting(post.connection), 0);
    post_close(&post);
}

static void what_is_not_taken_waits_and_is_counted(void **state)
{
    enum { VISITS = 500 };
    struct post post = post_open();
    for (uint32_t number = 0; number < VISITS; number++) {
        loop_enter(post.writer);
        write_one(&post, number, 1000);
        loop_leave(post.writer);
    }
    loop_step(post.writer, 0);
    assert_true(mail_connection_waiting(post.connection) > 1000 * (VISITS - 100));
    attend(&post);
    read_until(&post, VISITS);
    for (int i = 0; i < 1000 && mail_connection_waiting(post.connection); i++) {
        loop_step(post.writer, 0);
        usleep(20);
    }
    assert_int_equal(mail_connection_waiting(post.connection), 0);
    post_close(&post);
}

static void a_message_larger_than_a_datagram_is_refused_before_it_is_written(void **state)
{
    struct post post = post_open();
    attend(&post);
    loop_enter(post.writer);
    assert_null(mail_connection_reserve(post.connection, DATAGRAM_MAX - 7));
    assert_int_equal(mail_connection_waiting(post.connection), 0);
    write_one(&post, 0, DATAGRAM_MAX - 8);
    loop_leave(post.writer);
    read_until(&post, 1);
    post_close(&post);
}

static void an_address_has_one_mailbox(void **state)
{
    struct status st = {0};
    struct mailbox *mailbox = mailbox_open("inproc://test.once", NULL, DATAGRAM_MAX, &st);
    assert_non_null(mailbox);
    assert_null(mailbox_open("inproc://test.once", NULL, DATAGRAM_MAX, &st));
    assert_int_equal(st.code, UNAVAILABLE);
    assert_non_null(strstr(st.text, "inproc://test.once"));
    struct loop *loop = loop_create(0);
    assert_null(open_connection(loop, "inproc://test.nobody", &st));
    assert_int_equal(st.code, UNAVAILABLE);
    mailbox_leave(&mailbox);
    loop_destroy(&loop);
}

/* Nng counts them. */
static uint32_t next_socket(void)
{
    nng_socket socket;
    assert_int_equal(nng_push0_open(&socket), 0);
    nng_close(socket);
    return socket.id + 1;
}

static void a_line_that_could_not_be_opened_leaves_its_socket_to_the_next(void **state)
{
    struct status st = {0};
    struct post post = post_open();
    assert_null(open_connection(post.writer, "inproc://test.nobody", &st));
    uint32_t next = next_socket();
    assert_null(open_connection(post.writer, "tcp://no port", &st));
    assert_null(open_connection(post.writer, "inproc://test.nobody", &st));
    assert_int_equal(next_socket(), next + 1);
    struct mailbox *second = mailbox_open("inproc://test.second", NULL, DATAGRAM_MAX, &st);
    loop_enter(post.writer);
    mail_connection_close(&post.connection);
    post.connection = open_connection(post.writer, "inproc://test.second", &st);
    assert_non_null(post.connection);
    mailbox_leave(&post.mailbox);
    post.mailbox = second;
    write_one(&post, 0, 100);
    loop_leave(post.writer);
    attend(&post);
    read_until(&post, 1);
    post_close(&post);
}

static void over_tls_there_has_to_be_a_name_to_compare(void **state)
{
    static const struct {
        const char *address, *name;
        bool named;
    } cases[] = {{"tcp://10.0.0.7:1", NULL, true},          {"tls+tcp://10.0.0.7:1", "renga", true},
                 {"tls+tcp://renga.example:1", NULL, true}, {"tls+tcp://renga.example:1", "", true},
                 {"tls+tcp://10.0.0.7:1", NULL, false},     {"tls+tcp://10.0.0.7:1", "", false},
                 {"tls+tcp://[::1]:1", NULL, false},        {"tls+tcp://[::1]:1", "renga", true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct status st = {0};
        struct mail_tls tls = {.name = cases[i].name};
        assert_int_equal(mail_names(cases[i].address, &tls, &st), cases[i].named);
        assert_true(cases[i].named || strstr(st.text, "peers.tls.name"));
    }
}

static void a_closed_end_leaves_nothing_behind(void **state)
{
    struct post post = post_open();
    loop_enter(post.writer);
    for (uint32_t number = 0; number < 200; number++)
        write_one(&post, number, 1000);
    loop_leave(post.writer);
    for (uint32_t number = 0; number < 200; number++) {
        loop_enter(post.writer);
        write_one(&post, number, 1000);
        loop_leave(post.writer);
    }
    post_close(&post);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_in_their_order_whatever_their_size),
        cmocka_unit_test(what_is_not_taken_waits_and_is_counted),
        cmocka_unit_test(a_message_larger_than_a_datagram_is_refused_before_it_is_written),
        cmocka_unit_test(an_address_has_one_mailbox),
        cmocka_unit_test(a_line_that_could_not_be_opened_leaves_its_socket_to_the_next),
        cmocka_unit_test(over_tls_there_has_to_be_a_name_to_compare),
        cmocka_unit_test(a_closed_end_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
