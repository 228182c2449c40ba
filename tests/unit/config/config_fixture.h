/* Two small tables, and a way to read them with given flags and a given file. */
#ifndef RENGA_CONFIG_FIXTURE_H
#define RENGA_CONFIG_FIXTURE_H

#include "config/config.h"

#include <stdio.h>

#include "unit.h"

static inline bool routes_check(const cJSON *value, struct status *st)
{
    return cJSON_IsObject(value) || fail(st, INVALID_ARGUMENT, "must be an object of routes");
}

static const struct option rpc_options[] = {
    {.name = "rpc.listen",
     .type = OPTION_STRING,
     .fallback = "127.0.0.1:15001",
     .unit = "ADDRESS",
     .help = "Where the server listens for calls. A host and a port, or a path of a socket; several services of one "
             "process share it, and every one of them is found by its name."},
    {.name = "rpc.streams", .type = OPTION_INTEGER, .fallback = "100", .min = 1, .max = 1000, .help = "Open at once."},
    {.name = "rpc.keepalive", .type = OPTION_DURATION, .fallback = "30s", .min = 1000, .max = 3600000},
    {.name = "rpc.tls", .type = OPTION_BOOLEAN, .fallback = "false", .help = "Encrypt."},
    {.name = "rpc.tls_key", .type = OPTION_STRING, .secret = true, .help = "The private key."},
    {.name = "rpc.message_bytes", .type = OPTION_SIZE, .fallback = "4MiB", .min = 1024, .max = 1 << 30},
    {.name = NULL},
};

static const struct option llm_options[] = {
    {.name = "llm.cache.kind", .type = OPTION_CHOICE, .fallback = "none", .choices = "none|exact"},
    {.name = "llm.cache.bytes", .type = OPTION_SIZE, .fallback = "64MiB"},
    {.name = "llm.models", .type = OPTION_LIST, .fallback = "small,large"},
    {.name = "llm.origins", .type = OPTION_LIST},
    {.name = "llm.routes", .type = OPTION_JSON, .check = routes_check},
    {.name = "llm.offset", .type = OPTION_INTEGER, .fallback = "-5"},
    {.name = "llm.pin", .type = OPTION_INTEGER, .fallback = "1", .min = 1, .max = 9999, .secret = true},
    {.name = "quiet", .type = OPTION_BOOLEAN, .fallback = "true"},
    {.name = NULL},
};

static struct config *config;
static struct status st;
static char file_path[] = "/tmp/renga-config-XXXXXX";
static int file = -1;

static inline int config_begin(void **state)
{
    static const struct option *const tables[] = {rpc_options, llm_options};
    config = config_create(tables, COUNT(tables), &st);
    if (config == NULL)
        fail_msg("%s", st.text);
    return 0;
}

static inline int config_end(void **state)
{
    config_destroy(config);
    config = NULL;
    if (file >= 0) {
        close(file);
        unlink(file_path);
        strcpy(file_path + strlen(file_path) - 6, "XXXXXX");
        file = -1;
    }
    return 0;
}

/* Reads with the flags given, up to a NULL. */
static inline bool read_flags(const char *first, ...)
{
    char *argv[20] = {(char[]){"renga"}};
    int argc = 1;
    va_list more;
    va_start(more, first);
    for (const char *flag = first; flag != NULL; flag = va_arg(more, const char *))
        argv[argc++] = strdup(flag);
    va_end(more);
    /* What is positional is borrowed by the configuration: kept until the process ends. */
    static char *kept[400];
    static size_t count;
    for (int i = 1; i < argc && count < COUNT(kept); i++)
        kept[count++] = argv[i];
    return config_read(config, argc, argv, &st);
}

static inline const char *write_file(const char *text)
{
    if (file < 0)
        file = mkstemp(file_path);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, text, strlen(text), 0), strlen(text));
    return file_path;
}

static inline bool read_text(const char *text)
{
    return read_flags("--config", write_file(text), NULL);
}

/* The error without the path of the temporary file before it. */
static inline const char *error_text(void)
{
    size_t length = strlen(file_path);
    return strncmp(st.text, file_path, length) == 0 ? st.text + length : st.text;
}

#define CONFIG_TEST(name) cmocka_unit_test_setup_teardown(name, config_begin, config_end)

#endif
