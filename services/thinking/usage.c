#include "thinking/usage.h"

#include "google/rpc/status.pb-c.h"

#include <string.h>

#define COUNT_MAX (INT64_C(1) << 50) /* of what a peer tells; more is nonsense, and would run over */

void usage_add(Renga__V1__Usage *sum, const Renga__V1__Usage *more)
{
    sum->input_tokens += more->input_tokens;
    sum->output_tokens += more->output_tokens;
    sum->cached_input_tokens += more->cached_input_tokens;
    sum->cache_write_tokens += more->cache_write_tokens;
    sum->reasoning_tokens += more->reasoning_tokens;
    sum->model_calls += more->model_calls;
    sum->tool_calls += more->tool_calls;
    sum->cost_micros += more->cost_micros;
    sum->estimated |= more->estimated;
}

bool usage_is_nothing(const Renga__V1__Usage *usage)
{
    return !(usage->input_tokens | usage->output_tokens | usage->cached_input_tokens | usage->cache_write_tokens |
             usage->reasoning_tokens | usage->model_calls | usage->tool_calls | usage->cost_micros);
}

static bool is_sane(const Renga__V1__Usage *usage)
{
    const int64_t counts[] = {usage->input_tokens,       usage->output_tokens,    usage->cached_input_tokens,
                              usage->cache_write_tokens, usage->reasoning_tokens, usage->model_calls,
                              usage->tool_calls,         usage->cost_micros};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > COUNT_MAX)
            return false;
    return true;
}

static bool add_detail(const Google__Protobuf__Any *detail, Renga__V1__Usage *sum)
{
    if (strcmp(detail->type_url, USAGE_URL) != 0)
        return false;
    Renga__V1__Usage *spent = renga__v1__usage__unpack(NULL, detail->value.len, detail->value.data);
    bool good = spent && is_sane(spent);
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
