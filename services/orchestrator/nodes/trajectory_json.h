/* A trajectory (ace.proto) as the JSON of the specification:
 *
 *     {"query": "…", "dataset": "appworld", "generated_answer": "…", "reasoning_steps": ["…"],
 *      "used_bullet_ids": ["shr-00001"], "status": "success", "error_message": null,
 *      "created_at": "2025-01-15T10:30:00Z"}
 *
 * A message that is written and read back is equal. All functions may be called from any thread. */
#ifndef RENGA_ORCHESTRATOR_TRAJECTORY_JSON_H
#define RENGA_ORCHESTRATOR_TRAJECTORY_JSON_H

#include "base/arena.h"
#include "base/status.h"
#include "json/writer.h"

#include "renga/v1/ace.pb-c.h"

/* Bounds of its members, as in ace.proto. */
#define TRAJECTORY_QUERY_MAX   65536   /* bytes */
#define TRAJECTORY_DATASET_MAX 128     /* bytes */
#define TRAJECTORY_ANSWER_MAX  1048576 /* bytes */
#define TRAJECTORY_STEPS_MAX   100
#define TRAJECTORY_STEP_MAX    4096 /* bytes */
#define TRAJECTORY_IDS_MAX     100
#define TRAJECTORY_ID_MAX      64                       /* bytes */
#define TRAJECTORY_ERROR_MAX   4096                     /* bytes */
#define TRAJECTORY_TIME_MAX    INT64_C(253402300799999) /* ms: the end of the year 9999 */

/* Writes a message whose members are within their bounds and whose status is SUCCESS or FAILURE. The time is in UTC,
 * with milliseconds if there are any. */
void trajectory_write_json(struct json_writer *out, const char *key, const Renga__V1__Trajectory *trajectory);

/* Reads a parsed value; the message lives in the arena. `error_message` may be missing or null, and `created_at` may be
 * missing (0); a time without a zone is UTC, and parts of a millisecond are dropped. Unknown members are ignored.
 * NULL with INVALID_ARGUMENT that names the member, its value, and what would be right; or RESOURCE_EXHAUSTED if the
 * arena is full. */
Renga__V1__Trajectory *trajectory_read_json(const cJSON *value, struct arena *arena, struct status *st);

/* The same from a text. */
Renga__V1__Trajectory *trajectory_parse_json(const char *text, size_t size, struct arena *arena, struct status *st);

#endif
