/* Runs of this process that `renga feedback` may name later: a file RUN.json of the user's own folder each, with the
 * trajectory as JSON. The newest KEPT_RUNS_MAX stay. */
#ifndef RENGA_KEPT_RUN_H
#define RENGA_KEPT_RUN_H

#include "orchestra.h"

#include "base/arena.h"
#include "renga/v1/ace.pb-c.h"

#define KEPT_RUNS_MAX 200
#define KEPT_RUN_ID   65     /* bytes, with the NUL */
#define KEPT_RUN_LAST "last" /* in place of an id: the newest one */

/* A run as its command ends. */
struct kept_run {
    char id[KEPT_RUN_ID]; /* "": the run is not kept */
    char thread_id[129];
    char *answer; /* on the heap */
};

/* Copies the ids and the answer of a result. */
void kept_run_note(struct kept_run *run, const Renga__V1__AgentOutcome *outcome, const char *answer);
/* Reads which lessons the run was shown, writes its file, and with `tells` says how to judge it: on a terminal below
 * the answer, in a pipe on standard error. The agent's name is the dataset if it was shown none. Frees the answer. */
void kept_run_write(struct kept_run *run, const struct orchestra *way, const char *agent, const char *query,
                    bool tells);
/* The same for a trajectory. */
void kept_run_write_trajectory(const char *id, const Renga__V1__Trajectory *trajectory);

/* The first argument before the verdict that is the id of a kept run, or KEPT_RUN_LAST, as its id; false without one.
 * Only regular files are kept runs. */
bool kept_run_find(int argc, char **argv, char id[KEPT_RUN_ID]);
/* The trajectory in the arena; NULL with `st` filled. */
Renga__V1__Trajectory *kept_run_read(const char *id, struct arena *arena, struct status *st);

#endif
