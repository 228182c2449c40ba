/* A client in a loop of its own, and a peer that a test starts. Include it instead of cmocka.h, and after all else of
 * ours. */
#ifndef RENGA_TESTS_HTTP_PEER_FIXTURE_H
#define RENGA_TESTS_HTTP_PEER_FIXTURE_H

#include "peer.h"

#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
};

static const char *ca_path; /* of who is trusted over TLS; NULL: the system's */

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){.ca_file = ca_path});
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    free(fixture);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
