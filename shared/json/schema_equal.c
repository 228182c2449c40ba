/* Values that are the same, and a value among many: these are found by a hash that does not depend on the order of an
 * object's members. It begins with a seed of the process, so that a sender cannot write a list of values that share
 * one. */
#include "schema_private.h"

#include "base/random.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SORTED_MIN 8 /* members of objects that are sorted to be compared, if their order differs */

struct schema_choices {
    size_t mask;             /* of the table's size, a power of two */
    size_t parts, text_most; /* of the largest value: its parts; of the longest text, a name included: its bytes */
    bool deep;
    const cJSON *table[];
};

bool schema_spend(struct schema_budget *budget, size_t steps)
{
    if (steps <= budget->left)
        budget->left -= steps;
    else
        budget->lost = true;
    return !budget->lost;
}

/* ---- equality ---------------------------------------------------------------------------------------------------- */

static int member_order(const void *left, const void *right)
{
    const cJSON *const *a = left, *const *b = right;
    return strcmp((*a)->string, (*b)->string);
}

static void sort_members(const cJSON *object, const cJSON **members, size_t count)
{
    const cJSON *member = object->child;
    for (size_t i = 0; i < count; i++, member = member->next)
        members[i] = member;
    qsort(members, count, sizeof(*members), member_order);
}

static bool members_equal(struct schema_budget *budget, const cJSON *wanted, const cJSON *value, size_t count)
{
    const cJSON **members = malloc(2 * count * sizeof(*members));
    bool same = members && schema_spend(budget, count);
    budget->lost |= !members;
    if (same) {
        sort_members(wanted, members, count);
        sort_members(value, members + count, count);
    }
    for (size_t i = 0; same && i < count; i++)
        same = strcmp(members[i]->string, members[count + i]->string) == 0 &&
               schema_equal(budget, members[i], members[count + i]);
    free(members);
    return same;
}

/* Whether both have as many elements, or members of the same names in the same order; how many. */
static bool is_same_row(const cJSON *wanted, const cJSON *value, bool named, size_t *count, bool *in_order)
{
    const cJSON *own = wanted->child, *other = value->child;
    *count = 0;
    *in_order = true;
    for (; own && other; own = own->next, other = other->next, (*count)++)
        *in_order = *in_order && (!named || strcmp(own->string, other->string) == 0);
    return !own && !other;
}

static bool texts_equal(struct schema_budget *budget, const char *wanted, const char *value)
{
    return schema_spend(budget, strlen(wanted) / SCHEMA_BYTES_STEP) && strcmp(wanted, value) == 0;
}

bool schema_equal(struct schema_budget *budget, const cJSON *wanted, const cJSON *value)
{
    bool in_order, named = cJSON_IsObject(wanted);
    size_t count;
    if (!schema_spend(budget, 1) || (wanted->type & 0xFF) != (value->type & 0xFF))
        return false;
    if (cJSON_IsNumber(wanted))
        return wanted->valuedouble == value->valuedouble;
    if (cJSON_IsString(wanted))
        return texts_equal(budget, wanted->valuestring, value->valuestring);
    if (!is_same_row(wanted, value, named, &count, &in_order))
        return false;
    if (!in_order)
        return members_equal(budget, wanted, value, count);
    const cJSON *own = wanted->child, *other = value->child;
    for (; own; own = own->next, other = other->next)
        if (!schema_equal(budget, own, other))
            return false;
    return true;
}

/* ---- hashes ------------------------------------------------------------------------------------------------------ */

static uint64_t seed;

static void choices_make_seed(void)
{
    seed = random_u64() | 1;
}

