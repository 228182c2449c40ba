/* Runs of this process that `renga feedback` may name later: a file RUN.json of the user's own folder each, with the
 * trajectory as JSON. The newest SAVED_RUNS_MAX stay. */
#ifndef RENGA_SAVED_RUN_H
#define RENGA_SAVED_RUN_H

#include "orchestrator_client.h"

#include "base/arena.h"
#include "renga/v1/ace.pb-c.h"

#define SAVED_RUNS_MAX 200
#define SAVED_RUN_ID   65     /* bytes, with the NUL */
#define SAVED_RUN_LAST "last" /* in place of an id: the newest one */

/* A run as its command ends. */
struct saved_run {
    char id[SAVED_RUN_ID]; /* "": the run is not kept */
    char thread_id[129];
    char *answer; /* on the heap */
};

/* Copies the ids and the answer of a result. */
void saved_run_take(struct saved_run *run, const Renga__V1__AgentOutcome *outcome, const char *answer);
/* Reads which lessons the run was shown, writes its file, and with `tells` says how to judge it: on a terminal below
 * the answer, in a pipe on standard error. The agent's name is the dataset if it was shown none. Frees the answer. */
void saved_run_write(struct saved_run *run, const struct orchestrator_client *client, const char *agent,
                     const char *query, bool tells);
/* The same for a trajectory. */
void saved_run_write_trajectory(const char *id, const Renga__V1__Trajectory *trajectory);

/* The first argument before the verdict that is the id of a saved run, or SAVED_RUN_LAST, as its id; false without one.
 * Only regular files are saved runs. */
bool saved_run_find(int argc, char **argv, char id[SAVED_RUN_ID]);
/* The trajectory in the arena; NULL with `st` filled. */
Renga__V1__Trajectory *saved_run_read(const char *id, struct arena *arena, struct status *st);

#endif
