#include "setup.h"

#include "base/nearest.h"
#include "http/client.h"
#include "mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)1 << 20) /* bytes */
#define DEPTH_MAX    8
#define PLACE_MAX    512
#define MIB          (1LL << 20)
#define HOUR_MS      3600000LL

#define REVISIONS "auto|2025-11-25|2026-07-28"

/* The destination of a value: `choices` by their number among the others. */
struct row {
    struct option option;
    size_t at;
    bool pairs; /* an object of texts, with its count behind the array */
    size_t count_at;
};
#define AT(member) .at = offsetof(struct mcp_setup, member)

/* Keys that other clients write and that have no meaning for us. */
#define IGNORED(key)                                                                                                   \
    {                                                                                                                  \
        .option = {.name = (key)}, .at = SIZE_MAX                                                                      \
    }

static const struct row rows[] = {
    {.option = {.name = "command", .type = OPTION_STRING}, AT(command)},
    {.option = {.name = "cwd", .type = OPTION_STRING}, AT(cwd)},
    {.option = {.name = "user", .type = OPTION_STRING}, AT(user)},
    {.option = {.name = "landlock", .type = OPTION_BOOLEAN}, AT(without_landlock)},
    {.option = {.name = "args", .type = OPTION_LIST}, AT(args)},
    {.option = {.name = "writable", .type = OPTION_LIST}, AT(writable)},
    {.option = {.name = "tools", .type = OPTION_LIST}, AT(tools)},
    {.option = {.name = "env"}, .pairs = true, AT(env), .count_at = offsetof(struct mcp_setup, env_count)},
    {.option = {.name = "headers"}, .pairs = true, AT(headers), .count_at = offsetof(struct mcp_setup, header_count)},
    {.option = {.name = "url", .type = OPTION_STRING}, AT(url_text)},
    {.option = {.name = "memory_max", .type = OPTION_SIZE, .min = 16 * MIB, .max = 1024 * 1024 * MIB}, AT(memory_max)},
    {.option = {.name = "log_stderr", .type = OPTION_BOOLEAN}, AT(logs_stderr)},
    {.option = {.name = "timeout", .type = OPTION_DURATION, .min = 1, .max = 600000}, AT(timeout_ms)},
    {.option = {.name = "start_timeout", .type = OPTION_DURATION, .min = 1, .max = HOUR_MS}, AT(start_timeout_ms)},
    {.option = {.name = "probe_timeout", .type = OPTION_DURATION, .min = 1, .max = HOUR_MS}, AT(probe_timeout_ms)},
    {.option = {.name = "output_max", .type = OPTION_SIZE, .min = 65536, .max = 64 * MIB}, AT(output_max)},
    {.option = {.name = "side_effects", .type = OPTION_BOOLEAN}, AT(side_effects)},
    {.option = {.name = "revision", .type = OPTION_CHOICE, .choices = REVISIONS}, AT(modern)},
    IGNORED("type"),
    IGNORED("disabled"),
    {.option = {.name = NULL}},
};

struct reading {
    const struct json_document *document;
    struct mcp_setups *setups;
    struct status *st;
};

/* ---- a single value ---------------------------------------------------------------------------------------------- */

static bool setup_read_item(const struct reading *in, const struct option *option, const cJSON *item,
                            struct config_item *value)
{
    char place[PLACE_MAX];
    size_t line, column;
    json_document_position(in->document, item, &line, &column);
    snprintf(place, sizeof place, "%s:%zu:%zu", in->document->name, line, column);
    return config_read_item(in->setups->values, option, item, place, value, in->st);
}

static void setup_put(struct mcp_setup *setup, const struct row *row, const struct config_item *value)
{
    void *at = (char *)setup + row->at;
    switch (row->option.type) {
    case OPTION_LIST:
        *(struct mcp_words *)at = (struct mcp_words){value->list, value->count};
        return;
    case OPTION_CHOICE:
        *(bool *)at = strcmp(value->text, "2026-07-28") == 0;
        return;
    case OPTION_BOOLEAN:
        if (row->at == offsetof(struct mcp_setup, side_effects))
            setup->side_effects = value->number ? MCP_SIDE_EFFECTS_YES : MCP_SIDE_EFFECTS_NO;
        else if (row->at == offsetof(struct mcp_setup, without_landlock))
            setup->without_landlock = value->number == 0;
        else
            *(bool *)at = value->number != 0;
        return;
    case OPTION_STRING:
        *(const char **)at = value->text;
        return;
    default:
        *(int64_t *)at = value->number;
        return;
    }
}

static bool read_pairs(const struct reading *in, const struct row *row, const cJSON *object, struct mcp_setup *setup)
{
    static const struct option text = {.name = "value", .type = OPTION_STRING, .secret = true};
    struct mcp_pair *pairs = (struct mcp_pair *)((char *)setup + row->at);
    size_t *count = (size_t *)((char *)setup + row->count_at);
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return fail_at(in->document, object, in->st, "'%s' must be an object of texts, {…}", object->string);
    cJSON_ArrayForEach(item, object)
    {
        struct config_item value, name;
        cJSON key = {.type = cJSON_String, .valuestring = item->string};
        struct option plain = text;
        plain.secret = false;
        if (*count == MCP_PAIRS_MAX)
            return fail_at(in->document, item, in->st, "'%s' has more than %d entries", object->string, MCP_PAIRS_MAX);
        if (!item->string[0] || strpbrk(item->string, "=\r\n"))
            return fail_at(in->document, item, in->st, "'%.64s' is no name for an entry", item->string);
        if (!setup_read_item(in, &text, item, &value) ||
            !config_read_item(in->setups->values, &plain, &key, "", &name, in->st))
            return false;
        pairs[(*count)++] = (struct mcp_pair){name.text, value.text};
    }
    return true;
}

