/* Prices of tokens: "prices": {"gpt-4.1-mini": {"input": 0.40, "output": 1.60}}, in USD for 1,000,000 tokens. */
#include "config/fields.h"
#include "route_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRICES_MAX     4096
#define PRICE_NAME_MAX (2 * ROUTE_NAME_MAX_BYTES + 1)
#define MICROS_MAX     1000000000000LL /* a million USD for a million tokens */
#define UNSAID         (-1)

#define PRICE_FIELD(key, member)                                                                                       \
    {                                                                                                                  \
        .option = {.name = (key), .max = MICROS_MAX}, .kind = FIELD_USD, INTO(struct price, member)                    \
    }

static const struct field fields[] = {
    PRICE_FIELD("input", input_micros),
    PRICE_FIELD("cached_input", cached_input_micros),
    PRICE_FIELD("cache_write", cache_write_micros),
    PRICE_FIELD("output", output_micros),
    {.option = {.name = NULL}},
};

static bool read_price(const struct fields_in *in, const cJSON *item, size_t index, void *data)
{
    struct price_row *row = &routes_in(in)->prices[index];
    struct price *price = &row->price;
    *price = (struct price){UNSAID, UNSAID, UNSAID, UNSAID};
    if (!fields_read(in, item, fields, price))
        return false;
    if (price->input_micros == UNSAID || price->output_micros == UNSAID)
        return fail_at(in->document, item, in->st, "the price of '%s' needs \"input\" and \"output\"; write 0 for free",
                       item->string);
    if (price->cached_input_micros == UNSAID)
        price->cached_input_micros = price->input_micros;
    if (price->cache_write_micros == UNSAID)
        price->cache_write_micros = price->input_micros;
    row->name = arena_strdup(&routes_in(in)->arena, item->string);
    routes_in(in)->price_count = index + 1;
    return row->name || fail(in->st, RESOURCE_EXHAUSTED, "no memory for the price of '%s'", item->string);
}

static int route_price_by_name(const void *left, const void *right)
{
    return strcmp(((const struct price_row *)left)->name, ((const struct price_row *)right)->name);
}

bool prices_read(const struct fields_in *in, const cJSON *object)
{
    struct routes *routes = routes_in(in);
    if (!object)
        return true;
    size_t count = fields_count(object, PRICES_MAX);
    routes->prices = arena_zalloc(&routes->arena, (count + 1) * sizeof *routes->prices);
    if (!routes->prices)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for %zu prices", count);
    if (!fields_each(in, object, PRICES_MAX, PRICE_NAME_MAX, read_price, NULL))
        return false;
    qsort(routes->prices, routes->price_count, sizeof *routes->prices, route_price_by_name);
    return true;
}

static const struct price *route_price_find(const struct routes *routes, const char *name)
{
    struct price_row wanted = {.name = name};
    const struct price_row *row =
        routes->price_count ? bsearch(&wanted, routes->prices, routes->price_count, sizeof wanted, route_price_by_name)
                            : NULL;
    return row ? &row->price : NULL;
}

const struct price *price_find(const struct routes *routes, const char *deployment, const char *model)
{
    char both[PRICE_NAME_MAX + 1];
    snprintf(both, sizeof both, "%s/%s", deployment, model);
    const struct price *price = route_price_find(routes, both);
    return price ? price : route_price_find(routes, model);
}
