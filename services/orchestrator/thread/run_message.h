/* Private to the orchestrator: runs and threads as messages for callers. A message is a copy in the arena of the
 * caller, since the memory of the thread goes on changing. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_RUN_MESSAGE_H
#define RENGA_ORCHESTRATOR_RUN_MESSAGE_H

#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct run;
struct status;
struct store_row;
struct thread;

#define OUTPUT_ROW_MAX ((size_t)16 << 10) /* bytes; a longer output is read from the thread's log */

enum answer_form {
    ANSWER_WHOLE,
    ANSWER_ROW,    /* output up to OUTPUT_ROW_MAX */
    ANSWER_LISTED, /* no output, failures and interrupts */
};
Renga__V1__Run *answer_run(struct arena *arena, const struct run *run, enum answer_form form);
/* Bytes of the output in ANSWER_WHOLE, about; 0: it has no output yet. */
size_t answer_output_size(const struct run *run);
/* The R row leaves RUN_COMPLETED_TEXT out, since the stop reason says as much. As row_read, with that text. */
#define RUN_COMPLETED_TEXT "the graph came to its end"
Renga__V1__RunRow *answer_read_row(struct arena *arena, const struct store_row *row, struct status *st);
void answer_resumptions(struct arena *arena, const struct run *run, Renga__V1__Run *message);
char *checkpoint_text(struct arena *arena, const struct thread *thread, uint64_t number); /* "" for 0 */
Renga__V1__Thread *answer_thread(struct arena *arena, const struct thread *thread);

#endif