static bool setup_refuse_key(const struct reading *in, const cJSON *item)
{
    struct nearest nearest = nearest_to(item->string);
    for (const struct row *row = rows; row->option.name; row++)
        nearest_try(&nearest, row->option.name);
    return fail_at(in->document, item, in->st, "unknown key '%.64s'%s%s%s", item->string,
                   nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
}

static const struct row *find_row(const char *name)
{
    const struct row *row = rows;
    while (row->option.name && strcmp(row->option.name, name) != 0)
        row++;
    return row->option.name ? row : NULL;
}

/* ---- a server ---------------------------------------------------------------------------------------------------- */

/* A server's name becomes the beginning of its tools' names, "NAME__tool". */
static bool check_name(const struct reading *in, const cJSON *item)
{
    size_t length = strspn(item->string, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    if (!length || item->string[length] || length > MCP_SERVER_NAME_MAX || strstr(item->string, "__") ||
        item->string[length - 1] == '_')
        return fail_at(in->document, item, in->st,
                       "'%.64s' is no name for a server: 1 to %d of A-Z, a-z, 0-9, '_' and '-', without '__' and "
                       "without a '_' at its end",
                       item->string, MCP_SERVER_NAME_MAX);
    return true;
}

static bool check_url(const struct reading *in, const cJSON *item, struct mcp_setup *setup)
{
    struct status why = {0};
    const char *text = setup->url_text, *command = setup->command;
    setup->url = text ? http_url_parse(text, &why) : NULL;
    if (text && !setup->url)
        return fail_at(in->document, item, in->st, "'url': %s", why.text);
    if ((command == NULL) == (text == NULL))
        return fail_at(in->document, item, in->st, "'%s' must have either a command or a url", setup->name);
    if (command && !command[0])
        return fail_at(in->document, item, in->st, "'command' is empty");
    return true;
}

static bool check_user(const struct reading *in, const cJSON *item, struct mcp_setup *setup)
{
    struct status why = {0};
    return !setup->command || child_user_find(setup->user, &setup->runs_as, &why) ||
           fail_at(in->document, item, in->st, "'user': %s", why.text);
}

static bool setup_read_keys(const struct reading *in, const cJSON *object, struct mcp_setup *setup)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        struct config_item value;
        const struct row *row = find_row(item->string);
        if (!row)
            return setup_refuse_key(in, item);
        if (row->at == SIZE_MAX)
            continue;
        if (row->pairs && !read_pairs(in, row, item, setup))
            return false;
        if (row->pairs)
            continue;
        if (!setup_read_item(in, &row->option, item, &value))
            return false;
        setup_put(setup, row, &value);
    }
    return true;
}

static bool read_server(const struct reading *in, const cJSON *item)
{
    static const struct option name = {.name = "name", .type = OPTION_STRING};
    struct config_item text;
    cJSON key = {.type = cJSON_String, .valuestring = item->string};
    if (!check_name(in, item) || !config_read_item(in->setups->values, &name, &key, "", &text, in->st))
        return false;
    if (!cJSON_IsObject(item))
        return fail_at(in->document, item, in->st, "'%s' must be an object, {…}", item->string);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "disabled")))
        return true;
    struct mcp_setup *setup = &in->setups->list[in->setups->count++];
    *setup = (struct mcp_setup){
        .name = text.text,
        .timeout_ms = 60000,
        .start_timeout_ms = 30000,
        .probe_timeout_ms = 5000,
        .output_max = (size_t)(16 * MIB),
    };
    return setup_read_keys(in, item, setup) && check_url(in, item, setup) && check_user(in, item, setup);
}

static bool read_root(const struct reading *in)
{
    const cJSON *item, *servers = cJSON_GetObjectItemCaseSensitive(in->document->root, "mcpServers");
    size_t count = 0;
    cJSON_ArrayForEach(item, in->document->root)
    {
        if (strcmp(item->string ? item->string : "", "mcpServers") != 0)
            return fail_at(in->document, item, in->st, "unknown key '%.64s'; there is 'mcpServers'",
                           item->string ? item->string : "[]");
    }
    if (!cJSON_IsObject(servers))
        return fail_at(in->document, in->document->root, in->st, "must be {\"mcpServers\": {NAME: {…}, …}}");
    in->setups->list = calloc(MCP_SERVERS_MAX, sizeof(*in->setups->list));
    if (!in->setups->list)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the servers of %s", in->document->name);
    cJSON_ArrayForEach(item, servers)
    {
        if (count++ == MCP_SERVERS_MAX)
            return fail_at(in->document, item, in->st, "there are more than %d servers", MCP_SERVERS_MAX);
        if (!read_server(in, item))
            return false;
    }
    return true;
}

bool mcp_setups_read(const char *path, struct mcp_setups *setups, struct status *st)
{
    static const struct json_limits limits = {.bytes = DOCUMENT_MAX, .depth = DEPTH_MAX};
    struct json_document document;
    struct status why = {0};
    *setups = (struct mcp_setups){.values = config_create(NULL, 0, st)};
    if (!setups->values)
        return false;
    if (!json_document_load(&document, path, &limits, &why))
        return fail(st, INVALID_ARGUMENT, "tool_runner.mcp: %s", why.text);
    bool good = read_root(&(struct reading){&document, setups, &why});
    json_document_fini(&document);
    return good || fail(st, INVALID_ARGUMENT, "tool_runner.mcp: %s", why.text);
}

void mcp_setups_fini(struct mcp_setups *setups)
{
    for (size_t i = 0; setups->list && i < setups->count; i++)
        http_url_destroy(&setups->list[i].url);
    free(setups->list);
    config_destroy(setups->values);
    *setups = (struct mcp_setups){0};
}
