/* What a client sends and brings back, against our own server. */
#include "client_fixture.h"

static char echoed[128]; /* what the server says of the request that it answered last */

static void note_echo(struct transfer *transfer)
{
    const char *said = transfer_header(transfer, "x-answer");
    snprintf(echoed, sizeof echoed, "%s", said ? said : "");
    finished(transfer);
}

static void prepare_echo(struct exchange *exchange, const char *path)
{
    prepare(exchange, path);
    exchange->transfer.finished = note_echo;
}

static void a_body_comes_back_with_status_and_headers(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    struct status st;
    prepare_echo(&exchange, "/echo");
    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "Content-Type", "application/json", &st));
    exchange.transfer.method = "POST";
    exchange.transfer.headers = headers;
    exchange.transfer.extra = &(struct http_header){"X-Extra", "one"};
    exchange.transfer.extra_count = 1;
    exchange.transfer.body = "{\"a\":1}";
    exchange.transfer.body_size = 7;
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.transfer.end, TRANSFER_COMPLETE);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_string_equal(exchange.body, "{\"a\":1}");
    assert_string_equal(echoed, "POST application/json one");
    http_headers_destroy(&headers);
}

static void every_method_goes_out_as_it_is_named(void **state)
{
    struct fixture *fixture = *state;
    static const char *const methods[] = {"GET", "PUT", "DELETE", "POST", "GET", "POST"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct exchange exchange;
        prepare_echo(&exchange, "/echo");
        exchange.transfer.method = methods[i];
        if (strcmp(methods[i], "PUT") == 0) {
            exchange.transfer.body = "x";
            exchange.transfer.body_size = 1;
        }
        perform(fixture, &exchange);
        assert_int_equal(exchange.transfer.http_status, 200);
        assert_memory_equal(echoed, methods[i], strlen(methods[i]));
    }
}

static void head_brings_headers_and_no_body(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_echo(&exchange, "/echo");
    exchange.transfer.method = "HEAD";
    perform(fixture, &exchange);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_int_equal(exchange.body_size, 0);
    assert_string_equal(echoed, "HEAD - -");
}

static void connections_are_kept_and_used_again(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 50; i++) {
        struct exchange exchange;
        prepare_echo(&exchange, "/echo");
        perform(fixture, &exchange);
        assert_int_equal(exchange.transfer.http_status, 200);
    }
    struct http_client_stats stats;
    loop_enter(fixture->loop);
    http_client_stats(fixture->client, &stats);
    loop_leave(fixture->loop);
    assert_int_equal(stats.connections_opened, 1);
    assert_int_equal(stats.running, 0);
}

static struct exchange second;
static struct http_client *client_of_second;

static void finished_and_starts(struct transfer *transfer)
{
    finished(transfer);
    transfer_start(client_of_second, &second.transfer);
}

static void a_transfer_may_be_started_from_finished(void **state)
{
    struct fixture *fixture = *state;
    struct exchange first;
    prepare(&first, "/echo");
    prepare(&second, "/echo");
    first.transfer.finished = finished_and_starts;
    client_of_second = fixture->client;
    perform(fixture, &first);
    finish(fixture, &second);
    assert_int_equal(second.transfer.http_status, 200);
}

static void redirects_are_answers_unless_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_echo(&exchange, "/redirect");
    perform(fixture, &exchange);
    assert_int_equal(exchange.transfer.http_status, 302);
    prepare_echo(&exchange, "/redirect");
    exchange.transfer.redirects_max = 1;
    perform(fixture, &exchange);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_string_equal(echoed, "GET - -");
}

static void urls_and_headers_that_cannot_be_sent_are_refused(void **state)
{
    struct status st = {0};
    assert_null(http_url_parse("ftp://host/", &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_null(http_url_parse("file:///etc/passwd", &st));
    assert_null(http_url_parse("not a url", &st));
    struct http_url *url = http_url_parse("https://user:secret@host:8443/path?key=secret#part", &st);
    assert_non_null(url);
    assert_null(strstr(http_url_origin(url), "secret"));
    assert_string_equal(http_url_origin(url), "https://host:8443");
    assert_string_equal(http_url_host(url), "host");
    http_url_destroy(&url);
    url = http_url_parse("http://[::1]/", &st);
    assert_string_equal(http_url_host(url), "::1");
    http_url_destroy(&url);

    struct http_headers *headers = http_headers_create();
    assert_false(http_headers_add(headers, "X-A", "one\r\nX-B: two", &st));
    assert_false(http_headers_add(headers, "X A", "one", &st));
    assert_false(http_headers_add(headers, "", "one", &st));
    assert_true(http_headers_add(headers, "X-Empty", "", &st));
    http_headers_destroy(&headers);

    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_echo(&exchange, "/echo");
    exchange.transfer.extra = &(struct http_header){"X-A", "one\ntwo"};
    exchange.transfer.extra_count = 1;
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, INVALID_ARGUMENT);
}

static int lines_of(const char *name)
{
    int lines = 0;
    for (const char *at = heard; (at = strcasestr(at, name)); at++)
        lines += at[-1] == '\n' && at[strlen(name)] == ':';
    return lines;
}

static void ask(struct fixture *fixture, struct http_headers *headers, const struct http_header *extra, bool decompress)
{
    struct exchange exchange;
    prepare_at(&exchange, "http", fixture->peer.port, "/");
    exchange.transfer.headers = headers;
    exchange.transfer.extra = extra;
    exchange.transfer.extra_count = extra != NULL;
    exchange.transfer.decompress = decompress;
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
}

static void our_name_and_encodings_stand_once_unless_the_owner_has_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct status st;
    peer_start(&fixture->peer, hear);
    ask(fixture, NULL, NULL, true);
    assert_int_equal(lines_of("User-Agent"), 1);
    assert_non_null(strstr(heard, "User-Agent: renga/"));
    assert_int_equal(lines_of("Accept-Encoding"), 1);

    ask(fixture, NULL, &(struct http_header){"accept-encoding", "br"}, true);
    assert_int_equal(lines_of("Accept-Encoding"), 1);
    assert_non_null(strstr(heard, "accept-encoding: br\r\n"));

    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "user-agent", "other/1", &st));
    ask(fixture, headers, NULL, false);
    assert_int_equal(lines_of("User-Agent"), 1);
    assert_non_null(strstr(heard, "user-agent: other/1\r\n"));
    assert_int_equal(lines_of("Accept-Encoding"), 0);
    http_headers_destroy(&headers);
    peer_stop(&fixture->peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(a_body_comes_back_with_status_and_headers),
        SERVED(every_method_goes_out_as_it_is_named),
        SERVED(head_brings_headers_and_no_body),
        SERVED(connections_are_kept_and_used_again),
        SERVED(a_transfer_may_be_started_from_finished),
        SERVED(redirects_are_answers_unless_asked_for),
        SERVED(urls_and_headers_that_cannot_be_sent_are_refused),
        SERVED(our_name_and_encodings_stand_once_unless_the_owner_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
