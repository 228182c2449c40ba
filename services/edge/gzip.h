/* Packing by gzip, whole. */
#ifndef RENGA_EDGE_GZIP_H
#define RENGA_EDGE_GZIP_H

#include <stddef.h>

#define GZIP_FAST 1
#define GZIP_BEST 9

/* The packed form, to be freed; NULL if it is not smaller, or memory is out. */
char *gzip_pack(const void *bytes, size_t size, int level, size_t *packed_size);
/* The bytes of `size` that `packed` stands for; NULL: it is not gzip of that size, or memory is out. */
char *gzip_unpack(const void *packed, size_t packed_size, size_t size);

#endif
