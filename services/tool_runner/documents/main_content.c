#include "documents/main_content.h"

#include "documents/html_hints.h"
#include "documents/html_tokens.h"

#include <string.h>

#define PARAGRAPH_MIN  40   /* characters of a block that counts as a paragraph */
#define LONG_BLOCK     400  /* characters of a block that counts as several paragraphs: lines divided by br */
#define CONTENT_MIN    140  /* characters of good paragraphs; with fewer, less is dropped */
#define PART_MIN       400  /* characters of an element beside the root that is a part by its size */
#define LEVELS_MAX     5    /* ancestors that a paragraph gives points to */
#define CLIMB_MAX      5    /* levels above the root at which siblings are looked for */
#define ATTRIBUTES_MAX 512  /* bytes of attributes in which the first class is looked for */
#define HEAD_BYTES     4096 /* of the page, in which the program that made it is looked for */
#define MAKER_BYTES    80   /* behind the word generator, in which its name is looked for */
#define LEAD_LEVELS    2    /* levels above the root at which an introduction is looked for */
#define LEAD_MIN       60   /* characters of an element beside the root that has paragraphs and no links */

bool html_node_is_within(const struct html_tree *tree, uint32_t node, uint32_t root)
{
    return node >= root && node < tree->nodes[root].end;
}

/* ---- weighing ---------------------------------------------------------------------------------------------------- */

/* Without links; those of code count, since they lead to the definitions of its names. */
static uint32_t content_own_text(const struct html_node *node)
{
    return node->tag == TAG_PRE ? node->text : node->text - node->link_text;
}

static bool content_is_paragraph(const struct html_node *node)
{
    return node->is_block && !node->dropped && content_own_text(node) >= PARAGRAPH_MIN &&
           content_own_text(node) * 2 > node->text && !html_node_is_heading(node) && node->tag != TAG_FIGURE;
}

static float content_base_of(const struct html_node *node)
{
    static const float bases[TAGS_COUNT] = {
        [TAG_DIV] = 5, [TAG_ARTICLE] = 10,   [TAG_MAIN] = 8,     [TAG_SECTION] = 3, [TAG_PRE] = 3,
        [TAG_TD] = 3,  [TAG_BLOCKQUOTE] = 3, [TAG_ADDRESS] = -3, [TAG_OL] = -3,     [TAG_UL] = -3,
        [TAG_DL] = -3, [TAG_LI] = -3,        [TAG_FORM] = -3,
    };
    static const uint32_t against = HINT_COMMENT | HINT_RELATED | HINT_SHARE | HINT_NAVIGATE | HINT_ADVERT |
                                    HINT_CONSENT | HINT_META | HINT_SIGNUP | HINT_FOOTER;
    float base = bases[node->tag];
    base += node->hints & HINT_BODY ? 40 : node->hints & HINT_CONTENT ? 20 : 0;
    return node->hints & against ? base - 20 : base;
}

static void content_weigh(struct html_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        struct html_node *node = &tree->nodes[i];
        node->score = 0;
        node->mass = node->all_mass = 0;
    }
    for (uint32_t i = tree->count; i-- > 0;) {
        struct html_node *node = &tree->nodes[i];
        if (content_is_paragraph(node)) {
            node->mass = content_own_text(node);
            float length = (float)content_own_text(node) / 100;
            float marks = node->marks < 30 ? (float)node->marks : 30;
            float points = 1 + marks + (length < 3 ? length : content_own_text(node) < LONG_BLOCK ? 3 : length);
            /* A block that is only text is a paragraph of its parent; a block with other blocks or many lines is the
             * parent. */
            bool is_parent = !tree->nodes[i].is_leaf || content_own_text(&tree->nodes[i]) >= LONG_BLOCK;
            uint32_t at = is_parent ? i : html_block_of(tree, tree->nodes[i].parent);
            for (unsigned level = 0; level < LEVELS_MAX && at; at = html_block_of(tree, tree->nodes[at].parent)) {
                struct html_node *above = &tree->nodes[at];
                if (above->score == 0)
                    above->score = content_base_of(above);
                above->score += level == 0 ? points : level == 1 ? points / 2 : points / (3 * (float)level);
                level++;
            }
        }
        node->all_mass += node->mass;
        if (i)
            tree->nodes[node->parent].all_mass += node->all_mass;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        struct html_node *node = &tree->nodes[i];
        if (node->all_text)
            node->score *= 1 - (float)node->all_link_text / (float)node->all_text;
    }
}

