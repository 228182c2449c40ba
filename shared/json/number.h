/* Decimal forms of numbers as JSON has them, not terminated; each gives the length it wrote. */
#ifndef RENGA_JSON_NUMBER_H
#define RENGA_JSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define JSON_NUMBER_SIZE 32 /* bytes that are always enough */

size_t json_format_int(int64_t value, char *out);
size_t json_format_uint(uint64_t value, char *out);

/* `scaled` with a point before its last `decimals` digits. */
size_t json_format_fixed(uint64_t scaled, unsigned decimals, char *out);

/* The fewest digits that read back as the same value; "null" for NaN and the infinities. A float's are nearer to it
 * than to the next, so that no reader's way to round matters. */
size_t json_format_double(double value, char *out);
size_t json_format_float(float value, char *out);

#endif
