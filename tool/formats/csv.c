/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON lines as rows of comma-separated values. */
#include "formats/csv.h"

#include <stdlib.h>
#include <string.h>

/* The union over all protocols, so that a script can rely on the places. */
const char csv_packet_columns[] =
    "i,o,id,buf,t,b,nib,nb,addr,addr_bits,addr_valid,addr_size,is,match,isa,isa_changed,alt_"
    "isa,"
    "atoms,fmt,ctxt_updated,el,sf,ns,nse,hyp,cid,vmid,exc,exc_num,interp,m,fault_pending,cm,"
    "resume,irq_n,reason,no_addr,lsip_addr,ts,ts_bits,cc,freq_change,wrap,tc,info,spec_present,"
    "spec_depth,cc_threshold,p0_key,initial,commit,cancel,mispredict,q_type,count_present,"
    "count,"
    "addr_present,addr_match,event,dsm,value,c_key_set,c_key,c_num,c_final,c_incr,r_key0,r_"
    "key1,"
    "res0,res1,ci0,ci1,tok24,tok3,incr,upd_addr,upd_val,tag,daddr,version,freq,trig,err,master,"
    "chan,data,marker,port,disc,size,hw,bits,branches,branch_map,field,address,notify,updiscon,"
    "irreport,irdepth,index,branch_count,branch_fmt,branch,privilege,context,time,ecause,"
    "interrupt,thaddr,tval,qual_status,ienable,encoder_mode,ioptions";

const char csv_element_columns[] =
    "i,id,buf,t,st,en,n,isa,lt,ls,ex,sz,cond,cc,space,space_name,bits,sec,el,priv,vmid,cid,num,"
    "interrupt,has_ret,ret,ret_is_br_tgt,data_marker,m_tail,tval,reason,ts,seconds,freq_change,"
    "kind,value,id_valid,master,chan,npkt,data,marker,has_ts,trig,freq,merr,gerr,overflow,src,"
    "size,delta,addr,dir,pc,key,code,msg,skipped,op,asm,sym,cpu,pid,tid,comm,time,dso,off";

static bool add_column(struct csv *csv, const char *name, size_t size)
{
    if (csv->count == CSV_COLUMNS)
        return false;
    csv->names[csv->count] = name;
    csv->sizes[csv->count++] = size;
    return true;
}

static bool is_listed(const char *all, const char *name, size_t size)
{
    for (; *all; all += all[0] == ',') {
        const size_t length = strcspn(all, ",");

        if (length == size && memcmp(all, name, size) == 0)
            return true;
        all += length;
    }
    return false;
}

bool csv_start(struct csv *csv, const struct options *options, const char *all)
{
    const char *wish = options->columns ? options->columns : all;

    *csv = (struct csv){ 0 };
    for (;; wish++) {
        const size_t size = strcspn(wish, ",");

        if (!is_listed(all, wish, size))
            return options_wrong(options, "--columns: there is no \"%.*s\"; there are %s",
                                 (int)size, wish, all);
        if (!add_column(csv, wish, size))
            return options_wrong(options, "--columns: too many");
        wish += size;
        if (!*wish)
            return true;
    }
}

void csv_free(struct csv *csv)
{
    free(csv->scratch);
    csv->scratch = NULL;
}

void csv_head(const struct csv *csv, struct output *out)
{
    for (size_t i = 0; i < csv->count; i++)
        output_format(out, "%s%.*s", i ? "," : "", (int)csv->sizes[i], csv->names[i]);
    output_text(out, "\n");
}

/* A value of a flat object: its end, and what of it is to be printed. */
static const char *value_end(const char *value)
{
    if (*value != '"')
        return value + strcspn(value, ",}");
    for (value++; *value && *value != '"'; value++)
        if (*value == '\\' && value[1])
            value++;
    return *value ? value + 1 : value;
}

static void put_value(struct output *out, const char *value, const char *end)
{
    const bool is_text = *value == '"' && end > value + 1;
    bool needs_quotes = false;

    if (is_text) {
        value++;
        end--;
    }
    for (const char *c = value; c < end; c++)
        needs_quotes |= *c == ',' || *c == '"' || *c == '\\';
    if (!needs_quotes) {
        output_bytes(out, value, (size_t)(end - value));
        return;
    }
    output_text(out, "\"");
    for (; value < end; value++) {
        if (is_text && *value == '\\' && value + 1 < end)
            value++; /* what JSON quotes */
        output_bytes(out, value, 1);
        if (*value == '"')
            output_text(out, "\"");
    }
    output_text(out, "\"");
}

struct field {
    const char *name, *value, *end;
    size_t size;
};

static size_t split_line(struct field *fields, size_t room, const char *line)
{
    size_t count = 0;

    while (count < room && (*line == '{' || *line == ',') && line[1] == '"') {
        struct field *field = &fields[count++];

        field->name = line + 2;
        field->size = strcspn(field->name, "\"");
        if (!field->name[field->size] || field->name[field->size + 1] != ':')
            return count - 1;
        field->value = field->name + field->size + 2;
        line = field->end = value_end(field->value);
    }
    return count;
}

void csv_row(struct csv *csv, struct output *out, const char *line)
{
    const size_t size = strlen(line) + 1;
    struct field fields[64];
    size_t count;

    if (size > csv->scratch_room) {
        char *bigger = realloc(csv->scratch, 2 * size);

        if (!bigger) {
            say("out of memory");
            exit(NOT_DONE);
        }
        csv->scratch = bigger;
        csv->scratch_room = 2 * size;
    }
    memcpy(csv->scratch, line, size);
    count = split_line(fields, sizeof fields / sizeof fields[0], csv->scratch);
    for (size_t i = 0; i < csv->count; i++) {
        if (i)
            output_bytes(out, ",", 1);
        for (size_t k = 0; k < count; k++)
            if (fields[k].size == csv->sizes[i] &&
                memcmp(fields[k].name, csv->names[i], csv->sizes[i]) == 0)
                put_value(out, fields[k].value, fields[k].end);
    }
    output_bytes(out, "\n", 1);
}
