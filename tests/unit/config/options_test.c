#include "config_fixture.h"

static void without_anything_the_defaults_hold(void **state)
{
    size_t count;
    assert_true(read_flags(NULL));
    assert_string_equal(config_string(config, "rpc.listen"), "127.0.0.1:15001");
    assert_int_equal(config_integer(config, "rpc.streams"), 100);
    assert_int_equal(config_integer(config, "llm.offset"), -5);
    assert_int_equal(config_duration_ms(config, "rpc.keepalive"), 30000);
    assert_false(config_boolean(config, "rpc.tls"));
    assert_int_equal(config_size(config, "rpc.message_bytes"), 4 << 20);
    assert_string_equal(config_string(config, "llm.cache.kind"), "none");
    const char *const *models = config_list(config, "llm.models", &count);
    assert_int_equal(count, 2);
    assert_string_equal(models[1], "large");
    config_list(config, "llm.origins", &count);
    assert_int_equal(count, 0);
    assert_null(config_string(config, "rpc.tls_key"));
    assert_null(config_json(config, "llm.routes"));
    assert_string_equal(config_source(config, "rpc.listen"), "default");
    assert_int_equal(config_request(config), CONFIG_RUN);
}

static void a_program_may_have_another_default_which_gives_way_to_a_flag(void **state)
{
    size_t count;
    assert_true(config_set_default(config, "rpc.streams", "9", &st));
    assert_true(config_set_default(config, "llm.offset", "9", &st));
    assert_true(config_set_default(config, "llm.models", "other", &st));
    assert_false(config_set_default(config, "rpc.tls", "perhaps", &st));
    assert_contains(st.text, "rpc.tls");
    assert_true(read_flags("--llm.offset=3", NULL));
    assert_int_equal(config_integer(config, "rpc.streams"), 9);
    assert_string_equal(config_source(config, "rpc.streams"), "default");
    assert_int_equal(config_integer(config, "llm.offset"), 3);
    assert_string_equal(config_list(config, "llm.models", &count)[0], "other");
    assert_int_equal(count, 1);
}

static void the_file_is_read(void **state)
{
    size_t count;
    assert_true(read_text("// sample\n{\"rpc\": {\"listen\": \"[::]:1\", \"streams\": 7, \"tls\": true,\n"
                          "  \"keepalive\": \"1m30s\", \"message_bytes\": \"1GiB\"},\n"
                          " \"llm\": {\"cache\": {\"kind\": \"exact\", \"bytes\": 1000,}, \"models\": [\"a,b\"],\n"
                          "  \"routes\": {\"x\": [1, 2.5]}, \"offset\": -7}, \"quiet\": false,}"));
    assert_string_equal(config_string(config, "rpc.listen"), "[::]:1");
    assert_int_equal(config_integer(config, "rpc.streams"), 7);
    assert_int_equal(config_integer(config, "llm.offset"), -7);
    assert_true(config_boolean(config, "rpc.tls"));
    assert_false(config_boolean(config, "quiet"));
    assert_int_equal(config_duration_ms(config, "rpc.keepalive"), 90000);
    assert_int_equal(config_size(config, "rpc.message_bytes"), 1 << 30);
    assert_int_equal(config_size(config, "llm.cache.bytes"), 1000);
    assert_string_equal(config_string(config, "llm.cache.kind"), "exact");
    assert_string_equal(config_list(config, "llm.models", &count)[0], "a,b");
    assert_int_equal(count, 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(config_json(config, "llm.routes"), "x")), 2);
    assert_contains(config_source(config, "rpc.streams"), ":2:30");
}

static void a_flag_wins_over_the_environment_which_wins_over_the_file(void **state)
{
    setenv("RENGA_RPC_STREAMS", "3", 1);
    setenv("RENGA_LLM_CACHE_KIND", "exact", 1);
    setenv("RENGA_QUIET", "", 1); /* empty: as if not set */
    write_file("{\"rpc\": {\"streams\": 2, \"listen\": \"file:1\", \"tls\": true}, \"quiet\": false}");
    bool good = read_flags("--config", file_path, "--rpc.streams=4", NULL);
    unsetenv("RENGA_RPC_STREAMS");
    unsetenv("RENGA_LLM_CACHE_KIND");
    unsetenv("RENGA_QUIET");
    assert_true(good);
    assert_int_equal(config_integer(config, "rpc.streams"), 4);
    assert_string_equal(config_source(config, "rpc.streams"), "--rpc.streams");
    assert_string_equal(config_string(config, "llm.cache.kind"), "exact");
    assert_string_equal(config_source(config, "llm.cache.kind"), "RENGA_LLM_CACHE_KIND");
    assert_string_equal(config_string(config, "rpc.listen"), "file:1"); /* not a secret: just text */
    assert_false(config_boolean(config, "quiet"));
}

