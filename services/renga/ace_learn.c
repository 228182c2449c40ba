/* `renga ace learn` and `eval`: requests of Adapt, one after the other, each a durable run with a name of its own.
 *
 *      samples measured before ---> epochs × batches learnt ---> samples measured after ---> the figures
 *          '--- Ctrl-C, no time, a lost suite ---> the run is cancelled; the same command goes on with it (ledger) */
#include "ace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CANCEL_MS 5000
#define SOON_MS   30000

/* ---- a request --------------------------------------------------------------------------------------------------- */

static void ace_event_received(const Renga__V1__AdaptEvent *event, void *data)
{
    struct ace_learning *learning = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        command_call_ended(&learning->call);
        return;
    }
    reconnect_succeeded(&learning->reconnect);
    if (event->event_id)
        learning->how.after_event_id = event->event_id;
    if (event->event_case == RENGA__V1__ADAPT_EVENT__EVENT_ACCEPTED && !*learning->run_id) {
        snprintf(learning->run_id, sizeof learning->run_id, "%s", event->accepted->run_id);
        ace_ledger_accepted(&learning->ledger, &learning->step, learning->run_id);
    } else if (event->event_case == RENGA__V1__ADAPT_EVENT__EVENT_SAMPLE) {
        learning->done++;
        ace_view_sample(learning, event->sample);
    } else if (event->event_case == RENGA__V1__ADAPT_EVENT__EVENT_RESULT) {
        learning->result =
            (const Renga__V1__AdaptResult *)rpc_message_copy(&learning->ace->memory, &event->result->base);
    }
}

static void ace_adapt_begin(struct command_call *call)
{
    struct ace_learning *learning = (struct ace_learning *)call;
    renga__v1__ace_generator__adapt(learning->ace->generator, &learning->request, ace_event_received, &call->call);
}

/* A run that an interrupted command has left goes on. It is no fault if it is at work, or unknown by now. */
static void ace_resume_run(struct ace_learning *learning)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    const char *run = ace_ledger_run(&learning->ledger, &learning->step);
    if (!run)
        return;
    request.run_id = command_text(run);
    orchestrator_client_try(&learning->ace->client, "ResumeRun", &request.base, SOON_MS, NULL, NULL);
    snprintf(learning->run_id, sizeof learning->run_id, "%s", run);
}

static void ace_prepare(struct ace_learning *learning, const struct ace_samples *samples, size_t count)
{
    const struct config *config = learning->ace->client.config;
    bool learns = learning->stage == ACE_LEARN, online = strcmp(config_string(config, "mode"), "online") == 0;
    renga__v1__adapt_request__init(&learning->request);
    renga__v1__agent_options__init(&learning->how);
    snprintf(learning->request_id, sizeof learning->request_id, "%s-%d-%d-%zu", learning->ledger.id,
             (int)learning->step.stage, learning->step.epoch, learning->step.first);
    learning->how.request_id = learning->request_id;
    learning->how.keep_running = true;
    learning->how.model = command_text(config_string(config, "model"));
    learning->how.language = command_text(config_string(config, "language"));
    learning->request.options = &learning->how;
    learning->request.dataset = command_text(learning->ace->dataset);
    learning->request.mode = !learns  ? RENGA__V1__ADAPT_MODE__ADAPT_MODE_EVALUATE
                             : online ? RENGA__V1__ADAPT_MODE__ADAPT_MODE_ONLINE
                                      : RENGA__V1__ADAPT_MODE__ADAPT_MODE_OFFLINE;
    learning->request.samples = samples->list + learning->step.first;
    learning->request.n_samples = count;
    learning->request.reflection_rounds = (int32_t)config_integer(config, "rounds");
    learning->request.token_budget = config_integer(config, "budget");
    learning->request.top_k = (int32_t)config_integer(config, "top_k");
    *learning->run_id = '\0';
    learning->result = NULL;
}

/* A suite that falls silent is asked again from the last event on. */
static bool ace_wait(struct ace_learning *learning)
{
    struct orchestrator_client *client = &learning->ace->client;
    learning->call.begin = ace_adapt_begin;
    learning->call.cancels = true;
    for (;;) {
        command_call_prepare(&learning->call, client->process, config_duration_ms(client->config, "timeout"));
        if (command_call_wait(&learning->call) && learning->result)
            return true;
        orchestrator_client_note(client, &learning->call);
        ace_view_erase(learning);
        if (command_interrupted() || client->status.code != UNAVAILABLE || !config_string(client->config, CONNECT) ||
            !reconnect_retry(&learning->reconnect))
            return false;
    }
}

static void ace_cancel(struct ace_learning *learning)
{
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    struct orchestrator_client *client = &learning->ace->client;
    struct status told = client->status;
    request.run_id = learning->run_id;
    request.reason = command_text("the person who waited for it went away");
    if (*learning->run_id)
        orchestrator_client_try(client, "CancelRun", &request.base, CANCEL_MS, NULL, NULL);
    client->status = told;
}

