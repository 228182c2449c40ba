#include "store/redis/errors.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 24 /* bytes of a first word that may be quoted, the NUL included */

static const struct {
    const char *word;
    enum redis_error error;
    enum status_code code;
    const char *text;
} known_errors[] = {
    {"NOSCRIPT", REDIS_NOSCRIPT, UNAVAILABLE, "has forgotten the store's scripts"},
    {"LOADING", REDIS_LATER, UNAVAILABLE, "still reads its data; wait until it has"},
    {"BUSY", REDIS_LATER, UNAVAILABLE, "runs a script that takes long; see SCRIPT KILL"},
    {"MASTERDOWN", REDIS_LATER, UNAVAILABLE, "is a replica that has lost its primary"},
    {"TRYAGAIN", REDIS_LATER, UNAVAILABLE, "is moving its data"},
    {"READONLY", REDIS_LATER, UNAVAILABLE, "is a replica; give the address of the primary, or wait for the failover"},
    {"MISCONF", REDIS_FINAL, UNAVAILABLE, "cannot write to its disk and takes nothing; its log says why"},
    {"NOREPLICAS", REDIS_FINAL, UNAVAILABLE, "has fewer good replicas than its min-replicas-to-write"},
    {"OOM", REDIS_FINAL, RESOURCE_EXHAUSTED,
     "has no memory left: raise maxmemory, or let the history of threads be pruned"},
    {"NOAUTH", REDIS_FINAL, UNAUTHENTICATED, "wants a password; give password_file"},
    {"WRONGPASS", REDIS_FINAL, UNAUTHENTICATED, "refuses the user or password"},
    {"NOPERM", REDIS_FINAL, PERMISSION_DENIED,
     "does not allow its user what a store needs: EVALSHA, SCRIPT LOAD, CONFIG GET, ROLE, WAIT, BGREWRITEAOF, and all "
     "commands on "
     "sorted sets and hashes, for the keys renga:*"},
    {"MOVED", REDIS_FINAL, FAILED_PRECONDITION, "is a part of a cluster that does not have the store's keys"},
    {"ASK", REDIS_FINAL, FAILED_PRECONDITION, "is a part of a cluster that does not have the store's keys"},
    {"CLUSTERDOWN", REDIS_LATER, UNAVAILABLE, "is a part of a cluster that is down"},
    {"WRONGTYPE", REDIS_FINAL, FAILED_PRECONDITION, "has something else under the store's keys; give another name"},
    {"RENGA_ALIEN", REDIS_FINAL, FAILED_PRECONDITION, "has something else under the store's keys; give another name"},
    {"RENGA_FORM", REDIS_FINAL, FAILED_PRECONDITION, "has a store of a newer form; it takes a newer Renga"},
    {"RENGA_LOST", REDIS_LOST, DATA_LOSS,
     "has less than it had acknowledged: it was emptied or restored, or a replica took over that was behind"},
};

static void errors_first_word(const struct redis_reply *reply, char word[WORD_MAX])
{
    size_t size = 0;
    while (size < reply->size && size + 1 < WORD_MAX && (isupper(reply->bytes[size]) || reply->bytes[size] == '_'))
        size++;
    bool ends = size == reply->size || reply->bytes[size] == ' ';
    memcpy(word, ends ? (const char *)reply->bytes : "", ends ? size : 0);
    word[ends ? size : 0] = '\0';
}

enum redis_error redis_error_read(const struct redis_reply *reply, const char *place, struct status *st)
{
    char word[WORD_MAX];
    errors_first_word(reply, word);
    for (size_t i = 0; i < sizeof known_errors / sizeof known_errors[0]; i++) {
        if (strcmp(known_errors[i].word, word) != 0)
            continue;
        fail(st, known_errors[i].code, "Redis at %s %s", place, known_errors[i].text);
        return known_errors[i].error;
    }
    fail(st, UNAVAILABLE, "Redis at %s refuses what a store needs%s%s; it takes Redis 7", place,
         word[0] != '\0' ? " with " : "", word);
    return REDIS_FINAL;
}
