/* Answers that are given once more: what is kept of them, and how they stream. */
#include "base/arena.h"
#include "cache/replay.h"

#include <stdio.h>

#include "unit.h"

#define TEXT(text) ((char *)(uintptr_t)(text))
#define PIECE_MAX  65536

static struct arena arena;

/* An answer with all there is. Its parts are good until the next one. */
static Renga__V1__ChatResponse *whole_answer(void)
{
    static Renga__V1__ChatResponse response;
    static Renga__V1__ChatMessage message;
    static Renga__V1__ChatFinish finish;
    static Renga__V1__Usage usage;
    static Renga__V1__AnsweredBy by;
    static Renga__V1__Attempt attempt, *attempts[] = {&attempt};
    static Renga__V1__ToolCall calls[2], *call_list[] = {&calls[0], &calls[1]};
    renga__v1__chat_response__init(&response);
    renga__v1__chat_message__init(&message);
    renga__v1__chat_finish__init(&finish);
    renga__v1__usage__init(&usage);
    renga__v1__answered_by__init(&by);
    renga__v1__attempt__init(&attempt);
    renga__v1__tool_call__init(&calls[0]);
    renga__v1__tool_call__init(&calls[1]);
    response.id = TEXT("chat-1");
    response.message = &message;
    response.finish = &finish;
    message.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    message.content = TEXT("the text");
    message.reasoning = TEXT("the thinking");
    message.reasoning_signature = TEXT("the seal");
    message.n_tool_calls = 2;
    message.tool_calls = call_list;
    calls[0].id = TEXT("call-a");
    calls[0].name = TEXT("search");
    calls[0].arguments_json = TEXT("{\"q\":1}");
    calls[1].id = TEXT("call-b");
    calls[1].name = TEXT("now");
    by.deployment = TEXT("main");
    by.model = TEXT("gpt-2026");
    attempt.asked = &by;
    usage.input_tokens = 11;
    usage.cost_micros = 500;
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS;
    finish.usage = &usage;
    finish.answered_by = &by;
    finish.n_attempts = 1;
    finish.attempts = attempts;
    finish.cache_use = RENGA__V1__CACHE_USE__CACHE_USE_STORED;
    finish.first_token_ms = 300;
    finish.duration_ms = 900;
    return &response;
}

static Renga__V1__ChatResponse *again(const Renga__V1__ChatResponse *response)
{
    size_t size;
    struct status st = {0};
    const struct replay_terms terms = {RENGA__V1__CACHE_USE__CACHE_USE_HIT, 2, 3};
    uint8_t *bytes = replay_pack_chat(&arena, response, &size);
    assert_non_null(bytes);
    Renga__V1__ChatResponse *repeated = replay_chat(&arena, bytes, size, &terms, &st);
    assert_non_null(repeated);
    return repeated;
}