static void the_file_may_be_named_by_the_environment(void **state)
{
    setenv("RENGA_CONFIG", write_file("{\"rpc\": {\"streams\": 2}}"), 1);
    bool good = read_flags(NULL);
    unsetenv("RENGA_CONFIG");
    assert_true(good);
    assert_int_equal(config_integer(config, "rpc.streams"), 2);
}

static void a_variable_of_our_own_that_is_no_option_is_warned_of(void **state)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    char lines[4000] = "";
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    setenv("RENGA_RPC_STREAM", "3", 1);
    setenv("RENGA_PLANNER_SERVICE_HOST", "10.0.0.1", 1); /* as Kubernetes makes them */
    setenv("RENGA_RPC_STREAMS", "4", 1);
    setenv("RENGA_LLM_GATEWAY_PORT", "tcp://10.0.0.1:15001", 1); /* likewise */
    setenv("RENGA_LLM_UPSTREAM_ADDRESS", "5", 1);
    setenv("RENGA_ELSEWHERE", "6", 1); /* of another program */
    bool good = read_flags(NULL);
    unsetenv("RENGA_RPC_STREAM");
    unsetenv("RENGA_LLM_GATEWAY_PORT");
    unsetenv("RENGA_LLM_UPSTREAM_ADDRESS");
    unsetenv("RENGA_ELSEWHERE");
    unsetenv("RENGA_PLANNER_SERVICE_HOST");
    unsetenv("RENGA_RPC_STREAMS");
    dup2(kept, STDERR_FILENO);
    close(pipes[1]); /* the read ends, also if there is no line */
    assert_true(read(pipes[0], lines, sizeof lines - 1) > 0);
    close(kept);
    close(pipes[0]);
    assert_true(good);
    assert_contains(lines, "RENGA_RPC_STREAM is not an option and is ignored; did you mean RENGA_RPC_STREAMS?");
    assert_contains(lines, "RENGA_LLM_UPSTREAM_ADDRESS is not an option and is ignored; --help lists the options");
    assert_lacks(lines, "SERVICE_HOST");
    assert_lacks(lines, "RENGA_LLM_GATEWAY_PORT");
    assert_lacks(lines, "RENGA_ELSEWHERE");
}

static void flags_are_written_in_several_ways(void **state)
{
    size_t count;
    assert_true(read_flags("--rpc.listen", "a:1", "--rpc.tls", "--no-quiet", "--llm.offset", "-9", "--rpc.streams=1",
                           "--rpc.streams=2", "--llm.models= x , y ,,z", "--llm.origins=[\"a,b\", \"c\"]",
                           "--llm.routes", "{\"a\": 1, /* b */}", NULL));
    assert_string_equal(config_string(config, "rpc.listen"), "a:1");
    assert_true(config_boolean(config, "rpc.tls"));
    assert_false(config_boolean(config, "quiet"));
    assert_int_equal(config_integer(config, "llm.offset"), -9);
    assert_int_equal(config_integer(config, "rpc.streams"), 2); /* the last one wins */
    const char *const *models = config_list(config, "llm.models", &count);
    assert_int_equal(count, 3);
    assert_string_equal(models[0], "x");
    assert_string_equal(models[2], "z");
    assert_string_equal(config_list(config, "llm.origins", &count)[0], "a,b");
    assert_non_null(cJSON_GetObjectItem(config_json(config, "llm.routes"), "a"));
}

static void what_is_no_flag_is_kept_for_the_caller(void **state)
{
    size_t count;
    assert_true(read_flags("ask", "--rpc.tls=false", "what is -x?", "-", "--", "--rpc.tls", NULL));
    const char *const *arguments = config_arguments(config, &count);
    assert_int_equal(count, 4);
    assert_string_equal(arguments[0], "ask");
    assert_string_equal(arguments[1], "what is -x?");
    assert_string_equal(arguments[2], "-");
    assert_string_equal(arguments[3], "--rpc.tls");
    assert_null(arguments[4]);
}

