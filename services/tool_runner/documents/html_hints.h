/* Hints that the attributes of an element give about its text. Private to documents/.
 *
 * The names of classes and ids are divided into words ("post-content", "articleBody") and looked up in a table. */
#ifndef RENGA_TOOL_RUNNER_HTML_HINTS_H
#define RENGA_TOOL_RUNNER_HTML_HINTS_H

#include "documents/reading.h"

#include <stdint.h>

enum {
    HINT_BODY = 1 << 0,     /* names the body of an article: post-content, itemprop=articleBody */
    HINT_CONTENT = 1 << 1,  /* content, article, post, main: holds content among others */
    HINT_COMMENT = 1 << 2,  /* comments of readers */
    HINT_RELATED = 1 << 3,  /* links to other pages */
    HINT_SHARE = 1 << 4,    /* buttons of social networks */
    HINT_NAVIGATE = 1 << 5, /* menus, breadcrumbs, page numbers, sidebars */
    HINT_ADVERT = 1 << 6,   /* advertising */
    HINT_CONSENT = 1 << 7,  /* questions about cookies */
    HINT_META = 1 << 8,     /* author, date, tags */
    HINT_SIGNUP = 1 << 9,   /* newsletters, subscriptions, logins */
    HINT_FOOTER = 1 << 10,  /* footers, copyright */
    HINT_HIDDEN = 1 << 11,  /* not shown, or shown to screen readers alone */
    HINT_CAPTION = 1 << 12, /* the text under a picture */
    HINT_NOTE = 1 << 13,    /* a note of a manual: kept although it is an aside */
    HINT_FORUM = 1 << 14,   /* a forum: its posts are content */
    HINT_MAIN = 1 << 15,    /* role=main */
    HINT_AUTHOR = 1 << 16,  /* rel=author, itemprop=author, class=byline */
    HINT_LINK = 1 << 17,    /* has href: an anchor without is no link */
};

/* `attributes` as html_token has them. */
uint32_t html_hints(struct piece attributes);

#endif
