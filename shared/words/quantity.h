/* Questions that ask for a number, and texts that have one: "how long", 何日 and いつ are answered by sentences with
 * digits. A hint for ranking, no more: "when" may be answered by an event. Texts are borrowed, nothing is kept. */
#ifndef RENGA_WORDS_QUANTITY_H
#define RENGA_WORDS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

bool words_asks_number(const char *text, size_t length);

bool words_has_number(const char *text, size_t length);

#endif
