/* Samples from a file: a JSON object a line, with the fields of the contract's AceSample. */
#include "ace.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)256 << 10)
#define BATCH_SAMPLES  1000
#define BATCH_BYTES    ((size_t)2 << 20) /* of texts; the contract allows 3 MiB for the whole request */
#define SAMPLES_MAX    1000000

/* ---- a line ------------------------------------------------------------------------------------------------------ */

/* "exact" as well as "ANSWER_MATCH_EXACT". */
static bool ace_sample_match(cJSON *root, struct status *st)
{
    static const char *const words[] = {"exact", "contains", "number", "pattern"};
    static const char *const names[] = {"ANSWER_MATCH_EXACT", "ANSWER_MATCH_CONTAINS", "ANSWER_MATCH_NUMBER",
                                        "ANSWER_MATCH_PATTERN"};
    const cJSON *match = cJSON_GetObjectItemCaseSensitive(root, "match");
    for (size_t i = 0; match && i < sizeof words / sizeof *words; i++) {
        if (!cJSON_IsString(match))
            break;
        if (strcmp(match->valuestring, names[i]) == 0)
            return true;
        if (strcmp(match->valuestring, words[i]) == 0)
            return cJSON_ReplaceItemInObjectCaseSensitive(root, "match", cJSON_CreateString(names[i]));
    }
    return !match || fail(st, INVALID_ARGUMENT, "match is not one of exact, contains, number and pattern");
}

static bool ace_sample_check(const Renga__V1__AceSample *sample, struct status *st)
{
    if (text_is_blank(sample->query))
        return fail(st, INVALID_ARGUMENT, "query is empty; it is the task");
    if (strlen(sample->query) > 65536 || strlen(sample->ground_truth) > 65536 || strlen(sample->test_output) > 65536)
        return fail(st, INVALID_ARGUMENT, "a text is longer than 65,536 bytes");
    if (strlen(sample->remark) > 8192)
        return fail(st, INVALID_ARGUMENT, "remark is longer than 8,192 bytes");
    return strlen(sample->id) <= 128 || fail(st, INVALID_ARGUMENT, "id is longer than 128 bytes");
}

static Renga__V1__AceSample *ace_sample_read(const char *line, size_t length, struct arena *arena, struct status *st)
{
    static const char *const known[] = {"id", "query", "ground_truth", "match", "test_output", "remark"};
    const struct json_limits limits = {.depth = 4, .bytes = LINE_MAX_BYTES};
    Renga__V1__AceSample *sample = NULL;
    cJSON *root = json_parse(line, length, &limits, st);
    bool good = root && (cJSON_IsObject(root) || fail(st, INVALID_ARGUMENT, "it is no object"));
    for (const cJSON *item = good ? root->child : NULL; good && item; item = item->next) {
        good = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            good |= strcmp(item->string, known[i]) == 0;
        if (!good)
            fail(st, INVALID_ARGUMENT,
                 "'%.64s' is not known; id, query, ground_truth, match, test_output and remark are", item->string);
    }
    if (good && ace_sample_match(root, st))
        sample = (Renga__V1__AceSample *)message_read_json(&renga__v1__ace_sample__descriptor, root, arena, st);
    cJSON_Delete(root);
    return sample && ace_sample_check(sample, st) ? sample : NULL;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static size_t ace_lines_count(const char *text, size_t length)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

static void ace_digest(const char *text, size_t length, char out[17])
{
    uint8_t hash[SHA256_SIZE];
    sha256_of(text, length, hash);
    trace_hex(hash, 8, out);
}

static bool ace_samples_parse(struct ace_samples *samples, const char *text, size_t length, struct arena *arena,
                              struct status *st)
{
    size_t number = 0, lines = ace_lines_count(text, length);
    samples->list = arena_alloc(arena, lines * sizeof *samples->list);
    if (!samples->list)
        return fail(st, RESOURCE_EXHAUSTED, "%s: no memory for its samples", samples->path);
    for (const char *line = text, *end = text + length; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop ? stop : end) - line);
        number++;
        if (size && line[size - 1] == '\r')
            size--;
        if (strspn(line, " \t\r") < size) {
            struct status why = {0};
            Renga__V1__AceSample *sample = size > LINE_MAX_BYTES ? NULL : ace_sample_read(line, size, arena, &why);
            if (!sample)
                return fail(st, INVALID_ARGUMENT, "%s:%zu: %s", samples->path, number,
                            size > LINE_MAX_BYTES ? "the line is longer than 256 KiB" : why.text);
            samples->list[samples->count++] = sample;
        }
        line = stop ? stop + 1 : end;
    }
    return (samples->count && samples->count <= SAMPLES_MAX) ||
           fail(st, INVALID_ARGUMENT, "%s has %zu samples; 1 to %d are possible, a JSON object a line", samples->path,
                samples->count, SAMPLES_MAX);
}

bool ace_samples_read(struct ace_samples *samples, const char *path, struct arena *arena, struct status *st)
{
    struct buffer text;
    *samples = (struct ace_samples){.path = path};
    buffer_init(&text, ACE_FILE_MAX);
    bool read = file_read(path, &text, st);
    const char *begin = buffer_text(&text);
    size_t skip = read && strncmp(begin, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (read)
        ace_digest(begin, text.length, samples->digest);
    bool good = read && ace_samples_parse(samples, begin + skip, text.length - skip, arena, st);
    buffer_fini(&text);
    if (!good && st->code != RESOURCE_EXHAUSTED)
        st->code = INVALID_ARGUMENT; /* the command line names the file */
    return good;
}

size_t ace_samples_batch(const struct ace_samples *samples, size_t first)
{
    size_t bytes = 0, count = 0;
    while (first + count < samples->count && count < BATCH_SAMPLES) {
        const Renga__V1__AceSample *sample = samples->list[first + count];
        bytes += strlen(sample->query) + strlen(sample->ground_truth) + strlen(sample->test_output) +
                 strlen(sample->remark) + strlen(sample->id);
        if (count && bytes > BATCH_BYTES)
            break;
        count++;
    }
    return count;
}
