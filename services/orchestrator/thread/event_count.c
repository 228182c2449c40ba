#include "event_count.h"

static uint32_t event_count_results(const Renga__V1__StepResults *results)
{
    uint32_t count = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        const Renga__V1__TaskResult *result = results->results[i];
        if (!result->failed && result->response && result->response->n_interrupts)
            count += (uint32_t)result->response->n_interrupts;
        else
            count += 1 + (!result->failed && event_has_update(result));
    }
    return count;
}

uint32_t events_count(const Record *record)
{
    uint32_t count = (uint32_t)record->n_answers;
    count += (record->begun != NULL) + 2 * (record->went_to_work != NULL) + (record->goes_on != NULL) +
             (record->goes_on && record->update) + (record->migrated && !record->migrated->queued);
    for (size_t i = 0; i < record->n_kept; i++)
        count += event_count_results(record->kept[i]);
    if (record->step)
        count += event_count_results(record->step) + 1;
    if (record->changed)
        count += (uint32_t)record->changed->n_standing + 1 +
                 (record->changed->state > RENGA__V1__RUN_STATE__RUN_STATE_RUNNING);
    return count;
}
