/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as one SVG that needs nothing else: wide boxes at the bottom called those above. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/percent.h"
#include "export/export.h"
#include "export/svg.h"

enum { WIDTH = 1200, ROW = 18, MARGIN = 10, HEAD = 46, DEPTH_MOST = 512 };

/* Paths come callers first, in the order of names, so a box's width is known when the next one of
   its depth, or a shallower one, comes.  Sums are needed before: a first pass makes them. */
struct box {
    uint32_t function;
    uint32_t depth;
    uint64_t start, width; /* in instructions */
};

struct flame {
    struct tw_sink *sink;
    const struct tw_subject *subject;
    struct box *boxes;
    size_t count, room;
    size_t open[DEPTH_MOST]; /* boxes on the path at work */
    size_t depth;
    uint64_t total;
    uint32_t deepest;
    bool lacks_memory;
};

static void take_path(void *context, const struct tw_call_path *path)
{
    struct flame *flame = context;
    const size_t depth = path->depth < DEPTH_MOST ? path->depth : DEPTH_MOST;

    if (path->depth <= DEPTH_MOST) {
        if (!TW_GROW(flame->sink->allocator, &flame->boxes, &flame->room, flame->count + 1)) {
            flame->lacks_memory = true;
            return;
        }
        flame->boxes[flame->count] = (struct box){ .function = path->functions[path->depth - 1],
                                                   .depth = (uint32_t)path->depth - 1,
                                                   .start = flame->total };
        flame->open[path->depth - 1] = flame->count++;
        if (path->depth > flame->deepest)
            flame->deepest = (uint32_t)path->depth;
    }
    for (size_t i = 0; i < depth; i++)
        flame->boxes[flame->open[i]].width += path->self;
    flame->total += path->self;
}

static void put_box(const struct flame *flame, const struct box *box)
{
    const struct tw_functions *functions = tw_calls_functions(flame->subject->calls);
    const char *name =
        tw_subject_name(flame->subject, tw_functions_get(functions, box->function)->name);
    const double scale = (WIDTH - 2.0 * MARGIN) / (double)flame->total;
    const double x = MARGIN + (double)box->start * scale, width = (double)box->width * scale;
    const unsigned y = HEAD + ROW * (flame->deepest - 1 - box->depth);

    if (width < 0.1)
        return;
    tw_sink_format(flame->sink,
                   "<g class=\"f\" data-s=\"%" PRIu64 "\" data-w=\"%" PRIu64
                   "\" data-d=\"%" PRIu32 "\"><title>",
                   box->start, box->width, box->depth);
    tw_sink_xml(flame->sink, name);
    tw_sink_format(flame->sink, " (%" PRIu64 " instructions, ", box->width);
    tw_sink_xml(flame->sink, tw_percent((double)box->width, (double)flame->total, 2).text);
    tw_sink_format(flame->sink,
                   " %%)</title>"
                   "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"",
                   x, y, width, ROW - 1);
    tw_svg_color(flame->sink, name);
    tw_sink_format(flame->sink, "\"/><text x=\"%.1f\" y=\"%u\">", x + 3, y + ROW - 6);
    tw_svg_label(flame->sink, name, width);
    tw_sink_text(flame->sink, "</text></g>\n");
}

/* Click: zoom; click on the ground: back; type to search, inside a page once the picture was clicked.  Names are only
   ever text, and nothing outside the picture is touched: a page may have several. */
