/* The serialised FileDescriptorSet of probe.proto and what it stands beside. */
#ifndef RENGA_TESTS_PROBE_DESCRIPTOR_SET_H
#define RENGA_TESTS_PROBE_DESCRIPTOR_SET_H

#include <stddef.h>

extern const unsigned char probe_descriptor_set[];
extern const size_t probe_descriptor_set_size;

#endif
