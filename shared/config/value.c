/* Converts text to a value, for each type of option, and numbers back to text. */
#include "base/file.h"
#include "base/text.h"
#include "config_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECRET_MAX ((size_t)64 << 10) /* bytes of a file that holds one */
#define SHOWN_MAX  80                 /* bytes of a value in an error */
#define EXACT_MAX  9007199254740992.0 /* 2^53 */

/* The target, the source and the error of one conversion. */
struct setting {
    struct config *config;
    const struct option *option;
    const char *where;
    struct config_value *value;
    struct status *st;
};

struct unit {
    const char *name;
    int64_t size;
};

static const struct unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000}, {NULL, 0}};

/* Sizes are printed with the units before "kB". */
static const struct unit size_units[] = {{"B", 1},
                                         {"KiB", INT64_C(1) << 10},
                                         {"MiB", INT64_C(1) << 20},
                                         {"GiB", INT64_C(1) << 30},
                                         {"TiB", INT64_C(1) << 40},
                                         {"kB", 1000},
                                         {"MB", 1000 * 1000},
                                         {"GB", 1000 * 1000 * 1000},
                                         {"TB", INT64_C(1000) * 1000 * 1000 * 1000},
                                         {NULL, 0}};
#define SIZE_UNITS_PRINTED 5

__attribute__((format(printf, 3, 4))) static bool refuse(const struct setting *to, const char *shown,
                                                         const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    if (to->option->secret)
        shown = "(secret)";
    size_t length = strlen(shown);
    size_t kept = text_cut(shown, length, SHOWN_MAX);
    return fail(to->st, INVALID_ARGUMENT, "%s: %s is '%.*s%s', %s", to->where, to->option->name, (int)kept, shown,
                kept < length ? "…" : "", why.text);
}

static bool value_no_memory(const struct setting *to)
{
    return fail(to->st, RESOURCE_EXHAUSTED, "%s: no memory for %s", to->where, to->option->name);
}

/* Reads digits at `*text` and moves behind them. */
static bool value_read_digits(const char **text, int64_t *number)
{
    const char *c = *text;
    *number = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (__builtin_mul_overflow(*number, 10, number) || __builtin_add_overflow(*number, *c - '0', number))
            return false;
    }
    bool any = c > *text;
    *text = c;
    return any;
}

static const struct unit *find_unit(const struct unit *units, const char *name, size_t length)
{
    for (; units->name != NULL; units++) {
        if (strlen(units->name) == length && memcmp(units->name, name, length) == 0)
            return units;
    }
    return NULL;
}

/* "1m30s": numbers, each with its unit. A number alone is in the unit `bare`; NULL: a unit is required. */
static bool read_units(const char *text, const struct unit *units, const struct unit *bare, int64_t *sum)
{
    *sum = 0;
    do {
        int64_t number, size;
        if (!value_read_digits(&text, &number))
            return false;
        size_t length = strcspn(text, "0123456789");
        const struct unit *unit = length == 0 ? bare : find_unit(units, text, length);
        if (unit == NULL && length == 0 && number == 0)
            unit = units;
        if (unit == NULL || __builtin_mul_overflow(number, unit->size, &size) ||
            __builtin_add_overflow(*sum, size, sum))
            return false;
        text += length;
    } while (*text != '\0');
    return true;
}

static bool read_boolean(const char *text, int64_t *number)
{
    static const char *const names[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], text) == 0) {
            *number = (int64_t)(i & 1);
            return true;
        }
    }
    return false;
}

static bool value_set_number(const struct setting *to, const char *text)
{
    const struct option *option = to->option;
    int64_t number;
    const char *rest = text + (*text == '-');
    switch (option->type) {
    case OPTION_BOOLEAN:
        if (!read_boolean(text, &number))
            return refuse(to, text, "neither true nor false");
        break;
    case OPTION_DURATION:
        if (!read_units(text, duration_units, NULL, &number))
            return refuse(to, text, "not a duration; write 500ms, 3s, 1m30s, 2h or 7d");
        break;
    case OPTION_SIZE:
        if (!read_units(text, size_units, size_units, &number))
            return refuse(to, text, "not a size; write 4096, 64KiB, 16MiB, 2GiB or 10MB");
        break;
    default:
        if (!value_read_digits(&rest, &number) || *rest != '\0')
            return refuse(to, text, "not a whole number");
        if (*text == '-')
            number = -number;
    }
    if ((option->min != 0 || option->max != 0) && (number < option->min || number > option->max)) {
        char least[CONFIG_NUMBER_SIZE], most[CONFIG_NUMBER_SIZE];
        config_format_number(option, option->min, least);
        config_format_number(option, option->max, most);
        return refuse(to, text, "must be within %s and %s", least, most);
    }
    to->value->number = number;
    return true;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *choice = choices; *choice != '\0';) {
        size_t size = strcspn(choice, "|");
        if (size == length && memcmp(choice, text, size) == 0)
            return true;
        choice += size + (choice[size] == '|');
    }
    return false;
}

