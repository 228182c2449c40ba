/* What Redis does by itself, so that it is whole or not at all. A store is three keys:
 *
 *      renga:{NAME}:rows      a sorted set, all of score 0: the keys of rows, in their order
 *      renga:{NAME}:values    a hash: key of a row to its value
 *      renga:{NAME}:writers   a hash: "form"; "count" of those that came; id of a writer to "its count, the number of
 * its last piece, what came of that"
 *
 * A piece is a number of batches. It is carried out where the one before it was the writer's last; where it is the last
 * itself, its answer was lost on the way, and is given once more. */
#ifndef RENGA_STORE_REDIS_SCRIPTS_H
#define RENGA_STORE_REDIS_SCRIPTS_H

#include <stddef.h>

enum redis_script {
    /* KEYS as above. ARGV: id. "1", or an error: RENGA_FORM, RENGA_ALIEN. */
    REDIS_REGISTER,
    /* ARGV: id, number of the piece before, its own, "1" where it only takes away; then for each batch the count of
     * what belongs to it, and: e KEY VALUE (is expected), n KEY (is expected not to be there), p KEY VALUE (put),
     * d KEY (delete), r MIN MAX (delete a range). "" or, for each batch that was left out, its number in the piece
     * and that of the expectation in it; RENGA_LOST where the writer's last is neither of the two. */
    REDIS_WRITE,
    /* ARGV: min, max, rows, bytes, "1" backwards. A list: "1" where there is more, key, value, key, value …;
     * nil for a value that is gone. */
    REDIS_SCAN,
    REDIS_SCRIPTS,
};

extern const char *const redis_scripts[REDIS_SCRIPTS];

#define REDIS_KEYS 3

#endif
