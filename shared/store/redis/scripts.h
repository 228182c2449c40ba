/* The operations that Redis executes as scripts, so that each is atomic. A store is three keys:
 *
 *      renga:{NAME}:rows      a sorted set, all of score 0: the keys of rows, in their order
 *      renga:{NAME}:values    a hash: key of a row to its value
 *      renga:{NAME}:writers   a hash: "form"; "count" of those that came; id of a writer to "its count, the number of
 * its last group, the result of that group"
 *
 * A group is a number of batches. It is executed if the group before it was the writer's last. If it is the last group
 * itself, its answer was lost, and is returned again. */
#ifndef RENGA_STORE_REDIS_SCRIPTS_H
#define RENGA_STORE_REDIS_SCRIPTS_H

#include <stddef.h>

enum redis_script {
    /* KEYS as above. ARGV: id. "1", or an error: RENGA_FORM, RENGA_ALIEN. */
    REDIS_REGISTER,
    /* ARGV: id, number of the group before, its own, "1" if it only deletes; then for each batch the count of its
     * arguments, and: e KEY VALUE (is expected), n KEY (is expected not to be there), p KEY VALUE (put), d KEY
     * (delete), r MIN MAX (delete a range). "" or, for each batch that was left out, its number in the group and that
     * of the expectation in it; RENGA_LOST if the writer's last group is neither of these two. */
    REDIS_WRITE,
    /* ARGV: min, max, rows, bytes, "1" backwards. A list: "1" if there is more, key, value, key, value …;
     * nil for a value that is gone. */
    REDIS_SCAN,
    REDIS_SCRIPTS,
};

extern const char *const redis_scripts[REDIS_SCRIPTS];

#define REDIS_KEYS 3

#endif
