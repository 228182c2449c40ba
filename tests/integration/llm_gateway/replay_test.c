/* What was recorded once is answered again without a network: answers, streams and failures alike. */
#include "gateway_fixture.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void ask_all(void **state)
{
    struct reply *whole = ask_model(*state, "chat"), *streamed = stream_model(*state, "chat");
    struct reply *tools = ask_model(*state, "tools"), *locked = ask_model(*state, "locked");
    struct reply *cut = stream_model(*state, "cuts-stream");
    assert_status(whole, OK, "");
    assert_string_equal(whole->response->message->content, "古池や蛙飛びこむ水の音 🐸 – an old pond");
    assert_int_equal(whole->response->finish->usage->input_tokens, 21);
    assert_status(streamed, OK, "");
    assert_string_equal(buffer_text(&streamed->text), whole->response->message->content);
    assert_status(tools, OK, "");
    assert_int_equal(tools->response->message->n_tool_calls, 2);
    assert_status(locked, FAILED_PRECONDITION, "Incorrect API key provided");
    assert_status(cut, DATA_LOSS, "");
    struct reply *all[] = {whole, streamed, tools, locked, cut};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        reply_free(all[i]);
}

static void the_upstreams_answers_are_recorded(void **state)
{
    ask_all(state);
}

static void they_are_played_again_without_it(void **state)
{
    ask_all(state);
}

static void what_was_never_recorded_is_told_so(void **state)
{
    struct question question;
    question_init(&question, "chat");
    question.message.content = (char *)(uintptr_t) "Something that nobody has asked";
    struct reply *reply = ask(*state, &question);
    assert_status(reply, FAILED_PRECONDITION, path);
    reply_free(reply);
}

static void no_key_is_in_the_file(void)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    size_t lines = 0;
    while (fgets(line, sizeof line, file)) {
        lines++;
        if (strstr(line, KEY) || strstr(line, "uthorization"))
            fatal("test.key", "the key is in the file: %s", line);
    }
    fclose(file);
    if (lines < 5)
        fatal("test.lines", "only %zu lines are in the file", lines);
}

int main(void)
{
    const struct CMUnitTest recorded[] = {cmocka_unit_test(the_upstreams_answers_are_recorded)};
    const struct CMUnitTest played[] = {
        cmocka_unit_test(they_are_played_again_without_it),
        cmocka_unit_test(what_was_never_recorded_is_told_so),
    };
    char document[2048];
    static const char form[] =
        "{\"deployments\": {\"one\": {\"upstream\": \"http://127.0.0.1:%s/v1\", \"key\": \"" KEY "\"}},"
        "\"models\": {\"default\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"chat\"}]%s},"
        "\"chat\": {\"targets\": [{\"deployment\": \"one\"}]%s},"
        "\"tools\": {\"targets\": [{\"deployment\": \"one\"}]%s},"
        "\"locked\": {\"targets\": [{\"deployment\": \"one\"}]%s},"
        "\"cuts-stream\": {\"targets\": [{\"deployment\": \"one\"}]%s}}}";
    char more[128];
    snprintf(path, sizeof path, "/tmp/renga-cassette-%d.ndjson", (int)getpid());
    snprintf(more, sizeof more, ", \"record\": \"%s\"", path);
    snprintf(document, sizeof document, form, "PORT", more, more, more, more, more);
    int failures = run_both_ways_over(document, "recording", recorded, 1);
    no_key_is_in_the_file();
    snprintf(more, sizeof more, ", \"replay\": \"%s\"", path);
    snprintf(document, sizeof document, form, "9", more, more, more, more, more); /* nobody listens there */
    failures += run_both_ways_over(document, "replaying", played, 2);
    unlink(path);
    return failures;
}