static void expect_flag_refused(const char *flag, const char *why)
{
    config_end(NULL);
    config_begin(NULL);
    if (read_flags(flag, NULL))
        fail_msg("accepted %s", flag);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.text, why);
}

static void an_idle_option_keeps_its_default_whatever_others_set_and_its_flag_is_refused(void **state)
{
    struct buffer printed;
    setenv("RENGA_RPC_KEEPALIVE", "nonsense", 1);
    config_use(config, "rpc.streams", OPTION_IDLE);
    config_use(config, "rpc.keepalive", OPTION_IDLE);
    bool good = read_text("{\"rpc\": {\"streams\": \"no number\", \"tls\": true}}");
    unsetenv("RENGA_RPC_KEEPALIVE");
    assert_true(good);
    assert_int_equal(config_integer(config, "rpc.streams"), 100);
    assert_int_equal(config_duration_ms(config, "rpc.keepalive"), 30000);
    assert_true(config_boolean(config, "rpc.tls"));
    buffer_init(&printed, (size_t)1 << 20);
    config_print(config, &printed);
    assert_lacks(buffer_text(&printed), "streams");
    buffer_fini(&printed);
    assert_false(read_flags("--rpc.streams=5", NULL));
    assert_string_equal(st.text, "'--rpc.streams' has no effect here; --help lists the flags that have");
    assert_false(read_flags("--rpc.stream=5", NULL));
    assert_lacks(st.text, "rpc.streams");
}

static void wrong_flags_are_named(void **state)
{
    expect_flag_refused("--rpc.lisen=x", "unknown flag '--rpc.lisen', did you mean '--rpc.listen'?");
    expect_flag_refused("--hepl", "unknown flag '--hepl', did you mean '--help'?");
    expect_flag_refused("--something-else", "unknown flag '--something-else'; --help lists them");
    expect_flag_refused("--no-rpc.listen", "unknown flag '--no-rpc.listen', did you mean '--rpc.listen'?");
    expect_flag_refused("-x", "unknown flag '-x'; flags begin with two dashes");
    expect_flag_refused("--rpc.listen", "--rpc.listen needs a value: --rpc.listen=…");
    expect_flag_refused("--config", "--config needs a value: --config=…");
    expect_flag_refused("--no-quiet=true", "--no-quiet takes no value");
    expect_flag_refused("--help=yes", "--help takes no value");
}

static void a_value_out_of_range_names_option_value_range_and_source(void **state)
{
    expect_flag_refused("--rpc.streams=0", "--rpc.streams: rpc.streams is '0', must be within 1 and 1000");
    expect_flag_refused("--rpc.keepalive=2h", "--rpc.keepalive: rpc.keepalive is '2h', must be within 1s and 1h");
    expect_flag_refused("--rpc.message_bytes=2GiB",
                        "--rpc.message_bytes: rpc.message_bytes is '2GiB', must be within 1KiB and 1GiB");
    expect_flag_refused("--llm.cache.kind=some",
                        "--llm.cache.kind: llm.cache.kind is 'some', must be one of none|exact");
    setenv("RENGA_RPC_STREAMS", "1001", 1);
    bool good = read_flags(NULL);
    unsetenv("RENGA_RPC_STREAMS");
    assert_false(good);
    assert_string_equal(st.text, "RENGA_RPC_STREAMS: rpc.streams is '1001', must be within 1 and 1000");
}

