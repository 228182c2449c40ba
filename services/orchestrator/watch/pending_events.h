/* Private to the orchestrator: events that are shown before the record that tells of them is on disk. From inside the
 * loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_PENDING_EVENTS_H
#define RENGA_ORCHESTRATOR_PENDING_EVENTS_H

#include "renga/v1/orchestrator.pb-c.h"

#include <stddef.h>

struct activation;

#define PENDING_EVENTS_MAX      4096 /* pending events of one record; further events make a separate record */
#define PENDING_EVENT_BYTES_MAX ((size_t)1 << 20)

void run_pending_started(struct activation *activation);
void run_pending_progress(struct activation *activation, const Renga__V1__NodeRetried *retried, const char *progress);
void run_pending_result(struct activation *activation, const char *progress); /* when its record is on disk */
void run_token(struct activation *activation, const char *text, const char *channel);

#endif
