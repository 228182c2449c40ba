/* Intrusive lists: the items have `next` and `previous` of their own type, both NULL-terminated. `first` and `last` are
 * the owner's pointers. Arguments are evaluated more than once. Without a lock of its own.
 *
 *     LIST_APPEND(queue->first, queue->last, job);     a queue
 *     LIST_PUSH(server->requests, request);            a list without an order; removed with UNLIST */
#ifndef RENGA_BASE_LIST_H
#define RENGA_BASE_LIST_H

#include <stddef.h>

#define LIST_APPEND(list_first, list_last, item)                                                                       \
    do {                                                                                                               \
        (item)->next = NULL;                                                                                           \
        (item)->previous = (list_last);                                                                                \
        *((list_last) ? &(list_last)->next : &(list_first)) = (item);                                                  \
        (list_last) = (item);                                                                                          \
    } while (0)

/* The item's own pointers stay as they are. */
#define LIST_REMOVE(list_first, list_last, item)                                                                       \
    do {                                                                                                               \
        *((item)->previous ? &(item)->previous->next : &(list_first)) = (item)->next;                                  \
        *((item)->next ? &(item)->next->previous : &(list_last)) = (item)->previous;                                   \
    } while (0)

#define LIST_PUSH(list_first, item)                                                                                    \
    do {                                                                                                               \
        (item)->previous = NULL;                                                                                       \
        (item)->next = (list_first);                                                                                   \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item);                                                                           \
        (list_first) = (item);                                                                                         \
    } while (0)

#define UNLIST(list_first, item)                                                                                       \
    do {                                                                                                               \
        *((item)->previous ? &(item)->previous->next : &(list_first)) = (item)->next;                                  \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item)->previous;                                                                 \
    } while (0)

#endif
