/* The set of agents: the current agents, and all agents in memory because a caller holds them. A reload reads the
 * folders without the lock and then exchanges the current agents; a holder keeps its version. */
#include "agents.h"

#include "base/log.h"
#include "base/nearest.h"
#include "bundle.h"
#include "shipped.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN 64 /* bytes of a name in an error */

struct agents {
    const struct shipped_file *shipped; /* may be NULL */
    char **folders, *prompts;           /* prompts: that an operator adds; may be NULL */
    size_t folder_count;
    pthread_mutex_t reloading;         /* a single reload at a time */
    pthread_mutex_t lock;              /* of the members below */
    struct agent *known;               /* all in memory */
    struct agent *current[AGENTS_MAX]; /* held, by name */
    size_t current_count;
    struct problems *problems;
};

/* ---- holding ----------------------------------------------------------------------------------------------------- */

void agent_hold(struct agent *agent)
{
    atomic_fetch_add_explicit(&agent->holders, 1, memory_order_relaxed);
}

static struct agent *known_version(const struct agents *agents, const char *version)
{
    struct agent *agent = agents->known;
    while (agent && strcmp(agent->version, version) != 0)
        agent = agent->next;
    return agent;
}

/* Under the lock: the agent leaves the list with its last holder, so that an agent in the list may always be held. */
static void agents_release_locked(struct agents *agents, struct agent *agent)
{
    if (atomic_fetch_sub_explicit(&agent->holders, 1, memory_order_acq_rel) > 1)
        return;
    struct agent **at = &agents->known;
    while (*at != agent)
        at = &(*at)->next;
    *at = agent->next;
    agent_destroy(&agent);
}

void agent_release(struct agents *agents, struct agent *agent)
{
    unsigned holders = atomic_load_explicit(&agent->holders, memory_order_relaxed);
    while (holders > 1)
        if (atomic_compare_exchange_weak_explicit(&agent->holders, &holders, holders - 1, memory_order_release,
                                                  memory_order_relaxed))
            return;
    pthread_mutex_lock(&agents->lock);
    agents_release_locked(agents, agent);
    pthread_mutex_unlock(&agents->lock);
}

