#include "proto/usage.h"

#include "google/rpc/status.pb-c.h"

#include <string.h>

#define COUNTS(COUNT)                                                                                                  \
    COUNT(input_tokens)                                                                                                \
    COUNT(output_tokens)                                                                                               \
    COUNT(cached_input_tokens)                                                                                         \
    COUNT(cache_write_tokens)                                                                                          \
    COUNT(reasoning_tokens)                                                                                            \
    COUNT(model_calls)                                                                                                 \
    COUNT(tool_calls)                                                                                                  \
    COUNT(cost_micros)                                                                                                 \
    COUNT(unpriced_calls)

static int64_t usage_plus(int64_t sum, int64_t more)
{
    if (more <= 0)
        return sum;
    return sum < USAGE_SUM_MAX && more < USAGE_SUM_MAX - sum ? sum + more : USAGE_SUM_MAX;
}

void usage_add(Renga__V1__Usage *sum, const Renga__V1__Usage *more)
{
#define COUNT(name) sum->name = usage_plus(sum->name, more->name);
    COUNTS(COUNT)
#undef COUNT
    sum->estimated |= more->estimated;
}

bool usage_is_nothing(const Renga__V1__Usage *usage)
{
    return !(usage->input_tokens | usage->output_tokens | usage->cached_input_tokens | usage->cache_write_tokens |
             usage->reasoning_tokens | usage->model_calls | usage->tool_calls | usage->cost_micros);
}

bool usage_is_sane(const Renga__V1__Usage *usage, const char **field, int64_t *count)
{
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {
#define COUNT(member) {#member, usage->member},
        COUNTS(COUNT)
#undef COUNT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].count >= 0 && rows[i].count <= USAGE_COUNT_MAX)
            continue;
        if (field)
            *field = rows[i].name;
        if (count)
            *count = rows[i].count;
        return false;
    }
    return true;
}

static bool add_detail(const Google__Protobuf__Any *detail, Renga__V1__Usage *sum)
{
    if (strcmp(detail->type_url, USAGE_URL) != 0)
        return false;
    Renga__V1__Usage *spent = renga__v1__usage__unpack(NULL, detail->value.len, detail->value.data);
    bool good = spent && usage_is_sane(spent, NULL, NULL);
    if (good)
        usage_add(sum, spent);
    renga__v1__usage__free_unpacked(spent, NULL);
    return good;
}

bool usage_of_details(const void *details, size_t size, Renga__V1__Usage *sum)
{
    bool told = false;
    Google__Rpc__Status *status = google__rpc__status__unpack(NULL, size, details);
    for (size_t i = 0; status && i < status->n_details; i++)
        told |= add_detail(status->details[i], sum);
    google__rpc__status__free_unpacked(status, NULL);
    return told;
}
