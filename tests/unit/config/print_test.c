#include "config_fixture.h"

static struct buffer printed;

static int begin(void **state)
{
    buffer_init(&printed, (size_t)1 << 20);
    return config_begin(state);
}

static int end(void **state)
{
    buffer_fini(&printed);
    return config_end(state);
}

static void what_is_printed_names_every_value_and_its_source(void **state)
{
    setenv("RENGA_LLM_CACHE_KIND", "exact", 1);
    bool good = read_flags("--rpc.streams=5", "--llm.models=[\"a\\\"b\",\"語\"]", "--rpc.tls_key=hush", "--llm.pin=42",
                           "--llm.routes={\"x\": [1.5, null]}", NULL);
    unsetenv("RENGA_LLM_CACHE_KIND");
    assert_true(good);
    config_print(config, &printed);
    assert_string_equal(buffer_text(&printed), "{\n"
                                               "  \"llm\": {\n"
                                               "    \"cache\": {\n"
                                               "      \"bytes\": \"64MiB\", // default\n"
                                               "      \"kind\": \"exact\", // RENGA_LLM_CACHE_KIND\n"
                                               "    },\n"
                                               "    \"models\": [\"a\\\"b\",\"語\"], // --llm.models\n"
                                               "    \"offset\": -5, // default\n"
                                               "    // \"origins\": (unset), // default\n"
                                               "    // \"pin\": (set), // --llm.pin\n"
                                               "    \"routes\": {\"x\":[1.5,null]}, // --llm.routes\n"
                                               "  },\n"
                                               "  \"quiet\": true, // default\n"
                                               "  \"rpc\": {\n"
                                               "    \"keepalive\": \"30s\", // default\n"
                                               "    \"listen\": \"127.0.0.1:15001\", // default\n"
                                               "    \"message_bytes\": \"4MiB\", // default\n"
                                               "    \"streams\": 5, // --rpc.streams\n"
                                               "    \"tls\": false, // default\n"
                                               "    // \"tls_key\": (set), // --rpc.tls_key\n"
                                               "  },\n"
                                               "}\n");
}

/* Every value, as text; sources differ by their nature. */
static char *values_of(const struct config *of)
{
    struct buffer all;
    buffer_init(&all, (size_t)1 << 20);
    config_print(of, &all);
    char *text = buffer_take(&all, NULL);
    for (char *line = text; line != NULL && *line != '\0';) {
        char *comment = strstr(line, ", // "), *next = strchr(line, '\n');
        if (comment != NULL && comment < next)
            memmove(comment + 1, next, strlen(next) + 1);
        line = strchr(line, '\n') + 1;
    }
    return text;
}

static void what_is_printed_reads_back_to_the_same_values(void **state)
{
    static const char *const keepalives[] = {"--rpc.keepalive=1s", "--rpc.keepalive=1001ms", "--rpc.keepalive=59m59s"};
    static const char *const sizes[] = {"--llm.cache.bytes=0", "--llm.cache.bytes=1000", "--llm.cache.bytes=3TiB"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(read_flags(keepalives[i], sizes[i], "--rpc.listen=\"/* not a comment */\" // \\ \n\t語",
                               "--llm.models=[\"a,b\",\"//\",\"\"]", "--llm.origins=[]", "--no-quiet",
                               "--llm.routes={\"deep\":{\"er\":[[],{},0.1,1e300,\"\\u0001\"]}}", NULL));
        config_print(config, &printed);
        char *before = values_of(config), *text = buffer_take(&printed, NULL);
        int64_t keepalive = config_duration_ms(config, "rpc.keepalive"), bytes = config_size(config, "llm.cache.bytes");
        config_end(NULL);
        config_begin(NULL);
        if (!read_text(text))
            fail_msg("%s", st.text);
        char *after = values_of(config);
        assert_string_equal(before, after);
        assert_int_equal(config_duration_ms(config, "rpc.keepalive"), keepalive);
        assert_int_equal(config_size(config, "llm.cache.bytes"), bytes);
        assert_string_equal(config_string(config, "rpc.listen"), "\"/* not a comment */\" // \\ \n\t語");
        assert_false(config_boolean(config, "quiet"));
        free(before);
        free(after);
        free(text);
    }
}

static void a_secret_is_never_printed(void **state)
{
    assert_true(read_flags("--rpc.tls_key=hush", NULL));
    config_print(config, &printed);
    config_help(config, &(struct config_help){.usage = "renga [flags]", .width = 80}, &printed);
    assert_lacks(buffer_text(&printed), "hush");
}

static void a_url_with_a_password_is_not_printed_either(void **state)
{
    assert_true(read_flags("--rpc.listen=redis://user:hush@host:6379/0", NULL));
    config_print(config, &printed);
    assert_lacks(buffer_text(&printed), "hush");
    assert_contains(buffer_text(&printed), "    // \"listen\": (set), // --rpc.listen\n");
}

