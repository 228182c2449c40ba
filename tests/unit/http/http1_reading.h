/* A message that is being read, in pieces, and what came of it. Include it behind all of ours. */
#ifndef RENGA_TESTS_HTTP_HTTP1_READING_H
#define RENGA_TESTS_HTTP_HTTP1_READING_H

#include "http/http1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BODY_MAX (1 << 20)

struct reading {
    struct http1 reader;
    enum http1_event last; /* END, INVALID, TOO_LARGE, or MORE where the bytes ran out */
    int heads;
    char body[BODY_MAX];
    size_t body_size, left;
};

static struct reading reading;

static inline void feed(struct reading *into, const char *bytes, size_t size)
{
    for (;;) {
        size_t taken;
        into->last = http1_next(&into->reader, bytes, size, &taken);
        assert_true(taken <= size);
        into->heads += into->last == HTTP1_HEAD;
        if (into->last == HTTP1_BODY) {
            assert_true(taken && into->body_size + taken <= sizeof into->body);
            memcpy(into->body + into->body_size, bytes, taken);
            into->body_size += taken;
        }
        bytes += taken;
        size -= taken;
        if (into->last > HTTP1_BODY || (into->last == HTTP1_MORE && !size))
            break;
    }
    into->left = size;
}

static inline const struct reading *read_pieces(const char *bytes, size_t size, size_t at_a_time)
{
    reading.heads = 0;
    reading.body_size = 0;
    reading.last = HTTP1_MORE;
    for (size_t at = 0; at < size && reading.last == HTTP1_MORE; at += at_a_time)
        feed(&reading, bytes + at, size - at < at_a_time ? size - at : at_a_time);
    return &reading;
}

static inline int forget(void **state)
{
    http1_fini(&reading.reader);
    return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

#endif
