/* Texts of operators: flags, files of configuration, documents of routes, tool servers and keys, URLs of stores. */
#include "readers.h"

#include "config/config.h"
#include "daemon/key_list.h"
#include "gateway_shared.h"
#include "http/client.h"
#include "mcp/setup.h"
#include "routing/route.h"
#include "store/redis/settings.h"
#include "telemetry/otlp_json.h"
#include "telemetry/otlp_protobuf.h"
#include "telemetry/redact.h"
#include "tools/page_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The path of a file that holds the text until the next one is asked for. */
static const char *file_of(const struct input *in)
{
    static int file = -1;
    static char path[32];
    if (file < 0)
        file = memfd_create("linear", MFD_CLOEXEC);
    if (ftruncate(file, 0) != 0 || pwrite(file, in->text, in->length, 0) != (ssize_t)in->length)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

static const struct option own_options[] = {
    {.name = "text", .type = OPTION_STRING},
    {.name = "list", .type = OPTION_LIST},
    {.name = "time", .type = OPTION_DURATION, .fallback = "1s", .max = 1000},
    {.name = "json", .type = OPTION_JSON},
    {.name = "tool_runner.pages", .type = OPTION_LIST},
    {.name = "tool_runner.private_pages", .type = OPTION_LIST},
    {.name = NULL},
};

/* With one flag and its value; NULL if it is refused. */
static struct config *configure(struct input *in, const struct option *table, const char *flag, const char *value)
{
    char name[] = "linear", *arguments[] = {name, arena_printf(&in->arena, "%s%s", flag, value), NULL};
    struct config *config = config_create(&table, 1, &in->st);
    if (config_read(config, 2, arguments, &in->st))
        return config;
    config_destroy(config);
    return NULL;
}

/* The row names the flag that has the text as its value. */
static void read_flag(struct input *in)
{
    struct config *config = configure(in, own_options, in->with, in->text);
    if (config)
        config_print(config, &in->out);
    config_destroy(config);
}

static void read_configuration(struct input *in)
{
    config_destroy(configure(in, own_options, "--config=", file_of(in)));
}

static void read_routes(struct input *in)
{
    struct config *config = configure(in, llm_gateway_options, "--llm_gateway.routes=", file_of(in));
    struct routes *routes = routes_create(config, NULL, &in->st);
    in->accepted = routes != NULL;
    routes_destroy(&routes);
    config_destroy(config);
}

static void read_servers(struct input *in)
{
    struct mcp_setups setups;
    in->accepted = mcp_setups_read(file_of(in), &setups, &in->st);
    mcp_setups_fini(&setups);
}

static void read_keys(struct input *in)
{
    struct key_list list;
    if (!input_json(in) || !key_list_read(in->tree, &list, &in->st))
        return;
    for (size_t i = 0; i < list.count; i++) /* no two are alike */
        list.keys[i].sha256 = arena_printf(&in->arena, "%064zx", i);
    struct rpc_auth *auth = rpc_auth_create(list.keys, list.count, &in->st);
    in->accepted = auth != NULL;
    rpc_auth_destroy(&auth);
    key_list_fini(&list);
}

static void read_store(struct input *in)
{
    struct redis_settings settings;
    if (redis_settings_read(&settings, in->text, &in->st))
        redis_settings_fini(&settings);
}

static void read_hosts(struct input *in)
{
    struct config *config = configure(in, own_options, "--tool_runner.pages=", in->text);
    struct page_hosts *hosts = config ? page_hosts_create(config, &in->st) : NULL;
    struct http_url *url = http_url_parse("https://a.example/", &in->st);
    in->accepted = hosts != NULL;
    if (hosts)
        page_hosts_reach(hosts, url);
    http_url_destroy(&url);
    page_hosts_destroy(&hosts);
    config_destroy(config);
}

static void settings_count(void *data, const char *name, const char *value)
{
    *(size_t *)data += 1;
}

static void read_pairs(struct input *in)
{
    size_t count = 0;
    otlp_pairs(in->text, settings_count, &count);
}

static void hide_keys(struct input *in)
{
    char *copy = arena_strndup(&in->arena, in->text, in->length);
    if (copy)
        redact_keys(copy, in->length);
}

static void read_rejected(struct input *in)
{
    otlp_protobuf_rejected(in->text, in->length);
}

#define HASH  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define ROUTE "{\"deployments\":{\"d\":{\"provider\":\"extractive\"}"
#define MODEL ",\"models\":{\"m\":{\"targets\":[{\"deployment\":\"d\"}]}"

static const struct generator configurations[] = {
    {"options that are not known", 0, .begin = "{\"text\":\"a\"", .unit = ",\"o\1\":1", .end = "}"},
    {"a list of options", 0, .begin = "{\"list\":[\"a\"", .unit = ",\"a\1\"", .end = "]}"},
    {.name = NULL},
};

static const struct generator routes[] = {
    {"deployments", 0, .begin = ROUTE, .unit = ",\"d\1\":{\"provider\":\"extractive\"}", .end = "}" MODEL "}}"},
    {"models", 0, .begin = ROUTE "}" MODEL, .unit = ",\"m\1\":{\"targets\":[{\"deployment\":\"d\"}]}", .end = "}}"},
    {"targets of a model", 0, .begin = ROUTE "},\"models\":{\"m\":{\"targets\":[{\"deployment\":\"d\"}",
     .unit = ",{\"deployment\":\"d\"}", .end = "]}}}"},
    {"clients", 0, .begin = ROUTE "}" MODEL "},\"clients\":{\"*\":{}", .unit = ",\"c\1\":{\"requests_per_minute\":1}",
     .end = "}}"},
    {"prices", 0, .begin = ROUTE "}" MODEL "},\"prices\":{\"m\":{\"input\":1,\"output\":1}",
     .unit = ",\"p\1\":{\"input\":1,\"output\":1}", .end = "}}"},
    {.name = NULL},
};

static const struct generator servers[] = {
    {"servers", 0, .begin = "{\"mcpServers\":{\"a\":{\"command\":\"a\"}", .unit = ",\"a\1\":{\"command\":\"a\"}",
     .end = "}}"},
    {"arguments of a server", 0, .begin = "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"args\":[\"a\"", .unit = ",\"b\"",
     .end = "]}}}"},
    {"tools of a server", 0, .begin = "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"tools\":[\"a\"", .unit = ",\"b\1\"",
     .end = "]}}}"},
    {.name = NULL},
};

static const struct generator keys[] = {
    {"keys", 0, .begin = "[{\"name\":\"a\",\"tenant\":\"b\",\"methods\":[\"*\"],\"sha256\":\"" HASH "\"}",
     .unit = ",{\"name\":\"a\1\",\"tenant\":\"b\",\"methods\":[\"*\"],\"sha256\":\"" HASH "\"}", .end = "]"},
    {"methods of a key", 0, .begin = "[{\"name\":\"a\",\"tenant\":\"b\",\"sha256\":\"" HASH "\",\"methods\":[\"*\"",
     .unit = ",\"renga.v1.Planner/*\"", .end = "]}]"},
    {.name = NULL},
};

static const struct generator stores[] = {
    {"a long host", 0, .begin = "redis://", .unit = "a"},
    {"a password", 0, .begin = "redis://a:", .unit = "%61", .end = "@b"},
    {"parameters", 0, .begin = "redis://a?", .unit = "replicas=1&"},
    {.name = NULL},
};

const struct reader readers_settings[] = {
    {"flag with a text", read_flag, .sets = HOSTILE_FIELD, .with = "--text="},
    {"flag with a list", read_flag, .sets = HOSTILE_FIELD, .with = "--list="},
    {"flag with a time", read_flag, .sets = HOSTILE_FIELD, .with = "--time="},
    {"flag with JSON", read_flag, .sets = HOSTILE_FIELD, .with = "--json="},
    {"flag that is not known", read_flag, .sets = HOSTILE_FIELD, .with = "--"},
    {"file of configuration", read_configuration, .sets = HOSTILE_JSON, .own = configurations},
    {"document of routes", read_routes, .own = routes, .accepts = true},
    {"document of tool servers", read_servers, .own = servers, .accepts = true},
    {"list of keys", read_keys, .own = keys, .accepts = true, .most = (size_t)64 << 10},
    {"URL of a store", read_store, .sets = HOSTILE_FIELD, .own = stores},
    {"hosts of pages", read_hosts, .sets = HOSTILE_FIELD, .accepts = true},
    {"pairs of the environment", read_pairs, .sets = HOSTILE_FIELD},
    {"keys in a text", hide_keys, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"a collector's answer in protobuf", read_rejected, .sets = HOSTILE_BYTES},
    {.name = NULL},
};
