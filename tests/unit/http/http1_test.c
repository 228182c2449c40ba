/* The reader of answers: what it takes for whole, and what it refuses, however the bytes are split. */
#include "http1_reading.h"

#include <stdio.h>

static const struct reading *read_split(const char *bytes, size_t size, bool to_head, size_t at_a_time)
{
    http1_begin(&reading.reader, to_head);
    return read_pieces(bytes, size, at_a_time);
}

static const struct reading *read_answer(const char *text)
{
    return read_split(text, strlen(text), false, SIZE_MAX / 2);
}

/* ---- whole answers ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *body;
    int status;
    bool keeps;
} whole[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, true},
    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "", 200, true},
    {"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "", 200, true},
    {"HTTP/1.1 200 OK\r\ncontent-length:5\t \r\nCONTENT-LENGTH: 005\r\n\r\nhello", "hello", 200, true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello", 200, true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
     "003;name=value;other=\"a;b\"\r\nhel\r\n2 ; x\r\nlo\r\n00\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
     "hello", 200, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n\r\nok", "ok", 200, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: upgrade , close\r\n\r\nok", "ok", 200, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: closed\r\n\r\nok", "ok", 200, true},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", 200, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", "ok", 200, true},
    {"HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", "", 204, true},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "", 304, true},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n"
     "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
     "ok", 201, true},
};

static void whole_answers_are_read_the_same_however_they_are_split(void **state)
{
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        for (size_t at_a_time = 1; at_a_time < 100; at_a_time += at_a_time < 8 ? 1 : 23) {
            const struct reading *got = read_split(whole[i].text, strlen(whole[i].text), false, at_a_time);
            if (got->last != HTTP1_END)
                fail_msg("%s: %s", whole[i].text, got->reader.why);
            assert_int_equal(got->heads, 1);
            assert_int_equal(got->reader.status, whole[i].status);
            assert_int_equal(got->body_size, strlen(whole[i].body));
            assert_memory_equal(got->body, whole[i].body, got->body_size);
            assert_int_equal(got->reader.keeps, whole[i].keeps);
            assert_int_equal(got->left, 0);
        }
}

static void an_answer_to_head_has_no_body_whatever_its_fields_say(void **state)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    const struct reading *got = read_split(text, sizeof text - 1, true, SIZE_MAX / 2);
    assert_int_equal(got->last, HTTP1_END);
    assert_true(got->reader.has_length && got->reader.length == 5);
    static const char chunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_int_equal(read_split(chunked, sizeof chunked - 1, true, 1)->last, HTTP1_END);
}

static void a_body_without_a_length_ends_with_the_connection_and_no_other_does(void **state)
{
    const struct reading *got = read_answer("HTTP/1.1 200 OK\r\n\r\nall that comes");
    assert_int_equal(got->last, HTTP1_MORE);
    assert_int_equal(got->body_size, 14);
    assert_false(got->reader.keeps);
    assert_true(http1_ends_here(&reading.reader));
    read_answer("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nshort");
    assert_false(http1_ends_here(&reading.reader));
    read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n");
    assert_false(http1_ends_here(&reading.reader));
    read_answer("HTTP/1.1 200 OK\r\nContent-Le");
    assert_false(http1_ends_here(&reading.reader));
}

static void what_follows_an_answer_is_not_taken(void **state)
{
    assert_int_equal(read_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1")->left, 8);
    assert_int_equal(read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nmore")->left, 4);
    assert_int_equal(read_answer("HTTP/1.1 204 No\r\n\r\nbody")->left, 4);
}

static void a_piece_that_is_given_back_comes_again(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i];
        size_t taken = 0, size = strlen(at);
        http1_begin(&reading.reader, false);
        while (http1_next(&reading.reader, at, size, &taken) != HTTP1_BODY) {
            at += taken;
            size -= taken;
        }
        assert_int_equal(taken, 5);
        http1_give_back(&reading.reader, 3);
        assert_int_equal(http1_next(&reading.reader, at + 2, size - 2, &taken), HTTP1_BODY);
        assert_int_equal(taken, 3);
    }
}

static void fields_are_found_by_any_case_and_the_last_counts(void **state)
{
    read_answer("HTTP/1.1 103 Hints\r\nX-Early: 1\r\n\r\n"
                "HTTP/1.1 200 OK\r\nX-A: one\r\nx-a: \t two words \r\nX-Empty:\r\nContent-Length: 0\r\n\r\n");
    assert_string_equal(http1_field(&reading.reader, "X-A"), "two words");
    assert_string_equal(http1_field(&reading.reader, "x-empty"), "");
    assert_null(http1_field(&reading.reader, "x-early"));
    assert_null(http1_field(&reading.reader, "x-b"));
    read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: trailer\r\n\r\n");
    assert_null(http1_field(&reading.reader, "x-a"));
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static const char *const refused[] = {
    "HTTP/2 200\r\n",
    "HTTP/2.0 200 OK\r\n",
    "HTTP/1.x 200 OK\r\n",
    "http/1.1 200 OK\r\n",
    "ICY 200 OK\r\n",
    "\r\nHTTP/1.1 200 OK\r\n",
    "HTTP/1.1  200 OK\r\n",
    "HTTP/1.1 20 OK\r\n",
    "HTTP/1.1 2000 OK\r\n",
    "HTTP/1.1 099 Odd\r\n",
    "HTTP/1.1 600 Odd\r\n",
    "HTTP/1.1 200 OK\n",
    "HTTP/1.1 200 O\rK\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX-A: 1\n",
    "HTTP/1.1 200 OK\r\nX-A: 1\r2\r\n",
    "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\n",
    "HTTP/1.1 200 OK\r\n X-A: 1\r\n",
    "HTTP/1.1 200 OK\r\nX-A : 1\r\n",
    "HTTP/1.1 200 OK\r\nX A: 1\r\n",
    "HTTP/1.1 200 OK\r\n: 1\r\n",
    "HTTP/1.1 200 OK\r\nX-A\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length:\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
};

static const char *const refused_chunks[] = {
    "\r\n",
    "x\r\n",
    "-1\r\n",
    "0x5\r\n",
    " 5\r\n",
    "5 5\r\n",
    "5\n",
    "5\rx",
    "5\r\nhelloX",
    "5\r\nhello\n",
    "5\r\nhello5",
    ";x\r\n",
    "0\r\nX-A : 1\r\n",
    "0\r\nX-A: 1\n",
    "1000000000000000000\r\n",
    "ffffffffffffffff1\r\n",
    "0\r\n folded\r\n",
};

static void what_two_readers_could_take_differently_is_refused(void **state)
{
    char text[256];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (size_t at_a_time = 1; at_a_time < 64; at_a_time += 31)
            if (read_split(refused[i], strlen(refused[i]), false, at_a_time)->last != HTTP1_INVALID ||
                !reading.reader.why)
                fail_msg("taken: %s", refused[i]);
    for (size_t i = 0; i < sizeof refused_chunks / sizeof *refused_chunks; i++)
        for (size_t at_a_time = 1; at_a_time < 64; at_a_time += 31) {
            int size = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
                                refused_chunks[i]);
            if (read_split(text, (size_t)size, false, at_a_time)->last != HTTP1_INVALID)
                fail_msg("taken: %s", text);
        }
    assert_int_equal(read_split("HTTP/1.1 200 OK\r\nX: \0\r\n", 23, false, 100)->last, HTTP1_INVALID);
}

static void what_was_refused_stays_refused(void **state)
{
    read_answer("HTTP/1.1 200 OK\n");
    feed(&reading, "HTTP/1.1 200 OK\r\n\r\n", 19);
    assert_int_equal(reading.last, HTTP1_INVALID);
}

/* ---- bounds ----------------------------------------------------------------------------------------------------- */

