/* Time zones, from the system's database (TZif, RFC 8536) or as an offset. */
#ifndef RENGA_TOOL_RUNNER_ZONE_H
#define RENGA_TOOL_RUNNER_ZONE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONE_NAME_MAX 63 /* bytes */

/* Seconds east of UTC at a moment (Unix time), in "UTC", "+09:00" or "Asia/Tokyo". INVALID_ARGUMENT for a zone that is
 * not known, UNKNOWN where the database does not reach so far. Reads a small file. */
bool zone_offset(const char *name, int64_t at, int32_t *offset, struct status *st);

/* The same of the bytes of a TZif file. False where it is none, or ends before `at` with rules that go on. */
bool zone_read(const char *bytes, size_t size, int64_t at, int32_t *offset);

#endif
