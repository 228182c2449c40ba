/* Limits: of deployments, and of clients and tenants: "clients": {"*": {…}, "web-shop": {…}}. */
#include "config/fields.h"
#include "route_priv.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX        10000 /* of clients, and of tenants */
#define CONCURRENCY_MAX 1000000
#define PER_MINUTE_MAX  1000000000000LL
#define USD_MICROS_MAX  1000000000000000LL /* a day */
#define WEIGHT_MAX      1000

static const char EVERYBODY[] = "*";

#define LIMIT_FIELD(member, least, most)                                                                               \
    {                                                                                                                  \
        .option = {.name = #member, .type = OPTION_INTEGER, .min = (least), .max = (most)},                            \
        INTO(struct limits, member)                                                                                    \
    }
#define LIMIT_FIELDS                                                                                                   \
    LIMIT_FIELD(concurrency, 0, CONCURRENCY_MAX), LIMIT_FIELD(requests_per_minute, 0, PER_MINUTE_MAX),                 \
        LIMIT_FIELD(tokens_per_minute, 0, PER_MINUTE_MAX)

static const struct field fields[] = {
    LIMIT_FIELDS,
    LIMIT_FIELD(weight, 1, WEIGHT_MAX),
    {.option = {.name = "usd_per_day", .max = USD_MICROS_MAX}, .kind = FIELD_USD, INTO(struct limits, micros_per_day)},
    {.option = {.name = NULL}},
};

static const struct field deployment_fields[] = {
    LIMIT_FIELDS,
    {.option = {.name = NULL}},
};

bool deployment_limits_read(const struct fields_in *in, const cJSON *object, struct limits *limits)
{
    return !object || fields_read(in, object, deployment_fields, limits);
}

struct filling {
    struct limits_table *table;
    struct limits_row *rows;
};

static bool route_limits_read_row(const struct fields_in *in, const cJSON *item, size_t index, void *data)
{
    struct filling *filling = data;
    struct limits limits = {.weight = 1};
    if (!fields_read(in, item, fields, &limits))
        return false;
    if (strcmp(item->string, EVERYBODY) == 0) {
        filling->table->fallback = limits;
        return true;
    }
    const char *name = arena_strdup(&routes_in(in)->arena, item->string);
    filling->rows[filling->table->count++] = (struct limits_row){name, limits};
    return name || fail(in->st, RESOURCE_EXHAUSTED, "no memory for the limits of '%s'", item->string);
}

static int route_limits_by_name(const void *left, const void *right)
{
    return strcmp(((const struct limits_row *)left)->name, ((const struct limits_row *)right)->name);
}

bool limits_table_read(const struct fields_in *in, const cJSON *object, struct limits_table *table)
{
    if (!object)
        return true;
    struct filling filling = {table, NULL};
    size_t count = fields_count(object, ROWS_MAX);
    filling.rows = arena_zalloc(&routes_in(in)->arena, (count + 1) * sizeof *filling.rows);
    if (!filling.rows)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for %zu rows of limits", count);
    if (!fields_each(in, object, ROWS_MAX, ROUTE_NAME_MAX_BYTES, route_limits_read_row, &filling))
        return false;
    qsort(filling.rows, table->count, sizeof *filling.rows, route_limits_by_name);
    table->rows = filling.rows;
    return true;
}