static void malformed_values_are_refused_with_how_to_write_them(void **state)
{
    static const char *const durations[] = {
        "5", "s", "5 s", "-5s", "1.5s", "5sec", "s5", "99999999999999999999s", "9999999999999999d", ""};
    static const char *const sizes[] = {"", "x", "-1", "1.5MiB", "1mib", "9999999999TiB", "99999999999999999999"};
    static const char *const integers[] = {"", "-", "1x", "1.0", "+1", " 1", "9223372036854775808", "0x10"};
    char flag[100];
    for (size_t i = 0; i < COUNT(durations); i++) {
        snprintf(flag, sizeof flag, "--rpc.keepalive=%s", durations[i]);
        assert_false(read_flags(flag, NULL));
        assert_contains(st.text, "not a duration; write 500ms, 3s");
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        snprintf(flag, sizeof flag, "--llm.cache.bytes=%s", sizes[i]);
        assert_false(read_flags(flag, NULL));
        assert_contains(st.text, "not a size; write 4096, 64KiB");
    }
    for (size_t i = 0; i < COUNT(integers); i++) {
        snprintf(flag, sizeof flag, "--llm.offset=%s", integers[i]);
        assert_false(read_flags(flag, NULL));
        assert_contains(st.text, "not a whole number");
    }
    expect_flag_refused("--rpc.tls=maybe", "--rpc.tls: rpc.tls is 'maybe', neither true nor false");
    expect_flag_refused("--rpc.listen=\xFF", "--rpc.listen: rpc.listen is '(bytes)', not UTF-8");
    expect_flag_refused("--llm.routes={\"a\":}", "--llm.routes:1:6: expected a value, not '}'");
    expect_flag_refused("--llm.routes=[]", "--llm.routes: llm.routes: must be an object of routes");
    expect_flag_refused("--llm.models=[1]", "--llm.models: llm.models is '…', must be an array of strings");
}

static void durations_and_sizes_have_units(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } durations[] = {{"1000ms", 1000}, {"3s", 3000},    {"2m", 120000},
                     {"1m30s", 90000}, {"1h", 3600000}, {"1s500ms", 1500}},
      sizes[] = {{"0", 0},     {"10", 10}, {"1B", 1}, {"2KiB", 2048}, {"3MB", 3000000}, {"1TiB", INT64_C(1) << 40},
                 {"5kB", 5000}};
    char flag[100];
    for (size_t i = 0; i < COUNT(durations); i++) {
        snprintf(flag, sizeof flag, "--rpc.keepalive=%s", durations[i].text);
        assert_true(read_flags(flag, NULL));
        assert_int_equal(config_duration_ms(config, "rpc.keepalive"), durations[i].value);
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        snprintf(flag, sizeof flag, "--llm.cache.bytes=%s", sizes[i].text);
        assert_true(read_flags(flag, NULL));
        assert_int_equal(config_size(config, "llm.cache.bytes"), sizes[i].value);
    }
}

static void expect_file_refused(const char *text, const char *why)
{
    config_end(NULL);
    config_begin(NULL);
    if (read_text(text))
        fail_msg("accepted %s", text);
    assert_string_equal(error_text(), why);
}

static void what_is_wrong_in_the_file_has_its_place(void **state)
{
    expect_file_refused("{\n  \"rpc\": {\n    \"lisen\": \"x\"}}",
                        ":3:5: unknown option 'rpc.lisen', did you mean 'rpc.listen'?");
    expect_file_refused("{\"rcp\": {\"listen\": \"x\"}}",
                        ":1:10: unknown option 'rcp.listen', did you mean 'rpc.listen'?");
    expect_file_refused("{\"nothing_like_it\": 1}", ":1:2: unknown option 'nothing_like_it'; --help lists them");
    expect_file_refused("{\"nothing\": {}}", ":1:2: unknown option 'nothing'; --help lists them");
    expect_file_refused("{\"rpc\": 5}", ":1:2: 'rpc' must be an object with its options");
    expect_file_refused("{\"rpc.listen\": \"x\"}", ":1:2: dots are levels: write 'rpc.listen' as nested objects");
    expect_file_refused("{\"rpc\": {\"listen\": 5}}", ":1:10: rpc.listen is '…', must be a string in double quotes");
    expect_file_refused("{\"rpc\": {\"listen\": null}}", ":1:10: rpc.listen is '…', must be a string in double quotes");
    expect_file_refused("{\"rpc\": {\"streams\": \"5\"}}", ":1:10: rpc.streams is '5', must be a whole number");
    expect_file_refused("{\"rpc\": {\"streams\": 1.5}}", ":1:10: rpc.streams is '…', must be a whole number");
    expect_file_refused("{\"rpc\": {\"streams\": 0}}", ":1:10: rpc.streams is '0', must be within 1 and 1000");
    expect_file_refused("{\"rpc\": {\"tls\": \"true\"}}", ":1:10: rpc.tls is 'true', must be true or false");
    expect_file_refused("{\"rpc\": {\"keepalive\": 5}}",
                        ":1:10: rpc.keepalive is '…', must be a string in double quotes, with its unit: \"3s\"");
    expect_file_refused("{\"rpc\": {\"keepalive\": \"5h\"}}", ":1:10: rpc.keepalive is '5h', must be within 1s and 1h");
    expect_file_refused("{\"llm\": {\"models\": \"a\"}}", ":1:10: llm.models is '…', must be an array of strings");
    expect_file_refused("{\"llm\": {\"routes\": 3}}", ":1:10: llm.routes: must be an object of routes");
    expect_file_refused("[]", ":1:1: a configuration file holds one object");
    expect_file_refused("{\"quiet\": true, \"quiet\": true}", ":1:17: the key 'quiet' stands twice in this object");
    assert_false(read_flags("--config=/no/such/file", NULL));
    assert_string_equal(st.text, "cannot open '/no/such/file': No such file or directory");
}

