/* Opened forms, kept by their text: each node that fills a form needs it opened, and to open a form of 1 MiB takes some
 * 15 ms. A form that is taken never changes and lives until it is given back. The content alone is the key, so tenants
 * share entries: equal text gives an equal form. Any thread. */
#ifndef RENGA_ORCHESTRATOR_FORM_CACHE_H
#define RENGA_ORCHESTRATOR_FORM_CACHE_H

#include "form/form.h"

#define FORM_CACHE_BYTES_MAX ((size_t)64 << 20) /* of the process: texts and opened forms that are not in use */

struct kept_form;

/* The form of a SessionForm as JSON. NULL with `st` filled: INVALID_ARGUMENT as form_open, or RESOURCE_EXHAUSTED. */
const struct kept_form *form_cache_take(const char *json, size_t size, struct status *st);
const struct form *form_cache_form(const struct kept_form *kept);
void form_cache_give(const struct kept_form **kept);

struct form_cache_count {
    size_t forms, bytes;   /* that are kept, used or not */
    uint64_t hits, misses; /* since the process began */
};
void form_cache_count(struct form_cache_count *count);

#endif
