/* Fields of requests at the boundary: lengths, counts and blanks. Each failure is INVALID_ARGUMENT with the name of its
 * field. The runtime has checked that texts are UTF-8. */
#ifndef RENGA_BASE_FIELD_CHECK_H
#define RENGA_BASE_FIELD_CHECK_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most `max` bytes; text_is_given also refuses a blank text. */
bool text_fits(struct status *st, const char *field, const char *text, size_t max);
bool text_is_given(struct status *st, const char *field, const char *text, size_t max);

bool count_fits(struct status *st, const char *field, size_t count, size_t max);
/* 0, or within 1 and `max`. */
bool number_fits(struct status *st, const char *field, int32_t number, int32_t max);

/* The path of a field of an element: "form.fields[3].label". Valid until the next call in this thread. */
const char *path_of(const char *list, size_t index, const char *field);

#endif