static void a_secret_comes_from_a_file_or_a_variable(void **state)
{
    assert_true(read_flags("--rpc.tls_key=plain", NULL));
    assert_string_equal(config_string(config, "rpc.tls_key"), "plain");
    setenv("SOME_KEY", "from a variable", 1);
    assert_true(read_flags("--rpc.tls_key=env:SOME_KEY", NULL));
    assert_string_equal(config_string(config, "rpc.tls_key"), "from a variable");
    char flag[100];
    snprintf(flag, sizeof flag, "--rpc.tls_key=file:%s", write_file("line 1\nline 2\r\n\n"));
    assert_true(read_flags(flag, NULL));
    assert_string_equal(config_string(config, "rpc.tls_key"), "line 1\nline 2");
    assert_true(read_text("{\"rpc\": {\"tls_key\": \"env:SOME_KEY\"}}"));
    assert_string_equal(config_string(config, "rpc.tls_key"), "from a variable");
    assert_false(read_flags("--rpc.tls_key=file:/no/such/key", NULL));
    assert_string_equal(st.text, "--rpc.tls_key: rpc.tls_key: cannot open '/no/such/key': No such file or directory");
    assert_false(read_flags("--rpc.tls_key=env:NO_SUCH_KEY", NULL));
    assert_contains(st.text, "no environment variable 'NO_SUCH_KEY'");
}

static void a_secret_stands_in_no_error(void **state)
{
    assert_false(read_flags("--rpc.tls_key=hush\xFF", NULL));
    assert_lacks(st.text, "hush");
    assert_false(read_text("{\"rpc\": {\"tls_key\": [\"hush\"]}}"));
    assert_lacks(st.text, "hush");
    expect_flag_refused("--llm.pin=31337", "--llm.pin: llm.pin is '(secret)', must be within 1 and 9999");
    expect_flag_refused("--llm.pin=hush", "--llm.pin: llm.pin is '(secret)', not a whole number");
}

static void help_is_looked_at_before_anything_else(void **state)
{
    assert_true(read_flags("--config=/no/such/file", "--help", NULL));
    assert_int_equal(config_request(config), CONFIG_SHOW_HELP);
    config_end(NULL);
    config_begin(NULL);
    assert_true(read_flags("-h", NULL));
    assert_int_equal(config_request(config), CONFIG_SHOW_HELP);
    config_end(NULL);
    config_begin(NULL);
    assert_true(read_flags("--print-config", "--version", NULL));
    assert_int_equal(config_request(config), CONFIG_SHOW_VERSION);
    config_end(NULL);
    config_begin(NULL);
    assert_true(read_flags("--print-config", "--rpc.streams=5", NULL));
    assert_int_equal(config_request(config), CONFIG_SHOW_CONFIG);
    assert_int_equal(config_integer(config, "rpc.streams"), 5);
}

static void expect_tables_refused(const struct option *one, const struct option *other, const char *why)
{
    const struct option *const tables[] = {one, other};
    struct config *refused = config_create(tables, 2, &st);
    assert_null(refused);
    assert_int_equal(st.code, INTERNAL);
    assert_string_equal(st.text, why);
}