static void only_what_was_said_to_its_end_is_worth_keeping(void **state)
{
    Renga__V1__ChatResponse *response = whole_answer();
    for (int reason = 0; reason <= RENGA__V1__FINISH_REASON__FINISH_REASON_MISSING_TOOL_CALLS; reason++) {
        response->finish->finish_reason = (Renga__V1__FinishReason)reason;
        assert_int_equal(replay_is_worth_keeping(response),
                         reason == RENGA__V1__FINISH_REASON__FINISH_REASON_STOP ||
                             reason == RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
    }
    response->finish = NULL;
    assert_false(replay_is_worth_keeping(response));
}

static void a_repeated_answer_says_the_same_and_costs_nothing(void **state)
{
    Renga__V1__ChatResponse *response = whole_answer(), *repeated = again(response);
    const Renga__V1__ChatFinish *finish = repeated->finish;
    assert_string_equal(repeated->id, "chat-1");
    assert_string_equal(repeated->message->content, "the text");
    assert_string_equal(repeated->message->tool_calls[0]->arguments_json, "{\"q\":1}");
    assert_int_equal(finish->finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
    assert_string_equal(finish->answered_by->model, "gpt-2026");
    assert_int_equal(finish->cache_use, RENGA__V1__CACHE_USE__CACHE_USE_HIT);
    assert_int_equal(finish->first_token_ms, 2);
    assert_int_equal(finish->duration_ms, 3);
    assert_int_equal(finish->n_attempts, 0);
    assert_int_equal(protobuf_c_message_get_packed_size(&finish->usage->base), 0); /* there, and all zero */
    assert_int_equal(response->finish->n_attempts, 1);                             /* what was packed is as it was */
    assert_int_equal(response->finish->usage->cost_micros, 500);
    assert_int_equal(response->finish->cache_use, RENGA__V1__CACHE_USE__CACHE_USE_STORED);
}

static void what_was_spent_is_not_kept(void **state)
{
    size_t size;
    uint8_t *bytes = replay_pack_chat(&arena, whole_answer(), &size);
    Renga__V1__ChatResponse *kept = renga__v1__chat_response__unpack(NULL, size, bytes);
    assert_null(kept->finish->usage);
    assert_int_equal(kept->finish->n_attempts, 0);
    assert_int_equal(kept->finish->duration_ms, 0);
    renga__v1__chat_response__free_unpacked(kept, NULL);
}

static void vectors_come_back_the_same_and_cost_nothing(void **state)
{
    size_t size;
    struct status st = {0};
    float values[] = {0.5f, -1.0f};
    Renga__V1__Embedding vector = RENGA__V1__EMBEDDING__INIT, *vectors[] = {&vector};
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    Renga__V1__EmbedResponse response = RENGA__V1__EMBED_RESPONSE__INIT;
    vector.n_values = 2;
    vector.values = values;
    usage.input_tokens = 7;
    response.n_embeddings = 1;
    response.embeddings = vectors;
    response.usage = &usage;
    uint8_t *bytes = replay_pack_embed(&arena, &response, &size);
    Renga__V1__EmbedResponse *repeated =
        replay_embed(&arena, bytes, size, RENGA__V1__CACHE_USE__CACHE_USE_COALESCED, &st);
    assert_non_null(repeated);
    assert_memory_equal(repeated->embeddings[0]->values, values, sizeof values);
    assert_int_equal(repeated->usage->input_tokens, 0);
    assert_int_equal(repeated->cache_use, RENGA__V1__CACHE_USE__CACHE_USE_COALESCED);
}

static void bytes_that_are_no_answer_are_said_to_be_none(void **state)
{
    size_t size;
    const struct replay_terms terms = {0};
    Renga__V1__ChatResponse empty = RENGA__V1__CHAT_RESPONSE__INIT;
    uint8_t *whole = replay_pack_chat(&arena, whole_answer(), &size), *bytes;
    for (size_t cut = 1; cut < size; cut++) { /* whatever a cut leaves, it is read safely */
        struct status st = {0};
        Renga__V1__ChatResponse *response = replay_chat(&arena, whole, cut, &terms, &st);
        assert_true(response || st.code == INTERNAL);
    }
    struct status st = {0};
    bytes = replay_pack_chat(&arena, &empty, &size);
    assert_null(replay_chat(&arena, bytes, size, &terms, &st));
    assert_int_equal(st.code, INTERNAL);
}

static void an_arena_that_is_too_small_is_said_to_be(void **state)
{
    struct arena small;
    struct status st = {0};
    size_t size;
    uint8_t *bytes = replay_pack_chat(&arena, whole_answer(), &size);
    arena_init(&small, NULL, 0, 64);
    assert_null(replay_chat(&small, bytes, size, &(struct replay_terms){0}, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    assert_null(replay_pack_chat(&small, whole_answer(), &size));
    arena_fini(&small);
}

/* ---- as a stream ------------------------------------------------------------------------------------------------- */

struct seen {
    char kinds[64]; /* a letter for each event */
    char text[300000], arguments[300000];
    size_t longest;
    bool is_clean;
};

static void note(const Renga__V1__ChatStreamEvent *event, void *data)
{
    static const char letters[] = ".stxrcguf";
    struct seen *seen = data;
    char letter[2] = {event ? letters[event->event_case] : '0', '\0'};
    const char *text = "";
    strncat(seen->kinds, letter, sizeof seen->kinds - strlen(seen->kinds) - 1);
    if (event && event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT)
        strcat(seen->text, text = event->text);
    if (event && event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL)
        strcat(seen->arguments, text = event->tool_call->arguments_json);
    seen->longest = strlen(text) > seen->longest ? strlen(text) : seen->longest;
    seen->is_clean = seen->is_clean && (strlen(text) == 0 || ((unsigned char)text[0] & 0xc0) != 0x80);
}

static struct seen *stream(Renga__V1__ChatResponse *response)
{
    static struct seen seen;
    memset(&seen, 0, sizeof seen);
    seen.is_clean = true;
    replay_stream(response, note, &seen);
    return &seen;
}

static void a_stream_has_all_parts_in_their_order(void **state)
{
    struct seen *seen = stream(again(whole_answer()));
    assert_string_equal(seen->kinds, "sxtccgf0");
    assert_string_equal(seen->text, "the text");
    assert_string_equal(seen->arguments, "{\"q\":1}");
}

static void a_call_tells_its_name_once(const Renga__V1__ChatStreamEvent *event, void *data)
{
    int *named = data;
    if (!event || event->event_case != RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL)
        return;
    const Renga__V1__ToolCallDelta *delta = event->tool_call;
    assert_int_equal(delta->name[0] != '\0', delta->id[0] != '\0');
    if (delta->name[0])
        assert_string_equal(delta->name, (*named)++ == 0 ? "search" : "now");
    assert_int_equal(delta->index, *named - 1);
}

static void long_texts_are_cut_between_characters(void **state)
{
    static char text[200001], arguments[150001];
    Renga__V1__ChatResponse *response = whole_answer();
    int named = 0;
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xe7\xa2\xba", 3); /* 65,536 is no multiple of three */
    memset(arguments, '1', sizeof arguments - 1);
    response->message->content = text;
    response->message->tool_calls[0]->arguments_json = arguments;
    Renga__V1__ChatResponse *repeated = again(response);
    struct seen *seen = stream(repeated);
    assert_string_equal(seen->kinds, "sxttttccccgf0");
    assert_true(seen->longest <= PIECE_MAX);
    assert_true(seen->is_clean);
    assert_string_equal(seen->text, text);
    assert_string_equal(seen->arguments, arguments);
    assert_string_equal(repeated->message->content, text); /* as it was before */
    replay_stream(repeated, a_call_tells_its_name_once, &named);
    assert_int_equal(named, 2);
}

static void a_refusal_streams_as_one(void **state)
{
    Renga__V1__ChatResponse *response = whole_answer();
    response->message->content = response->message->reasoning = response->message->reasoning_signature = TEXT("");
    response->message->refusal = TEXT("no");
    response->message->n_tool_calls = 0;
    assert_string_equal(stream(again(response))->kinds, "srf0");
}

static int set_up(void **state)
{
    arena_init(&arena, NULL, 0, 8 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_what_was_said_to_its_end_is_worth_keeping),
        TEST(a_repeated_answer_says_the_same_and_costs_nothing),
        TEST(what_was_spent_is_not_kept),
        TEST(vectors_come_back_the_same_and_cost_nothing),
        TEST(bytes_that_are_no_answer_are_said_to_be_none),
        TEST(an_arena_that_is_too_small_is_said_to_be),
        TEST(a_stream_has_all_parts_in_their_order),
        TEST(long_texts_are_cut_between_characters),
        TEST(a_refusal_streams_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
