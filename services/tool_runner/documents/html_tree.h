/* The elements of an HTML page as a tree, in an array in the order of the page. Private to documents/.
 *
 * The tree says how much text each element holds; the text itself stays in the page. An element's descendants are those
 * behind it up to `end`, so every pass over the page is a loop over the array without recursion. Elements that only
 * format text (b, em, code) and those without an end tag are not in it. Beyond HTML_NODES_MAX elements the text counts
 * for the element that is open. Building takes the same time for each byte, however many elements are left open. */
#ifndef RENGA_TOOL_RUNNER_HTML_TREE_H
#define RENGA_TOOL_RUNNER_HTML_TREE_H

#include "documents/reading.h"

#include <stdint.h>

#define HTML_NODES_MAX 300000u

enum html_tag {
    TAG_OTHER, /* any name that is not in the table */
    TAG_A,
    TAG_ADDRESS,
    TAG_ARTICLE,
    TAG_ASIDE,
    TAG_BLOCKQUOTE,
    TAG_BODY,
    TAG_BUTTON,
    TAG_CAPTION,
    TAG_CENTER,
    TAG_DD,
    TAG_DETAILS,
    TAG_DIALOG,
    TAG_DIV,
    TAG_DL,
    TAG_DT,
    TAG_FIELDSET,
    TAG_FIGCAPTION,
    TAG_FIGURE,
    TAG_FOOTER,
    TAG_FORM,
    TAG_FORMAT, /* elements that only format text: never a node */
    TAG_H1,
    TAG_H2,
    TAG_H3,
    TAG_H4,
    TAG_H5,
    TAG_H6,
    TAG_HEAD,
    TAG_HEADER,
    TAG_HTML,
    TAG_IFRAME,
    TAG_INPUT, /* has no end tag: counts as a control of its parent */
    TAG_LABEL,
    TAG_LI,
    TAG_MAIN,
    TAG_NAV,
    TAG_OL,
    TAG_P,
    TAG_PRE,
    TAG_SCRIPT, /* script, style, template, noscript and others that are not shown */
    TAG_SECTION,
    TAG_SPAN,
    TAG_SUMMARY,
    TAG_TABLE,
    TAG_TBODY,
    TAG_TD,
    TAG_TEXTAREA,
    TAG_TITLE,
    TAG_TR,
    TAG_UL,
    TAG_VOID, /* elements without an end tag: never a node */
    TAGS_COUNT
};

/* Text is measured in characters; a Japanese or Chinese character counts twice, since it says as much as two
 * letters. */
struct html_node {
    uint32_t parent, end;               /* places in the array; the root is its own parent */
    uint32_t article;                   /* the innermost article around it, or itself; 0: not in an article */
    uint32_t from, to;                  /* bytes of the page */
    uint32_t same_tag, same_rank;       /* while it is open: the next open element of that tag or rank below */
    uint32_t attributes, attribute_end; /* bytes of the page */
    uint32_t text, link_text;           /* within it, but not within a block in it */
    uint32_t all_text, all_link_text;   /* of all descendants as well */
    uint16_t marks, controls;           /* commas and ends of sentences in `text`; inputs and buttons, of all */
    uint8_t tag;
    bool is_block, in_link, is_leaf; /* is_leaf: a block with no block in it */
    uint32_t hints;                  /* html_hints.h */
    uint32_t mass, all_mass;         /* main_content.c: characters of good paragraphs */
    float score;
    bool dropped;
    bool holds_core; /* the body of an article, the main element or the first heading of the page is in it */
    bool in_body;    /* within an element that its class calls the body of an article */
};

struct html_tree {
    struct piece page;
    struct html_node *nodes; /* nodes[0] stands for the page */
    uint32_t count;
};

/* False if memory is out. */
bool html_tree_build(struct html_tree *tree, struct piece page);
void html_tree_fini(struct html_tree *tree);

/* The text within a node, references not resolved and white space folded. At most HTML_NODE_BYTES of the page are
 * looked at, and the text is cut at `size` bytes. Returns its length. */
#define HTML_NODE_BYTES 4096
size_t html_node_text(const struct html_tree *tree, uint32_t node, char *text, size_t size);

/* The innermost block around a node, or itself. */
uint32_t html_block_of(const struct html_tree *tree, uint32_t node);

bool html_node_is_heading(const struct html_node *node);

#endif