static bool set_string(const struct setting *to, const char *text)
{
    struct config *config = to->config;
    if (to->option->choices != NULL && !is_choice(to->option->choices, text))
        return refuse(to, text, "must be one of %s", to->option->choices);
    if (!text_is_clean(text, strlen(text)))
        return refuse(to, "(bytes)", "not UTF-8");
    to->value->text = arena_strdup(to->option->secret ? &config->secrets : &config->arena, text);
    return to->value->text != NULL || value_no_memory(to);
}

/* The content of the file, without the line break at its end. */
static bool set_secret_from_file(const struct setting *to, const char *path)
{
    struct buffer content;
    struct status why;
    buffer_init(&content, SECRET_MAX);
    buffer_reserve(&content, SECRET_MAX); /* at once, so that growing leaves no copies */
    bool good = file_read(path, &content, &why);
    if (good) {
        while (content.length > 0 && strchr("\r\n", content.data[content.length - 1]) != NULL)
            content.length--;
        const char *text = buffer_text(&content);
        good = strlen(text) != content.length ? refuse(to, "", "'%s' contains NUL", path) : set_string(to, text);
    } else {
        fail(to->st, why.code, "%s: %s: %s", to->where, to->option->name, why.text);
    }
    if (content.data != NULL)
        explicit_bzero(content.data, content.capacity);
    buffer_fini(&content);
    return good;
}

static bool set_secret(const struct setting *to, const char *text)
{
    if (strncmp(text, "file:", 5) == 0)
        return set_secret_from_file(to, text + 5);
    if (strncmp(text, "env:", 4) != 0)
        return set_string(to, text);
    const char *content = getenv(text + 4);
    if (content == NULL)
        return fail(to->st, NOT_FOUND, "%s: %s: there is no environment variable '%s'; set it, or give file:PATH",
                    to->where, to->option->name, text + 4);
    return set_string(to, content);
}

static bool add_element(const struct setting *to, const char *text, size_t length)
{
    struct arena *arena = to->option->secret ? &to->config->secrets : &to->config->arena;
    const char *element = arena_strndup(arena, text, length);
    if (element == NULL)
        return value_no_memory(to);
    if (!text_is_clean(text, length))
        return refuse(to, "(bytes)", "not UTF-8");
    if (to->option->choices != NULL && !is_choice(to->option->choices, element))
        return refuse(to, element, "must be one of %s", to->option->choices);
    to->value->list[to->value->count++] = element;
    return true;
}

static bool begin_list(const struct setting *to, size_t most)
{
    to->value->list = arena_zalloc(&to->config->arena, (most + 1) * sizeof *to->value->list);
    to->value->count = 0;
    return to->value->list != NULL || value_no_memory(to);
}

static bool set_list_json(const struct setting *to, const cJSON *item)
{
    const cJSON *element;
    if (!cJSON_IsArray(item))
        return refuse(to, "…", "must be an array of strings");
    if (!begin_list(to, (size_t)cJSON_GetArraySize(item)))
        return false;
    cJSON_ArrayForEach(element, item)
    {
        if (!cJSON_IsString(element))
            return refuse(to, "…", "must be an array of strings");
        if (!add_element(to, element->valuestring, strlen(element->valuestring)))
            return false;
    }
    return true;
}

