/* libFuzzer on the readers of playbooks and on the comparison of bullets. The first byte chooses: a playbook as text or
 * as JSON, or two contents with a line break between. */
#include "playbook/playbook_similar.h"
#include "playbook/playbook_text.h"

#include "playbook/playbook.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void must_be_within_bounds(const Renga__V1__Bullet *bullet)
{
    must(strlen(bullet->id) <= PLAYBOOK_ID_MAX && strlen(bullet->section) <= PLAYBOOK_SECTION_MAX);
    must(bullet->content[0] && strlen(bullet->content) <= PLAYBOOK_CONTENT_MAX);
    must(strlen(bullet->source) <= PLAYBOOK_SOURCE_MAX && !strpbrk(bullet->section, "\r\n"));
    must(bullet->helpful >= 0 && bullet->helpful <= PLAYBOOK_COUNT_MAX);
    must(bullet->harmful >= 0 && bullet->harmful <= PLAYBOOK_COUNT_MAX);
    must(bullet->created_ms >= 0 && bullet->updated_ms >= 0);
}

/* What was read is written; read again, it is the same. In text, bullets need an id, and lose times and line breaks. */
static void must_come_back(struct arena *arena, const struct playbook_text *read, Renga__V1__PlaybookFormat format)
{
    struct playbook_text again;
    struct buffer out;
    struct status st = {0};
    bool json = format == RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON;
    buffer_init(&out, PLAYBOOK_TEXT_MAX);
    playbook_text_write(&out, format, "d", 1, read->bullets, read->count);
    if (!out.failed) {
        must(playbook_text_read(arena, format, buffer_text(&out), &again, &st) || st.code == RESOURCE_EXHAUSTED);
        must(st.code != OK || (again.count == read->count && again.problem_count == 0));
        for (size_t i = 0; st.code == OK && i < again.count; i++) {
            must(strcmp(again.bullets[i]->id, read->bullets[i]->id) == 0);
            must(!json || strcmp(again.bullets[i]->content, read->bullets[i]->content) == 0);
            must(!json || strcmp(again.bullets[i]->section, read->bullets[i]->section) == 0);
            must(!json || again.bullets[i]->created_ms == read->bullets[i]->created_ms);
            must(again.bullets[i]->helpful == read->bullets[i]->helpful);
        }
    }
    buffer_fini(&out);
}

static void read_playbook(struct arena *arena, char *text, Renga__V1__PlaybookFormat format)
{
    struct playbook_text read;
    struct status st = {0};
    if (!playbook_text_read(arena, format, text, &read, &st)) {
        must(st.code == RESOURCE_EXHAUSTED || (st.code == INVALID_ARGUMENT && strcmp(st.field, "text") == 0));
        return;
    }
    bool ids = true;
    for (size_t i = 0; i < read.count; i++) {
        must_be_within_bounds(read.bullets[i]);
        ids &= read.bullets[i]->id[0] != '\0';
    }
    for (size_t i = 0; i < read.n_problems; i++)
        must(read.problems[i]->number >= 1 && read.problems[i]->text[0]);
    must((size_t)read.problem_count >= read.n_problems);
    if (format == RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON || ids)
        must_come_back(arena, &read, format);
}

static void compare_contents(struct arena *arena, char *one)
{
    struct playbook_similarity there, back;
    char *other = strchr(one, '\n');
    if (!other)
        return;
    *other++ = '\0';
    playbook_compare(arena, one, other, &there);
    playbook_compare(arena, other, one, &back);
    must(there.difference == back.difference || arena->exhausted);
    must(there.similarity >= 0 && there.similarity < 1.001);
    playbook_compare(arena, one, one, &there);
    must(arena->exhausted || there.difference == PLAYBOOK_SAME);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    char *text = malloc(size + 1);
    if (!text || size == 0) {
        free(text);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    arena_init(&arena, NULL, 0, (size_t)64 << 20);
    if (data[0] % 3 == 0)
        read_playbook(&arena, text, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT);
    else if (data[0] % 3 == 1)
        read_playbook(&arena, text, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON);
    else
        compare_contents(&arena, text);
    arena_fini(&arena);
    free(text);
    return 0;
}
