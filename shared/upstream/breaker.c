#include "upstream/breaker.h"

#include "base/clock.h"
#include "base/machine.h"

#include <assert.h>
#include <string.h>

static const char *const circuits[] = {"closed", "open", "half-open"};
static const uint32_t circuit_moves[] = {
    [CIRCUIT_CLOSED] = MACHINE_TO(CIRCUIT_OPEN),
    [CIRCUIT_OPEN] = MACHINE_TO(CIRCUIT_HALF_OPEN),
    [CIRCUIT_HALF_OPEN] = MACHINE_TO(CIRCUIT_OPEN) | MACHINE_TO(CIRCUIT_CLOSED),
};
static const struct machine breaker_machine = MACHINE("breaker", circuits, circuit_moves);

const char *circuit_name(unsigned circuit)
{
    return machine_state_name(&breaker_machine, circuit);
}

static void breaker_move(struct breaker *breaker, enum circuit to)
{
    machine_move(&breaker_machine, &breaker->circuit, to);
    breaker->period++;
    breaker->in_a_row = breaker->trials = breaker->successes = 0;
}

static void breaker_open(struct breaker *breaker, int64_t now_ns)
{
    int64_t rest_ms = breaker->rest_ms ? breaker->rest_ms * 2 : BREAKER_REST_MS;
    breaker->rest_ms = rest_ms < BREAKER_REST_MAX_MS ? rest_ms : BREAKER_REST_MAX_MS;
    breaker->open_until_ns = now_ns + breaker->rest_ms * NS_PER_MS;
    breaker->opened++;
    breaker_move(breaker, CIRCUIT_OPEN);
}

static void breaker_close(struct breaker *breaker)
{
    breaker->rest_ms = 0;
    memset(breaker->window, 0, sizeof breaker->window);
    breaker_move(breaker, CIRCUIT_CLOSED);
}

/* ---- the start of a request -------------------------------------------------------------------------------------- */

bool breaker_allows(const struct breaker *breaker, int64_t now_ns, int64_t *wait_ms)
{
    *wait_ms = 0;
    if (breaker->circuit == CIRCUIT_HALF_OPEN)
        return breaker->trials < BREAKER_TRIALS;
    if (breaker->circuit == CIRCUIT_CLOSED || now_ns >= breaker->open_until_ns)
        return true;
    *wait_ms = (breaker->open_until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return false;
}

uint32_t breaker_take(struct breaker *breaker, int64_t now_ns)
{
    if (breaker->circuit == CIRCUIT_OPEN) {
        assert(now_ns >= breaker->open_until_ns);
        breaker_move(breaker, CIRCUIT_HALF_OPEN);
    }
    if (breaker->circuit == CIRCUIT_HALF_OPEN)
        breaker->trials++;
    return breaker->period;
}

/* ---- the end of a request ---------------------------------------------------------------------------------------- */

static bool breaker_half_failed(const struct breaker *breaker, int64_t now_ns)
{
    int64_t second = now_ns / NS_PER_SEC;
    unsigned all = 0, bad = 0;
    for (unsigned i = 0; i < BREAKER_WINDOW_SECONDS; i++)
        if (breaker->window[i].second > second - BREAKER_WINDOW_SECONDS) {
            all += breaker->window[i].all;
            bad += breaker->window[i].bad;
        }
    return all >= BREAKER_WINDOW_MIN && bad * 2 >= all;
}

static void breaker_judge_closed(struct breaker *breaker, int64_t now_ns, bool bad)
{
    int64_t second = now_ns / NS_PER_SEC;
    struct breaker_second *now = &breaker->window[second % BREAKER_WINDOW_SECONDS];
    if (now->second != second)
        *now = (struct breaker_second){.second = second};
    now->all++;
    now->bad += bad;
    breaker->in_a_row = bad ? breaker->in_a_row + 1 : 0;
    if (bad && (breaker->in_a_row >= BREAKER_FAILURES || breaker_half_failed(breaker, now_ns)))
        breaker_open(breaker, now_ns);
}

static void breaker_judge_trial(struct breaker *breaker, int64_t now_ns, enum breaker_verdict verdict)
{
    assert(breaker->trials > 0);
    breaker->trials--;
    if (verdict == BREAKER_BAD)
        breaker_open(breaker, now_ns);
    else if (verdict == BREAKER_GOOD && ++breaker->successes >= BREAKER_SUCCESSES)
        breaker_close(breaker);
}

void breaker_judge(struct breaker *breaker, int64_t now_ns, uint32_t period, enum breaker_verdict verdict)
{
    if (period != breaker->period)
        return;
    if (breaker->circuit == CIRCUIT_HALF_OPEN)
        breaker_judge_trial(breaker, now_ns, verdict);
    else if (verdict != BREAKER_NEITHER)
        breaker_judge_closed(breaker, now_ns, verdict == BREAKER_BAD);
}
