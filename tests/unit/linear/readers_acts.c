/* services/form: a person's words. */
#include "readers.h"

#include "base/text.h"
#include "form/form.h"

#include <stdlib.h>

#define PROPERTIES                                                                                                     \
    "{\"properties\":{\"name\":{\"title\":\"Name\"},\"email\":{\"type\":\"string\",\"format\":\"email\"},"             \
    "\"start\":{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"}}}"

static const struct form_context context = {.language = "en", .country = "JP", .timezone = "Asia/Tokyo"};

#define HEARD_MEMORY_MAX ((size_t)1 << 20) /* of one text */

struct hearing_size {
    size_t bytes;
};

/* The text is cut into many that are short enough to be dialogue acts: a longer one is an answer unread. */
static void acts_hear_input(struct input *in)
{
    static char schema[] = PROPERTIES;
    const struct hearing_size *size = in->with;
    Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
    message.schema_json = schema;
    const struct form *form = form_open(&in->arena, &message, &in->st);
    if (!form)
        abort();
    for (size_t at = 0, length; at < in->length; at += length) {
        struct arena arena;
        struct form_utterance heard;
        length =
            in->length - at < size->bytes ? in->length - at : text_cut(in->text + at, in->length - at, size->bytes);
        arena_init(&arena, NULL, 0, HEARD_MEMORY_MAX);
        const char *text = arena_strndup(&arena, in->text + at, length);
        if (!form_read_act(form, text, &context, &arena, &heard))
            abort();
        in->accepted = in->accepted || heard.act != FORM_ANSWERS;
        arena_fini(&arena);
    }
}

static const struct generator acts[] = {
    {"courtesies", 0, .unit = "please ", .end = "skip"},
    {"reasons that end again and again", 0, .unit = "まだですので", .end = "分かりません"},
    {"a long reason", 0, .begin = "I don't know because ", .unit = "of reason \1 "},
    {"fields to change", 0, .begin = "change ", .unit = "the start date "},
    {.name = NULL},
};

static const struct hearing_size sentence = {.bytes = 250}, page = {.bytes = 8000};

const struct reader readers_acts[] = {
    {"acts in sentences", acts_hear_input, .sets = HOSTILE_TEXT, .own = acts, .with = &sentence},
    {"acts in pages", acts_hear_input, .sets = HOSTILE_TEXT, .own = acts, .with = &page, .accepts = true},
    {.name = NULL},
};
