/* Private to the room quarantine/: the row of a thread's crashes, written and cleared. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_CRASHES_PRIV_H
#define RENGA_ORCHESTRATOR_CRASHES_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct crash_record;
struct store_batch;
struct thread;

unsigned crashes_max(const struct thread *thread);
void crashes_put_row(struct thread *thread, struct store_batch *batch, const struct crash_record *record, bool alone);
void crashes_delete_row(const struct thread *thread, struct store_batch *batch);
void crashes_clear(struct thread *thread, uint64_t number); /* with the record of this number */
/* So long no orchestrator may have died before its trial begins. */
int64_t crashes_quiet_ms(const struct crash_record *record);
void quarantine_begin(struct thread *thread);

#endif
