#include "thinking/usage.h"

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
