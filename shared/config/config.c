#include "config/config.h"

#include "base/log.h"
#include "base/memory.h"
#include "config_private.h"

#include <stdlib.h>
#include <sys/mman.h>

#define ARENA_MAX  ((size_t)16 << 20)
#define SECRET_MAX ((size_t)256 << 10) /* bytes of all secrets */

/* Names that config_read takes for itself. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {"config", "help", "help-all", "version", "print-config"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return strncmp(name, "no-", 3) == 0;
}

static bool is_well_named(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= CONFIG_NAME_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != length)
        return false;
    return name[0] != '.' && name[0] != '-' && name[length - 1] != '.' && strstr(name, "..") == NULL;
}

static bool config_is_below(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && name[length] == '.';
}

/* Two options must not share a name or a variable, and no option may be a level of another. */
static bool tables_agree(const struct config *config, struct status *st)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_value *a = &config->values[i];
        for (size_t j = i + 1; j < config->count; j++) {
            const struct config_value *b = &config->values[j];
            if (strcmp(a->variable, b->variable) == 0)
                return fail(st, INTERNAL, "options '%s' and '%s' share the variable %s", a->option->name,
                            b->option->name, a->variable);
            if (config_is_below(b->option->name, a->option->name))
                return fail(st, INTERNAL, "'%s' is an option and a level of '%s'", a->option->name, b->option->name);
        }
    }
    return true;
}

static bool set_default(struct config *config, struct config_value *value, struct status *st)
{
    const struct option *option = value->option;
    if (option->fallback != NULL)
        return config_set_text(config, value, option->fallback, "default", st) ||
               fail(st, INTERNAL, "the table of '%s' contradicts itself: %s", option->name, st->text);
    value->where = "default";
    if (option->type == OPTION_STRING || option->type == OPTION_LIST || option->type == OPTION_JSON)
        return true;
    return fail(st, INTERNAL, "option '%s' needs a default", option->name);
}

static int config_by_name(const void *left, const void *right)
{
    const struct config_value *a = left, *b = right;
    return strcmp(a->option->name, b->option->name);
}

static bool take_tables(struct config *config, const struct option *const *tables, size_t count, struct status *st)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        for (const struct option *option = tables[i]; option->name != NULL; option++)
            most++;
    }
    config->values = arena_zalloc(&config->arena, (most + 1) * sizeof *config->values);
    if (config->values == NULL)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for %zu options", most);
    for (size_t i = 0; i < count; i++) {
        for (const struct option *option = tables[i]; option->name != NULL; option++) {
            if (!is_well_named(option->name) || is_reserved(option->name))
                return fail(st, INTERNAL, "'%s' cannot be the name of an option", option->name);
            struct config_value *value = &config->values[config->count];
            value->option = option;
            value->place = config->count++;
            value->fallback = option->fallback;
            /* The variable of "rpc.listen" is RENGA_RPC_LISTEN. */
            const char *name = option->name;
            char *variable = arena_printf(&config->arena, CONFIG_PREFIX "%s", name);
            for (char *c = variable; c != NULL && *c != '\0'; c++) {
                if (*c == '.' || *c == '-')
                    *c = '_';
                else if (*c >= 'a' && *c <= 'z')
                    *c -= 'a' - 'A';
            }
            value->variable = variable;
            if (value->variable == NULL || !set_default(config, value, st))
                return false;
        }
    }
    qsort(config->values, config->count, sizeof *config->values, config_by_name);
    return tables_agree(config, st);
}

/* Memory that the kernel leaves out of a core dump. */
static void *map_secrets(void)
{
    void *memory = mmap(NULL, SECRET_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, SECRET_MAX, MADV_DONTDUMP);
    return memory;
}

struct config *config_create(const struct option *const *tables, size_t count, struct status *st)
{
    struct config *config = calloc(1, sizeof *config);
    void *memory = config != NULL ? map_secrets() : NULL;
    if (memory == NULL) {
        free(config);
        fail_memory(st, "the configuration");
        return NULL;
    }
    config->secret_memory = memory;
    arena_init(&config->arena, NULL, 0, ARENA_MAX);
    arena_init(&config->secrets, memory, SECRET_MAX, 0);
    if (!take_tables(config, tables, count, st)) {
        config_destroy(config);
        return NULL;
    }
    return config;
}

void config_destroy(struct config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < config->count; i++)
        cJSON_Delete(config->values[i].json);
    size_t used = (size_t)(config->secrets.next - (char *)config->secret_memory); /* the rest was never touched */
    arena_fini(&config->secrets);
    explicit_bzero(config->secret_memory, used);
    munmap(config->secret_memory, SECRET_MAX);
    arena_fini(&config->arena);
    free(config);
}

struct config_value *config_find(const struct config *config, const char *name)
{
    struct option wanted = {.name = name};
    struct config_value key = {.option = &wanted};
    return bsearch(&key, config->values, config->count, sizeof *config->values, config_by_name);
}

enum config_request config_request(const struct config *config)
{
    return config->request;
}

const char *const *config_arguments(const struct config *config, size_t *count)
{
    static const char *const none[] = {NULL};
    if (count != NULL)
        *count = config->argument_count;
    return config->arguments != NULL ? config->arguments : none;
}

static struct config_value *config_known(const struct config *config, const char *name)
{
    struct config_value *value = config_find(config, name);
    if (value == NULL)
        fatal("config.unknown_option", "the program asks for option '%s', which is in no table", name);
    return value;
}

static const struct config_value *config_get(const struct config *config, const char *name, enum option_type type)
{
    const struct config_value *value = config_known(config, name);
    enum option_type own = value->option->type == OPTION_CHOICE ? OPTION_STRING : value->option->type;
    if (own != type)
        fatal("config.wrong_type", "the program asks for option '%s' by the wrong type", name);
    return value;
}

const char *config_string(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_STRING)->text;
}

int64_t config_integer(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_INTEGER)->number;
}

bool config_boolean(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_BOOLEAN)->number != 0;
}

int64_t config_duration_ms(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_DURATION)->number;
}

int64_t config_size(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_SIZE)->number;
}

const char *const *config_list(const struct config *config, const char *name, size_t *count)
{
    const struct config_value *value = config_get(config, name, OPTION_LIST);
    *count = value->count;
    return value->list;
}

const cJSON *config_json(const struct config *config, const char *name)
{
    return config_get(config, name, OPTION_JSON)->json;
}

bool config_set_default(struct config *config, const char *name, const char *text, struct status *st)
{
    struct config_value *value = config_known(config, name);
    value->fallback = text;
    return config_set_text(config, value, text, "default", st);
}

void config_use(struct config *config, const char *name, enum option_use use)
{
    config_known(config, name)->use = use;
}

const char *config_source(const struct config *config, const char *name)
{
    return config_known(config, name)->where;
}
