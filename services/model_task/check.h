/* Requests at the boundary: lengths, counts and blanks, each failure with the name of its field (BadRequest). That text
 * is UTF-8 the runtime has seen to. All are INVALID_ARGUMENT. */
#ifndef RENGA_MODEL_TASK_CHECK_H
#define RENGA_MODEL_TASK_CHECK_H

#include "base/status.h"
#include "base/text.h"

#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stddef.h>

#define CHECK_QUESTION_MAX ((size_t)32768) /* bytes of a question, a theme, a person's words */
#define CHECK_FEEDBACK_MAX ((size_t)65536)
#define CHECK_QUERY_MAX    ((size_t)1024)

/* At most `max` bytes; text_is_given also refuses a blank text. */
bool text_fits(struct status *st, const char *field, const char *text, size_t max);
bool text_is_given(struct status *st, const char *field, const char *text, size_t max);

bool count_fits(struct status *st, const char *field, size_t count, size_t max);
/* 0, or within 1 and `max`. */
bool number_fits(struct status *st, const char *field, int32_t number, int32_t max);
/* Not infinite, nor NaN, and from 0 to 1. */
bool share_fits(struct status *st, const char *field, double share);

/* At most `count_max` texts of at most `max` bytes, none blank. */
bool texts_fit(struct status *st, const char *field, char *const *texts, size_t count, size_t count_max, size_t max);

/* The path of a field of an element: "form.fields[3].label". Valid until the next call in this thread. */
const char *path_of(const char *list, size_t index, const char *field);
/* "plan.theme". Likewise. */
const char *field_in(const char *parent, const char *field);

/* Both may be NULL: absent. */
bool check_prompting(const Renga__V1__Prompting *prompting, struct status *st);
bool check_origin_of(const Renga__V1__CallOrigin *origin, struct status *st);

#endif
