/* A single budget per run for requests to models that fail. The run's nodes and branches, the gateway and its repairs
 * of JSON share it, in every process that runs attempts. The loop of the run grants all requests, and takes back the
 * unused requests.
 *
 *      attempt begins ---- allowed = 1 + share ----> RunNodeRequest.model_requests ----> ChatRequest.max_model_calls
 *                                                                                              |
 *      attempt ends <--- its share is free again; its failed requests count <--- Usage.model_calls
 *
 * Each node has its first request; the bound is on all others of attempts that bring no answer. At most SHARED_MAX are
 * repeats within attempts, and less than FAILED_MAX are first requests of further attempts. Each ANSWERS nodes with an
 * answer to their first request add 1 to the bound. Proof: repeats are handed out while failed + held stays within
 * SHARED_MAX, and each used repeat is held or has failed. A further attempt is granted after a failure, while failed +
 * granted is less than FAILED_MAX.
 *
 * The budget is kept in memory: a run that another process takes over begins with a full budget. An attempt that is
 * lost with its worker begins anew as a first attempt. */
#include "model_retries.h"
#include "graph/node_kind.h"
#include "thread/frame.h"
#include "thread/run.h"

#define FAILED_MAX 6  /* failed requests: then each attempt is a single request */
#define ANSWERS    10 /* that make up for a failed request: a tenth of requests may fail for ever */
#define SHARED_MAX 8  /* repeats that attempts at work may have together, while no request has failed */
#define SHARE_MAX  2  /* repeats of an attempt that runs alone; an attempt beside others has 1 */

static unsigned requests_minus(unsigned number, unsigned part)
{
    return number > part ? number - part : 0;
}

/* ---- the allowance of an attempt --------------------------------------------------------------------------------- */

/* Once a request has failed, the first request of an attempt counts, too. */
void activation_take_requests(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    unsigned wanted = run_is_parallel(run) ? 1 : SHARE_MAX, share, first = 0;
    if (!activation->node->kind->asks_models)
        return;
    activation_release_requests(activation);
    if (run->failed_requests) {
        unsigned room = requests_minus(FAILED_MAX, run->failed_requests + run->held_requests + run->granted_retries);
        first = room > 0;
        share = requests_minus(room, 1);
    } else {
        share = requests_minus(SHARED_MAX, run->held_requests);
    }
    if (share > wanted)
        share = wanted;
    activation->allowed_requests = 1 + share;
    activation->held_requests = first + share;
    run->held_requests += activation->held_requests;
}

void activation_release_requests(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    run->held_requests -= activation->held_requests;
    run->granted_retries -= activation->granted_retry;
    activation->held_requests = 0;
    activation->granted_retry = false;
}

/* A node of the agent's own asks models as often as it likes: it is told the rest, without a reservation. */
int32_t activation_model_requests(const struct activation *activation)
{
    const struct run *run = frame_run(activation->frame);
    if (activation->node->kind->asks_models)
        return (int32_t)activation->allowed_requests;
    unsigned left = requests_minus(FAILED_MAX, run->failed_requests);
    return !run->failed_requests ? 0 : left ? (int32_t)left : 1;
}

/* ---- its use ----------------------------------------------------------------------------------------------------- */

static void requests_count_failed(struct run *run, unsigned failed)
{
    run->failed_requests += failed;
    if (run->failed_requests > FAILED_MAX)
        run->failed_requests = FAILED_MAX;
}

static unsigned requests_of(const struct activation *activation, const Renga__V1__Usage *usage)
{
    int64_t calls = usage && activation->node->kind->asks_models ? usage->model_calls : 0;
    return calls <= 0 ? 0 : calls < activation->allowed_requests ? (unsigned)calls : activation->allowed_requests;
}

void activation_requests_failed(struct activation *activation, bool unknown)
{
    bool asks = activation->node->kind->asks_models;
    activation->failed_requests =
        unknown && asks ? activation->allowed_requests : requests_of(activation, activation->spent);
    requests_count_failed(frame_run(activation->frame), activation->failed_requests);
    if (activation->failed_requests)
        activation->tries += activation->failed_requests - 1;
}

bool activation_may_retry(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    if (activation->tries >= activation->node->retry.attempts)
        return false;
    if (!activation->failed_requests)
        return true;
    activation->granted_retry = run->failed_requests + run->granted_retries < FAILED_MAX;
    run->granted_retries += activation->granted_retry;
    return activation->granted_retry;
}

/* No model has answered: the planner or the reviewer used its fallback. */
static bool activation_used_fallback(const struct activation *activation)
{
    const Response *response = activation->response;
    bool degraded = false;
    for (size_t i = 0; i < response->n_degradations; i++)
        degraded = degraded || response->degradations[i]->status_code != OK;
    return degraded && activation->node->kind->has_fallback;
}

void activation_requests_answered(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    unsigned requests = requests_of(activation, activation->response->usage);
    if (!activation->node->kind->asks_models)
        return;
    if (activation_used_fallback(activation)) {
        requests_count_failed(run, requests ? requests : 1); /* a gateway that failed does not say how many */
    } else if (requests == 1 && run->failed_requests && ++run->answers >= ANSWERS) {
        run->failed_requests--;
        run->answers = 0;
    }
}

void run_reset_retry_budget(struct run *run)
{
    run->failed_requests = run->answers = 0;
}
