/* The parts of requests and responses that all typed services share. */
#include "agent_run.h"

#include "proto/contract_check.h"

#include <string.h>

static bool check_language(const char *tag, struct status *st)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t first = strcspn(tag, "-");
    if (!*tag)
        return true;
    if (strspn(tag, known) != strlen(tag) || first < 2 || first > 3)
        return fail_field(st, "options.language", "is '%.64s', which is no BCP 47 tag; such as \"ja\" or \"en-GB\"",
                          tag);
    return true;
}

bool agent_request_check(const ProtobufCMessage *request, const Renga__V1__AgentOptions *options, struct status *st)
{
    return contract_check(request, st) && (!options || check_language(options->language, st));
}

static bool agent_options_is_same(const Renga__V1__Degradation *a, const Renga__V1__Degradation *b)
{
    return a->kind == b->kind && a->status_code == b->status_code && strcmp(a->part, b->part) == 0 &&
           strcmp(a->reason, b->reason) == 0;
}

/* Removes duplicates: a degradation of several calls is reported once. */
static size_t unite(Renga__V1__Degradation **list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t other = 0;
        while (other < kept && !agent_options_is_same(list[other], list[i]))
            other++;
        if (other == kept)
            list[kept++] = list[i];
    }
    return kept;
}

Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run)
{
    Renga__V1__AgentOutcome *outcome = arena_alloc(arena, sizeof *outcome);
    if (!outcome)
        return NULL;
    renga__v1__agent_outcome__init(outcome);
    outcome->run_id = run->run_id;
    outcome->thread_id = run->thread_id;
    outcome->state = run->state;
    outcome->stop_reason = run->stop_reason;
    outcome->stop_text = run->stop_text;
    outcome->usage = run->usage;
    outcome->degradations = run->degradations;
    outcome->n_degradations = unite(outcome->degradations, run->n_degradations);
    outcome->interrupts = run->interrupts;
    outcome->n_interrupts = run->n_interrupts < 100 ? run->n_interrupts : 100;
    return outcome;
}
