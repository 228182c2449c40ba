/* Requests at the boundary: lengths, counts and blanks, each failure with the name of its field (BadRequest). That text
 * is UTF-8 the runtime has seen to. All are INVALID_ARGUMENT. */
#ifndef RENGA_MODEL_TASK_CHECK_H
#define RENGA_MODEL_TASK_CHECK_H

#include "base/status.h"
#include "base/text.h"

#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stddef.h>

#define CHECK_FEEDBACK_MAX ((size_t)65536)

/* At most `max` bytes; text_is_given also refuses a blank text. */
bool text_fits(struct status *st, const char *field, const char *text, size_t max);
bool text_is_given(struct status *st, const char *field, const char *text, size_t max);

bool count_fits(struct status *st, const char *field, size_t count, size_t max);
/* 0, or within 1 and `max`. */
bool number_fits(struct status *st, const char *field, int32_t number, int32_t max);

/* The path of a field of an element: "form.fields[3].label". Valid until the next call in this thread. */
const char *path_of(const char *list, size_t index, const char *field);

/* The bounds of the contract, and the rules of `prompting`, the request's own or NULL. */
bool check_model_request(const ProtobufCMessage *request, const Renga__V1__Prompting *prompting, struct status *st);

#endif