static const char script[] =
    "<script><![CDATA[\n"
    "(()=>{const root=document.currentScript.closest('svg'),"
    "boxes=[...root.querySelectorAll('.f')],total=+root.dataset.t;\n"
    "const info=root.querySelector('.info'),found=root.querySelector('.found');\n"
    "const W=1180,M=10,C=7;\n"
    "function zoom(s,w,d){for(const g of boxes){const gs=+g.dataset.s,gw=+g.dataset.w,"
    "gd=+g.dataset.d;\n"
    "const out=gs+gw<=s||gs>=s+w;g.style.display=out?'none':'';if(out)continue;\n"
    "const a=Math.max(gs,s),b=Math.min(gs+gw,s+w),x=M+(a-s)*W/w,q=(b-a)*W/w;\n"
    "const r=g.querySelector('rect'),t=g.querySelector('text');r.setAttribute('x',x);"
    "r.setAttribute('width',q);t.setAttribute('x',x+3);g.style.opacity=gd<d?0.5:1;\n"
    "const n=g.querySelector('title').textContent.replace(/ \\([0-9]+ instructions.*$/s,''),"
    "k=Math.floor((q-6)/C);t.textContent=k<3?'':n.length>k?n.slice(0,k-2)+'..':n;}}\n"
    "for(const g of boxes){g.addEventListener('click',e=>{e.stopPropagation();"
    "zoom(+g.dataset.s,+g.dataset.w,+g.dataset.d)});\n"
    "g.addEventListener('mouseover',()=>info.textContent=g.querySelector('title').textContent);"
    "}\n"
    "root.addEventListener('click',()=>zoom(0,total,0));\n"
    "const alone=root===document.documentElement;if(!alone)root.setAttribute('tabindex',0);\n"
    "let word='';(alone?document:root).addEventListener('keydown',e=>{"
    "if(e.key==='Escape')word='';"
    "else if(e.key==='Backspace')word=word.slice(0,-1);else if(e.key.length===1)word+=e.key;"
    "else return;\n"
    "e.stopPropagation();\n"
    "let sum=0,end=-1;for(const g of boxes){const n=g.querySelector('title').textContent,"
    "hit=word&&n.replace(/ \\([0-9]+ instructions.*$/s,'').includes(word);"
    "g.querySelector('rect').style.fill=hit?'#7a5cff':'';\n"
    "if(hit&&+g.dataset.s>=end){sum+=+g.dataset.w;end=+g.dataset.s+ +g.dataset.w;}}\n"
    "found.textContent=word?'search: '+word+'  '+(100*sum/total).toFixed(2)+' %':'';});\n"
    "})();\n"
    "]]></script>\n";

static void put_head(const struct flame *flame, unsigned height)
{
    struct tw_sink *sink = flame->sink;

    tw_svg_begin(sink, WIDTH, height);
    tw_sink_format(sink, " data-t=\"%" PRIu64 "\">\n", flame->total);
    tw_sink_text(sink, "<style>.trackway text{font:12px ui-monospace,monospace;fill:#1a1a1a}"
                       ".trackway .f{cursor:pointer}.trackway .f:hover rect{stroke:#000}"
                       ".trackway .f text{pointer-events:none}"
                       ".trackway .title{font:bold 15px sans-serif}</style>\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#fdfcf8\"/>\n"
                       "<text class=\"title\" x=\"10\" y=\"20\">");
    tw_sink_xml(sink, flame->subject->title ? flame->subject->title : "calls");
    tw_sink_format(sink, ": %" PRIu64 " instructions</text>\n", flame->total);
    tw_sink_text(sink,
                 "<text class=\"info\" x=\"10\" y=\"38\">click a box to zoom, the ground to go "
                 "back, type to search</text>\n"
                 "<text class=\"found\" x=\"1190\" y=\"20\" text-anchor=\"end\"></text>\n");
}

void tw_write_flame_graph(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct flame *flame = tw_take(sink->allocator, sizeof *flame);

    if (!flame) {
        sink->lacks_memory = true;
        return;
    }
    flame->sink = sink;
    flame->subject = subject;
    if (tw_calls_paths(subject->calls, take_path, flame) != TW_OK)
        sink->lacks_memory = true;
    put_head(flame, HEAD + ROW * flame->deepest + MARGIN);
    for (size_t i = 0; i < flame->count && !sink->is_over && flame->total; i++)
        put_box(flame, &flame->boxes[i]);
    tw_sink_text(sink, script);
    tw_sink_text(sink, "</svg>\n");
    sink->lacks_memory |= flame->lacks_memory;
    tw_give(sink->allocator, flame->boxes);
    tw_give(sink->allocator, flame);
}
