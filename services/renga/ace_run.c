/* `renga ace run`: a task, done with the bullets that fit. */
#include "ace.h"

#include "nodes/trajectory_json.h"
#include "outcome.h"
#include "saved_run.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define TRAJECTORY_MAX ((size_t)16 << 20) /* bytes of JSON */

static void ace_run_show_bullets(const struct ace *ace, const Renga__V1__Trajectory *trajectory)
{
    FILE *out = ace->client.terminal ? stdout : stderr;
    fputs(colour(&ace->client, DIM), out);
    fputs(trajectory->n_used_bullet_ids ? "bullets: " : "the playbook has no bullet that fits", out);
    for (size_t i = 0; i < trajectory->n_used_bullet_ids; i++) {
        fputs(i ? ", " : "", out);
        show_text_on(out, trajectory->used_bullet_ids[i]);
    }
    fprintf(out, "%s\n", colour(&ace->client, PLAIN));
}

static void ace_show_outcome(const struct ace *ace, const Renga__V1__AgentOutcome *outcome)
{
    FILE *out = ace->client.terminal ? stdout : stderr;
    char cost[128];
    if (!outcome)
        return;
    outcome_show(out, &ace->client, ace->client.terminal ? command_terminal_width() : 0, "en", outcome);
    if (!outcome->usage)
        return;
    ace_put_cost(cost, sizeof cost, outcome->usage);
    fprintf(out, "%s%s; run %s%s\n", colour(&ace->client, DIM), cost, outcome->run_id, colour(&ace->client, PLAIN));
}

/* As the specification of the generator has it. */
static void ace_print_trajectory(const Renga__V1__Trajectory *trajectory)
{
    struct buffer line;
    struct json_writer out;
    buffer_init(&line, TRAJECTORY_MAX);
    json_writer_init(&out, &line);
    trajectory_write_json(&out, NULL, trajectory);
    puts(buffer_text(&line));
    buffer_fini(&line);
}

int ace_run_task(struct ace *ace)
{
    Renga__V1__GenerateRequest request = RENGA__V1__GENERATE_REQUEST__INIT;
    Renga__V1__AgentOptions how = RENGA__V1__AGENT_OPTIONS__INIT;
    how.model = command_text(config_string(ace->client.config, "model"));
    how.language = command_text(config_string(ace->client.config, "language"));
    request.dataset = command_text(ace->dataset);
    request.query = command_text(ace->rest[0]);
    request.top_k = (int32_t)config_integer(ace->client.config, "top_k");
    request.options = &how;
    const Renga__V1__GenerateResponse *response =
        (const Renga__V1__GenerateResponse *)ace_ask(ace, ace->generator, "Generate", &request.base);
    if (!response || !response->trajectory)
        return ace->client.status.code == INVALID_ARGUMENT ? COMMAND_USAGE : COMMAND_FAILED;
    const Renga__V1__Trajectory *trajectory = response->trajectory;
    if (!config_string(ace->client.config, CONNECT) && response->outcome)
        saved_run_write_trajectory(response->outcome->run_id, trajectory);
    bool failed = trajectory->status != RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS;
    if (ace->client.json) {
        ace_print_trajectory(trajectory);
        return failed ? COMMAND_FAILED : COMMAND_OK;
    }
    if (failed) {
        fputs(ACE ": the task failed: ", stderr);
        show_text_on(stderr, trajectory->error_message ? trajectory->error_message : "");
        fputc('\n', stderr);
        return COMMAND_FAILED;
    }
    show_text(trajectory->generated_answer);
    putchar('\n');
    fflush(stdout);
    if (!ace->quiet) {
        ace_run_show_bullets(ace, trajectory);
        ace_show_outcome(ace, response->outcome);
    }
    return COMMAND_OK;
}
