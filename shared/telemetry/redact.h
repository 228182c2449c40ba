/* Keys that stand in a text for people: before it is shown to operators, in spans or in logs. */
#ifndef RENGA_TELEMETRY_REDACT_H
#define RENGA_TELEMETRY_REDACT_H

#include <stddef.h>

/* Overwrites words that look like keys by '*', but for their first letters. These are words of at least 16 letters,
 * digits, '-',
 * '_' and '.' that begin as the keys of known services do, and each word of that length and alphabet behind "Bearer ".
 * A text may hold secrets that do not look like keys. Takes O(length). */
void redact_keys(char *text, size_t length);

#endif
