/* Time zones, from the system's database (TZif, RFC 8536) or as an offset. */
#ifndef RENGA_TOOL_RUNNER_ZONE_H
#define RENGA_TOOL_RUNNER_ZONE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONE_NAME_MAX 63 /* bytes */

/* Seconds east of UTC at a moment (Unix time), in "UTC", "+09:00" or "Asia/Tokyo". INVALID_ARGUMENT for an unknown
 * zone, UNKNOWN if the database does not reach that moment. Reads a small file. */
bool zone_offset(const char *name, int64_t at, int32_t *offset, struct status *st);

/* The same for the bytes of a TZif file. False: they are not a TZif file, or end before `at` with rules that go on. */
bool zone_read(const char *bytes, size_t size, int64_t at, int32_t *offset);

#endif
