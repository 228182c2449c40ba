#include "store/redis/settings.h"

#include "base/file.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX            2048 /* bytes */
#define UNAVAILABLE_MS     2500
#define UNAVAILABLE_MS_MIN 100
#define UNAVAILABLE_MS_MAX 60000
#define REPLICAS_MAX       16

/* The parameters after the '?', one row a word. `value` is of the URL and ends with a NUL. */
struct parameter {
    const char *name, *right; /* how a right one looks */
    bool (*read)(struct redis_settings *settings, const char *value);
};

static bool settings_read_number(const char *text, long min, long max, long *number)
{
    char *end;
    *number = strtol(text, &end, 10);
    return end != text && *end == '\0' && *number >= min && *number <= max;
}

static bool settings_read_path(char path[PATH_MAX], const char *value)
{
    return *value != '\0' && snprintf(path, PATH_MAX, "%s", value) < PATH_MAX;
}

static bool settings_read_name(struct redis_settings *settings, const char *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t size = strspn(value, letters);
    if (size == 0 || size >= REDIS_NAME_MAX || value[size] != '\0')
        return false;
    memcpy(settings->name, value, size + 1);
    return true;
}

static bool read_durability(struct redis_settings *settings, const char *value)
{
    settings->weak = strcmp(value, "weak") == 0;
    return settings->weak || strcmp(value, "full") == 0;
}

static bool read_replicas(struct redis_settings *settings, const char *value)
{
    long number;
    bool good = settings_read_number(value, 0, REPLICAS_MAX, &number);
    settings->replicas = (int)number;
    return good;
}

static bool read_timeout(struct redis_settings *settings, const char *value)
{
    long number;
    bool good = settings_read_number(value, UNAVAILABLE_MS_MIN, UNAVAILABLE_MS_MAX, &number);
    settings->unavailable_ms = number;
    return good;
}

static bool read_database(struct redis_settings *settings, const char *value)
{
    long number;
    bool good = settings_read_number(value, 0, 9999, &number);
    settings->target.database = (int)number;
    return good;
}

/* Its first line, as editors leave one at the end. */
static bool read_password(struct redis_settings *settings, const char *value)
{
    struct buffer file;
    struct status st = {0};
    buffer_init(&file, REDIS_WORD_MAX);
    bool good = file_read(value, &file, &st);
    if (good) {
        size_t size = strcspn(buffer_text(&file), "\r\n");
        good = size > 0 && redis_target_word(settings->target.password, buffer_text(&file), size);
        OPENSSL_cleanse(file.data, file.length);
    }
    buffer_fini(&file);
    return good;
}

static bool read_authorities(struct redis_settings *settings, const char *value)
{
    return settings_read_path(settings->authorities, value);
}

static bool read_certificate(struct redis_settings *settings, const char *value)
{
    return settings_read_path(settings->certificate, value);
}

static bool settings_read_key(struct redis_settings *settings, const char *value)
{
    return settings_read_path(settings->key, value);
}

static const struct parameter parameters[] = {
    {"name", "up to 32 letters, digits, '_', '-' and '.'", settings_read_name},
    {"durability", "'full' or 'weak'", read_durability},
    {"replicas", "a number from 0 to 16", read_replicas},
    {"timeout", "milliseconds from 100 to 60000", read_timeout},
    {"db", "a number from 0 to 9999", read_database},
    {"password_file", "a file whose first line is the password", read_password},
    {"authorities", "a file in PEM", read_authorities},
    {"certificate", "a file in PEM", read_certificate},
    {"key", "a file in PEM", settings_read_key},
};

static const struct parameter *settings_find(const char *name)
{
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return &parameters[i];
    return NULL;
}

static bool read_parameter(struct redis_settings *settings, char *text, struct status *st)
{
    char *value = strchr(text, '=');
    if (value != NULL)
        *value++ = '\0';
    const struct parameter *parameter = settings_find(text);
    if (parameter == NULL || value == NULL)
        return fail(st, INVALID_ARGUMENT,
                    "the store's URL has something behind its '?' that is no parameter; there are name, durability, "
                    "replicas, timeout, db, password_file, authorities, certificate and key, as NAME=VALUE");
    if (!parameter->read(settings, value))
        return fail(st, parameter->read == read_password ? FAILED_PRECONDITION : INVALID_ARGUMENT,
                    "'%s' of the store's URL is not right; it is %s", parameter->name, parameter->right);
    return true;
}

static bool read_parameters(struct redis_settings *settings, char *text, struct status *st)
{
    char *rest;
    for (char *one = strtok_r(text, "&", &rest); one != NULL; one = strtok_r(NULL, "&", &rest))
        if (!read_parameter(settings, one, st))
            return false;
    return true;
}

bool redis_settings_read(struct redis_settings *settings, const char *url, struct status *st)
{
    char text[URL_MAX];
    *settings = (struct redis_settings){.name = "store", .unavailable_ms = UNAVAILABLE_MS};
    if (strlen(url) >= sizeof text)
        return fail(st, INVALID_ARGUMENT, "the store's URL has %zu bytes; the most is %zu", strlen(url),
                    sizeof text - 1);
    memcpy(text, url, strlen(url) + 1);
    char *mark = strchr(text, '?');
    if (mark != NULL)
        *mark++ = '\0';
    bool good = redis_target_parse("the store's URL", text, &settings->target, st) &&
                (mark == NULL || read_parameters(settings, mark, st));
    OPENSSL_cleanse(text, sizeof text);
    return good;
}

void redis_settings_fini(struct redis_settings *settings)
{
    OPENSSL_cleanse(settings, sizeof *settings);
}