static void tables_that_contradict_are_refused(void **state)
{
    static const struct option none[] = {{.name = NULL}};
    const struct option same[] = {{.name = "rpc.streams", .type = OPTION_STRING}, {.name = NULL}};
    expect_tables_refused(rpc_options, same,
                          "options 'rpc.streams' and 'rpc.streams' share the variable RENGA_RPC_STREAMS");
    const struct option variable[] = {{.name = "a.b-c"}, {.name = "a.b.c"}, {.name = NULL}};
    expect_tables_refused(variable, none, "options 'a.b-c' and 'a.b.c' share the variable RENGA_A_B_C");
    const struct option level[] = {{.name = "a.b"}, {.name = "a.b.c"}, {.name = NULL}};
    expect_tables_refused(none, level, "'a.b' is an option and a level of 'a.b.c'");
    const struct option fallback[] = {{.name = "a", .type = OPTION_INTEGER, .fallback = "0", .min = 1, .max = 2},
                                      {.name = NULL}};
    expect_tables_refused(fallback, none,
                          "the table of 'a' contradicts itself: default: a is '0', must be within 1 and 2");
    const struct option missing[] = {{.name = "a", .type = OPTION_DURATION}, {.name = NULL}};
    expect_tables_refused(missing, none, "option 'a' needs a default");
    static const char *const names[] = {"", "A", "a..b", ".a", "a.", "config", "help", "no-a", "a b"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char why[100];
        const struct option named[] = {{.name = names[i]}, {.name = NULL}};
        snprintf(why, sizeof why, "'%s' cannot be the name of an option", names[i]);
        expect_tables_refused(named, none, why);
    }
}

static void ask_for_an_unknown_option(void)
{
    config_string(config, "rpc.listens");
}

static void ask_by_the_wrong_type(void)
{
    config_integer(config, "rpc.listen");
}

static void asking_wrongly_is_fatal(void **state)
{
    assert_true(WEXITSTATUS(run_in_child(ask_for_an_unknown_option)) == 1);
    assert_true(WEXITSTATUS(run_in_child(ask_by_the_wrong_type)) == 1);
}

static void a_value_of_another_document_is_read_as_an_option_would_be(void **state)
{
    static const struct option wait = {.name = "wait", .type = OPTION_DURATION, .min = 1, .max = 60000};
    static const struct option key = {.name = "key", .type = OPTION_STRING, .secret = true};
    struct config *keeper = config_create(NULL, 0, &st);
    struct config_item value;
    cJSON *good = cJSON_Parse("\"1m\""), *bad = cJSON_Parse("\"1h\""), *secret = cJSON_Parse("\"env:RENGA_TEST_KEY\"");
    setenv("RENGA_TEST_KEY", "sk-1", 1);
    assert_true(config_read_item(keeper, &wait, good, "a:1:2", &value, &st));
    assert_int_equal(value.number, 60000);
    assert_null(value.text);
    assert_false(config_read_item(keeper, &wait, bad, "a:1:2", &value, &st));
    assert_string_equal(st.text, "a:1:2: wait is '1h', must be within 1ms and 1m");
    assert_true(config_read_item(keeper, &key, secret, "a:1:2", &value, &st));
    cJSON_Delete(good);
    cJSON_Delete(bad);
    cJSON_Delete(secret);
    unsetenv("RENGA_TEST_KEY");
    assert_string_equal(value.text, "sk-1"); /* of its own */
    config_destroy(keeper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(without_anything_the_defaults_hold),
        CONFIG_TEST(a_program_may_have_another_default_which_gives_way_to_a_flag),
        CONFIG_TEST(the_file_is_read),
        CONFIG_TEST(a_flag_wins_over_the_environment_which_wins_over_the_file),
        CONFIG_TEST(the_file_may_be_named_by_the_environment),
        CONFIG_TEST(a_variable_of_our_own_that_is_no_option_is_warned_of),
        CONFIG_TEST(flags_are_written_in_several_ways),
        CONFIG_TEST(what_is_no_flag_is_kept_for_the_caller),
        CONFIG_TEST(an_idle_option_keeps_its_default_whatever_others_set_and_its_flag_is_refused),
        CONFIG_TEST(wrong_flags_are_named),
        CONFIG_TEST(a_value_out_of_range_names_option_value_range_and_source),
        CONFIG_TEST(malformed_values_are_refused_with_how_to_write_them),
        CONFIG_TEST(durations_and_sizes_have_units),
        CONFIG_TEST(what_is_wrong_in_the_file_has_its_place),
        CONFIG_TEST(a_secret_comes_from_a_file_or_a_variable),
        CONFIG_TEST(a_secret_stands_in_no_error),
        CONFIG_TEST(help_is_looked_at_before_anything_else),
        CONFIG_TEST(tables_that_contradict_are_refused),
        CONFIG_TEST(asking_wrongly_is_fatal),
        CONFIG_TEST(a_value_of_another_document_is_read_as_an_option_would_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
