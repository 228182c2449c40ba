/* `renga eval`: how well the help desk answers a person's own questions over their own documents. The suite runs in
 * this process unless --connect names a suite that runs. */
#include "eval.h"

#include "index.h"
#include "local_suite.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS          (24LL * 3600 * 1000)
#define CONCURRENCY_MAX 64

static const struct option options[] = {
    INDEX_DOCUMENTS_OPTIONS,
    LIST_OPTION("report", NULL, "FILE,...",
                "Write the figures and every question that was not right to FILE.md or FILE.html, or all results to "
                "FILE.jsonl; several with commas."),
    STRING_OPTION("against", NULL, "FILE.jsonl",
                  "Compare with the results of an earlier run, as --json prints them: what got better and worse, with "
                  "an exact test."),
    INTEGER_OPTION("limit", "0", 0, EVAL_QUESTIONS_MAX, "COUNT",
                   "Ask the first questions of the file alone; 0: all, at most 20,000."),
    INTEGER_OPTION("concurrency", "1", 1, CONCURRENCY_MAX, "COUNT",
                   "How many questions are asked at a time. More of them are sooner done, and each takes longer."),
    SUITE_CONNECT_OPTION,
    SUITE_MODEL_OPTION("answer"),
    STRING_OPTION(
        "language", NULL, "TAG",
        "Language of the answers and the report, \"ja\" or \"en\". Unset: of each question; of most questions."),
    BOOLEAN_OPTION("json", "false", "Print JSON objects, one a line: each question with its answer, then the figures."),
    BOOLEAN_OPTION("quiet", "false", "Show no progress, on a terminal too."),
    BOOLEAN_OPTION("verbose", "false", "Print a line for each question on standard error."),
    DURATION_OPTION("timeout", "15m", 1, DAY_MS,
                    "How long to wait for each answer, which has failed then; and for the documents to be indexed."),
    {0},
};

static bool eval_open(struct eval *eval, struct daemon_process *process, const struct config *config)
{
    struct status *st = &eval->client.status;
    eval->client = (struct orchestrator_client){.command = EVAL, .process = process, .config = config};
    eval->json = config_boolean(config, "json");
    eval->quiet = config_boolean(config, "quiet");
    eval->verbose = config_boolean(config, "verbose");
    eval->client.terminal = !eval->json && command_on_terminal();
    eval->client.colours = !eval->json && command_in_colours();
    eval->reports = config_list(config, "report", &eval->report_count);
    eval->helpdesk = process_stub(process, &renga__v1__helpdesk__descriptor, st);
    if (eval->helpdesk && !config_string(config, CONNECT)) /* for deleting runs that are in this process' memory */
        eval->client.orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, st);
    if (eval->helpdesk)
        return true;
    fprintf(stderr, EVAL ": %s\n", st->text);
    return false;
}

static bool eval_read_files(struct eval *eval)
{
    struct status st = {0};
    const char *against = config_string(eval->client.config, "against");
    size_t limit = (size_t)config_integer(eval->client.config, "limit");
    if (eval_check_reports(eval, &st) && (!against || eval_against_read(&eval->against, against, &eval->memory, &st)) &&
        eval_questions_read(&eval->questions, eval->path, limit, &eval->memory, &st))
        return true;
    fprintf(stderr, EVAL ": %s\n", st.text);
    return false;
}

static int eval_questions_asked(struct eval *eval)
{
    struct index index = {0};
    if (!eval_read_files(eval))
        return COMMAND_USAGE;
    eval->words = eval_words(config_string(eval->client.config, "language"), &eval->questions);
    int code = index_bring_documents(&index, &eval->client, eval->client.terminal && !eval->quiet, &eval->collection);
    if (code != COMMAND_OK)
        return code;
    eval_quotes_init(&eval->quotes, config_string(eval->client.config, "docs"));
    code = eval_run(eval);
    eval_quotes_fini(&eval->quotes);
    return code;
}

static int eval_work(struct daemon_process *process, const struct config *config)
{
    struct eval eval = {0};
    const char *const *arguments =
        command_arguments(config, EVAL, 1, 1, "give one file of questions, a JSON object a line", NULL);
    if (!arguments || !eval_open(&eval, process, config))
        return COMMAND_USAGE;
    eval.path = arguments[0];
    arena_init(&eval.memory, NULL, 0, EVAL_MEMORY);
    int code = eval_questions_asked(&eval);
    arena_fini(&eval.memory);
    return code;
}

static int eval_work_here(struct daemon_process *process, const struct config *config)
{
    return local_suite_check(config, EVAL) ? eval_work(process, config) : (int)COMMAND_USAGE;
}

static int eval_start(int argc, char **argv)
{
    static const struct peer elsewhere[] = {{CONNECT, &renga__v1__helpdesk__descriptor},
                                            {CONNECT, &renga__v1__orchestrator__descriptor},
                                            {CONNECT, &renga__v1__tool_runner__descriptor},
                                            {0}};
    struct daemon daemon = command_daemon(
        EVAL,
        "measures how well questions of your own are answered, with 95 % intervals. A line of QUESTIONS.jsonl is "
        "{\"question\", \"answers\": [\"words that must be in the answer\"], \"file\": \"the one to be cited\"}, or "
        "{\"question\", \"found\": false} if the documents do not say it; \"near\": true if they say something "
        "similar. Exit code 0: measured; 1: no question came to an answer, or a report could not be written; 2: the "
        "command line or every line of the file is wrong; 130: Ctrl-C, and the figures are those of the questions that "
        "were done.",
        all_services, argc, argv);
    daemon.usage = EVAL " [OPTIONS] QUESTIONS.jsonl";
    daemon.examples = EVAL " questions.jsonl --docs ~/handbook --report report.html,before.jsonl\n" EVAL
                           " questions.jsonl --docs ~/handbook --against before.jsonl\n" EVAL
                           " questions.jsonl --connect 127.0.0.1:15000 --collection handbook --concurrency 8\n";
    daemon.extra_options = options;
    if (*daemon.services)
        return local_suite_run(&daemon, "memory:", NULL, "helpdesk", true, argc, argv, eval_work_here);
    daemon.peers = elsewhere;
    return command_with_process(&daemon, argc, argv, eval_work);
}

const struct command command_eval = {
    .name = "eval",
    .summary = "measure how well questions of your own are answered",
    .run = eval_start,
};
