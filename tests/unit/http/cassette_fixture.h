/* A server, a client and a cassette between them: exchanges are recorded, and played when the server is gone. */
#ifndef RENGA_TESTS_CASSETTE_FIXTURE_H
#define RENGA_TESTS_CASSETTE_FIXTURE_H

#include "http/cassette.h"
#include "peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PIECES_MAX 16

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
    struct cassette *cassette;
    char path[64];
    int port; /* of the peer, or of nobody */
};

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    struct status status;
    int finished, headers_status, http_status;
    enum transfer_end end;
    bool answered, stale;
    char type[64], retry_after[32], rate[32], name[64], cookie[64];
    size_t pieces[PIECES_MAX], piece_count;
    char body[4096];
    size_t body_size, cancel_at, pause_at;
    int64_t began_ns, took_ns;
};

/* Of each test; the state is a struct fixture. */
int set_up(void **state);
int tear_down(void **state);

/* A POST of this body to the peer's port, gathered whole or in pieces; begin and finish go through the loop. */
void prepare(struct fixture *fixture, struct exchange *exchange, const char *body);
void prepare_stream(struct fixture *fixture, struct exchange *exchange, const char *body);
void begin(struct fixture *fixture, struct exchange *exchange, bool replays);
void finish(struct fixture *fixture, struct exchange *exchange);

/* Opens the fixture's file; what a peer serves is recorded until it is replayed. */
void record_opened(struct fixture *fixture, const struct cassette_options *options);
void record_from(struct fixture *fixture, void (*serve)(struct peer *peer, int fd));
void replay_with(struct fixture *fixture, const struct cassette_options *options);
void replay(struct fixture *fixture);
/* Once recorded, once played: asserts that they are the same, and gives the second. */
void both_ways(struct fixture *fixture, void (*serve)(struct peer *peer, int fd), bool streams,
               struct exchange *played);

char *file_text(struct fixture *fixture);
void write_file(struct fixture *fixture, const char *text);

/* What a peer serves: one answer in one piece, in four, or "1", "2", … */
void whole(struct peer *peer, int fd);
void streamed(struct peer *peer, int fd);
void counting(struct peer *peer, int fd);
/* Asks and asserts the answer. */
void asks(struct fixture *fixture, const char *body, bool replays, const char *answer);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
