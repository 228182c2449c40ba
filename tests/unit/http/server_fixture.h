/* A server in a loop of its own with routes that a test controls. */
#ifndef RENGA_TESTS_HTTP_SERVER_FIXTURE_H
#define RENGA_TESTS_HTTP_SERVER_FIXTURE_H

#include "peer.h"

#include "http/server.h"

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

#endif
