/* Agents from documents in a text, or in folders of their own. Include after unit.h. */
#ifndef AGENT_FIXTURE_H
#define AGENT_FIXTURE_H

#include "graph/agents.h"
#include "graph/bundle.h"
#include "graph/node_kind.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

/* The agent 'a' of this document and a prompt, or its problems. */
struct reading_of {
    struct agent *agent;
    struct problems *problems;
};

static inline struct reading_of read_text(const char *text)
{
    struct reading_of read = {.problems = problems_create(), .agent = agent_create()};
    static const struct prompt_source answer = {
        .language = "en", .name = "answer", .file = "x", .text = "Say.", .size = 4};
    assert_true(prompt_add(read.agent, &answer, "a", read.problems));
    read.agent = agent_of_text(read.agent, text, strlen(text), "a", read.problems);
    return read;
}

static inline void read_fini(struct reading_of *read)
{
    agent_destroy(&read->agent);
    problems_destroy(&read->problems);
}

/* One that must be good. */
static inline struct reading_of good_text(const char *text)
{
    struct reading_of read = read_text(text);
    const struct agent_problem *first = read.problems->first;
    if (!read.agent || first)
        fail_msg("%d:%d: %s", first ? first->line : 0, first ? first->column : 0, first ? first->message : "no agent");
    return read;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

struct house {
    char root[64];
    struct agents *agents;
    char prompts[80]; /* the folder of prompts that an operator adds; "": none */
    char log[65536];
};

static inline struct house house_open(void)
{
    struct house house = {.root = "/tmp/renga-agents-XXXXXX"};
    assert_non_null(mkdtemp(house.root));
    return house;
}

/* Writes root/path, and the folders above it; NULL takes it away. */
static inline void house_link(const struct house *house, const char *path, const char *target)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", house->root, path);
    assert_int_equal(symlink(target, whole), 0);
}

static inline void house_write(const struct house *house, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", house->root, path);
    for (char *slash = strchr(whole + strlen(house->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    if (!text) {
        unlink(whole);
        return;
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Loads, or loads again, and keeps what is logged. */
static inline void house_load(struct house *house)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    struct status st = {0};
    const char *folders[] = {house->root};
    assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
    dup2(pipes[1], STDERR_FILENO);
    if (house->agents)
        agents_reload(house->agents);
    else
        house->agents = agents_create(NULL, folders, 1, house->prompts, &st);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(pipes[1]);
    ssize_t got = read(pipes[0], house->log, sizeof house->log - 1);
    house->log[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
    assert_non_null(house->agents);
}

static inline int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    return remove(path);
}

static inline void house_close(struct house *house)
{
    agents_destroy(&house->agents);
    nftw(house->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The current one; NULL with its text. */
static inline struct agent *house_find(struct house *house, const char *name, struct status *st)
{
    *st = (struct status){0};
    return agents_find(house->agents, name, NULL, st);
}

#endif
