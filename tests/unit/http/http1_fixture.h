/* One exchange after the other whose content is looked at, whole or in pieces. Include it instead of cmocka.h, after
 * all of ours. */
#ifndef RENGA_TESTS_HTTP_HTTP1_FIXTURE_H
#define RENGA_TESTS_HTTP_HTTP1_FIXTURE_H

#include "peer_fixture.h"

static inline void prepare(struct fixture *fixture, struct exchange *exchange, const char *scheme)
{
    prepare_at(exchange, scheme, fixture->peer.port, "/path?key=1");
    exchange->transfer.timeout_ms = 5000;
}

static struct exchange shared; /* large, and one at a time */

/* One GET, to the end. */
static inline struct exchange *get(struct fixture *fixture, const char *scheme)
{
    prepare(fixture, &shared, scheme);
    perform(fixture, &shared);
    return &shared;
}

static inline void assert_body(const struct exchange *exchange, const char *body)
{
    if (exchange->status.code != OK)
        fail_msg("%s", exchange->status.text);
    assert_int_equal(exchange->body_size, strlen(body));
    assert_memory_equal(exchange->body, body, exchange->body_size);
}

static inline void assert_ended(const struct exchange *exchange, enum transfer_end end)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
}

/* ---- in pieces --------------------------------------------------------------------------------------------------- */

static unsigned pieces;
static bool pauses; /* after each piece */

static inline void gather(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_false(transfer->paused);
    assert_true(exchange->body_size + size < sizeof exchange->body);
    memcpy(exchange->body + exchange->body_size, bytes, size);
    exchange->body_size += size;
    pieces++;
    if (pauses)
        transfer_pause(transfer);
}

static inline void prepare_pieces(struct fixture *fixture, struct exchange *exchange, const char *scheme, bool pausing)
{
    prepare(fixture, exchange, scheme);
    exchange->transfer.body_received = gather;
    pieces = 0;
    pauses = pausing;
}

static inline void finish_with_pauses(struct fixture *fixture)
{
    bool over = false, one = true;
    for (unsigned resumed = 0; !over; assert_true(one)) {
        assert_true(WAIT_FOR(fixture->loop, shared.finished || shared.transfer.paused, 5000));
        loop_enter(fixture->loop);
        one = !pauses || pieces <= resumed + 1;
        resumed = pieces;
        transfer_resume(&shared.transfer);
        over = shared.finished;
        loop_leave(fixture->loop);
    }
    finish(fixture, &shared);
}

#endif
