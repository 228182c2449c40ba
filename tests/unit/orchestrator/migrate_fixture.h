/* Versions of one agent, on a store that outlives its runner, and MigrateRun. For tests with runner_fixture.h. */
#ifndef RENGA_MIGRATE_FIXTURE_H
#define RENGA_MIGRATE_FIXTURE_H

#include "runner_fixture.h"

static struct stage stage;
static char url[256];

static inline void write_version(const char *document)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "{\"agent\": \"a\", %s}", document);
    house_write(&stage.house, "a/graph.json", whole);
    agents_reload(stage.house.agents);
}

static inline void set_stage(const char *document)
{
    stage_set(&stage, document);
    stage_close(&stage);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    stage_open(&stage, url);
}

static inline void restart(void)
{
    stage_close(&stage);
    stage_open(&stage, url);
}

static inline char *current_version(void)
{
    static char version[72];
    struct status st = {0};
    struct agent *agent = agents_find(stage.house.agents, "a", "", &st);
    assert_non_null(agent);
    snprintf(version, sizeof version, "%s", agent->version);
    agent_release(stage.house.agents, agent);
    return version;
}

static struct test_request *last_migrate;
static inline Renga__V1__MigrateRunResponse *migrate(const char *run, const char *from, const char *to, bool dry)
{
    Renga__V1__MigrateRunRequest request = RENGA__V1__MIGRATE_RUN_REQUEST__INIT;
    Renga__V1__MigrateRunRequest__RenamedNodesEntry entry = RENGA__V1__MIGRATE_RUN_REQUEST__RENAMED_NODES_ENTRY__INIT;
    Renga__V1__MigrateRunRequest__RenamedNodesEntry *list[] = {&entry};
    request.run_id = (char *)(uintptr_t)run;
    request.dry_run = dry;
    entry.key = (char *)(uintptr_t)from;
    entry.value = (char *)(uintptr_t)to;
    request.renamed_nodes = list;
    request.n_renamed_nodes = from ? 1 : 0;
    return ask_last(&last_migrate, &stage, &request);
}

#endif
