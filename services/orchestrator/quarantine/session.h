/* Private to the orchestrator: a store that is this process' alone has a row for each of its lives that has not ended
 * in good order. From inside the first loop. */
#ifndef RENGA_ORCHESTRATOR_SESSION_H
#define RENGA_ORCHESTRATOR_SESSION_H

struct runner;

void session_begin(struct runner *runner);
/* From inside the first loop; `ended` runs there. */
void session_end(struct runner *runner, void (*ended)(void *data), void *data);

#endif
