/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of CSV.  They come from the tables of members, so that none can be forgotten. */
#include "formats/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "formats/lines.h"

/* Scripts rely on the places of these; whatever else there is follows behind them. */
static const char packet_places[] =
    "i,o,id,buf,t,b,nib,nb,addr,addr_bits,addr_valid,addr_size,is,match,isa,isa_changed,"
    "alt_isa,atoms,fmt,ctxt_updated,el,sf,ns,nse,hyp,cid,vmid,exc,exc_num,interp,m,"
    "fault_pending,cm,resume,irq_n,reason,no_addr,lsip_addr,ts,ts_bits,cc,freq_change,wrap,tc,"
    "info,spec_present,spec_depth,cc_threshold,p0_key,initial,commit,cancel,mispredict,q_type,"
    "count_present,count,addr_present,addr_match,event,dsm,value,c_key_set,c_key,c_num,c_final,"
    "c_incr,r_key0,r_key1,res0,res1,ci0,ci1,tok24,tok3,incr,upd_addr,upd_val,tag,daddr,version,"
    "freq,trig,err,master,chan,data,marker,port,disc,size,hw,bits,branches,branch_map,field,"
    "address,notify,updiscon,irreport,irdepth,index,branch_count,branch_fmt,branch,privilege,"
    "context,time,ecause,interrupt,thaddr,tval,qual_status,ienable,encoder_mode,ioptions";

static const char element_places[] =
    "i,id,buf,t,st,en,n,isa,lt,ls,ex,sz,cond,cc,space,space_name,bits,sec,el,priv,vmid,cid,num,"
    "interrupt,has_ret,ret,ret_is_br_tgt,data_marker,m_tail,tval,reason,ts,seconds,freq_change,"
    "kind,value,id_valid,master,chan,npkt,data,marker,has_ts,trig,freq,merr,gerr,overflow,src,"
    "size,delta,addr,dir,pc,key,code,msg,skipped,op,asm,sym,cpu,pid,tid,comm,time,dso,off";

enum { KEY_ROOM = sizeof((struct tw_member_type *)NULL)->key, ROW_MOST = TW_MEMBERS_ENOUGH };

struct columns {
    char (*keys)[KEY_ROOM];
    size_t count, room;
    struct tw_map by_type; /* a row of a table to its column + 1; 0: left out */
};

static const struct tw_member_type *type_of(bool is_packets, size_t number)
{
    if (number < LINE_MEMBERS)
        return &line_members[number];
    number -= LINE_MEMBERS;
    return is_packets ? tw_packet_member_type(number) : tw_element_member_type(number);
}

/* Of ours, only the buffer is of packets too. */
static bool has_column(const struct tw_member_type *type, bool is_packets, size_t number)
{
    return (type->in & TW_MEMBER_LISTED) &&
           !(is_packets && number < LINE_MEMBERS && number != LINE_BUF);
}

static size_t find(const struct columns *columns, const char *key, size_t size)
{
    size_t at = 0;

    while (at < columns->count &&
           (strncmp(columns->keys[at], key, size) != 0 || columns->keys[at][size] != 0))
        at++;
    return at;
}

static bool add(struct columns *columns, const char *key, size_t size)
{
    if (find(columns, key, size) < columns->count)
        return true;
    if (columns->count == columns->room) {
        const size_t room = columns->room ? 2 * columns->room : 128;
        void *more = realloc(columns->keys, room * sizeof *columns->keys);

        if (!more)
            return false;
        columns->keys = more;
        columns->room = room;
    }
    memset(columns->keys[columns->count], 0, KEY_ROOM);
    memcpy(columns->keys[columns->count++], key, size < KEY_ROOM ? size : KEY_ROOM - 1);
    return true;
}

/* All that there are, those with a fixed place first. */
static bool add_all(struct columns *columns, bool is_packets)
{
    const struct tw_member_type *type;

    for (const char *at = is_packets ? packet_places : element_places; *at; at += *at == ',') {
        const size_t size = strcspn(at, ",");

        if (!add(columns, at, size))
            return false;
        at += size;
    }
    for (size_t i = 0; (type = type_of(is_packets, i)) != NULL; i++)
        if (has_column(type, is_packets, i) && !add(columns, type->key, type->key_size))
            return false;
    return true;
}

static bool map_types(struct columns *columns, bool is_packets)
{
    const struct tw_member_type *type;

    for (size_t i = 0; (type = type_of(is_packets, i)) != NULL; i++) {
        const size_t column = find(columns, type->key, type->key_size);
        uint64_t *at;

        if (!has_column(type, is_packets, i) || column == columns->count)
            continue;
        at = tw_map_put(&columns->by_type, (uintptr_t)type);
        if (!at)
            return false;
        *at = column + 1;
    }
    return true;
}

