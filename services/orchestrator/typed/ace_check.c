#include "ace.h"

#include "base/text.h"
#include "graph/dataset.h"
#include "nodes/trajectory_json.h"

#include <string.h>

#define QUERY_MAX 65536 /* bytes, as GenerateRequest.query */
#define TEXT_MAX  8192  /* bytes, as the texts of Reflection */
#define IDS_MAX   100
#define ID_MAX    64 /* bytes, as Bullet.id */

bool ace_check_query(const char *query, struct status *st)
{
    size_t length = strlen(query);
    if (length > QUERY_MAX)
        return fail_field(st, "query", "has %zu bytes; at most %d are allowed", length, QUERY_MAX);
    return !text_is_blank(query) || fail_field(st, "query", "is blank; give a task");
}

bool ace_check_text(const char *field, const char *text, size_t most, struct status *st)
{
    return strlen(text) <= most || fail_field(st, field, "has %zu bytes; at most %zu are allowed", strlen(text), most);
}

bool ace_check_ids(const char *field, char *const *ids, size_t count, struct status *st)
{
    if (count > IDS_MAX)
        return fail_field(st, field, "has %zu entries; at most %d are allowed", count, IDS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!*ids[i] || strlen(ids[i]) > ID_MAX)
            return fail_field(st, field, "has an id of %zu bytes at place %zu; 1 to %d are allowed", strlen(ids[i]), i,
                              ID_MAX);
    return true;
}

bool ace_check_reflection(const char *field, const Renga__V1__Reflection *reflection, struct status *st)
{
    const char *const texts[] = {reflection->reasoning, reflection->error_identification,
                                 reflection->root_cause_analysis, reflection->correct_approach,
                                 reflection->key_insight};
    char *ids[IDS_MAX];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strlen(texts[i]) > TEXT_MAX)
            return fail_field(st, field, "has a text of %zu bytes; at most %d are allowed", strlen(texts[i]), TEXT_MAX);
    for (size_t i = 0; i < reflection->n_bullet_tags && i < IDS_MAX; i++)
        ids[i] = reflection->bullet_tags[i]->id;
    return ace_check_ids(field, ids, reflection->n_bullet_tags, st);
}

bool ace_check_trajectory(const Renga__V1__Trajectory *trajectory, struct status *st)
{
    if (!trajectory)
        return fail_field(st, "trajectory", "is absent; say how the task was done");
    if (trajectory->n_reasoning_steps > TRAJECTORY_STEPS_MAX)
        return fail_field(st, "trajectory.reasoning_steps", "has %zu entries; at most %d are allowed",
                          trajectory->n_reasoning_steps, TRAJECTORY_STEPS_MAX);
    for (size_t i = 0; i < trajectory->n_reasoning_steps; i++)
        if (!ace_check_text("trajectory.reasoning_steps", trajectory->reasoning_steps[i], TRAJECTORY_STEP_MAX, st))
            return false;
    return ace_check_query(trajectory->query, st) && dataset_check("trajectory.dataset", trajectory->dataset, st) &&
           ace_check_text("trajectory.generated_answer", trajectory->generated_answer, TRAJECTORY_ANSWER_MAX, st) &&
           ace_check_ids("trajectory.used_bullet_ids", trajectory->used_bullet_ids, trajectory->n_used_bullet_ids, st);
}
