/* Playbooks: their text, the comparison of bullets, and queries. */
#include "readers.h"

#include "playbook/playbook_index.h"
#include "playbook/playbook_similar.h"
#include "playbook/playbook_text.h"

#include <string.h>

static void playbooks_read_text(struct input *in)
{
    struct playbook_text read;
    const Renga__V1__PlaybookFormat *format = in->with;
    in->accepted = playbook_text_read(&in->arena, *format, in->text, &read, &in->st) && read.count > 0;
    if (in->accepted)
        playbook_text_write(&in->out, *format, "d", 1, read.bullets, read.count);
}

/* A content against another that begins in the same way. */
static void playbooks_compare(struct input *in)
{
    struct playbook_similarity similarity;
    char *other = arena_strndup(&in->arena, in->text, in->length - in->length / 4);
    playbook_compare(&in->arena, in->text, other, &similarity);
}

static void playbooks_search(struct input *in)
{
    struct playbook_hit hits[10];
    const struct playbook_query query = {.text = in->text, .by_words = true};
    struct playbook_index *index = playbook_index_create();
    Renga__V1__Bullet bullet = RENGA__V1__BULLET__INIT, *bullets[1];
    bullet.id = arena_strdup(&in->arena, "a-1");
    bullet.content = arena_strdup(&in->arena, "a word key x 0 日本 a-1 1 [ { <p>");
    struct playbook_bullet *kept = playbook_bullet_create(&bullet, 1);
    bullets[0] = &kept->bullet;
    playbook_index_update(index, bullets, 1);
    playbook_index_search(index, &query, hits, 10);
    playbook_index_destroy(&index);
    playbook_bullet_release(kept);
}

static const Renga__V1__PlaybookFormat text_format = RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT,
                                       json_format = RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON;

static const struct generator lines[] = {
    {"bullets", 0, .begin = "## s\n", .unit = "[b-\1] helpful=1 harmful=0 :: some words\n"},
    {"the same bullet", 0, .begin = "## s\n", .unit = "[b] helpful=1 harmful=0 :: x\n"},
    {"sections", 0, .begin = "[b] helpful=1 harmful=0 :: x\n", .unit = "## section \1\n"},
    {"counts without an end", 0, .begin = "[b] helpful=", .unit = "0"},
    {"colons", 0, .begin = "[b] helpful=1 harmful=0 ", .unit = ":: "},
    {"ideographic blanks", 0, .begin = "[b] helpful=1 harmful=0 :: ", .unit = "\xE3\x80\x80"},
    {.name = NULL},
};

static const struct generator objects[] = {
    {"bullets", 0, .begin = "{\"bullets\": [{\"content\": \"x\"}", .unit = ", {\"id\": \"b\1\", \"content\": \"y\"}",
     .end = "]}"},
    {.name = NULL},
};

const struct reader readers_playbooks[] = {
    {"playbook as text", playbooks_read_text, .sets = HOSTILE_TEXT | HOSTILE_STREAM | HOSTILE_BYTES, .own = lines,
     .with = &text_format, .accepts = true},
    {"playbook as JSON", playbooks_read_text, .sets = HOSTILE_JSON, .own = objects, .with = &json_format,
     .accepts = true},
    {"two bullets", playbooks_compare, .sets = HOSTILE_TEXT | HOSTILE_BYTES | HOSTILE_EXPRESSION, .most = 64 << 10},
    {"query of a playbook", playbooks_search, .sets = HOSTILE_TEXT | HOSTILE_BYTES | HOSTILE_FIELD, .own = lines,
     .most = 64 << 10},
    {.name = NULL},
};
