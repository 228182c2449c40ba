/* Private to the orchestrator: how many events a record has (journal/events.h makes them). The id of an event is the
 * number of its record, shifted by EVENT_NUMBER_BITS, and its number within the record. */
#ifndef RENGA_ORCHESTRATOR_EVENT_COUNT_H
#define RENGA_ORCHESTRATOR_EVENT_COUNT_H

#include "apply.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

#define EVENT_NUMBER_BITS 20

/* The kept ones. */
uint32_t events_count(const Record *record);
/* Whether the result of a node has an event UPDATED. */
static inline bool event_has_update(const Renga__V1__TaskResult *result)
{
    return result->response && (*result->response->update_json || result->response->n_clear_fields);
}

#endif