/* ---- the root ---------------------------------------------------------------------------------------------------- */

static uint32_t content_common_ancestor(const struct html_tree *tree, uint32_t a, uint32_t b)
{
    while (!html_node_is_within(tree, b, a))
        a = tree->nodes[a].parent;
    return a;
}

/* A page may go on with other articles: the page's own article is the first that is not much shorter than the
 * longest. */
static uint32_t content_first_of_several(const struct html_tree *tree, uint32_t longest)
{
    for (uint32_t i = 1; i < longest; i = i + 1) {
        const struct html_node *node = &tree->nodes[i];
        if ((node->hints & HINT_BODY) && !node->dropped && node->article != tree->nodes[longest].article &&
            !html_node_is_within(tree, longest, i) && node->all_mass >= CONTENT_MIN &&
            node->all_mass * 10 >= tree->nodes[longest].all_mass * 4)
            return i;
    }
    return longest;
}

/* The element that its class calls the body of the article. Several of them side by side are parts of the same article,
 * unless they stand in different articles. 0: too little of the page is in them. */
static uint32_t content_named_root(const struct html_tree *tree, bool is_forum)
{
    uint32_t best = 0, all = 0, sum = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct html_node *node = &tree->nodes[i];
        if (!(node->hints & HINT_BODY) || node->dropped || !node->all_mass)
            continue;
        if (!best || node->all_mass > tree->nodes[best].all_mass ||
            (node->all_mass == tree->nodes[best].all_mass && html_node_is_within(tree, i, best)))
            best = i;
    }
    if (!best)
        return 0;
    if (!is_forum)
        best = content_first_of_several(tree, best);
    for (uint32_t i = 1; i < tree->count;) {
        const struct html_node *node = &tree->nodes[i];
        bool is_part = (node->hints & HINT_BODY) && !node->dropped && node->all_mass &&
                       (is_forum || node->article == tree->nodes[best].article);
        if (is_part) {
            sum += node->all_mass;
            all = all ? content_common_ancestor(tree, all, i) : i;
        }
        i = is_part ? node->end : i + 1;
    }
    uint32_t root = all && tree->nodes[best].all_mass * 10 < sum * 7 ? all : best;
    return tree->nodes[root].all_mass * 4 >= tree->nodes[0].all_mass ? root : 0;
}

static uint32_t content_scored_root(const struct html_tree *tree)
{
    uint32_t top = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        if (!tree->nodes[i].dropped && tree->nodes[i].score > tree->nodes[top].score)
            top = i;
    return top;
}

/* The innermost element with nearly all paragraphs of another. */
static uint32_t content_covering_root(const struct html_tree *tree, uint32_t within)
{
    uint32_t root = within;
    for (uint32_t i = within; i < tree->nodes[within].end; i++)
        if (html_node_is_within(tree, i, root) &&
            (uint64_t)tree->nodes[i].all_mass * 20 >= (uint64_t)tree->nodes[within].all_mass * 19)
            root = i;
    return root;
}

/* The element that is the page's main or an article of it, with most paragraphs; 0: the page has neither. */
static uint32_t content_main_element(const struct html_tree *tree)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct html_node *node = &tree->nodes[i];
        bool is_main = node->tag == TAG_MAIN || node->tag == TAG_ARTICLE || (node->hints & HINT_MAIN);
        if (is_main && !node->dropped && (!best || node->all_mass > tree->nodes[best].all_mass))
            best = i;
    }
    return best;
}

/* ---- siblings ---------------------------------------------------------------------------------------------------- */

static struct piece content_attributes_of(const struct html_tree *tree, uint32_t node)
{
    const struct html_node *of = &tree->nodes[node];
    return (struct piece){tree->page.at + of->attributes, of->attribute_end - of->attributes};
}