static uint64_t choices_mix_hash(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t text_hash(const char *text, size_t length)
{
    uint64_t hash = seed ^ length;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * (seed | 1);
    return choices_mix_hash(hash);
}

static uint64_t number_hash(double number)
{
    uint64_t bits;
    number = number == 0 ? 0 : number; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    return choices_mix_hash(bits * (seed | 1));
}

/* The hashed parts of a value: at most as many parts, and as long texts, as are compared. */
struct hashing {
    struct schema_budget *budget;
    size_t parts, text_most; /* that are left; that may be */
    bool too_large;
};

static uint64_t bounded_text_hash(struct hashing *hashing, const char *text)
{
    size_t length = strnlen(text, hashing->text_most + 1);
    hashing->too_large |= length > hashing->text_most || !schema_spend(hashing->budget, length / SCHEMA_BYTES_STEP);
    return hashing->too_large ? 0 : text_hash(text, length);
}

static uint64_t value_hash(struct hashing *hashing, const cJSON *value);

/* The order of elements counts, that of members does not. */
static uint64_t row_hash(struct hashing *hashing, const cJSON *value)
{
    bool named = cJSON_IsObject(value);
    uint64_t hash = 0;
    for (const cJSON *part = value->child; part && !hashing->too_large; part = part->next) {
        uint64_t one = value_hash(hashing, part);
        if (named)
            hash += choices_mix_hash(one ^ bounded_text_hash(hashing, part->string) * 3);
        else
            hash = choices_mix_hash(hash ^ one) * 3;
    }
    return hash;
}

static uint64_t value_hash(struct hashing *hashing, const cJSON *value)
{
    uint64_t kind = value->type & 0xFF, hash = 0;
    hashing->too_large |= hashing->parts == 0 || !schema_spend(hashing->budget, 1);
    if (hashing->too_large)
        return 0;
    hashing->parts--;
    if (cJSON_IsNumber(value))
        hash = number_hash(value->valuedouble);
    else if (cJSON_IsString(value))
        hash = bounded_text_hash(hashing, value->valuestring);
    else
        hash = row_hash(hashing, value);
    return choices_mix_hash(hash ^ kind * (seed | 1));
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static size_t choices_longer(const char *text, size_t most)
{
    size_t length = text ? strlen(text) : 0;
    return length > most ? length : most;
}

static size_t choices_measure(struct schema_choices *choices, const cJSON *value)
{
    size_t parts = 1;
    choices->text_most = choices_longer(value->valuestring, choices_longer(value->string, choices->text_most));
    for (const cJSON *part = value->child; part; part = part->next)
        parts += choices_measure(choices, part);
    return parts;
}

static const cJSON **choices_place(const struct schema_choices *choices, const cJSON *value, uint64_t hash,
                                   struct schema_budget *budget)
{
    size_t at = hash & choices->mask;
    while (choices->table[at] && !schema_equal(budget, choices->table[at], value) && !budget->lost)
        at = (at + 1) & choices->mask;
    return (const cJSON **)(uintptr_t)&choices->table[at];
}

struct schema_choices *schema_choices_create(struct arena *arena, const cJSON *list)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t count = 0, room = 4;
    pthread_once(&once, choices_make_seed);
    for (const cJSON *value = list->child; value; value = value->next)
        count++;
    while (room < 2 * count)
        room *= 2;
    struct schema_choices *choices = arena_zalloc(arena, sizeof *choices + room * sizeof(*choices->table));
    if (!choices)
        return NULL;
    choices->mask = room - 1;
    for (const cJSON *value = list->child; value; value = value->next) {
        struct schema_budget budget = {.left = SIZE_MAX};
        struct hashing hashing = {.budget = &budget, .parts = SIZE_MAX, .text_most = SIZE_MAX - 1};
        size_t parts = choices_measure(choices, value);
        choices->parts = parts > choices->parts ? parts : choices->parts;
        choices->deep |= value->child != NULL;
        *choices_place(choices, value, value_hash(&hashing, value), &budget) = value;
    }
    return choices;
}

bool schema_choices_have(struct schema_budget *budget, const struct schema_choices *choices, const cJSON *value)
{
    struct hashing hashing = {.budget = budget, .parts = choices->parts, .text_most = choices->text_most};
    uint64_t hash = value_hash(&hashing, value);
    return !hashing.too_large && *choices_place(choices, value, hash, budget) && !budget->lost;
}

bool schema_choices_are_deep(const struct schema_choices *choices)
{
    return choices->deep;
}
