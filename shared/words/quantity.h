/* Questions that ask for a number, and texts that contain a number. "How long", 何日 and いつ are answered by sentences
 * with digits. This is only a hint for ranking: "when" may be answered by an event. Texts are borrowed for the call. */
#ifndef RENGA_WORDS_QUANTITY_H
#define RENGA_WORDS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

bool words_asks_number(const char *text, size_t length);

bool words_has_number(const char *text, size_t length);

#endif
