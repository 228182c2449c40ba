/* The results of tools as passages: blocks of a search, answers of subtasks, or any text. */
#include "extract.h"

#include "base/hash.h"
#include "json/json.h"

#include <string.h>

#define SCORE_LENGTH 7 /* of " (0.62)" */
#define FOUND_BEHIND 4 /* the fifth text: how far the first is ahead of it says whether it stands out */

/* "[12] docs/setup.md:3-9 (0.62) | Setup > Ports": whether a header line like this begins here. */
static bool passages_is_header(struct text text, size_t at)
{
    size_t digit = at + 1;
    if (at >= text.length || text.bytes[at] != '[')
        return false;
    while (digit < text.length && text.bytes[digit] >= '0' && text.bytes[digit] <= '9')
        digit++;
    return digit > at + 1 && digit + 1 < text.length && text.bytes[digit] == ']' && text.bytes[digit + 1] == ' ';
}

static size_t end_of_line(struct text text, size_t at)
{
    const char *found = at < text.length ? memchr(text.bytes + at, '\n', text.length - at) : NULL;
    return found ? (size_t)(found - text.bytes) : text.length;
}

/* Behind the empty line after which the next block begins, or the end. */
static size_t next_block(struct text text, size_t at)
{
    while (at < text.length) {
        at = end_of_line(text, at) + 1;
        size_t next = at;
        while (next < text.length && (text.bytes[next] == '\r' || text.bytes[next] == '\n'))
            next++;
        if (next > at && passages_is_header(text, next))
            return next;
        at = next; /* the empty lines are behind it: each is looked at once */
    }
    return text.length;
}

static struct text passages_part(struct text text, size_t from, size_t to)
{
    return text_trimmed((struct text){text.bytes + from, to - from});
}

static bool passages_is_same(const struct passage *known, struct text text, struct text heading)
{
    return known->length == text.length && known->heading_length == heading.length &&
           memcmp(known->text, text.bytes, text.length) == 0 &&
           (!heading.length || memcmp(known->heading, heading.bytes, heading.length) == 0);
}

/* Two tools may find the same row: it supports an answer once. */
static bool passages_is_there(const struct extract *extract, struct text text, struct text heading, uint64_t hash)
{
    for (size_t i = 0; i < extract->passage_count; i++)
        if (extract->hashes[i] == hash && passages_is_same(&extract->passages[i], text, heading))
            return true;
    return false;
}

static struct passage *passages_add_passage(struct extract *extract, struct text text, struct text heading)
{
    uint64_t hash = hash_bytes(text.bytes, text.length);
    if (!text.length || extract->passage_count == EXTRACT_PASSAGES_MAX ||
        passages_is_there(extract, text, heading, hash))
        return NULL;
    extract->hashes[extract->passage_count] = hash;
    struct passage *passage = &extract->passages[extract->passage_count++];
    *passage = (struct passage){
        .text = text.bytes, .length = text.length, .heading = heading.bytes, .heading_length = heading.length};
    return passage;
}

static struct text passages_heading_of(struct text header)
{
    const char *bar = memmem(header.bytes, header.length, " | ", 3);
    if (!bar)
        return (struct text){NULL, 0};
    return text_trimmed((struct text){bar + 3, header.length - (size_t)(bar + 3 - header.bytes)});
}

static bool passages_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The score in the header, 0 to 1; below 0: no score. */
static double passages_score_of(struct text header)
{
    const char *bar = memmem(header.bytes, header.length, " | ", 3);
    const char *end = bar ? bar : header.bytes + header.length, *at = end - SCORE_LENGTH;
    if (end - header.bytes <= SCORE_LENGTH || !passages_is_digit(at[-1]) || memcmp(at, " (", 2) != 0 ||
        !passages_is_digit(at[2]) || at[3] != '.' || !passages_is_digit(at[4]) || !passages_is_digit(at[5]) ||
        at[6] != ')')
        return -1;
    double score = (at[2] - '0') + (at[4] - '0') / 10.0 + (at[5] - '0') / 100.0;
    return score <= 1 ? score : -1;
}

/* The search that stands out most counts. */
static void note_search(struct extract *extract, double best, double second, double fifth)
{
    struct found *found = &extract->found;
    found->scored = true;
    found->best = best > found->best ? best : found->best;
    found->ahead_of_second = best - second > found->ahead_of_second ? best - second : found->ahead_of_second;
    found->ahead = best - fifth > found->ahead ? best - fifth : found->ahead;
}

