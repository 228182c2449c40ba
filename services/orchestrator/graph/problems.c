#include "problems.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((size_t)4 << 20) /* bytes: a thousand of them, some KiB each */

struct problems *problems_create(void)
{
    struct problems *problems = calloc(1, sizeof *problems);
    if (problems)
        arena_init(&problems->arena, NULL, 0, MEMORY_MAX);
    return problems;
}

void problems_destroy(struct problems **problems)
{
    if (!*problems)
        return;
    arena_fini(&(*problems)->arena);
    free(*problems);
    *problems = NULL;
}

/* A document may be read twice. */
static bool problems_have(const struct problems *problems, const struct agent_problem *problem)
{
    for (const struct agent_problem *one = problems->first; one; one = one->next)
        if (one->line == problem->line && one->column == problem->column && strcmp(one->agent, problem->agent) == 0 &&
            strcmp(one->file, problem->file) == 0 && strcmp(one->message, problem->message) == 0)
            return true;
    return false;
}

void problems_add(struct problems *problems, const struct agent_problem *problem)
{
    if (problems_have(problems, problem))
        return;
    struct agent_problem *kept = arena_zalloc(&problems->arena, sizeof *kept);
    if (!kept || problems->count == PROBLEMS_MAX)
        return;
    *kept = *problem;
    kept->agent = arena_strdup(&problems->arena, problem->agent);
    kept->file = arena_strdup(&problems->arena, problem->file);
    kept->message = arena_strdup(&problems->arena, problem->message);
    kept->next = NULL;
    if (!kept->agent || !kept->file || !kept->message)
        return;
    if (problems->last)
        problems->last->next = kept;
    else
        problems->first = kept;
    problems->last = kept;
    problems->count++;
}

void problems_log(const struct problems *problems)
{
    for (const struct agent_problem *one = problems->first; one; one = one->next) {
        const char *between = *one->agent ? "/" : ""; /* of the folder of all agents */
        if (one->line)
            log_error("orchestrator.agent", "%s%s%s:%d:%d: %s", one->agent, between, one->file, one->line, one->column,
                      one->message);
        else
            log_error("orchestrator.agent", "%s%s%s: %s", one->agent, between, one->file, one->message);
    }
}