/* The first class of an element, or its id. */
static struct piece content_first_class(const struct html_tree *tree, uint32_t node)
{
    struct piece attributes = content_attributes_of(tree, node), name, value, found = {"", 0};
    attributes.length = attributes.length < ATTRIBUTES_MAX ? attributes.length : ATTRIBUTES_MAX;
    while (html_attribute(&attributes, &name, &value))
        if (piece_is_word(name, "class"))
            found = piece_trim(value);
    for (size_t i = 0; i < found.length; i++)
        if (found.at[i] == ' ')
            found.length = i;
    return found;
}

static bool content_looks_alike(const struct html_tree *tree, uint32_t a, uint32_t b)
{
    if (tree->nodes[a].tag != tree->nodes[b].tag)
        return false;
    struct piece one = content_first_class(tree, a), other = content_first_class(tree, b);
    return one.length > 2 && one.length == other.length && memcmp(one.at, other.at, one.length) == 0;
}

/* Whether a sibling of the root (level 0), or of an element around it, is a part of the content. */
static bool content_is_part(const struct html_tree *tree, uint32_t root, uint32_t path, uint32_t node, unsigned level)
{
    const struct html_node *of = &tree->nodes[node];
    uint32_t mass = tree->nodes[root].all_mass;
    if (of->dropped || of->controls || of->all_link_text * 4 > of->all_text)
        return false;
    bool behind_article = node > path && (tree->nodes[path].tag == TAG_ARTICLE || tree->nodes[path].tag == TAG_MAIN);
    if (behind_article)
        return false;
    if (of->all_mass && content_looks_alike(tree, path, node))
        return true;
    bool plain = of->all_text >= LEAD_MIN && !of->all_link_text && (of->is_leaf || of->all_mass >= LEAD_MIN) &&
                 of->tag != TAG_TD && of->tag != TAG_TR;
    bool leads = node < path && level <= LEAD_LEVELS && of->all_mass * 5 >= of->all_text * 4;
    bool beside = level == 0 && !(tree->nodes[root].hints & HINT_BODY) && (of->is_leaf || of->all_mass * 2 <= mass);
    if (plain && (leads || beside))
        return true;
    return of->all_mass >= PART_MIN && of->all_mass * 10 >= mass * 3;
}

/* Drops the siblings of `path`, which leads to the root, that are no parts; returns the mass of those that are. */
static uint32_t content_sort_siblings(struct html_tree *tree, uint32_t root, uint32_t path, unsigned level, bool drop)
{
    uint32_t mass = 0, above = tree->nodes[path].parent;
    for (uint32_t i = above + 1; i < tree->nodes[above].end; i = tree->nodes[i].end) {
        if (i == path)
            continue;
        if (content_is_part(tree, root, path, i, level))
            mass += tree->nodes[i].all_mass ? tree->nodes[i].all_mass : tree->nodes[i].all_text;
        else if (drop)
            tree->nodes[i].dropped = true;
    }
    return mass;
}

/* The uppermost element around the root with parts of the content beside the way down. */
static uint32_t content_widen(struct html_tree *tree, uint32_t root)
{
    uint32_t wide = root, path = root;
    for (unsigned level = 0; level < CLIMB_MAX && path; level++) {
        uint32_t above = tree->nodes[path].parent;
        if (tree->nodes[path].tag == TAG_BODY)
            break;
        if (content_sort_siblings(tree, root, path, level, false))
            wide = above;
        path = above;
    }
    unsigned level = 0;
    for (path = root; path != wide; path = tree->nodes[path].parent)
        content_sort_siblings(tree, root, path, level++, true);
    return wide;
}

/* ---- attempts ---------------------------------------------------------------------------------------------------- */

static bool content_is_forum(const struct html_tree *tree)
{
    static const char *const marks[] = {"DiscussionForumPosting", "schema.org/QAPage", "\"QAPage\""};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (memmem(tree->page.at, tree->page.length, marks[i], strlen(marks[i])))
            return true;
    for (uint32_t i = 1; i < tree->count; i++)
        if (tree->nodes[i].tag == TAG_BODY)
            return tree->nodes[i].hints & HINT_FORUM;
    return false;
}

