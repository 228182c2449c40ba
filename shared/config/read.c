/* Flags are read first, since they name the file, and applied last, since they win. */
#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "config_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_MAX      ((size_t)4 << 20) /* bytes of a configuration file */
#define FILE_VARIABLE CONFIG_PREFIX "CONFIG"

static const struct {
    const char *name;
    enum config_request request;
} own_flags[] = {
    {"help", CONFIG_SHOW_HELP},       {"help-all", CONFIG_SHOW_HELP_ALL},
    {"version", CONFIG_SHOW_VERSION}, {"print-config", CONFIG_SHOW_CONFIG},
    {"config", CONFIG_RUN},
};
#define OWN_FLAGS (sizeof own_flags / sizeof own_flags[0])

/* A flag that was given: --name=text. */
struct flag {
    struct config_value *value;
    const char *text, *where;
};

struct flags {
    struct flag *flags;
    size_t count;
    const char *file; /* of --config, or NULL */
};

/* The value of a flag that needs one: behind its '=', or the next argument. */
static const char *flag_text(const char *name, const char *equals, char *const **next, struct status *st)
{
    if (equals != NULL)
        return equals + 1;
    if (**next == NULL || strncmp(**next, "--", 2) == 0) {
        fail(st, INVALID_ARGUMENT, "--%s needs a value: --%s=…", name, name);
        return NULL;
    }
    return *(*next)++;
}

/* True if the flag is one of ours and was read; `st` then tells whether its value was valid. */
static bool take_own_flag(struct config *config, struct flags *flags, const char *name, const char *equals,
                          char *const **next, struct status *st)
{
    if (strcmp(name, "config") == 0) {
        flags->file = flag_text(name, equals, next, st);
        return flags->file != NULL;
    }
    for (size_t i = 0; i < OWN_FLAGS; i++) {
        if (strcmp(name, own_flags[i].name) != 0)
            continue;
        if (equals != NULL)
            return fail(st, INVALID_ARGUMENT, "--%s takes no value", name);
        if (config->request == CONFIG_RUN || own_flags[i].request < config->request)
            config->request = own_flags[i].request; /* help before version before configuration */
        return true;
    }
    return false;
}

static bool take_flag(struct config *config, struct flags *flags, const char *argument, char *const **next,
                      struct status *st)
{
    const char *equals = strchr(argument, '=');
    size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    const char *name = arena_strndup(&config->arena, argument, length);
    if (name == NULL)
        return fail_memory(st, "the flags");
    status_clear(st);
    if (take_own_flag(config, flags, name, equals, next, st))
        return true;
    if (st->code != OK)
        return false;

    struct flag *flag = &flags->flags[flags->count];
    bool negated = false;
    flag->value = config_find(config, name);
    if (flag->value == NULL && strncmp(name, "no-", 3) == 0) {
        flag->value = config_find(config, name + 3);
        negated = flag->value != NULL && flag->value->option->type == OPTION_BOOLEAN;
    }
    if (flag->value == NULL || (!negated && strcmp(flag->value->option->name, name) != 0)) {
        struct nearest nearest = nearest_to(name);
        for (size_t i = 0; i < config->count; i++)
            if (config->values[i].use != OPTION_IDLE)
                nearest_try(&nearest, config->values[i].option->name);
        for (size_t i = 0; i < OWN_FLAGS; i++)
            nearest_try(&nearest, own_flags[i].name);
        if (nearest.name == NULL)
            return fail(st, INVALID_ARGUMENT, "unknown flag '--%s'; --help lists them", name);
        return fail(st, INVALID_ARGUMENT, "unknown flag '--%s', did you mean '--%s'?", name, nearest.name);
    }
    if (flag->value->use == OPTION_IDLE)
        return fail(st, INVALID_ARGUMENT, "'--%s' has no effect here; --help lists the flags that have", name);
    if (negated && equals != NULL)
        return fail(st, INVALID_ARGUMENT, "--%s takes no value", name);

    flag->where = arena_printf(&config->arena, "--%s", name);
    if (flag->value->option->type == OPTION_BOOLEAN && equals == NULL)
        flag->text = negated ? "false" : "true";
    else
        flag->text = flag_text(name, equals, next, st);
    flags->count++;
    if (flag->where == NULL)
        return fail_memory(st, "the flags");
    return flag->text != NULL;
}

/* Sorts the arguments into flags and the rest. */
static bool take_arguments(struct config *config, struct flags *flags, int argc, char *const *argv, struct status *st)
{
    size_t most = argc > 0 ? (size_t)argc : 1;
    config->arguments = arena_zalloc(&config->arena, (most + 1) * sizeof *config->arguments);
    flags->flags = arena_zalloc(&config->arena, most * sizeof *flags->flags);
    if (config->arguments == NULL || flags->flags == NULL)
        return fail_memory(st, "the flags");

    bool only_rest = argc == 0;
    for (char *const *next = argv + (argc > 0); argc > 0 && *next != NULL;) {
        const char *argument = *next++;
        if (only_rest || argument[0] != '-' || argument[1] == '\0')
            config->arguments[config->argument_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            only_rest = true;
        else if (strcmp(argument, "-h") == 0)
            config->request = CONFIG_SHOW_HELP;
        else if (argument[1] != '-')
            return fail(st, INVALID_ARGUMENT, "unknown flag '%s'; flags begin with two dashes", argument);
        else if (!take_flag(config, flags, argument + 2, &next, st))
            return false;
    }
    return true;
}

static bool is_level(const struct config *config, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < config->count; i++) {
        const char *name = config->values[i].option->name;
        if (strncmp(name, path, length) == 0 && name[length] == '.')
            return true;
    }
    return false;
}