static void informational_answers_are_counted(void **state)
{
    http1_begin(&reading.reader, false);
    for (int i = 0; i < HTTP1_INFORMATIONAL_MAX; i++) {
        feed(&reading, "HTTP/1.1 102 Processing\r\n\r\n", 27);
        assert_int_equal(reading.last, HTTP1_MORE);
    }
    feed(&reading, "HTTP/1.1 102 Processing\r\n\r\n", 27);
    assert_int_equal(reading.last, HTTP1_INVALID);
}

static void heads_trailers_and_lines_of_chunks_are_bounded(void **state)
{
    static const char *const before[] = {
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    };
    static const char line[] = "X-A: 012345678901234567890123456789\r\n";
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        read_answer(before[i]);
        for (size_t fed = 0; reading.last == HTTP1_MORE; fed += sizeof line - 1) {
            assert_true(fed < HTTP1_HEAD_MAX);
            feed(&reading, line, sizeof line - 1);
        }
        assert_int_equal(reading.last, HTTP1_TOO_LARGE);
    }
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        read_answer(before[i]);
        for (size_t fed = 0; reading.last == HTTP1_MORE; fed++) {
            assert_true(fed < HTTP1_HEAD_MAX);
            feed(&reading, "X", 1);
        }
        assert_int_equal(reading.last, HTTP1_TOO_LARGE);
    }
    read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;");
    for (size_t fed = 0; reading.last == HTTP1_MORE; fed++) {
        assert_true(fed <= HTTP1_CHUNK_LINE_MAX);
        feed(&reading, "x", 1);
    }
    assert_int_equal(reading.last, HTTP1_INVALID);
}

static void many_chunks_do_not_count_as_head(void **state)
{
    static const char chunk[] = "1;name=value\r\nx\r\n";
    read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 50000; i++)
        feed(&reading, chunk, sizeof chunk - 1);
    feed(&reading, "0\r\n\r\n", 5);
    assert_int_equal(reading.last, HTTP1_END);
    assert_int_equal(reading.body_size, 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_answers_are_read_the_same_however_they_are_split),
        TEST(an_answer_to_head_has_no_body_whatever_its_fields_say),
        TEST(a_body_without_a_length_ends_with_the_connection_and_no_other_does),
        TEST(what_follows_an_answer_is_not_taken),
        TEST(a_piece_that_is_given_back_comes_again),
        TEST(fields_are_found_by_any_case_and_the_last_counts),
        TEST(what_two_readers_could_take_differently_is_refused),
        TEST(what_was_refused_stays_refused),
        TEST(informational_answers_are_counted),
        TEST(heads_trailers_and_lines_of_chunks_are_bounded),
        TEST(many_chunks_do_not_count_as_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
