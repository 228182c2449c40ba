/* Cuts a text to a number of bytes: behind its last whole sentence, or else behind a character. */
#include "input_job.h"

#include "base/text.h"
#include "words/sentences.h"

#include <string.h>

enum { SHORTEN_OF, SHORTEN_BYTES, SHORTEN_INTO };

static const struct node_parameter parameters[] = {
    [SHORTEN_OF] = {"of", READS_STRING, REQUIRED, "The text, a string."},
    [SHORTEN_BYTES] = {"bytes", PARAMETER_INTEGER, REQUIRED, "The most bytes it may have."},
    [SHORTEN_INTO] = {"into", WRITES_STRING, REQUIRED, "A string that gets it."},
    {.name = NULL},
};
static const char *const outcomes[] = {"shortened", NULL};

static bool shorten_run(struct input_job *job, struct status *st)
{
    const struct task *task = job->base.task;
    const char *text = service_call_text(&job->base, SHORTEN_OF);
    size_t length = strlen(text), most = (size_t)node_argument(task_node(task), SHORTEN_BYTES)->number;
    size_t whole = length > most ? sentences_whole(text, length, most) : length;
    (void)st;
    json_write_text(&job->update.out, update_field(task, SHORTEN_INTO), text,
                    whole ? whole : text_cut(text, length, most));
    return true;
}

static const char *shorten_finish(struct input_job *job, struct update *update)
{
    (void)job;
    (void)update;
    return outcomes[0];
}

static void shorten_start(struct task *task)
{
    input_job_start(task_data(task), task, shorten_run, shorten_finish);
}

extern const struct node_kind shorten_kind;
const struct node_kind shorten_kind = {
    .name = "shorten",
    .help = "Cuts a text behind its last whole sentence that fits.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct input_job),
    .start = shorten_start,
    .cancel = input_job_cancel,
};
