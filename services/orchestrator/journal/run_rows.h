/* Private to the orchestrator: rows that go into the filling batch beside the records of a run: its name, the version
 * of its agent, the time at which its pause ends. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_RUN_ROWS_H
#define RENGA_ORCHESTRATOR_RUN_ROWS_H

#include <stdint.h>

struct run;

/* Its name and version, and the document of the version unless the store has it. */
void log_write_name(struct run *run);
/* A run that has not ended is listed under its version. */
void log_write_version(struct run *run);
void log_unlist_version(struct run *run);
/* A row under the time at which its pause ends, if it is paused and has a limit. */
void log_write_pause(const struct run *run);
int64_t log_pause_ends_ms(const struct run *run); /* 0: it is not paused, or has no limit */

#endif