static bool set_list_text(const struct setting *to, const char *text)
{
    if (!begin_list(to, strlen(text) + 1))
        return false;
    while (*text != '\0') {
        text += strspn(text, " ");
        size_t length = strcspn(text, ","), trimmed = length;
        while (trimmed > 0 && text[trimmed - 1] == ' ')
            trimmed--;
        if (trimmed > 0 && !add_element(to, text, trimmed))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static bool set_tree(const struct setting *to, const cJSON *item)
{
    struct status why;
    if (to->option->check != NULL && !to->option->check(item, &why))
        return fail(to->st, INVALID_ARGUMENT, "%s: %s: %s", to->where, to->option->name, why.text);
    to->value->json = cJSON_Duplicate(item, true);
    return to->value->json != NULL || value_no_memory(to);
}

/* JSON text: of a JSON option, or of a list whose elements contain commas. */
static bool set_json_text(const struct setting *to, const char *text)
{
    struct json_document document;
    struct json_limits limits = {.bytes = (size_t)1 << 20};
    if (!json_document_parse(&document, to->where, text, strlen(text), &limits, to->st))
        return false;
    bool good = to->option->type == OPTION_LIST ? set_list_json(to, document.root) : set_tree(to, document.root);
    json_document_fini(&document);
    return good;
}

/* "file:PATH" needs no quotes on the command line and in the environment. The option's owner reads the file. */
static bool set_json_file(const struct setting *to, const char *text)
{
    if (!text_is_clean(text, strlen(text)))
        return refuse(to, "(bytes)", "not UTF-8");
    cJSON *item = cJSON_CreateString(text);
    bool good = item ? set_tree(to, item) : value_no_memory(to);
    cJSON_Delete(item);
    return good;
}

static bool set_text(const struct setting *to, const char *text)
{
    switch (to->option->type) {
    case OPTION_STRING:
        return to->option->secret ? set_secret(to, text) : set_string(to, text);
    case OPTION_CHOICE:
        return set_string(to, text);
    case OPTION_LIST:
        return *text == '[' ? set_json_text(to, text) : set_list_text(to, text);
    case OPTION_JSON:
        return strncmp(text, "file:", 5) == 0 ? set_json_file(to, text) : set_json_text(to, text);
    default:
        return value_set_number(to, text);
    }
}

static bool set_item(const struct setting *to, const cJSON *item)
{
    assert(item);
    char number[CONFIG_NUMBER_SIZE];
    bool whole = cJSON_IsNumber(item) && fabs(item->valuedouble) < EXACT_MAX &&
                 item->valuedouble == (double)(int64_t)item->valuedouble;
    switch (to->option->type) {
    case OPTION_JSON:
        return set_tree(to, item);
    case OPTION_LIST:
        return set_list_json(to, item);
    case OPTION_BOOLEAN:
        if (cJSON_IsBool(item))
            return set_text(to, cJSON_IsTrue(item) ? "true" : "false");
        return refuse(to, cJSON_IsString(item) ? item->valuestring : "…", "must be true or false");
    case OPTION_INTEGER:
        if (!whole)
            return refuse(to, cJSON_IsString(item) ? item->valuestring : "…", "must be a whole number");
        break;
    case OPTION_SIZE:
        if (whole)
            break;
        /* fallthrough */
    default:
        if (cJSON_IsString(item))
            return set_text(to, item->valuestring);
        return refuse(to, "…", "must be a string in double quotes%s",
                      to->option->type == OPTION_DURATION ? ", with its unit: \"3s\"" : "");
    }
    snprintf(number, sizeof number, "%lld", (long long)item->valuedouble);
    return set_text(to, number);
}

/* Sets a fresh value and only then frees the old one. */
static bool value_set(struct config *config, struct config_value *value, const char *text, const cJSON *item,
                      const char *where, struct status *st)
{
    struct config_value fresh = {.option = value->option,
                                 .place = value->place,
                                 .use = value->use,
                                 .fallback = value->fallback,
                                 .variable = value->variable};
    struct setting to = {config, value->option, where, &fresh, st};
    fresh.where = arena_strdup(&config->arena, where);
    if (fresh.where == NULL)
        return value_no_memory(&to);
    if (text != NULL ? !set_text(&to, text) : !set_item(&to, item))
        return false;
    cJSON_Delete(value->json);
    *value = fresh;
    return true;
}

bool config_set_text(struct config *config, struct config_value *value, const char *text, const char *where,
                     struct status *st)
{
    return value_set(config, value, text, NULL, where, st);
}

bool config_set_json(struct config *config, struct config_value *value, const cJSON *item, const char *where,
                     struct status *st)
{
    return value_set(config, value, NULL, item, where, st);
}

bool config_read_item(struct config *config, const struct option *option, const cJSON *item, const char *where,
                      struct config_item *value, struct status *st)
{
    assert(option->type != OPTION_JSON);
    struct config_value fresh = {.option = option};
    struct setting to = {config, option, where, &fresh, st};
    if (!set_item(&to, item))
        return false;
    *value = (struct config_item){fresh.text, fresh.number, fresh.list, fresh.count};
    return true;
}

/* In the largest unit that leaves no remainder. */
static void format_unit(const struct unit *units, size_t count, int64_t number, char out[CONFIG_NUMBER_SIZE])
{
    const struct unit *best = units;
    for (size_t i = 1; i < count; i++) {
        if (number != 0 && number % units[i].size == 0)
            best = &units[i];
    }
    snprintf(out, CONFIG_NUMBER_SIZE, "%lld%s", (long long)(number / best->size), best->name);
}

void config_format_number(const struct option *option, int64_t number, char out[CONFIG_NUMBER_SIZE])
{
    if (option->type == OPTION_BOOLEAN)
        snprintf(out, CONFIG_NUMBER_SIZE, "%s", number != 0 ? "true" : "false");
    else if (option->type == OPTION_DURATION)
        format_unit(duration_units, sizeof duration_units / sizeof *duration_units - 1, number, out);
    else if (option->type == OPTION_SIZE)
        format_unit(size_units, SIZE_UNITS_PRINTED, number, out);
    else
        snprintf(out, CONFIG_NUMBER_SIZE, "%lld", (long long)number);
}
