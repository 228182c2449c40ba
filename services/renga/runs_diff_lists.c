/* Lists of texts compared: as sets by sorted keys, or in their order by a longest common subsequence. */
#include "runs_diff.h"

#include "http/canonical.h"
#include "words/sentences.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX ((size_t)8192) /* bytes of a canonical address */

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool diff_list_room(struct diff_list *list, size_t count, struct arena *arena)
{
    *list = (struct diff_list){.cut = count > DIFF_ENTRIES_MAX};
    count = list->cut ? DIFF_ENTRIES_MAX : count;
    list->keys = arena_alloc(arena, (count + 1) * sizeof *list->keys);
    list->texts = arena_alloc(arena, (count + 1) * sizeof *list->texts);
    return list->keys && list->texts;
}

/* The canonical form of an address; any other text is its own key. */
static const char *diff_key_of(const char *text, bool address, struct arena *arena)
{
    struct buffer canonical;
    const char *key = text;
    if (!address)
        return key;
    buffer_init(&canonical, KEY_MAX);
    canonical_write(text, &canonical);
    if (!canonical.failed && canonical.length)
        key = arena_strndup(arena, buffer_text(&canonical), canonical.length);
    buffer_fini(&canonical);
    return key;
}

static const char *diff_text_of(const char *text, const char *title, struct arena *arena)
{
    size_t length = strlen(text), before = title && *title ? strlen(title) : 0;
    char *shown = before ? arena_alloc(arena, before + length + 4) : NULL;
    if (!before || !shown)
        return before ? NULL : text;
    memcpy(shown, title, before);
    memcpy(shown + before, " (", 2);
    memcpy(shown + before + 2, text, length);
    memcpy(shown + before + 2 + length, ")", 2);
    return shown;
}

bool diff_list_read(struct diff_list *list, const cJSON *value, const char *key, struct arena *arena)
{
    const cJSON *entry;
    if (!diff_list_room(list, (size_t)cJSON_GetArraySize(value), arena))
        return false;
    cJSON_ArrayForEach(entry, value)
    {
        const cJSON *text = key && cJSON_IsObject(entry) ? cJSON_GetObjectItemCaseSensitive(entry, key) : entry;
        if (!cJSON_IsString(text) || list->count == DIFF_ENTRIES_MAX)
            continue;
        const char *title = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "title"));
        list->keys[list->count] = diff_key_of(text->valuestring, key != NULL, arena);
        list->texts[list->count] = diff_text_of(text->valuestring, title, arena);
        if (!list->keys[list->count] || !list->texts[list->count])
            return false;
        list->count++;
    }
    return true;
}

bool diff_list_sentences(struct diff_list *list, const char *text, struct arena *arena)
{
    struct sentence_reader reader;
    struct span sentence;
    if (!diff_list_room(list, DIFF_ENTRIES_MAX, arena))
        return false;
    sentences_begin(&reader, text, strlen(text));
    while (sentences_next(&reader, &sentence)) {
        if (list->count == DIFF_ENTRIES_MAX) {
            list->cut = true;
            break;
        }
        char *copy = arena_strndup(arena, text + sentence.begin, sentence.end - sentence.begin);
        if (!copy)
            return false;
        list->keys[list->count] = list->texts[list->count] = copy;
        list->count++;
    }
    return true;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static int diff_by_key(const void *a, const void *b, void *data)
{
    const struct diff_list *list = data;
    const size_t *left = a, *right = b;
    int order = strcmp(list->keys[*left], list->keys[*right]);
    return order ? order : *left < *right ? -1 : *left > *right;
}

static size_t *diff_sorted(const struct diff_list *list, struct arena *arena)
{
    size_t *order = arena_alloc(arena, (list->count + 1) * sizeof *order);
    for (size_t i = 0; order && i < list->count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, list->count, sizeof *order, diff_by_key, (void *)(uintptr_t)list);
    return order;
}

/* An entry that stands twice counts once. */
static bool diff_is_again(const struct diff_list *list, const size_t *order, size_t place)
{
    return place && strcmp(list->keys[order[place]], list->keys[order[place - 1]]) == 0;
}

static bool diff_sets(const struct diff_list *a, const struct diff_list *b, struct arena *arena,
                      void (*show)(enum diff_mark mark, const char *text, void *data), void *data)
{
    size_t *left = diff_sorted(a, arena), *right = diff_sorted(b, arena);
    if (!left || !right)
        return false;
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        if (i < a->count && diff_is_again(a, left, i)) {
            i++;
            continue;
        }
        if (j < b->count && diff_is_again(b, right, j)) {
            j++;
            continue;
        }
        int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->keys[left[i]], b->keys[right[j]]);
        if (order <= 0)
            show(order ? DIFF_REMOVED : DIFF_SAME, a->texts[left[i]], data);
        else
            show(DIFF_ADDED, b->texts[right[j]], data);
        i += order <= 0;
        j += order >= 0;
    }
    return true;
}

static uint64_t *diff_hashes(const struct diff_list *list, struct arena *arena)
{
    uint64_t *hashes = arena_alloc(arena, (list->count + 1) * sizeof *hashes);
    for (size_t i = 0; hashes && i < list->count; i++) {
        hashes[i] = 14695981039346656037U; /* FNV-1a: most pairs differ by it alone */
        for (const char *c = list->keys[i]; *c; c++)
            hashes[i] = (hashes[i] ^ (unsigned char)*c) * 1099511628211U;
    }
    return hashes;
}

/* lengths[i][j]: of the longest common subsequence of a from i and b from j. */
static bool diff_in_order(const struct diff_list *a, const struct diff_list *b, struct arena *arena,
                          void (*show)(enum diff_mark mark, const char *text, void *data), void *data)
{
    size_t width = b->count + 1;
    uint64_t *left = diff_hashes(a, arena), *right = diff_hashes(b, arena);
    uint16_t *lengths = calloc((a->count + 1) * width, sizeof *lengths);
    if (!left || !right || !lengths) {
        free(lengths);
        return false;
    }
    for (size_t i = a->count; i-- > 0;)
        for (size_t j = b->count; j-- > 0;) {
            uint16_t down = lengths[(i + 1) * width + j], along = lengths[i * width + j + 1];
            bool same = left[i] == right[j] && strcmp(a->keys[i], b->keys[j]) == 0;
            lengths[i * width + j] = same           ? (uint16_t)(lengths[(i + 1) * width + j + 1] + 1)
                                     : down > along ? down
                                                    : along;
        }
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        bool same = i < a->count && j < b->count && left[i] == right[j] && strcmp(a->keys[i], b->keys[j]) == 0;
        bool removed =
            !same && i < a->count && (j == b->count || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]);
        show(same ? DIFF_SAME : removed ? DIFF_REMOVED : DIFF_ADDED, same || removed ? a->texts[i] : b->texts[j], data);
        i += same || removed;
        j += !removed;
    }
    free(lengths);
    return true;
}

bool diff_lists(const struct diff_list *a, const struct diff_list *b, bool ordered, struct arena *arena,
                void (*show)(enum diff_mark mark, const char *text, void *data), void *data)
{
    return (ordered ? diff_in_order : diff_sets)(a, b, arena, show, data);
}
