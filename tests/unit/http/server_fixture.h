/* A server in a loop of its own with routes that a test controls. */
#ifndef RENGA_TESTS_HTTP_SERVER_FIXTURE_H
#define RENGA_TESTS_HTTP_SERVER_FIXTURE_H

#include "peer.h"

#include "http/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct fixture {
    struct loop *loop;
    struct http_server *server;
    int port;
    struct http_request *held; /* by /hold, /watch, /stream */
    int held_count, left_count, writable_count, stopped_count;
    int64_t left_ns;
    char seen[4096]; /* what /see was given */
};

struct fixture *fixture_create(const struct http_server_options *options);
void fixture_destroy(struct fixture *fixture);

/* Connects, sends, reads until `until` or end of file. */
const char *ask(struct fixture *fixture, const char *request, const char *until);

void assert_has(const char *text, const char *part);
/* How often the part stands in the text. */
int count(const char *text, const char *part);

/* A stream of /stream: asked for, its connection in `fd`; written to; ended. */
void begin_stream(struct fixture *fixture, int *fd, const char *request);
void write_in(struct fixture *fixture, const char *text);
void end_in(struct fixture *fixture);

#endif