static bool say_no_such(const struct options *options, const struct columns *all,
                        const char *name, size_t size)
{
    char list[4000] = "";
    size_t used = 0;

    for (size_t i = 0; i < all->count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? "," : "",
                                 all->keys[i]);
    return options_wrong(options, "--columns: there is no \"%.*s\"; there are %s", (int)size,
                         name, list);
}

/* Those of --columns, in their order. */
static bool choose(struct columns *columns, const struct columns *all,
                   const struct options *options)
{
    for (const char *at = options->columns;; at++) {
        const size_t size = strcspn(at, ",");

        if (find(all, at, size) == all->count)
            return say_no_such(options, all, at, size);
        if (!add(columns, at, size)) {
            say("out of memory");
            return false;
        }
        at += size;
        if (!*at)
            return true;
    }
}

struct columns *columns_new(const struct options *options, bool is_packets)
{
    struct columns *all = calloc(1, sizeof *all), *chosen = NULL;

    if (!all || !add_all(all, is_packets)) {
        say("out of memory");
        columns_free(all);
        return NULL;
    }
    if (options->columns) {
        chosen = calloc(1, sizeof *chosen);
        if (!chosen || !choose(chosen, all, options)) {
            columns_free(chosen);
            columns_free(all);
            return NULL;
        }
        columns_free(all);
        all = chosen;
    }
    if (map_types(all, is_packets))
        return all;
    say("out of memory");
    columns_free(all);
    return NULL;
}

void columns_free(struct columns *columns)
{
    if (!columns)
        return;
    tw_map_free(&columns->by_type);
    free(columns->keys);
    free(columns);
}

bool columns_check(const struct options *options, bool is_packets)
{
    struct columns *columns = columns_new(options, is_packets);

    columns_free(columns);
    return columns != NULL;
}

void columns_head(const struct columns *columns, struct output *out)
{
    for (size_t i = 0; i < columns->count; i++)
        output_format(out, "%s%s", i ? "," : "", columns->keys[i]);
    output_text(out, "\n");
}

/* Behind `out` there is room for twice the text and two quotes. */
static char *put_value(char *out, const struct tw_member *member)
{
    char *end = tw_member_value(out, member);
    size_t quotes = 0;
    bool is_quoted = false;

    if (member->type->kind != TW_MEMBER_TEXT && member->type->kind != TW_MEMBER_NAME)
        return end;
    for (const char *at = out; at < end; at++) {
        quotes += *at == '"';
        is_quoted |= *at == '"' || *at == ',' || *at == '\\';
    }
    if (!is_quoted)
        return end;
    /* From the end, so that it can be done in place. */
    for (char *from = end, *to = end + quotes; from > out;) {
        *to-- = *--from;
        if (*from == '"')
            *to-- = '"';
    }
    out[0] = '"';
    end += quotes + 2;
    end[-1] = '"';
    return end;
}

/* The cells that are not empty, by column. */
struct row {
    size_t columns[ROW_MOST];
    const struct tw_member *members[ROW_MOST];
    size_t count;
};

static void sort(struct row *row, const struct columns *columns,
                 const struct tw_members *members)
{
    row->count = 0;
    for (size_t i = 0; i < members->count && row->count < ROW_MOST; i++) {
        const uint64_t *found =
            tw_map_find(&columns->by_type, (uintptr_t)members->items[i].type);
        size_t at = row->count;

        if (!found)
            continue;
        for (; at && row->columns[at - 1] >= *found; at--) {
            row->columns[at] = row->columns[at - 1];
            row->members[at] = row->members[at - 1];
        }
        row->columns[at] = (size_t)*found;
        row->members[at] = &members->items[i];
        row->count++;
    }
}

void columns_row(const struct columns *columns, struct output *out,
                 const struct tw_members *members)
{
    size_t most = columns->count + 1, at = 1;
    struct row row;
    char *line, *end;

    sort(&row, columns, members);
    for (size_t i = 0; i < row.count; i++)
        most += 2 * tw_member_most(row.members[i]);
    line = end = output_room(out, most);
    for (size_t i = 0; i < row.count; i++) {
        if (i && row.columns[i] == row.columns[i - 1])
            continue; /* a key that came twice */
        memset(end, ',', row.columns[i] - at);
        end = put_value(end + (row.columns[i] - at), row.members[i]);
        at = row.columns[i];
    }
    memset(end, ',', columns->count - at);
    end += columns->count - at;
    *end++ = '\n';
    output_took(out, (size_t)(end - line));
}
