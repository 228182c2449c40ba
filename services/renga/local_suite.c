#include "local_suite.h"

#include "suite.h"

#include <stdio.h>
#include <unistd.h>

int local_suite_run(struct daemon *daemon, const char *runs, const char *record, bool documents, int argc, char **argv,
                    int (*work)(struct daemon_process *process, const struct config *config))
{
    char folder[PATH_MAX], knowledge[PATH_MAX + 16] = "memory:";
    const char *model = command_early(argc, argv, "--model", "RENGA_MODEL");
    if (documents && access(LOCAL_SUITE_KNOWLEDGE, R_OK | W_OK) == 0)
        snprintf(knowledge, sizeof knowledge, LOCAL_SUITE_KNOWLEDGE);
    else if (documents && command_data_folder(folder))
        snprintf(knowledge, sizeof knowledge, "%s/knowledge.db", folder);
    struct daemon_default defaults[6] = {
        {"tool_runner.store", knowledge},
        {"tool_runner.record", record ? record : "memory:"},
        {"orchestrator.store", runs},
    };
    size_t count = 3;
    if (documents)
        defaults[count++] = (struct daemon_default){"tool_runner.roots", "/"};
    if (model)
        defaults[count++] = (struct daemon_default){"llm_gateway.models", model};
    daemon->defaults = defaults;
    suite_keep_runs(daemon);
    return command_with_process(daemon, argc, argv, work);
}

bool local_suite_check(const struct config *config, const char *command)
{
    if (!config_string(config, CONNECT))
        return true;
    fprintf(stderr, "%s: connect stands in %s; give it as --connect or RENGA_CONNECT\n", command,
            config_source(config, CONNECT));
    return false;
}