/* As asked for with `flag`; NULL is --help. */
static const char *help_text(const char *flag)
{
    static const struct config_help help = {
        .usage = "renga [flags] COMMAND", .examples = "renga one\nrenga two\n", .width = 80};
    assert_true(read_flags(flag != NULL ? flag : "--help", NULL));
    buffer_clear(&printed);
    config_help(config, &help, &printed);
    return buffer_text(&printed);
}

static void help_shows_every_option_with_all_that_is_known_of_it(void **state)
{
    const char *help = help_text(NULL);
    assert_contains(help, "Usage: renga [flags] COMMAND\n");
    assert_contains(help, "--config FILE");
    assert_contains(help, "\nrpc\n");
    assert_contains(help, "\nllm\n");
    assert_contains(help, "\ngeneral\n");
    assert_contains(help, "  --rpc.listen ADDRESS\n      Where the server listens for calls.");
    assert_contains(help, "      Default 127.0.0.1:15001. [RENGA_RPC_LISTEN]\n");
    assert_contains(help,
                    "  --rpc.streams N\n      Open at once.\n      Default 100. From 1 to 1000. [RENGA_RPC_STREAMS]\n");
    assert_contains(help, "  --rpc.keepalive DURATION\n      Default 30s. From 1s to 1h. [RENGA_RPC_KEEPALIVE]\n");
    assert_contains(help, "  --[no-]rpc.tls\n");
    assert_contains(help, "  --llm.cache.kind none|exact\n");
    assert_contains(help, "Secret: also file:PATH or env:NAME. [RENGA_RPC_TLS_KEY]\n");
    for (const struct option *option = rpc_options; option->name != NULL; option++)
        assert_contains(help, option->name);
    for (const struct option *option = llm_options; option->name != NULL; option++)
        assert_contains(help, option->name);
}

static void help_shows_options_as_their_tables_have_them(void **state)
{
    const char *help = help_text(NULL), *before = help;
    for (const struct option *option = rpc_options; option->name != NULL; option++) {
        const char *at = strstr(help, option->name);
        assert_true(at > before);
        before = at;
    }
    assert_true(strstr(help, "\nrpc\n") < strstr(help, "\nllm\n"));
    assert_true(strstr(help, "\nllm\n") < strstr(help, "\ngeneral\n"));
}

static void help_only_names_what_is_further_and_says_nothing_of_what_is_idle(void **state)
{
    config_use(config, "llm.cache.kind", OPTION_FURTHER);
    config_use(config, "llm.offset", OPTION_FURTHER);
    config_use(config, "rpc.tls", OPTION_FURTHER);
    config_use(config, "quiet", OPTION_FURTHER);
    config_use(config, "rpc.tls_key", OPTION_IDLE);
    const char *help = help_text("--help-all");
    assert_contains(help, "--llm.offset N\n");
    assert_lacks(help, "which --help-all explains");
    assert_lacks(help, "tls_key");
    help = help_text("--help");
    assert_contains(help, "which --help-all explains: --rpc.tls, --llm.*, --quiet.\n");
    assert_lacks(help, "--llm.offset");
    assert_lacks(help, "tls_key");
    assert_contains(help, "--llm.pin N");
}

static void help_shows_examples_and_the_defaults_of_this_program(void **state)
{
    assert_true(config_set_default(config, "rpc.streams", "7", &st));
    const char *help = help_text(NULL);
    assert_contains(help, "\nExamples:\n  renga one\n  renga two\n\n");
    assert_contains(help, "Default 7. From 1 to 1000. [RENGA_RPC_STREAMS]\n");
}

static void help_keeps_to_the_width(void **state)
{
    static const char long_text[] = "renga: answers questions, keeps to the width of whoever reads of it, and says so "
                                    "in as many words as it takes to need a second line.";
    static const unsigned widths[] = {80, 90, 100, 0};
    for (size_t i = 0; i < COUNT(widths); i++) {
        size_t width = widths[i] != 0 ? widths[i] : 100;
        buffer_clear(&printed);
        config_help(config, &(struct config_help){.about = long_text, .usage = "renga", .width = widths[i]}, &printed);
        for (const char *line = buffer_text(&printed); *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= width);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_printed_names_every_value_and_its_source),
        TEST(what_is_printed_reads_back_to_the_same_values),
        TEST(a_secret_is_never_printed),
        TEST(a_url_with_a_password_is_not_printed_either),
        TEST(help_shows_every_option_with_all_that_is_known_of_it),
        TEST(help_shows_options_as_their_tables_have_them),
        TEST(help_only_names_what_is_further_and_says_nothing_of_what_is_idle),
        TEST(help_shows_examples_and_the_defaults_of_this_program),
        TEST(help_keeps_to_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
