/* Tells operators of runs that end: a metric for each, and a log line for each that failed. */
#ifndef RENGA_ORCHESTRATOR_RUN_OUTCOME_H
#define RENGA_ORCHESTRATOR_RUN_OUTCOME_H

#include "renga/v1/log.pb-c.h"

#include <stddef.h>

struct run;

/* From inside the run's loop, after the change was applied to the run. A change that does not end the run is ignored.
 */
void report_run_changed(const struct run *run, const Renga__V1__RunChanged *changed);

/* Copies the words of an error. Quoted parts are replaced by "...", since they may be values of a state. From the first
 * brace or bracket on, but for an index as "[0]", the text is left out. `text` is well-formed UTF-8. Writes at most
 * `room` bytes with the NUL. */
void report_redact(const char *text, char *out, size_t room);

/* Copies a text between double quotes; a backslash comes before each double quote and backslash in it. Writes at most
 * `room` bytes, 3 at least, with the NUL; a longer text is cut at a character. */
void report_quote(const char *text, char *out, size_t room);

#endif