/* Under the lock. A version that is known is held once more, and the new copy goes. */
static struct agent *adopt(struct agents *agents, struct agent *fresh)
{
    struct agent *known = known_version(agents, fresh->version);
    if (known) {
        agent_hold(known);
        agent_destroy(&fresh);
        return known;
    }
    fresh->next = agents->known;
    agents->known = fresh;
    return fresh;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* The result of a load: sub-folders with a graph.json, sorted by name. */
struct found {
    char *name, *path;   /* path NULL: it is shipped */
    struct agent *agent; /* NULL: faulty */
};
struct findings {
    struct found list[AGENTS_MAX];
    size_t count;
    struct problems *problems;
};

static void agents_note(struct findings *findings, const char *agent, const char *file, const char *message)
{
    problems_add(findings->problems, &(struct agent_problem){.agent = agent, .file = file, .message = message});
}

static size_t agents_place_of(const struct findings *findings, const char *name, bool *there)
{
    size_t low = 0, high = findings->count;
    *there = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, findings->list[middle].name);
        if (order == 0)
            *there = true;
        if (order <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void found_free(struct found *found)
{
    free(found->name);
    free(found->path);
}

/* Takes the path. */
static void agents_find_agent(struct findings *findings, const char *name, char *path)
{
    bool there;
    size_t at = agents_place_of(findings, name, &there);
    struct found found = {.name = strdup(name), .path = path};
    if (!found.name || (!there && findings->count == AGENTS_MAX)) {
        agents_note(findings, name, "",
                    found.name ? "there are more than 1000 agents; take some out" : "no memory for it");
        found_free(&found);
        return;
    }
    if (there) {
        found_free(&findings->list[at]);
    } else {
        memmove(&findings->list[at + 1], &findings->list[at], (findings->count - at) * sizeof found);
        findings->count++;
    }
    findings->list[at] = found;
}

/* Files that may have been taken for the document. */
static const char *const other_documents[] = {"graph.yaml", "graph.yml",  "graph.jsonc",   "graph.json5",
                                              "graph.toml", "agent.json", "langgraph.json"};

/* Notes a folder that is not an agent, although an operator may expect an agent there. */
static void note_without_document(struct findings *findings, const char *name, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        if ((errno == ENOENT || errno == ELOOP) && lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
            agents_note(findings, "", name, "is a link whose target is not there; mend the link, or take it away");
        return;
    }
    if (!S_ISDIR(about.st_mode) || strcmp(name, "lost+found") == 0)
        return;
    for (size_t i = 0; i < sizeof other_documents / sizeof *other_documents; i++) {
        char *other = NULL;
        bool there = asprintf(&other, "%s/%s", path, other_documents[i]) >= 0 && access(other, F_OK) == 0;
        free(other);
        if (there) {
            agents_note(findings, name, other_documents[i],
                        "is not read; an agent's document is JSON and is named graph.json");
            return;
        }
    }
    agents_note(findings, name, "graph.json",
                "is not there, so this folder is no agent; write it, or move the folder away");
}

/* The option may name the folder of an agent itself, in place of its parent folder. */
static bool is_document(const char *name)
{
    bool document = strcmp(name, "graph.json") == 0;
    for (size_t i = 0; i < sizeof other_documents / sizeof *other_documents; i++)
        document |= strcmp(name, other_documents[i]) == 0;
    return document;
}

static void agents_look_at(struct findings *findings, const char *folder, const char *name)
{
    if (is_document(name))
        agents_note(findings, "", name,
                    "stands in the folder of all agents and is not read; each agent has a folder of its own with its "
                    "graph.json");
    char *path = NULL, *document = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        path = NULL;
    if (path && asprintf(&document, "%s/graph.json", path) < 0)
        document = NULL;
    if (document && access(document, F_OK) == 0)
        agents_find_agent(findings, name, path);
    else {
        if (path)
            note_without_document(findings, name, path);
        free(path);
    }
    free(document);
}

static void agents_look_through(struct findings *findings, const char *folder)
{
    const struct dirent *entry;
    DIR *listing = opendir(folder);
    if (!listing) {
        agents_note(findings, "", folder, strerror(errno));
        return;
    }
    while ((entry = readdir(listing)))
        if (entry->d_name[0] != '.')
            agents_look_at(findings, folder, entry->d_name);
    closedir(listing);
}

static void look_at_shipped(const struct agents *agents, struct findings *findings)
{
    bool known;
    for (const struct shipped_file *file = agents->shipped; file && file->agent; file++) {
        agents_place_of(findings, file->agent, &known);
        if (!known)
            agents_find_agent(findings, file->agent, NULL);
    }
}

/* A folder of prompts without an agent may have the wrong name. */
static void look_at_prompts(struct findings *findings, const char *folder)
{
    const struct dirent *entry;
    DIR *listing = opendir(folder);
    if (!listing) {
        agents_note(findings, "", folder, strerror(errno));
        return;
    }
    while ((entry = readdir(listing))) {
        bool known;
        agents_place_of(findings, entry->d_name, &known);
        if (entry->d_name[0] != '.' && !known)
            agents_note(findings, entry->d_name, folder,
                        "has prompts for an agent that is not there; prompts stand in AGENT/LANGUAGE/NAME.md");
    }
    closedir(listing);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static struct agent *current(const struct agents *agents, const char *name)
{
    size_t low = 0, high = agents->current_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, agents->current[middle]->name);
        if (order == 0)
            return agents->current[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Under the lock. A faulty agent stays as it was. */
static void exchange(struct agents *agents, struct findings *findings)
{
    struct agent *fresh[AGENTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        struct found *found = &findings->list[i];
        struct agent *agent = found->agent ? adopt(agents, found->agent) : current(agents, found->name);
        if (agent && !found->agent)
            agent_hold(agent);
        if (agent)
            fresh[count++] = agent;
    }
    for (size_t i = 0; i < agents->current_count; i++)
        agents_release_locked(agents, agents->current[i]);
    memcpy(agents->current, fresh, count * sizeof *fresh);
    agents->current_count = count;
    struct problems *before = agents->problems;
    agents->problems = findings->problems;
    problems_destroy(&before);
}

static bool agents_load(struct agents *agents)
{
    struct findings *findings = calloc(1, sizeof *findings);
    if (findings)
        findings->problems = problems_create();
    if (!findings || !findings->problems) {
        free(findings);
        return false;
    }
    look_at_shipped(agents, findings);
    for (char **folder = agents->folders; *folder; folder++)
        agents_look_through(findings, *folder);
    if (agents->prompts)
        look_at_prompts(findings, agents->prompts);
    for (size_t i = 0; i < findings->count; i++) {
        struct found *found = &findings->list[i];
        const struct agent_place place = {found->path, agents->shipped, found->name, agents->prompts,
                                          current(agents, found->name)};
        found->agent = agent_of_place(&place, findings->problems);
    }
    problems_log(findings->problems);
    pthread_mutex_lock(&agents->lock);
    exchange(agents, findings);
    log_info("orchestrator.agents", "%zu agents, %zu problems", agents->current_count, agents->problems->count);
    pthread_mutex_unlock(&agents->lock);
    for (size_t i = 0; i < findings->count; i++)
        found_free(&findings->list[i]);
    free(findings);
    return true;
}

void agents_reload(struct agents *agents)
{
    pthread_mutex_lock(&agents->reloading);
    if (!agents_load(agents))
        log_error("orchestrator.agent", "no memory to load agents again; they stay as they were");
    pthread_mutex_unlock(&agents->reloading);
}

static bool copy_folders(struct agents *agents, const char *const *folders, size_t count)
{
    agents->folders = calloc(count + 1, sizeof *agents->folders);
    if (!agents->folders)
        return false;
    while (agents->folder_count < count) {
        char *copy = strdup(folders[agents->folder_count]);
        if (!copy)
            return false;
        agents->folders[agents->folder_count++] = copy;
    }
    return true;
}

struct agents *agents_create(const struct shipped_file *shipped, const char *const *folders, size_t count,
                             const char *prompts, struct status *st)
{
    struct agents *agents = calloc(1, sizeof *agents);
    if (agents) {
        agents->shipped = shipped;
        agents->prompts = prompts && *prompts ? strdup(prompts) : NULL;
        pthread_mutex_init(&agents->reloading, NULL);
        pthread_mutex_init(&agents->lock, NULL);
    }
    bool kept = agents && (!prompts || !*prompts || agents->prompts);
    if (kept && copy_folders(agents, folders, count) && agents_load(agents))
        return agents;
    agents_destroy(&agents);
    fail(st, RESOURCE_EXHAUSTED, "no memory to load agents");
    return NULL;
}

void agents_destroy(struct agents **agents)
{
    struct agents *set = *agents;
    if (!set)
        return;
    for (size_t i = 0; i < set->current_count; i++)
        agents_release_locked(set, set->current[i]);
    assert(!set->known && "an agent is still held");
    problems_destroy(&set->problems);
    for (size_t i = 0; i < set->folder_count; i++)
        free(set->folders[i]);
    free(set->folders);
    free(set->prompts);
    pthread_mutex_destroy(&set->lock);
    pthread_mutex_destroy(&set->reloading);
    free(set);
    *agents = NULL;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void refuse_name(const struct agents *agents, const char *name, struct status *st)
{
    for (const struct agent_problem *one = agents->problems->first; one; one = one->next)
        if (strcmp(one->agent, name) == 0) {
            fail(st, NOT_FOUND, "the agent '%.*s' was not loaded: %s:%d:%d: %s", SHOWN, name, one->file, one->line,
                 one->column, one->message);
            return;
        }
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < agents->current_count; i++)
        nearest_try(&nearest, agents->current[i]->name);
    fail(st, NOT_FOUND, "there is no agent '%.*s'; %s", SHOWN, name, nearest_hint(&nearest).text);
}

struct agent *agents_find(struct agents *agents, const char *name, const char *version, struct status *st)
{
    bool any = !version || !*version, named = name && *name;
    pthread_mutex_lock(&agents->lock);
    struct agent *agent = any ? current(agents, named ? name : "") : known_version(agents, version);
    if (agent && named && strcmp(agent->name, name) != 0)
        agent = NULL;
    if (agent)
        agent_hold(agent);
    else if (any)
        refuse_name(agents, named ? name : "", st);
    else
        fail(st, NOT_FOUND, "the agent '%.*s' has no version '%.*s' in memory", SHOWN, named ? name : "", SHOWN,
             version);
    pthread_mutex_unlock(&agents->lock);
    return agent;
}

const struct graph *agent_graph(const struct agent *agent, const char *name)
{
    for (size_t i = 0; i < agent->graph_count; i++)
        if (strcmp(agent->graphs[i]->name, name) == 0)
            return agent->graphs[i];
    return NULL;
}

struct agent *agents_of_bundle(struct agents *agents, const char *bundle, size_t size, struct status *st)
{
    char version[65];
    struct status ignored;
    bundle_version(bundle, size, version);
    struct agent *agent = agents_find(agents, NULL, version, &ignored);
    struct problems *problems = agent ? NULL : problems_create();
    if (problems)
        agent = agent_of_bundle(bundle, size, problems);
    if (!agent) {
        const struct agent_problem *first = problems ? problems->first : NULL;
        fail(st, first ? DATA_LOSS : RESOURCE_EXHAUSTED, "the kept documents of '%s' cannot be read: %s:%d:%d: %s",
             first ? first->agent : "an agent", first ? first->file : "", first ? first->line : 0,
             first ? first->column : 0, first ? first->message : "no memory");
    } else if (problems) {
        pthread_mutex_lock(&agents->lock);
        agent = adopt(agents, agent);
        pthread_mutex_unlock(&agents->lock);
    }
    problems_destroy(&problems);
    return agent;
}

void agents_each(struct agents *agents, void (*each)(const struct agent *agent, void *data),
                 void (*problem)(const struct agent_problem *problem, void *data), void *data)
{
    pthread_mutex_lock(&agents->lock);
    for (size_t i = 0; each && i < agents->current_count; i++)
        each(agents->current[i], data);
    for (const struct agent_problem *one = agents->problems->first; problem && one; one = one->next)
        problem(one, data);
    pthread_mutex_unlock(&agents->lock);
}