/* The scores of a search's first blocks, without doubles. */
struct leaders {
    struct sketch sketches[FOUND_BEHIND + 1];
    double scores[FOUND_BEHIND + 1];
    size_t count;
};

static void passages_lead(struct leaders *leaders, struct text text, double score)
{
    size_t count = leaders->count;
    if (count > FOUND_BEHIND || score < 0)
        return;
    extract_sketch(text, &leaders->sketches[count]);
    for (size_t i = 0; i < count; i++)
        if (extract_sketches_alike(&leaders->sketches[i], &leaders->sketches[count]))
            return;
    leaders->scores[leaders->count++] = score;
}

static void add_blocks(struct extract *extract, struct text text)
{
    struct leaders leaders = {.count = 0};
    for (size_t at = 0, next; at < text.length; at = next) {
        next = next_block(text, at);
        size_t line = end_of_line(text, at);
        line = line < next ? line : next;
        struct text header = passages_part(text, at, line);
        double score = passages_score_of(header);
        struct text block = passages_part(text, line, next);
        passages_lead(&leaders, block, score);
        struct passage *passage = passages_add_passage(extract, block, passages_heading_of(header));
        if (passage) {
            passage->score = score > 0 ? score : 0;
            /* "docs/setup.md" of the header, as a hash: the text from the block's number to the last colon before the
             * score and the headings. */
            const char *bar = memmem(header.bytes, header.length, " | ", 3),
                       *begin = memchr(header.bytes, ' ', header.length);
            const char *end = bar ? bar : header.bytes + header.length;
            while (begin && end > begin && end[-1] != ':')
                end--;
            passage->document = begin && end > begin ? hash_bytes(begin, (size_t)(end - begin)) | 1 : 0;
        }
    }
    if (leaders.count) {
        double best = leaders.scores[0], second = leaders.count > 1 ? leaders.scores[1] : 0;
        double fifth = leaders.scores[leaders.count - 1];
        note_search(extract, best, second < best ? second : best, fifth < best ? fifth : best);
    }
}

static struct text passages_string_of(struct arena *arena, const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    const char *copy = cJSON_IsString(value) ? arena_strdup(arena, value->valuestring) : NULL;
    return copy ? text_trimmed(text_of(copy)) : (struct text){NULL, 0};
}

/* [{"subtask": …, "answer": …, "found": …}]: the result of each subtask. */
static bool add_results(struct extract *extract, struct text text)
{
    struct status ignored = {0};
    cJSON *root = text.bytes[0] == '[' ? json_parse(text.bytes, text.length, NULL, &ignored) : NULL;
    const cJSON *item;
    bool all = cJSON_IsArray(root);
    cJSON_ArrayForEach(item, root)
    {
        struct result result = {
            .subtask = passages_string_of(extract->arena, item, "subtask"),
            .answer = passages_string_of(extract->arena, item, "answer"),
        };
        result.found = result.answer.length && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "found"));
        all = all && cJSON_IsObject(item) && cJSON_HasObjectItem(item, "answer");
        if (!all || extract->result_count == EXTRACT_RESULTS_MAX)
            break;
        extract->results[extract->result_count++] = result;
        if (result.found)
            passages_add_passage(extract, result.answer, result.subtask);
    }
    if (!all)
        extract->result_count = 0;
    cJSON_Delete(root);
    return all;
}

/* The writer of a prompt escapes a closing tag in a value as <\/. */
static struct text without_guards(struct arena *arena, struct text text)
{
    if (!memmem(text.bytes, text.length, "<\\/", 3))
        return text;
    char *plain = arena_alloc(arena, text.length);
    size_t length = 0;
    if (!plain)
        return text;
    for (size_t i = 0; i < text.length; i++)
        if (!(text.bytes[i] == '\\' && i > 0 && i + 1 < text.length && text.bytes[i - 1] == '<' &&
              text.bytes[i + 1] == '/'))
            plain[length++] = text.bytes[i];
    return (struct text){plain, length};
}

void passages_add(struct extract *extract, struct text found)
{
    struct text text = text_trimmed(found);
    if (!text.length || add_results(extract, text))
        return;
    text = without_guards(extract->arena, text);
    if (passages_is_header(text, 0))
        add_blocks(extract, text);
    else
        passages_add_passage(extract, text, (struct text){NULL, 0});
}
