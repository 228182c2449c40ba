#include "local_suite.h"

#include "store/store.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAYBOOKS "playbooks.db"

/* ---- the user's playbooks ---------------------------------------------------------------------------------------- */

void local_suite_stores(char runs[PATH_MAX + 32], char record[PATH_MAX + 32])
{
    char folder[PATH_MAX];
    bool there = command_data_folder(folder);
    snprintf(runs, PATH_MAX + 32, there ? "sqlite:%s/ace-runs.db" : "memory:", folder);
    snprintf(record, PATH_MAX + 32, there ? "sqlite:%s/" PLAYBOOKS : "memory:", folder);
}

struct playbook_copy {
    char folder[PATH_MAX], path[PATH_MAX + 32], target[PATH_MAX + 48];
};

/* Without playbooks, or where they cannot be copied, they are empty in memory. */
static void playbook_copy_make(struct playbook_copy *copy)
{
    const char *place = getenv("XDG_RUNTIME_DIR");
    char runs[PATH_MAX + 32], playbooks[PATH_MAX + 32];
    struct status st = {0};
    local_suite_stores(runs, playbooks);
    *copy->folder = '\0';
    snprintf(copy->target, sizeof copy->target, "memory:");
    if (strncmp(playbooks, "sqlite:", 7) != 0 || access(playbooks + 7, R_OK) != 0)
        return;
    place = place && *place == '/' ? place : getenv("TMPDIR");
    snprintf(copy->folder, sizeof copy->folder, "%s/renga-XXXXXX", place && *place == '/' ? place : "/tmp");
    if (!mkdtemp(copy->folder)) {
        *copy->folder = '\0';
        return;
    }
    snprintf(copy->path, sizeof copy->path, "%s/" PLAYBOOKS, copy->folder);
    if (store_backup(playbooks, copy->path, &st))
        snprintf(copy->target, sizeof copy->target, "sqlite:%s", copy->path);
    else
        fprintf(stderr, "renga: lessons are left out: %s\n", st.text);
}

static void playbook_copy_remove(const struct playbook_copy *copy)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".lock", NULL};
    char path[sizeof copy->path + 8];
    if (!*copy->folder)
        return;
    for (const char *const *ending = endings; *ending; ending++) {
        snprintf(path, sizeof path, "%s%s", copy->path, *ending);
        unlink(path);
    }
    rmdir(copy->folder);
}

/* ---- the suite --------------------------------------------------------------------------------------------------- */

int local_suite_run(struct daemon *daemon, const char *runs, const char *record, const char *agents, bool documents,
                    int argc, char **argv, int (*work)(struct daemon_process *process, const struct config *config))
{
    char folder[PATH_MAX], knowledge[PATH_MAX + 16] = "memory:";
    const char *model = command_early(argc, argv, "--model", "RENGA_MODEL");
    if (documents && access(LOCAL_SUITE_KNOWLEDGE, R_OK | W_OK) == 0)
        snprintf(knowledge, sizeof knowledge, LOCAL_SUITE_KNOWLEDGE);
    else if (documents && command_data_folder(folder))
        snprintf(knowledge, sizeof knowledge, "%s/knowledge.db", folder);
    struct playbook_copy copy = {0};
    if (!record)
        playbook_copy_make(&copy);
    struct daemon_default defaults[8] = {
        {"tool_runner.store", knowledge},
        {"tool_runner.record", record ? record : copy.target},
        {"orchestrator.store", runs},
        {"orchestrator.fan_out", "off"}, /* its thirteen threads would take longer to start than they save in a run */
    };
    size_t count = 4;
    if (documents)
        defaults[count++] = (struct daemon_default){"tool_runner.roots", "/"};
    if (agents)
        defaults[count++] = (struct daemon_default){"orchestrator.shipped_only", agents};
    if (model)
        defaults[count++] = (struct daemon_default){"llm_gateway.models", model};
    daemon->defaults = defaults;
    suite_keep_runs(daemon);
    int code = command_with_process(daemon, argc, argv, work);
    playbook_copy_remove(&copy);
    return code;
}

bool local_suite_check(const struct config *config, const char *command)
{
    if (!config_string(config, CONNECT))
        return true;
    fprintf(stderr, "%s: connect stands in %s; give it as --connect or RENGA_CONNECT\n", command,
            config_source(config, CONNECT));
    return false;
}
