/* robots.txt by RFC 9309: whether a program of a name may read a path. No input or output, any thread. */
#ifndef RENGA_TOOL_RUNNER_ROBOTS_H
#define RENGA_TOOL_RUNNER_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

#define ROBOTS_TEXT_MAX ((size_t)500 << 10) /* bytes of a robots.txt that are read; RFC 9309, 2.5 */
#define ROBOTS_RULE_MAX 2048                /* bytes of a rule or a path; longer rules are passed over */

/* `text` is the file, any bytes; `token` is the product token in small letters ("renga"); `path` is the path with its
 * query, "/a?b". The longest rule that matches decides, Allow at a tie; without a match the path is allowed. The time
 * is linear in the text for paths of the same length. */
bool robots_allow(const char *text, size_t length, const char *token, const char *path);

#endif
