/* From what is embedded to who embeds it: a callback is told of its timer, and wants the call that the timer is of.
 *
 *     struct call *call = OWNER_OF(timer, struct call, patience);
 *
 * A pointer of another type than the member's, void apart, does not compile without a warning. */
#ifndef RENGA_BASE_OWNER_H
#define RENGA_BASE_OWNER_H

#include <stddef.h>

#define OWNER_OF(pointer, type, member)                                                                                \
    ((type *)(void *)((char *)(1 ? (pointer) : &((type *)NULL)->member) - offsetof(type, member)))

#endif