static int ace_failed(struct ace_learning *learning)
{
    const struct status *status = &learning->ace->client.status;
    bool interrupted = command_interrupted();
    command_call_report(&learning->call, ACE);
    if (interrupted || status->code == DEADLINE_EXCEEDED)
        ace_cancel(learning);
    if (*learning->ledger.path && *learning->run_id)
        fputs(ACE ": the same command goes on from here; --anew begins anew\n", stderr);
    return interrupted                                                               ? COMMAND_INTERRUPTED
           : status->code == INVALID_ARGUMENT || status->code == FAILED_PRECONDITION ? COMMAND_USAGE
                                                                                     : COMMAND_FAILED;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void ace_add_result(struct ace_learning *learning)
{
    Renga__V1__AdaptResult *sum = &learning->sums[learning->stage];
    const Renga__V1__AdaptResult *result = learning->result;
    if (!learning->step.first) { /* of the last epoch alone */
        sum->judged = sum->correct = 0;
        if (learning->step.epoch == 1)
            sum->revision_before = result->revision_before;
    }
    sum->judged += result->judged;
    sum->correct += result->correct;
    sum->failed += result->failed;
    sum->added += result->added;
    sum->updated += result->updated;
    sum->merged += result->merged;
    sum->deleted += result->deleted;
    sum->proposed += result->proposed;
    sum->dropped += result->dropped;
    sum->revision_after = result->revision_after;
    if (result->outcome)
        ace_add_usage(&learning->usage, result->outcome->usage);
}

static int ace_step(struct ace_learning *learning, const struct ace_samples *samples, size_t count)
{
    ace_prepare(learning, samples, count);
    learning->result = ace_ledger_result(&learning->ledger, &learning->step, &learning->ace->memory);
    if (learning->result) {
        learning->resumed++;
        learning->done += count;
        ace_add_result(learning);
        return COMMAND_OK;
    }
    ace_resume_run(learning);
    if (!ace_wait(learning))
        return ace_failed(learning);
    ace_ledger_ended(&learning->ledger, &learning->step, learning->result);
    ace_add_result(learning);
    return COMMAND_OK;
}

static int ace_go_through(struct ace_learning *learning, enum ace_stage stage, const struct ace_samples *samples,
                          int epochs)
{
    int code = COMMAND_OK;
    learning->stage = stage;
    learning->gone[stage] = true;
    for (int epoch = 1; epoch <= epochs; epoch++) {
        learning->epoch = epoch;
        learning->done = 0;
        for (size_t first = 0, count; code == COMMAND_OK && first < samples->count; first += count) {
            count = ace_samples_batch(samples, first);
            learning->step = (struct ace_step){stage, epoch, first};
            code = ace_step(learning, samples, count);
        }
    }
    ace_view_erase(learning);
    return code;
}

/* Opens the ledger; its identity is made of all options that affect the learning. */
static void ace_open_ledger(struct ace_learning *learning, bool learns)
{
    const struct config *config = learning->ace->client.config;
    const char *connect = config_string(config, CONNECT), *model = config_string(config, "model");
    char identity[1024];
    snprintf(identity, sizeof identity,
             "%s|%.200s|%.128s|%.16s|%.16s|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%.128s",
             learns ? "learn" : "eval", connect ? connect : "", learning->ace->dataset, learning->samples.digest,
             learning->measured.digest, config_string(config, "mode"), config_integer(config, "epochs"),
             config_integer(config, "rounds"), config_integer(config, "budget"), config_integer(config, "top_k"),
             model ? model : "");
    ace_ledger_open(&learning->ledger, identity, config_boolean(config, "anew"));
}

static bool ace_read_files(struct ace_learning *learning, bool learns)
{
    struct ace *ace = learning->ace;
    const char *measured = config_string(ace->client.config, "measure");
    struct status st = {0};
    bool online = strcmp(config_string(ace->client.config, "mode"), "online") == 0;
    if (online && config_integer(ace->client.config, "epochs") != 1)
        fail(&st, INVALID_ARGUMENT, "--epochs goes with --mode offline; online goes through the samples once");
    else if (measured && !learns)
        fail(&st, INVALID_ARGUMENT, "--measure goes with learn; eval measures its samples");
    else if (ace_samples_read(&learning->samples, ace->rest[0], &ace->memory, &st) &&
             (!measured || ace_samples_read(&learning->measured, measured, &ace->memory, &st)))
        return true;
    fprintf(stderr, ACE ": %s\n", st.text);
    return false;
}

static int ace_learn_adapt(struct ace *ace, bool learns)
{
    struct ace_learning learning = {.ace = ace, .reconnect = {.client = &ace->client}};
    int code = COMMAND_OK;
    if (!ace_read_files(&learning, learns))
        return COMMAND_USAGE;
    learning.verbose = config_boolean(ace->client.config, "verbose");
    for (int stage = 0; stage < ACE_STAGES; stage++)
        renga__v1__adapt_result__init(&learning.sums[stage]);
    renga__v1__usage__init(&learning.usage);
    ace_open_ledger(&learning, learns);
    if (!learns)
        code = ace_go_through(&learning, ACE_BEFORE, &learning.samples, 1);
    if (learns && learning.measured.count)
        code = ace_go_through(&learning, ACE_BEFORE, &learning.measured, 1);
    if (code == COMMAND_OK && learns)
        code =
            ace_go_through(&learning, ACE_LEARN, &learning.samples, (int)config_integer(ace->client.config, "epochs"));
    if (code == COMMAND_OK && learns && learning.measured.count)
        code = ace_go_through(&learning, ACE_AFTER, &learning.measured, 1);
    if (code == COMMAND_OK)
        ace_view_end(&learning);
    ace_ledger_close(&learning.ledger, code == COMMAND_OK);
    return code;
}

int ace_learn(struct ace *ace)
{
    return ace_learn_adapt(ace, true);
}

int ace_eval(struct ace *ace)
{
    return ace_learn_adapt(ace, false);
}
