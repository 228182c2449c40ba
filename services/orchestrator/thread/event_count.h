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
/* The id of the last of them; the record has at least one. */
static inline int64_t event_last(const Record *record, uint64_t number)
{
    return (int64_t)(number << EVENT_NUMBER_BITS | (record->first_event + events_count(record) - 1));
}

/* Whether the result of a node has an event UPDATED. */
static inline bool event_has_update(const Renga__V1__TaskResult *result)
{
    return result->response && (*result->response->update_json || result->response->n_clear_fields);
}

#endif
