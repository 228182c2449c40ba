/* `renga runs`: the runs there are, newest first. */
#include "runs_diff.h"

#include <stdio.h>
#include <string.h>

#define NAME "renga runs"

static const struct option options[] = {
    STRING_OPTION("agent", NULL, "AGENT", "Only runs of this agent."),
    STRING_OPTION("thread", NULL, "THREAD", "Only runs on this thread."),
    CHOICE_OPTION("state", "any", "any|queued|running|waiting|succeeded|failed|cancelled", "Only runs in this state."),
    INTEGER_OPTION("limit", "20", 1, 500, "RUNS", "How many at most, the newest."),
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

static void show_run(const struct orchestrator_client *client, const Renga__V1__Run *run)
{
    char when[32];
    show_cell(client, PLAIN, 26, run->run_id);
    show_cell(client, state_colour(client, run->state), 9, state_word(run->state));
    show_cell(client, DIM, 19, time_text(run->created_ms, when));
    show_cell(client, BOLD, 16, run->agent);
    show_cell(client, PLAIN, 20, run->thread_id);
    show_cell(client, DIM, 0, reason_word(run->stop_reason));
}

static void runs_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__ListRunsResponse *response = (const Renga__V1__ListRunsResponse *)message;
    (void)data;
    for (size_t i = 0; i < response->n_runs; i++) {
        if (client->json)
            message_print_json(&response->runs[i]->base);
        else
            show_run(client, response->runs[i]);
    }
    for (size_t i = 0; i < response->n_damaged_run_ids; i++)
        fprintf(stderr, NAME ": run %s is damaged in the store and left out\n", response->damaged_run_ids[i]);
    if (!response->n_runs && client->terminal)
        puts("no runs");
}

static Renga__V1__RunState state_of(const char *word)
{
    for (int state = RENGA__V1__RUN_STATE__RUN_STATE_QUEUED; state <= RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED;
         state++)
        if (strcmp(state_word((Renga__V1__RunState)state), word) == 0)
            return (Renga__V1__RunState)state;
    return RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED;
}

static int runs_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    size_t count = 0;
    const char *const *words = config_arguments(config, &count);
    if (count && strcmp(words[0], "diff") == 0)
        return orchestrator_client_open(&client, process, config, NAME, 3, 3, "name two runs: renga runs diff A B")
                   ? runs_diff(&client)
                   : COMMAND_USAGE;
    if (!orchestrator_client_open(&client, process, config, NAME, 0, 0, "--agent, --thread and --state say which runs"))
        return COMMAND_USAGE;
    const char *agent = config_string(config, "agent"), *thread = config_string(config, "thread");
    const char *state = config_string(config, "state");
    Renga__V1__RunState states[1] = {state_of(state)};
    Renga__V1__ListRunsRequest request = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    request.agent = command_text(agent);
    request.thread_id = command_text(thread);
    request.page_size = (int32_t)config_integer(config, "limit");
    request.states = states;
    request.n_states = states[0] == RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED ? 0 : 1;
    return orchestrator_client_call_soon(&client, "ListRuns", &request.base, runs_received, NULL) ? COMMAND_OK
                                                                                                  : COMMAND_FAILED;
}

static int runs(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "",
        .summary =
            "lists runs, newest first; or compares the runs A and B: plan, sources, text by sentence, scores, cost. "
            "A comparison ends with 0 for runs that are the same, 1 for a difference, 2 for a failure.",
        .examples = "renga runs --state waiting\n"
                    "renga runs --agent echo --limit 5 --json | jq -r .run_id\n"
                    "renga runs diff 01m7ztx32p6aqpyjjyss6j4x 01m7zv01q3x8rw2h3k9c5d7e\n",
        .options = options,
        .work = runs_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_runs = {.name = "runs", .summary = "list runs, or compare two", .run = runs};
