/* A suite in the process of a single command: `renga ask`, `interview` and `research` run without --connect. */
#ifndef RENGA_LOCAL_SUITE_H
#define RENGA_LOCAL_SUITE_H

#include "commands.h"

#define LOCAL_SUITE_KNOWLEDGE "renga-knowledge.db" /* the file that `renga index` makes by default */

/* Rows of options. */
#define SUITE_CONNECT_OPTION                                                                                           \
    CONNECT_OPTION(                                                                                                    \
        "Ask a suite that runs, HOST:PORT of its orchestrator ('renga serve': 127.0.0.1:15000), instead of "           \
        "this process.")
#define SUITE_MODEL_OPTION(product)                                                                                    \
    {                                                                                                                  \
        .name = "model", .type = OPTION_STRING, .unit = "MODEL",                                                       \
        .help = "Which model to ask, by its name in the gateway. OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL "    \
                "are read as by 'renga serve'; without the first two no model is asked, and the " product              \
                " consists of the documents' own sentences (extractive)."                                              \
    }

/* Values of `record`. */
#define LOCAL_SUITE_READS  NULL      /* a copy of the user's playbooks for this process */
#define LOCAL_SUITE_FORGET "memory:" /* no playbooks */

/* The user's own stores of runs of ACE, and of playbooks; "memory:" without a folder. */
void local_suite_stores(char runs[PATH_MAX + 32], char record[PATH_MAX + 32]);

/* Runs `work` with the services of `daemon` in this process, and gives its exit code. `runs` is the store of the
 * orchestrator, `agents` names its shipped agents with commas (NULL: all), `record` is that of the tool-runner, which
 * has the playbooks. One process at a time may have a store, so a command that only reads playbooks gets
 * LOCAL_SUITE_READS: they can be changed meanwhile. With `documents` there is a knowledge base: LOCAL_SUITE_KNOWLEDGE
 * of the working directory, else the user's own; and every folder may be indexed. */
int local_suite_run(struct daemon *daemon, const char *runs, const char *record, const char *agents, bool documents,
                    int argc, char **argv, int (*work)(struct daemon_process *process, const struct config *config));

/* Services are chosen before the configuration's file is read. False, with a message on standard error, if that file
 * has `connect`. */
bool local_suite_check(const struct config *config, const char *command);

#endif
