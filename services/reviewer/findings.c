#include "findings.h"

#include "base/buffer.h"
#include "base/text.h"
#include "model_task/texts.h"

#include <string.h>

#define FAILURES_MAX ((size_t)64 << 10) /* bytes */
#define PASSAGES_MAX 4096

/* ---- shown to a model -------------------------------------------------------------------------------------------- */

static void show_hit(struct buffer *out, const Renga__V1__SearchHit *hit, size_t number)
{
    buffer_printf(out, "[%zu] %s", number, hit->uri);
    if (hit->line_from)
        buffer_printf(out, ":%d-%d", hit->line_from, hit->line_to);
    for (size_t i = 0; i < hit->n_heading_path; i++)
        buffer_printf(out, "%s%s", i ? " > " : " | ", hit->heading_path[i]);
    buffer_printf(out, "\n%s\n\n", hit->snippet);
}

/* The text that the tool wrote for a model; its hits if that text is empty. */
static void show_result(struct buffer *out, const Renga__V1__ToolResult *result)
{
    if (result->text[0])
        buffer_printf(out, "%s\n\n", result->text);
    for (size_t i = 0; !result->text[0] && i < result->n_hits; i++)
        show_hit(out, result->hits[i], i + 1);
}

/* Cuts the text that was written since `begin` to `room` bytes. True if it was not cut. */
static bool keep_within(struct buffer *out, size_t begin, size_t room)
{
    size_t length = out->failed ? 0 : out->length - begin;
    if (length <= room)
        return !out->failed;
    out->length = begin + text_cut(out->data + begin, length, room);
    buffer_print(out, " …\n\n");
    return false;
}

static void trim_end(struct buffer *out)
{
    while (out->length && out->data[out->length - 1] == '\n')
        out->length--;
}

bool findings_describe(struct model_task *task, cJSON *values, Renga__V1__ToolResult *const *results, size_t count)
{
    struct buffer blocks;
    bool whole = true;
    buffer_init(&blocks, (size_t)16 << 20); /* above the largest request */
    for (size_t i = 0; i < count; i++) {
        size_t begin = blocks.length;
        show_result(&blocks, results[i]);
        whole &= keep_within(&blocks, begin, FINDINGS_SHOWN_MAX / count);
    }
    trim_end(&blocks);
    text_describe(task, values, "tool_results", buffer_text(&blocks));
    buffer_fini(&blocks);
    struct buffer lines;
    buffer_init(&lines, FAILURES_MAX);
    for (size_t i = 0; i < count; i++)
        if (results[i]->status_code != OK && lines.length < FAILURES_MAX / 2)
            buffer_printf(&lines, "- %.64s: %s %.1024s\n", results[i]->name,
                          status_code_name((int)results[i]->status_code), results[i]->message);
    trim_end(&lines);
    text_describe(task, values, "failures", buffer_text(&lines));
    buffer_fini(&lines);
    return whole;
}

bool sources_describe(struct model_task *task, cJSON *values, Renga__V1__SearchResult *const *sources, size_t count)
{
    struct buffer blocks;
    size_t shown = 0;
    buffer_init(&blocks, (size_t)16 << 20);
    while (shown < count && blocks.length < FINDINGS_SHOWN_MAX) {
        const Renga__V1__SearchResult *source = sources[shown];
        size_t number = shown + 1;
        buffer_printf(&blocks, "[%zu] %s | %s", number, source->title, source->url);
        if (source->published_date[0])
            buffer_printf(&blocks, " | %s", source->published_date);
        buffer_printf(&blocks, "\n%s\n\n", source->summary);
        shown++;
    }
    trim_end(&blocks);
    text_describe(task, values, "sources", buffer_text(&blocks));
    buffer_fini(&blocks);
    return shown == count;
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

struct passages {
    struct passage list[PASSAGES_MAX];
    size_t count, room; /* `room`: bytes that may still be added */
};

static void findings_add(struct passages *passages, const char *text, const char *heading)
{
    size_t length = strlen(text), kept = text_cut(text, length, passages->room);
    if (passages->count == PASSAGES_MAX || !kept)
        return;
    passages->room -= kept;
    passages->list[passages->count++] =
        (struct passage){.text = text, .length = kept, .heading = heading, .heading_length = strlen(heading)};
}

static struct passages *passages_in(struct arena *arena)
{
    struct passages *passages = arena_alloc(arena, sizeof *passages);
    if (passages) {
        passages->count = 0;
        passages->room = FINDINGS_WEIGHED_MAX;
    }
    return passages;
}

/* "Title > Chapter > Section": the headings may name the subject of the snippet. */
static const char *findings_heading_of(struct arena *arena, const Renga__V1__SearchHit *hit)
{
    size_t length = strlen(hit->title) + 1;
    for (size_t i = 0; i < hit->n_heading_path; i++)
        length += strlen(hit->heading_path[i]) + strlen(" > ");
    char *heading = hit->n_heading_path ? arena_alloc(arena, length) : NULL, *at = heading;
    if (!heading)
        return hit->title;
    at = stpcpy(at, hit->title);
    for (size_t i = 0; i < hit->n_heading_path; i++) {
        at = stpcpy(at, at > heading ? " > " : "");
        at = stpcpy(at, hit->heading_path[i]);
    }
    return heading;
}

struct evidence *findings_weigh(struct arena *arena, Renga__V1__ToolResult *const *results, size_t count)
{
    struct passages *passages = passages_in(arena);
    for (size_t i = 0; passages && i < count; i++) {
        for (size_t hit = 0; hit < results[i]->n_hits; hit++)
            findings_add(passages, results[i]->hits[hit]->snippet, findings_heading_of(arena, results[i]->hits[hit]));
        if (!results[i]->n_hits && results[i]->status_code == OK)
            findings_add(passages, results[i]->text, "");
    }
    return passages ? evidence_create(arena, passages->list, passages->count) : NULL;
}

struct evidence *sources_weigh(struct arena *arena, Renga__V1__SearchResult *const *sources, size_t count)
{
    struct passages *passages = passages_in(arena);
    for (size_t i = 0; passages && i < count; i++)
        findings_add(passages, sources[i]->summary, sources[i]->title);
    return passages ? evidence_create(arena, passages->list, passages->count) : NULL;
}

struct evidence *text_weigh(struct arena *arena, const char *text)
{
    struct passages *passages = passages_in(arena);
    if (!passages)
        return NULL;
    findings_add(passages, text, "");
    return evidence_create(arena, passages->list, passages->count);
}
