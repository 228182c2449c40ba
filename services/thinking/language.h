/* Which of the suite's two languages: of a text by its script, of a BCP 47 tag by its first part. */
#ifndef RENGA_THINKING_LANGUAGE_H
#define RENGA_THINKING_LANGUAGE_H

#include <stdbool.h>

/* "ja" or "en". The text is UTF-8. */
const char *language_of(const char *text);
bool language_is_japanese(const char *tag);

#endif
