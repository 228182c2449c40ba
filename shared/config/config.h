/* Configuration: each option is one row in a table of its folder, with type, default, range and help. Its value comes
 * from these sources, and the last one wins: the default, the file (--config FILE or RENGA_CONFIG), the environment
 * (RENGA_RPC_LISTEN for "rpc.listen"), the flag (--rpc.listen=… or --rpc.listen …, --no-x for booleans). Unknown names,
 * malformed values and values out of range are refused with their place and the remedy.
 *
 * The file is JSON with comments and trailing commas; dots are levels: {"rpc": {"listen": "…"}}. */
#ifndef RENGA_CONFIG_CONFIG_H
#define RENGA_CONFIG_CONFIG_H

#include "base/buffer.h"
#include "base/status.h"
#include "json/json.h"

#include <stdint.h>

enum option_type {
    OPTION_STRING,
    OPTION_INTEGER,
    OPTION_BOOLEAN,
    OPTION_DURATION, /* "500ms", "3s", "1m30s", "2h", "7d"; kept in milliseconds */
    OPTION_SIZE,     /* "64MiB", "10kB", 4096; kept in bytes */
    OPTION_CHOICE,   /* one of `choices` */
    OPTION_LIST,     /* of strings: an array, or text with commas */
    OPTION_JSON,     /* a subtree that its owner reads */
};

/* A table ends with an entry without a name. */
struct option {
    const char *name; /* "rpc.listen": words of a-z, 0-9, _ and -, joined by dots */
    enum option_type type;
    const char *fallback; /* as it would be written for a flag; NULL leaves a string, list or JSON unset */
    long long min, max;   /* of numbers, durations (ms) and sizes (bytes); both 0: no range */
    const char *choices;  /* "a|b|c" */
    const char *help;     /* a sentence or two */
    const char *unit;     /* the value's name in the help: "ADDRESS", "CONNECTIONS"; may be NULL */
    bool secret;          /* never printed; a string may be given as file:PATH or env:NAME */
    /* Of JSON options, may be NULL: whether the owner will be able to read it. */
    bool (*check)(const cJSON *value, struct status *st);
};

/* Rows of a table. Without a fallback or a unit: NULL; without a range: 0, 0. A row with a secret or a check is written
 * in full. */
#define OPTION_ROW(NAME, TYPE, FALLBACK, HELP, ...)                                                                    \
    {                                                                                                                  \
        .name = (NAME), .type = OPTION_##TYPE, .fallback = (FALLBACK), .help = (HELP), __VA_ARGS__                     \
    }
#define STRING_OPTION(NAME, FALLBACK, UNIT, HELP)    OPTION_ROW(NAME, STRING, FALLBACK, HELP, .unit = (UNIT))
#define LIST_OPTION(NAME, FALLBACK, UNIT, HELP)      OPTION_ROW(NAME, LIST, FALLBACK, HELP, .unit = (UNIT))
#define BOOLEAN_OPTION(NAME, FALLBACK, HELP)         OPTION_ROW(NAME, BOOLEAN, FALLBACK, HELP, .unit = NULL)
#define CHOICE_OPTION(NAME, FALLBACK, CHOICES, HELP) OPTION_ROW(NAME, CHOICE, FALLBACK, HELP, .choices = (CHOICES))
#define DURATION_OPTION(NAME, FALLBACK, MIN, MAX, HELP)                                                                \
    OPTION_ROW(NAME, DURATION, FALLBACK, HELP, .min = (MIN), .max = (MAX))
#define SIZE_OPTION(NAME, FALLBACK, MIN, MAX, HELP) OPTION_ROW(NAME, SIZE, FALLBACK, HELP, .min = (MIN), .max = (MAX))
#define INTEGER_OPTION(NAME, FALLBACK, MIN, MAX, UNIT, HELP)                                                           \
    OPTION_ROW(NAME, INTEGER, FALLBACK, HELP, .min = (MIN), .max = (MAX), .unit = (UNIT))

/* The effect of an option in this process. */
enum option_use {
    OPTION_SHOWN,   /* --help explains it: all are so at first */
    OPTION_FURTHER, /* --help-all explains it, --help only names it */
    OPTION_IDLE,    /* no effect here; it keeps its default, and its flag is refused. Values of the file and the
                       environment are meant for other processes and are not read */
};

enum config_request { CONFIG_RUN, CONFIG_SHOW_HELP, CONFIG_SHOW_HELP_ALL, CONFIG_SHOW_VERSION, CONFIG_SHOW_CONFIG };

struct config;

/* All options at their defaults; NULL if a table contradicts itself or another (INTERNAL). The tables are borrowed. */
struct config *config_create(const struct option *const *tables, size_t count, struct status *st);
void config_destroy(struct config *config);

/* Replaces a table's default, before config_read. An unknown name is a bug and fatal; false if `text` is not of the
 * option's type. */
bool config_set_default(struct config *config, const char *name, const char *text, struct status *st);

/* Before config_read. An unknown name is our own bug and fatal. */
void config_use(struct config *config, const char *name, enum option_use use);

/* Reads flags, file and environment; with --help or --version the flags alone. After a failure only config_destroy is
 * left. Positional arguments are borrowed from `argv`. */
bool config_read(struct config *config, int argc, char *const *argv, struct status *st);

/* The request of the flags; for other values than CONFIG_RUN the caller prints it and ends with 0. */
enum config_request config_request(const struct config *config);

/* The arguments that are not flags, in order, NULL-terminated; `count` may be NULL. */
const char *const *config_arguments(const struct config *config, size_t *count);

/* An unknown name or a wrong type is a bug and fatal. All results are borrowed from `config`. */
const char *config_string(const struct config *config, const char *name); /* or choice; NULL if unset */
int64_t config_integer(const struct config *config, const char *name);
bool config_boolean(const struct config *config, const char *name);
int64_t config_duration_ms(const struct config *config, const char *name);
int64_t config_size(const struct config *config, const char *name);
const char *const *config_list(const struct config *config, const char *name, size_t *count);
const cJSON *config_json(const struct config *config, const char *name); /* NULL if unset */

/* One value in a document whose objects have tables of their own, read as an option of that type. Not for OPTION_JSON.
 * `value` points into `config`, which may have no options: it keeps secrets in memory that is left out of core dumps.
 * The error begins with `where`. */
struct config_item {
    const char *text;        /* of strings and choices */
    int64_t number;          /* of integers, booleans, durations (ms) and sizes (bytes) */
    const char *const *list; /* of lists */
    size_t count;
};
bool config_read_item(struct config *config, const struct option *option, const cJSON *item, const char *where,
                      struct config_item *value, struct status *st);

/* The source of the value: "default", "renga.jsonc:3:5", "RENGA_RPC_LISTEN", "--rpc.listen". */
const char *config_source(const struct config *config, const char *name);

/* The effective configuration, as a file that reads back to the same values, each with its source. Secrets and unset
 * options are commented out. */
void config_print(const struct config *config, struct buffer *out);

struct config_help {
    const char *about;    /* the purpose of the program; may be NULL */
    const char *usage;    /* follows "Usage: " */
    const char *examples; /* a line each; may be NULL */
    unsigned width;       /* columns; 0: those of the terminal, 100 at most */
};

/* The help text that was asked for: options in the order of their tables, by the first word of their names. */
void config_help(const struct config *config, const struct config_help *help, struct buffer *out);

#endif
