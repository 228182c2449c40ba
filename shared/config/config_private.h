/* The private interface between the configuration's files. */
#ifndef RENGA_CONFIG_PRIVATE_H
#define RENGA_CONFIG_PRIVATE_H

#include "base/arena.h"
#include "config/config.h"

#define CONFIG_NAME_MAX 64 /* bytes of an option's name, the NUL included */
#define CONFIG_PREFIX   "RENGA_"

/* One option and its value. Unset: text, list and json are NULL. */
struct config_value {
    const struct option *option;
    size_t place; /* among all options, as the tables have them */
    enum option_use use;
    const char *fallback; /* the table's, or this program's own; NULL: unset */
    const char *variable; /* of the environment */
    const char *where;
    const char *text;
    int64_t number; /* integer, boolean, milliseconds, bytes */
    const char **list;
    size_t count;
    cJSON *json;
};

struct config {
    struct arena arena;
    struct arena secrets; /* in memory that stays out of core dumps */
    void *secret_memory;
    struct config_value *values; /* by name */
    size_t count;
    enum config_request request;
    const char **arguments;
    size_t argument_count;
};

struct config_value *config_find(const struct config *config, const char *name);

/* Sets an option from the text of a default, variable or flag, or from an item of a file. `where` is copied; the error
 * begins with it. */
bool config_set_text(struct config *config, struct config_value *value, const char *text, const char *where,
                     struct status *st);
bool config_set_json(struct config *config, struct config_value *value, const cJSON *item, const char *where,
                     struct status *st);

/* A number as it would be written for this option: "3s", "64MiB", "true". */
#define CONFIG_NUMBER_SIZE 32
void config_format_number(const struct option *option, int64_t number, char out[CONFIG_NUMBER_SIZE]);

#endif
