/* Private to the orchestrator: threads on trial, a single one at a time. The runner owns it. Any thread. */
#ifndef RENGA_ORCHESTRATOR_QUARANTINE_H
#define RENGA_ORCHESTRATOR_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

struct quarantine;
struct thread;

struct quarantine *quarantine_create(void);
void quarantine_destroy(struct quarantine **quarantine);
/* An orchestrator of the store has died. The start of this orchestrator counts, too. */
void quarantine_note_death(struct quarantine *quarantine);
int64_t quarantine_quiet_ms(struct quarantine *quarantine); /* since the last death */
/* `turn` runs in its loop when it is the only thread on trial: at once, or later. */
void quarantine_enter(struct quarantine *quarantine, struct thread *thread);
/* Also for a thread that is not in it. True if it was in line, and `turn` will not run. */
bool quarantine_leave(struct quarantine *quarantine, struct thread *thread);
bool quarantine_has_line(struct quarantine *quarantine);

#endif