/* A page of a manual: code is a good part of it, or the program that made it says so. Its many short sections belong
 * together, though each has only a part of the text. */
static bool content_is_manual(const struct html_tree *tree)
{
    static const char *const makers[] = {"gtk-doc", "DocBook", "Doxygen", "doxygen", "rustdoc", "mdbook",
                                         "javadoc", "Sphinx",  "mkdocs",  "pydoc",   "makeinfo"};
    static const char says[] = "enerat"; /* <meta name=generator>, "Generated by" */
    const char *at = tree->page.at, *end = at + (tree->page.length < HEAD_BYTES ? tree->page.length : HEAD_BYTES);
    while ((at = memmem(at, (size_t)(end - at), says, sizeof says - 1))) {
        size_t length = (size_t)(end - at) < MAKER_BYTES ? (size_t)(end - at) : MAKER_BYTES;
        for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
            if (memmem(at, length, makers[i], strlen(makers[i])))
                return true;
        at += sizeof says - 1;
    }
    uint64_t code = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        code += tree->nodes[i].tag == TAG_PRE && !tree->nodes[i].dropped ? tree->nodes[i].text : 0;
    return code * 100 > (uint64_t)tree->nodes[0].all_mass * 15;
}

static uint32_t content_find_root(struct html_tree *tree, bool forum)
{
    uint32_t named = content_named_root(tree, forum), top = content_scored_root(tree);
    /* Another element holds far more of the page than the named element. */
    if (named && !forum && top && tree->nodes[top].all_mass > 2 * tree->nodes[named].all_mass &&
        !(tree->nodes[top].hints & HINT_BODY))
        named = html_node_is_within(tree, named, top) ? top : 0;
    if (named)
        return forum ? named : content_widen(tree, named);
    if (forum || !top)
        return content_covering_root(tree, 0);
    /* A page of many short sections: its best section is only a small part. */
    uint32_t element = content_main_element(tree);
    if (content_is_manual(tree))
        return element && tree->nodes[element].all_mass * 2 > tree->nodes[0].all_mass ? element
                                                                                      : content_covering_root(tree, 0);
    if (element && html_node_is_within(tree, top, element) &&
        tree->nodes[top].all_mass * 10 < tree->nodes[element].all_mass * 6)
        return content_covering_root(tree, element);
    return content_widen(tree, top);
}

static uint32_t content_kept_mass(const struct html_tree *tree, uint32_t root)
{
    uint32_t mass = 0;
    for (uint32_t i = root; i < tree->nodes[root].end; i++)
        if (!tree->nodes[i].dropped)
            mass += tree->nodes[i].mass;
    return mass;
}

static void content_inherit_dropped(struct html_tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].dropped |= tree->nodes[tree->nodes[i].parent].dropped;
}

static uint32_t content_attempt(struct html_tree *tree, unsigned flags, bool forum, struct piece title)
{
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].dropped = false;
    main_content_drop(tree, flags);
    content_weigh(tree);
    uint32_t root = content_find_root(tree, forum);
    content_inherit_dropped(tree);
    main_content_prune(tree, root, title, forum);
    content_inherit_dropped(tree);
    return root;
}

uint32_t main_content_mark(struct html_tree *tree, struct piece title)
{
    static const unsigned tries[] = {DROP_FURNITURE | DROP_COMMENTS | DROP_CARDS, DROP_FURNITURE | DROP_CARDS,
                                     DROP_FURNITURE, 0};
    bool is_marked = content_is_forum(tree), forum = is_marked;
    size_t best = forum ? 2 : 0, first = best;
    uint32_t most = 0;
    for (size_t i = first; i < sizeof tries / sizeof tries[0]; i++) {
        forum = forum || !(tries[i] & DROP_COMMENTS);
        uint32_t mass = content_kept_mass(tree, content_attempt(tree, tries[i], forum, title));
        if (i == first || mass > 2 * most) {
            best = i;
            most = mass;
        }
        if (most >= CONTENT_MIN)
            break;
    }
    if (most)
        return content_attempt(tree, tries[best], is_marked || best, title);
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].dropped = false;
    return 0;
}
