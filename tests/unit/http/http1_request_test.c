/* The reader of requests: what it takes for whole, and what it refuses, however the bytes are split. */
#include "http1_reading.h"

#define REQUEST_HEAD_MAX 4096

static const struct reading *read_request(const char *text, size_t at_a_time)
{
    http1_begin_request(&reading.reader, REQUEST_HEAD_MAX);
    return read_pieces(text, strlen(text), at_a_time);
}

static const struct {
    const char *text, *method, *target, *body;
    bool keeps, minor_0;
} requests[] = {
    {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/", "", true, false},
    {"\r\n\r\nM-SEARCH * HTTP/1.1\r\nHost:\r\n\r\n", "M-SEARCH", "*", "", true, false},
    {"GET /\xe6\xb1\xa0?a=b#c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET", "/\xe6\xb1\xa0?a=b#c", "",
     false, false},
    {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello", "POST", "/a", "hello", true, false},
    {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST", "/a", "", true, false},
    {"POST /a HTTP/1.3\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n", "POST", "/a",
     "hello", true, false},
    {"HEAD / HTTP/1.0\r\nContent-Length: 2\r\n\r\nok", "HEAD", "/", "ok", false, true},
    {"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", "GET", "/", "", true, true},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: a\tb\x80 12345\xff\r\nAccept: a\r\nAccept: b\r\n\r\n", "GET", "/", "", true,
     false},
};

static void requests_are_read_the_same_however_they_are_split(void **state)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (size_t at_a_time = 1; at_a_time < 100; at_a_time += at_a_time < 8 ? 1 : 23) {
            const struct reading *got = read_request(requests[i].text, at_a_time);
            if (got->last != HTTP1_END)
                fail_msg("%s: %s", requests[i].text, got->reader.why);
            assert_int_equal(got->heads, 1);
            assert_string_equal(http1_method(&got->reader), requests[i].method);
            assert_string_equal(http1_target(&got->reader), requests[i].target);
            assert_int_equal(got->body_size, strlen(requests[i].body));
            assert_memory_equal(got->body, requests[i].body, got->body_size);
            assert_int_equal(got->reader.keeps, requests[i].keeps);
            assert_int_equal(got->reader.minor_0, requests[i].minor_0);
            assert_int_equal(got->left, 0);
        }
}

static void a_request_ends_where_the_next_begins(void **state)
{
    assert_int_equal(read_request("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /", SIZE_MAX / 2)->left, 5);
    assert_int_equal(read_request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nokGET", SIZE_MAX / 2)->left,
                     3);
    assert_false(http1_ends_here(&reading.reader));
}

static void method_and_target_are_no_fields(void **state)
{
    read_request("X-A x-b HTTP/1.1\r\nHost: b\r\nX-B: c\r\n\r\n", SIZE_MAX / 2);
    assert_int_equal(reading.last, HTTP1_END);
    assert_null(http1_field(&reading.reader, "x-a"));
    assert_string_equal(http1_field(&reading.reader, "x-b"), "c");
    assert_string_equal(http1_field(&reading.reader, "host"), "b");
}

static const struct {
    const char *text;
    int refusal;
} refused_requests[] = {
    {"GET\r\n", 400},
    {"GET \r\n", 400},
    {"GET /\r\n", 400},
    {"GET / \r\n", 400},
    {"GET / HTTP/1.1\n", 400},
    {"GET / HTTP/11\r\n", 400},
    {"GET / HTTP/1.x\r\n", 400},
    {"GET / HTTP/1.1x\r\n", 400},
    {"GET / HTTPS/1.1\r\n", 400},
    {"GET /a b HTTP/1.1\r\n", 400},
    {"GET\t/ HTTP/1.1\r\n", 400},
    {"GET /\x7f HTTP/1.1\r\n", 400},
    {"GET /\x01 HTTP/1.1\r\n", 400},
    {"(GET) / HTTP/1.1\r\n", 400},
    {"\n", 400},
    {"HTTP/1.1 200 OK\r\n", 400},
    {"GET / HTTP/2.0\r\n", 505},
    {"GET / HTTP/0.9\r\n", 505},
    {"GET / HTTP/1.1\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
    {"GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
    {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nX: y\r\nauthorization: Bearer b\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nTraceParent: 00\r\nTraceparent: 01\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01z\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: 12345678\x7f\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: 1234567\x1f\x31\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: a\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 ;a=b\r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\x01\r\nhello\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
};

static void a_request_that_is_refused_says_with_which_status(void **state)
{
    for (size_t i = 0; i < sizeof refused_requests / sizeof *refused_requests; i++)
        for (size_t at_a_time = 1; at_a_time < 64; at_a_time += 31)
            if (read_request(refused_requests[i].text, at_a_time)->last != HTTP1_INVALID || !reading.reader.why ||
                reading.reader.refusal != refused_requests[i].refusal)
                fail_msg("%d: %s", reading.reader.refusal, refused_requests[i].text);
}

static void a_request_is_bounded_by_what_its_server_allows(void **state)
{
    static const struct {
        const char *before, *more;
        int refusal;
    } cases[] = {
        {"GET /", "x", 414},
        {"", "\r\n", 414},
        {"GET / HTTP/1.1\r\n", "X: y\r\n", 431},
        {"GET / HTTP/1.1\r\nX: ", "x", 431},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n", 431},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_request(cases[i].before, SIZE_MAX / 2);
        for (size_t fed = strlen(cases[i].before); reading.last == HTTP1_MORE; fed += strlen(cases[i].more)) {
            assert_true(fed <= REQUEST_HEAD_MAX + 3); /* "0\r\n" is of the body */
            feed(&reading, cases[i].more, strlen(cases[i].more));
        }
        assert_int_equal(reading.last, HTTP1_TOO_LARGE);
        assert_int_equal(reading.reader.refusal, cases[i].refusal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_are_read_the_same_however_they_are_split),
        TEST(a_request_ends_where_the_next_begins),
        TEST(method_and_target_are_no_fields),
        TEST(a_request_that_is_refused_says_with_which_status),
        TEST(a_request_is_bounded_by_what_its_server_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
