/* Checks what a model wrote of a trajectory, and makes a Reflection of it: texts are cut behind a sentence, and only
 * bullets that were shown to the generator are tagged, each once. */
#include "input_job.h"

#include "base/text.h"
#include "words/sentences.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)8192) /* as the texts of Reflection */
#define TAGS_MAX       100            /* as Reflection.bullet_tags */

enum { REFLECTION_OF, REFLECTION_SHOWN, REFLECTION_INTO };

static const struct node_parameter parameters[] = {
    [REFLECTION_OF] = {"of", READS_OBJECT, REQUIRED,
                       "What the model wrote, an object: the texts of a Reflection, and \"bullet_tags\" as [{\"id\", "
                       "\"tag\": \"helpful\", \"harmful\" or \"neutral\"}]."},
    [REFLECTION_SHOWN] = {"shown", READS_STRINGS, REQUIRED,
                          "Ids of the bullets that were shown, a string[]. A tag of another is left out."},
    [REFLECTION_INTO] = {"into", WRITES_OBJECT, REQUIRED, "An object that gets the Reflection."},
    {.name = NULL},
};
static const char *const outcomes[] = {"reflected", "nothing", NULL};

static const char *const reflection_texts[] = {"reasoning", "error_identification", "root_cause_analysis",
                                               "correct_approach", "key_insight"};
#define REFLECTION_TEXTS (sizeof reflection_texts / sizeof *reflection_texts)

/* A bullet that is tagged as helpful and as harmful is neutral. */
static const struct {
    const char *word, *effect;
} reflection_effects[] = {
    {"neutral", "BULLET_EFFECT_NEUTRAL"},
    {"helpful", "BULLET_EFFECT_HELPFUL"},
    {"harmful", "BULLET_EFFECT_HARMFUL"},
};

struct reflecting {
    struct input_job base; /* first */
    bool says_something;
};

static void reflection_write_texts(struct reflecting *reflecting, const cJSON *written, struct json_writer *out)
{
    for (size_t i = 0; i < REFLECTION_TEXTS; i++) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(written, reflection_texts[i]));
        if (!text || text_is_blank(text)) {
            json_write_string(out, reflection_texts[i], ""); /* prompts name all of them */
            continue;
        }
        size_t length = strlen(text);
        size_t whole = length > TEXT_BYTES_MAX ? sentences_whole(text, length, TEXT_BYTES_MAX) : length;
        json_write_text(out, reflection_texts[i], text, whole ? whole : text_cut(text, length, TEXT_BYTES_MAX));
        reflecting->says_something = true;
    }
}

/* The index in reflection_effects; -1: it is no tag. */
static int reflection_effect(const cJSON *tag)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tag, "tag"));
    for (int i = 0; word && i < 3; i++)
        if (strcmp(word, reflection_effects[i].word) == 0)
            return i;
    return -1;
}

static int reflection_shown_at(const char *const *shown, size_t count, const char *id)
{
    for (size_t i = 0; id && i < count; i++)
        if (strcmp(shown[i], id) == 0)
            return (int)i;
    return -1;
}

/* O(tags * TAGS_MAX). */
static void reflection_write_tags(const struct input_job *job, const cJSON *written, struct json_writer *out)
{
    const char *shown[TAGS_MAX] = {NULL};
    int effects[TAGS_MAX];
    size_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, service_call_input(&job->base, REFLECTION_SHOWN))
    {
        const char *id = cJSON_GetStringValue(item);
        if (!id || count == TAGS_MAX || reflection_shown_at(shown, count, id) >= 0)
            continue;
        effects[count] = -1;
        shown[count++] = id;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(written, "bullet_tags"))
    {
        int effect = reflection_effect(item);
        int at = reflection_shown_at(shown, count, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "id")));
        if (at >= 0 && effect >= 0)
            effects[at] = effects[at] >= 0 && effects[at] != effect ? 0 : effect;
    }
    json_write_array(out, "bullet_tags");
    for (size_t i = 0; i < count; i++) {
        if (effects[i] < 0)
            continue;
        json_write_object(out, NULL);
        json_write_string(out, "id", shown[i]);
        json_write_string(out, "effect", reflection_effects[effects[i]].effect);
        json_write_end(out);
    }
    json_write_end(out);
}

static bool reflection_run(struct input_job *job, struct status *st)
{
    struct reflecting *reflecting = CONTAINER_OF(job, struct reflecting, base);
    struct json_writer *out = &job->update.out;
    const cJSON *written = service_call_input(&job->base, REFLECTION_OF);
    (void)st;
    json_write_object(out, update_field(job->base.task, REFLECTION_INTO));
    reflection_write_texts(reflecting, written, out);
    reflection_write_tags(job, written, out);
    json_write_end(out);
    return true;
}

static const char *reflection_finish(struct input_job *job, struct update *update)
{
    (void)update;
    return outcomes[CONTAINER_OF(job, struct reflecting, base)->says_something ? 0 : 1];
}

static void reflection_start(struct task *task)
{
    struct reflecting *reflecting = task_data(task);
    input_job_start(&reflecting->base, task, reflection_run, reflection_finish);
}

extern const struct node_kind reflection_kind;
const struct node_kind reflection_kind = {
    .name = "reflection",
    .help = "Checks what a model wrote of a trajectory.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct reflecting),
    .start = reflection_start,
    .cancel = input_job_cancel,
};
