/* Private to check*.c, of this capacity and of embed's. */
#ifndef RENGA_LLM_GATEWAY_CHECK_PRIV_H
#define RENGA_LLM_GATEWAY_CHECK_PRIV_H

#include "check_chat.h"

#include <stddef.h>

/* A field by its path: "messages[%zu].%s" and other paths are formatted only for an error. */
struct place {
    const char *list; /* NULL: the field stands in the request itself */
    size_t index;
    const char *sub_list; /* within the element, may be NULL */
    size_t sub_index;
};

bool wrong(struct status *st, const struct place *place, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* check_messages.c */
bool check_messages(const Renga__V1__ChatRequest *request, struct status *st);

#endif
