/* A model that has no answer says so with a word, such as NOT_FOUND. */
#ifndef RENGA_ORCHESTRATOR_DECLINE_H
#define RENGA_ORCHESTRATOR_DECLINE_H

#include <stdbool.h>

/* The answer behind the word; NULL: the model does not decline. The word must stand alone on the first line; emphasis
 * and a stop do not count. Behind the stop, text may follow on the line, unless the sources have the word, too. The
 * result is in `content`: all of it if the word is all. */
const char *decline_behind(const char *content, const char *word, bool sources_have_word);

#endif
