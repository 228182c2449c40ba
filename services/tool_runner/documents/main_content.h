/* Which parts of an HTML page are its main content. Private to documents/.
 *
 *      tree ---> furniture is dropped ---> paragraphs are weighed ---> the root ---> its siblings ---> pruned
 *                      ^                                                                     |
 *                      '-------------- less is dropped if too little is left <---------------'
 *
 * Class names of article bodies choose the root if they hold enough text; otherwise the root is the element around
 * which most paragraphs stand. Each step is a pass over the array of the tree. */
#ifndef RENGA_TOOL_RUNNER_MAIN_CONTENT_H
#define RENGA_TOOL_RUNNER_MAIN_CONTENT_H

#include "documents/html_tree.h"

/* Marks the nodes that are no main content as dropped; returns the node that contains all of it. `title` is the page's
 * title: a heading that repeats it is dropped. A page without paragraphs keeps all. */
uint32_t main_content_mark(struct html_tree *tree, struct piece title);

/* ---- for main_content*.c ----------------------------------------------------------------------------------------- */

enum {
    DROP_FURNITURE = 1, /* elements that are beside the content by their class names */
    DROP_COMMENTS = 2,
    DROP_CARDS = 4, /* teasers of other pages: a linked heading with a little text */
};

/* Drops all that is surely no content, and the kinds in `flags`. */
void main_content_drop(struct html_tree *tree, unsigned flags);

/* Drops the rest within the root that is no content: bylines, captions, lists of links, empty sections. Between the
 * posts of a forum it drops all short lines. */
void main_content_prune(struct html_tree *tree, uint32_t root, struct piece title, bool is_forum);

bool html_node_is_within(const struct html_tree *tree, uint32_t node, uint32_t root);

#endif
