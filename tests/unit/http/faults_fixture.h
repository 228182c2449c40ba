/* One POST after the other to peers that do wrong. Include it instead of cmocka.h, after all of ours. */
#ifndef RENGA_TESTS_HTTP_FAULTS_FIXTURE_H
#define RENGA_TESTS_HTTP_FAULTS_FIXTURE_H

#include "peer_fixture.h"

static unsigned redirects; /* that are followed: some make it curl's */

static inline void prepare_post(struct exchange *exchange, const char *url)
{
    prepare_url(exchange, url);
    exchange->transfer.timeout_ms = 3000;
    exchange->transfer.redirects_max = redirects;
    exchange->transfer.method = "POST";
    exchange->transfer.body = "{}";
    exchange->transfer.body_size = 2;
}

static inline void prepare_port(struct exchange *exchange, int port)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    prepare_post(exchange, url);
}

static inline void prepare(struct fixture *fixture, struct exchange *exchange)
{
    prepare_port(exchange, fixture->peer.port);
}

/* One transfer against one behaviour. */
static inline void exchange_with(struct fixture *fixture, struct exchange *exchange,
                                 void (*serve)(struct peer *peer, int fd))
{
    peer_start(&fixture->peer, serve);
    prepare(fixture, exchange);
    perform(fixture, exchange);
    peer_stop(&fixture->peer);
}

/* Against a peer that says this and closes. */
static inline void exchange_for(struct fixture *fixture, struct exchange *exchange, const char *said)
{
    answer = said;
    exchange_with(fixture, exchange, answer_and_close);
}

static inline void assert_ended(const struct exchange *exchange, enum transfer_end end, enum status_code code)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
    assert_int_equal(exchange->status.code, code);
    assert_true(exchange->status.text[0]);
}

#endif
