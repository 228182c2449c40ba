/* The structure that contains a member: a callback gets its timer and needs the call in which the timer is embedded.
 *
 *     struct call *call = CONTAINER_OF(timer, struct call, timeout);
 *
 * A pointer of another type than the member's, void apart, does not compile without a warning. */
#ifndef RENGA_BASE_CONTAINER_OF_H
#define RENGA_BASE_CONTAINER_OF_H

#include <stddef.h>

#define CONTAINER_OF(pointer, type, member)                                                                            \
    ((type *)(void *)((char *)(1 ? (pointer) : &((type *)NULL)->member) - offsetof(type, member)))

#endif
