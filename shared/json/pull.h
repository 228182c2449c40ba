/* Reads JSON from outside while it is checked: in one pass, without a tree.
 *
 *     struct json_pull in;
 *     struct json_scope root, usage;
 *     json_pull_init(&in, text, length, NULL, &arena, st);
 *     for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
 *         if (json_pull_at(&in, "id"))
 *             id = json_pull_text(&in);
 *         else if (json_pull_at(&in, "usage") && !json_pull_null(&in) && json_pull_object(&in, &usage))
 *             while (json_pull_next(&in, &usage))
 *                 ...
 *     if (!json_pull_end(&in))
 *         return false;   // "1:17: expected ':' after the key, ..." or "usage.tokens: must be a number, not null"
 *
 * It is as strict as json_check, with its limits and errors: json_check is this reader without a consumer. Only
 * json_pull_end tells whether the text is JSON, so keep the results aside until it returns true.
 *
 * The first value of an unexpected kind is noted with its path and read as an empty one. Reading goes on, since text
 * that is not JSON is the graver error. */
#ifndef RENGA_JSON_PULL_H
#define RENGA_JSON_PULL_H

#include "base/arena.h"
#include "json/json.h"

#include <stdint.h>
#include <string.h>

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOLEAN, JSON_NULL, JSON_NOTHING };

/* An object or array that is being read. On its reader's stack until json_pull_next has returned false. */
struct json_scope {
    struct json_scope *outer;
    const char *key; /* of the present field, decoded, not terminated */
    size_t key_length;
    size_t keys;   /* how many were known when it began */
    int64_t index; /* of the present element or field; -1: before the first */
    bool array;
};

/* The keys of the objects that are open, in one stack. An object's first few are compared at once; the keys of a larger
 * one go into a hash table when it ends: O(number of its keys). */
struct json_key {
    const char *text; /* decoded, not terminated */
    const char *at;   /* the quote that opens it */
    uint32_t length, hash;
};
#define JSON_KEYS_INLINE 48
struct json_keys {
    struct json_key *keys;
    size_t count, capacity;
    struct json_key inlined[JSON_KEYS_INLINE];
    struct arena decoded; /* keys that were written with escapes */
};

struct json_pull {
    const char *name;             /* of the file, for errors; may be NULL */
    const char *shown;            /* the text in which places are counted */
    const char *start, *end, *at; /* the text that is read */
    unsigned depth;               /* how much deeper it may go */
    size_t values;                /* how many more there may be */
    bool waits;                   /* the value here has not been read yet */
    bool broken;                  /* not JSON, or a limit was exceeded: reading has stopped */
    bool wrong;                   /* valid JSON of the wrong shape */
    struct json_scope *scope;     /* the innermost */
    struct arena *arena;          /* for texts; may be NULL if no text is requested */
    struct status *st;
    struct json_limits limits;
    struct json_keys keys; /* last: large, and not cleared */
};

/* `text`, `arena` and `st` are borrowed until json_pull_end, `limits` may be NULL. Ends with json_pull_end always. */
void json_pull_init(struct json_pull *in, const char *text, size_t length, const struct json_limits *limits,
                    struct arena *arena, struct status *st);

/* True if the text is one complete JSON value without errors; otherwise `st` names the error. Unread values are skipped
 * and checked. */
bool json_pull_end(struct json_pull *in);

/* ---- position and kind ------------------------------------------------------------------------------------------- */

/* The kind of the value here, by its first byte; NOTHING if no value can begin with it. */
enum json_kind json_pull_kind(struct json_pull *in);

/* Skips a null; false if the value here is not null. */
bool json_pull_null(struct json_pull *in);

/* Enters an object or array. Other values are wrong and return false. */
bool json_pull_object(struct json_pull *in, struct json_scope *scope);
bool json_pull_array(struct json_pull *in, struct json_scope *scope);

/* To the next field or element, past a value that was not read. False at the end: the scope is left, and done with. */
bool json_pull_next(struct json_pull *in, struct json_scope *scope);

/* Whether the present field has this key, and is still to be read. */
static inline bool json_pull_at(const struct json_pull *in, const char *key)
{
    size_t length = strlen(key);
    return in->waits && in->scope->key_length == length && memcmp(in->scope->key, key, length) == 0;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A string, decoded into the arena, with a NUL at its end. "" for null; also for other values, which are wrong. */
const char *json_pull_text(struct json_pull *in);

/* The same, but other values return NULL and are not wrong. */
const char *json_pull_text_if_any(struct json_pull *in);

/* True or false; `fallback` for null; other values are wrong. */
bool json_pull_boolean(struct json_pull *in, bool fallback);

/* A string in place, not copied: its last byte is followed by a quote or a NUL. Strings with escapes are decoded into
 * the arena. NULL for other values, which are not wrong. */
const char *json_pull_borrow(struct json_pull *in, size_t *length);

/* A whole number within min and max, and less than 2^53 as json_integer; `fallback` for null; others are wrong. */
int64_t json_pull_integer(struct json_pull *in, int64_t min, int64_t max, int64_t fallback);

/* A whole number of less than 2^53. Other values return false and are not wrong. */
bool json_pull_whole(struct json_pull *in, int64_t *value);

/* The float nearest to a number; infinite beyond the largest. Other values return false and are not wrong. */
bool json_pull_float(struct json_pull *in, float *value);

/* Past the value. */
void json_pull_skip(struct json_pull *in);

/* The same within a text that was checked before: it only searches for the end of the value, 1 ns a byte. */
void json_pull_hop(struct json_pull *in);

/* Notes that the value here is wrong for a reason of the caller's own; with a `key`, that field of it. */
void json_pull_wrong(struct json_pull *in, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For answers of servers that cut texts within a character: `text` itself, or a copy with U+FFFD for each escape that
 * is refused as a character (NUL, half of a surrogate pair). Its length is the same, other faults stay. NULL: the arena
 * is out. Linear. */
const char *json_mended(const char *text, size_t length, struct arena *arena);

#endif