static bool unknown_key(const struct config *config, const struct json_document *document, const cJSON *item,
                        const char *path, struct status *st)
{
    struct nearest nearest = nearest_to(path);
    for (size_t i = 0; i < config->count; i++)
        nearest_try(&nearest, config->values[i].option->name);
    if (nearest.name == NULL)
        return fail_at(document, item, st, "unknown option '%s'; --help lists them", path);
    return fail_at(document, item, st, "unknown option '%s', did you mean '%s'?", path, nearest.name);
}

/* Sets the option `path` (its name with all levels) to the value of `item`. */
static bool read_item(struct config *config, const struct json_document *document, const cJSON *item, const char *path,
                      struct status *st)
{
    struct config_value *value = config_find(config, path);
    if (value != NULL && value->use == OPTION_IDLE)
        return true;
    if (value != NULL) {
        size_t line, column;
        json_document_position(document, item, &line, &column);
        const char *where = arena_printf(&config->arena, "%s:%zu:%zu", document->name, line, column);
        if (where == NULL)
            return fail(st, RESOURCE_EXHAUSTED, "no memory to read '%s'", document->name);
        return config_set_json(config, value, item, where, st);
    }
    if (!cJSON_IsObject(item) && is_level(config, path))
        return fail_at(document, item, st, "'%s' must be an object with its options", path);
    if (!cJSON_IsObject(item) || (item->child == NULL && !is_level(config, path)))
        return unknown_key(config, document, item, path, st);

    const cJSON *child;
    cJSON_ArrayForEach(child, item)
    {
        const char *name = arena_printf(&config->arena, "%s%s%s", path, *path != '\0' ? "." : "", child->string);
        if (name == NULL)
            return fail(st, RESOURCE_EXHAUSTED, "no memory to read '%s'", document->name);
        if (strchr(child->string, '.') != NULL)
            return fail_at(document, child, st, "dots are levels: write '%s' as nested objects", name);
        if (!read_item(config, document, child, name, st))
            return false;
    }
    return true;
}

static bool read_file(struct config *config, const char *path, struct status *st)
{
    struct json_document document;
    struct json_limits limits = {.bytes = FILE_MAX};
    if (!json_document_load(&document, path, &limits, st))
        return false;
    bool good = cJSON_IsObject(document.root)
                    ? read_item(config, &document, document.root, "", st)
                    : fail_at(&document, document.root, st, "a configuration file holds one object");
    json_document_fini(&document);
    return good;
}

/* Kubernetes announces each Service of a namespace in variables that begin with the Service's name. */
static bool is_service_link(const char *name, const char *value)
{
    return strstr(name, "_SERVICE_HOST") != NULL || strstr(name, "_SERVICE_PORT") != NULL ||
           strstr(name, "_TCP") != NULL ||
           (strlen(name) > 5 && strcmp(name + strlen(name) - 5, "_PORT") == 0 && strstr(value, "://") != NULL);
}

/* The variable begins as those of an option do: RENGA_RPC_ for "rpc.listen". */
static bool has_known_group(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->count; i++) {
        const char *dot = strrchr(config->values[i].option->name, '.');
        size_t length = strlen(CONFIG_PREFIX) + (dot != NULL ? (size_t)(dot - config->values[i].option->name) + 1 : 0);
        if (dot != NULL && strncmp(config->values[i].variable, name, length) == 0)
            return true;
    }
    return false;
}

static void warn_of_unknown_variable(const struct config *config, const char *name)
{
    struct nearest nearest = nearest_to(name + strlen(CONFIG_PREFIX));
    nearest_try(&nearest, &FILE_VARIABLE[strlen(CONFIG_PREFIX)]);
    for (size_t i = 0; i < config->count; i++)
        nearest_try(&nearest, config->values[i].variable + strlen(CONFIG_PREFIX));
    if (nearest.name != NULL && nearest.distance > 0)
        log_warn("config.unknown_variable", "%s is not an option and is ignored; did you mean %s%s?", name,
                 CONFIG_PREFIX, nearest.name);
    else if (nearest.name == NULL && has_known_group(config, name))
        log_warn("config.unknown_variable", "%s is not an option and is ignored; --help lists the options", name);
}

/* An empty variable counts as not set. */
static bool read_environment(struct config *config, struct status *st)
{
    for (size_t i = 0; i < config->count; i++) {
        struct config_value *value = &config->values[i];
        const char *text = value->use != OPTION_IDLE ? getenv(value->variable) : NULL;
        if (text != NULL && *text != '\0' && !config_set_text(config, value, text, value->variable, st))
            return false;
    }
    /* Other programs may own a variable with our prefix, so an unknown one is no error. */
    for (char **entry = environ; *entry != NULL; entry++) {
        char name[CONFIG_NAME_MAX + sizeof CONFIG_PREFIX];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, CONFIG_PREFIX, strlen(CONFIG_PREFIX)) != 0 || length >= sizeof name)
            continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        if ((*entry)[length] == '=' && !is_service_link(name, *entry + length + 1))
            warn_of_unknown_variable(config, name);
    }
    return true;
}

bool config_read(struct config *config, int argc, char *const *argv, struct status *st)
{
    struct flags flags = {.count = 0};
    if (!take_arguments(config, &flags, argc, argv, st))
        return false;
    if (config->request != CONFIG_RUN && config->request != CONFIG_SHOW_CONFIG)
        return true;

    const char *file = flags.file != NULL ? flags.file : getenv(FILE_VARIABLE);
    if (file != NULL && *file != '\0' && !read_file(config, file, st))
        return false;
    if (!read_environment(config, st))
        return false;
    for (size_t i = 0; i < flags.count; i++) {
        struct flag *flag = &flags.flags[i];
        if (!config_set_text(config, flag->value, flag->text, flag->where, st))
            return false;
    }
    return true;
}
