/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers and fields of the RISC-V Trace Control Interface. */
#include "trctl/table.h"

#include <string.h>

#define ENC  TW_TRCTL_ENCODER
#define FUN  TW_TRCTL_FUNNEL
#define RAM  TW_TRCTL_RAM_SINK
#define PIB  TW_TRCTL_PIB_SINK
#define ATB  TW_TRCTL_ATB_BRIDGE
#define OLD  TW_TRCTL_VERSION_0
#define RW   TW_TRCTL_RW
#define WARL TW_TRCTL_WARL
#define RO   TW_TRCTL_RO
#define RW1C TW_TRCTL_RW1C
#define W1   TW_TRCTL_W1

/* clang-format off */
/* size: table */
const struct tw_trctl_register tw_trctl_registers[] = {
    /* offset, how many, name, setting, default */
    { ENC, 0x000, 1, "trTeControl",            false, false },
    { ENC, 0x004, 1, "trTeImpl",               false, false },
    { ENC, 0x008, 1, "trTeInstFeatures",       true,  true },
    { ENC, 0x00c, 1, "trTeInstFilters",        true,  true },
    { ENC, 0x010, 1, "trTeDataControl",        true,  true },
    { ENC, 0x01c, 1, "trTeDataFilters",        true,  true },
    { ENC, 0x040, 1, "trTsControl",            true,  true },
    { ENC, 0x048, 1, "trTsCounterLow",         false, false },
    { ENC, 0x04c, 1, "trTsCounterHigh",        false, false },
    { ENC, 0x050, 1, "trTeTrigDbgControl",     true,  true },
    { ENC, 0x054, 1, "trTeTrigExtInControl",   true,  true },
    { ENC, 0x058, 1, "trTeTrigExtOutControl",  true,  true },
    { ENC, 0x400, 16, "trTeFilter%Control",          true, false },
    { ENC, 0x404, 16, "trTeFilter%MatchInst",        true, false },
    { ENC, 0x408, 16, "trTeFilter%MatchEcauseLow",   true, false },
    { ENC, 0x40c, 16, "trTeFilter%MatchEcauseHigh",  true, false },
    { ENC, 0x410, 16, "trTeFilter%MatchValueImpdef", true, false },
    { ENC, 0x414, 16, "trTeFilter%MatchMaskImpdef",  true, false },
    { ENC, 0x418, 16, "trTeFilter%MatchData",        true, false },
    { ENC, 0x600, 8, "trTeComp%Control",       true, false },
    { ENC, 0x610, 8, "trTeComp%PMatchLow",     true, false },
    { ENC, 0x614, 8, "trTeComp%PMatchHigh",    true, false },
    { ENC, 0x618, 8, "trTeComp%SMatchLow",     true, false },
    { ENC, 0x61c, 8, "trTeComp%SMatchHigh",    true, false },

    { FUN, 0x000, 1, "trFunnelControl",        false, false },
    { FUN, 0x004, 1, "trFunnelImpl",           false, false },
    { FUN, 0x008, 1, "trFunnelDisInput",       true,  true },
    { FUN, 0x040, 1, "trFunnelTsControl",      true,  true },
    { FUN, 0x048, 1, "trFunnelTsCounterLow",   false, false },
    { FUN, 0x04c, 1, "trFunnelTsCounterHigh",  false, false },

    { RAM, 0x000, 1, "trRamControl",           false, false },
    { RAM, 0x004, 1, "trRamImpl",              false, false },
    { RAM, 0x010, 1, "trRamStartLow",          true,  false },
    { RAM, 0x014, 1, "trRamStartHigh",         true,  false },
    { RAM, 0x018, 1, "trRamLimitLow",          true,  false },
    { RAM, 0x01c, 1, "trRamLimitHigh",         true,  false },
    { RAM, 0x020, 1, "trRamWPLow",             true,  false },
    { RAM, 0x024, 1, "trRamWPHigh",            true,  false },
    { RAM, 0x028, 1, "trRamRPLow",             false, false },
    { RAM, 0x02c, 1, "trRamRPHigh",            false, false },
    { RAM, 0x040, 1, "trRamData",              false, false },

    { PIB, 0x000, 1, "trPibControl",           false, false },
    { PIB, 0x004, 1, "trPibImpl",              false, false },

    { ATB, 0x000, 1, "trAtbBridgeControl",     false, false },
    { ATB, 0x004, 1, "trAtbBridgeImpl",        false, false },

    { OLD, 0x000, 1, "teControl",              false, false },
    { OLD, 0x004, 1, "teImpl",                 false, false },
    { OLD, 0x010, 1, "teSinkBase",             true,  false },
    { OLD, 0x014, 1, "teSinkBaseHigh",         true,  false },
    { OLD, 0x018, 1, "teSinkLimit",            true,  false },
    { OLD, 0x01c, 1, "teSinkWP",               true,  false },
    { OLD, 0x020, 1, "teSinkRP",               false, false },
    { OLD, 0x024, 1, "teSinkData",             false, false },
    { OLD, 0x040, 1, "tsControl",              true,  false },
    { OLD, 0x044, 1, "tsLower",                false, false },
    { OLD, 0x048, 1, "tsUpper",                false, false },
    { OLD, 0x050, 1, "xtiControl",             true,  false },
    { OLD, 0x054, 1, "xtoControl",             true,  false },
    { OLD, 0x058, 1, "wpControl",              true,  false },
    { OLD, 0x060, 1, "itcTraceEnable",         true,  false },
    { OLD, 0x064, 1, "itcTrigEnable",          true,  false },
};
const size_t tw_trctl_register_count = sizeof tw_trctl_registers / sizeof tw_trctl_registers[0];

/* size: table */
const struct tw_trctl_field tw_trctl_fields[] = {
    /* Trace encoder. */
    { ENC, 0x000, 0, 0, RW,     "trTeActive" },
    { ENC, 0x000, 1, 1, RW,     "trTeEnable" },
    { ENC, 0x000, 2, 2, RW,     "trTeInstTracing" },
    { ENC, 0x000, 3, 3, RO,     "trTeEmpty" },
    { ENC, 0x000, 6, 4, WARL,   "trTeInstMode" },
    { ENC, 0x000, 9, 9, WARL,   "trTeContext" },
    { ENC, 0x000, 11, 11, WARL, "trTeInstTrigEnable" },
    { ENC, 0x000, 12, 12, RW1C, "trTeInstStallOrOverflow" },
    { ENC, 0x000, 13, 13, WARL, "trTeInstStallEna" },
    { ENC, 0x000, 15, 15, WARL, "trTeInhibitSrc" },
    { ENC, 0x000, 17, 16, WARL, "trTeInstSyncMode" },
    { ENC, 0x000, 23, 20, WARL, "trTeInstSyncMax" },
    { ENC, 0x000, 26, 24, WARL, "trTeFormat" },
    { ENC, 0x004, 3, 0, RO,     "trTeVerMajor" },
    { ENC, 0x004, 7, 4, RO,     "trTeVerMinor" },
    { ENC, 0x004, 11, 8, RO,    "trTeCompType" },
    { ENC, 0x004, 19, 16, RO,   "trTeProtocolMajor" },
    { ENC, 0x004, 23, 20, RO,   "trTeProtocolMinor" },
    { ENC, 0x004, 31, 24, RO,   "trTeVendorFeatures" },
    { ENC, 0x008, 0, 0, WARL,   "trTeInstNoAddrDiff" },
    { ENC, 0x008, 1, 1, WARL,   "trTeInstNoTrapAddr" },
    { ENC, 0x008, 2, 2, WARL,   "trTeInstEnSequentialJump" },
    { ENC, 0x008, 3, 3, WARL,   "trTeInstEnImplicitReturn" },
    { ENC, 0x008, 4, 4, WARL,   "trTeInstEnBranchPrediction" },
    { ENC, 0x008, 5, 5, WARL,   "trTeInstEnJumpTargetCache" },
    { ENC, 0x008, 7, 6, WARL,   "trTeInstImplicitReturnMode" },
    { ENC, 0x008, 8, 8, WARL,   "trTeInstEnRepeatedHistory" },
    { ENC, 0x008, 9, 9, WARL,   "trTeInstEnAllJumps" },
    { ENC, 0x008, 10, 10, WARL, "trTeInstExtendAddrMSB" },
    { ENC, 0x008, 27, 16, WARL, "trTeSrcID" },
    { ENC, 0x008, 31, 28, WARL, "trTeSrcBits" },
    { ENC, 0x00c, 15, 0, WARL,  "trTeInstFilters" },
    { ENC, 0x010, 0, 0, RO,     "trTeDataImplemented" },
    { ENC, 0x010, 1, 1, WARL,   "trTeDataTracing" },
    { ENC, 0x010, 2, 2, WARL,   "trTeDataTrigEnable" },
    { ENC, 0x010, 3, 3, RW1C,   "trTeDataStallOrOverflow" },
    { ENC, 0x010, 4, 4, WARL,   "trTeDataStallEna" },
    { ENC, 0x010, 5, 5, RW1C,   "trTeDataDrop" },
    { ENC, 0x010, 6, 6, WARL,   "trTeDataDropEna" },
    { ENC, 0x010, 16, 16, WARL, "trTeDataNoValue" },
    { ENC, 0x010, 17, 17, WARL, "trTeDataNoAddr" },
    { ENC, 0x010, 19, 18, WARL, "trTeDataAddrCompress" },
    { ENC, 0x01c, 15, 0, WARL,  "trTeDataFilters" },
    { ENC, 0x040, 0, 0, WARL,   "trTsActive" },
    { ENC, 0x040, 1, 1, WARL,   "trTsCount" },
    { ENC, 0x040, 2, 2, W1,     "trTsReset" },
    { ENC, 0x040, 3, 3, WARL,   "trTsRunInDebug" },
    { ENC, 0x040, 6, 4, WARL,   "trTsMode" },
    { ENC, 0x040, 9, 8, WARL,   "trTsPrescale" },
    { ENC, 0x040, 15, 15, WARL, "trTsEnable" },
    { ENC, 0x040, 23, 16, WARL, "trTsVendor" },
    { ENC, 0x040, 29, 24, RO,   "trTsWidth" },
    { ENC, 0x048, 31, 0, RO,    "trTsCounterLow" },
    { ENC, 0x04c, 31, 0, RO,    "trTsCounterHigh" },
    { ENC, 0x050, 31, 0, WARL,  "trTeTrigDbgControl" },
    { ENC, 0x054, 31, 0, WARL,  "trTeTrigExtInControl" },
    { ENC, 0x058, 31, 0, WARL,  "trTeTrigExtOutControl" },
    { ENC, 0x400, 0, 0, WARL,   "trTeFilter%Enable" },
    { ENC, 0x400, 1, 1, WARL,   "trTeFilter%MatchPrivilege" },
    { ENC, 0x400, 2, 2, WARL,   "trTeFilter%MatchEcause" },
    { ENC, 0x400, 3, 3, WARL,   "trTeFilter%MatchInterrupt" },
    { ENC, 0x400, 4, 4, WARL,   "trTeFilter%MatchComp1" },
    { ENC, 0x400, 7, 5, WARL,   "trTeFilter%Comp1" },
    { ENC, 0x400, 8, 8, WARL,   "trTeFilter%MatchComp2" },
    { ENC, 0x400, 11, 9, WARL,  "trTeFilter%Comp2" },
    { ENC, 0x400, 12, 12, WARL, "trTeFilter%MatchComp3" },
    { ENC, 0x400, 15, 13, WARL, "trTeFilter%Comp3" },
    { ENC, 0x400, 16, 16, WARL, "trTeFilter%MatchImpdef" },
    { ENC, 0x400, 24, 24, WARL, "trTeFilter%MatchDtype" },
    { ENC, 0x400, 25, 25, WARL, "trTeFilter%MatchDsize" },
    { ENC, 0x404, 7, 0, WARL,   "trTeFilter%MatchChoicePrivilege" },
    { ENC, 0x404, 8, 8, WARL,   "trTeFilter%MatchValueInterrupt" },
    { ENC, 0x408, 31, 0, WARL,  "trTeFilter%MatchChoiceEcauseLow" },
    { ENC, 0x40c, 31, 0, WARL,  "trTeFilter%MatchChoiceEcauseHigh" },
    { ENC, 0x410, 31, 0, WARL,  "trTeFilter%MatchValueImpdef" },
    { ENC, 0x414, 31, 0, WARL,  "trTeFilter%MatchMaskImpdef" },
    { ENC, 0x418, 15, 0, WARL,  "trTeFilter%MatchChoiceDtype" },
    { ENC, 0x418, 23, 16, WARL, "trTeFilter%MatchChoiceDsize" },
    { ENC, 0x600, 1, 0, WARL,   "trTeComp%PInput" },
    { ENC, 0x600, 3, 2, WARL,   "trTeComp%SInput" },
    { ENC, 0x600, 6, 4, WARL,   "trTeComp%PFunction" },
    { ENC, 0x600, 10, 8, WARL,  "trTeComp%SFunction" },
    { ENC, 0x600, 13, 12, WARL, "trTeComp%MatchMode" },
    { ENC, 0x600, 14, 14, WARL, "trTeComp%PNotify" },
    { ENC, 0x600, 15, 15, WARL, "trTeComp%SNotify" },
    { ENC, 0x610, 31, 0, WARL,  "trTeComp%PMatchLow" },
    { ENC, 0x614, 31, 0, WARL,  "trTeComp%PMatchHigh" },
    { ENC, 0x618, 31, 0, WARL,  "trTeComp%SMatchLow" },
    { ENC, 0x61c, 31, 0, WARL,  "trTeComp%SMatchHigh" },

    /* Trace funnel. */
    { FUN, 0x000, 0, 0, RW,     "trFunnelActive" },
    { FUN, 0x000, 1, 1, RW,     "trFunnelEnable" },
    { FUN, 0x000, 3, 3, RO,     "trFunnelEmpty" },
    { FUN, 0x004, 3, 0, RO,     "trFunnelVerMajor" },
    { FUN, 0x004, 7, 4, RO,     "trFunnelVerMinor" },
    { FUN, 0x004, 11, 8, RO,    "trFunnelCompType" },
    { FUN, 0x004, 31, 24, RO,   "trFunnelVendorFeatures" },
    { FUN, 0x008, 15, 0, WARL,  "trFunnelDisInput" },
    { FUN, 0x040, 0, 0, WARL,   "trFunnelTsActive" },
    { FUN, 0x040, 1, 1, WARL,   "trFunnelTsCount" },
    { FUN, 0x040, 2, 2, W1,     "trFunnelTsReset" },
    { FUN, 0x040, 6, 4, WARL,   "trFunnelTsMode" },
    { FUN, 0x040, 9, 8, WARL,   "trFunnelTsPrescale" },
    { FUN, 0x040, 29, 24, RO,   "trFunnelTsWidth" },
    { FUN, 0x048, 31, 0, RO,    "trFunnelTsCounterLow" },
    { FUN, 0x04c, 31, 0, RO,    "trFunnelTsCounterHigh" },

    /* RAM sink. */
    { RAM, 0x000, 0, 0, RW,     "trRamActive" },
    { RAM, 0x000, 1, 1, RW,     "trRamEnable" },
    { RAM, 0x000, 3, 3, RO,     "trRamEmpty" },
    { RAM, 0x000, 4, 4, WARL,   "trRamMode" },
    { RAM, 0x000, 8, 8, WARL,   "trRamStopOnWrap" },
    { RAM, 0x000, 10, 9, WARL,  "trRamMemFormat" },
    { RAM, 0x000, 14, 12, WARL, "trRamAsyncFreq" },
    { RAM, 0x004, 3, 0, RO,     "trRamVerMajor" },
    { RAM, 0x004, 7, 4, RO,     "trRamVerMinor" },
    { RAM, 0x004, 11, 8, RO,    "trRamCompType" },
    { RAM, 0x004, 12, 12, RO,   "trRamHasSRAM" },
    { RAM, 0x004, 13, 13, RO,   "trRamHasSMEM" },
    { RAM, 0x004, 31, 24, RO,   "trRamVendorFeatures" },
    { RAM, 0x010, 31, 2, WARL,  "trRamStartLow" },
    { RAM, 0x014, 31, 0, WARL,  "trRamStartHigh" },
    { RAM, 0x018, 31, 2, WARL,  "trRamLimitLow" },
    { RAM, 0x01c, 31, 0, WARL,  "trRamLimitHigh" },
    { RAM, 0x020, 0, 0, WARL,   "trRamWrap" },
    { RAM, 0x020, 31, 2, WARL,  "trRamWPLow" },
    { RAM, 0x024, 31, 0, WARL,  "trRamWPHigh" },
    { RAM, 0x028, 31, 2, WARL,  "trRamRPLow" },
    { RAM, 0x02c, 31, 0, WARL,  "trRamRPHigh" },
    { RAM, 0x040, 31, 0, RW,    "trRamData" },

    /* PIB sink. */
    { PIB, 0x000, 0, 0, RW,     "trPibActive" },
    { PIB, 0x000, 1, 1, RW,     "trPibEnable" },
    { PIB, 0x000, 3, 3, RO,     "trPibEmpty" },
    { PIB, 0x000, 7, 4, WARL,   "trPibMode" },
    { PIB, 0x000, 8, 8, WARL,   "trPibClkCenter" },
    { PIB, 0x000, 9, 9, WARL,   "trPibCalibrate" },
    { PIB, 0x000, 14, 12, WARL, "trPibAsyncFreq" },
    { PIB, 0x000, 31, 16, WARL, "trPibDivider" },
    { PIB, 0x004, 3, 0, RO,     "trPibVerMajor" },
    { PIB, 0x004, 7, 4, RO,     "trPibVerMinor" },
    { PIB, 0x004, 11, 8, RO,    "trPibCompType" },
    { PIB, 0x004, 31, 24, RO,   "trPibVendorFeatures" },

    /* ATB bridge. */
    { ATB, 0x000, 0, 0, RW,     "trAtbBridgeActive" },
    { ATB, 0x000, 1, 1, RW,     "trAtbBridgeEnable" },
    { ATB, 0x000, 3, 3, RO,     "trAtbBridgeEmpty" },
    { ATB, 0x000, 14, 8, WARL,  "trAtbBridgeID" },
    { ATB, 0x004, 3, 0, RO,     "trAtbBridgeVerMajor" },
    { ATB, 0x004, 7, 4, RO,     "trAtbBridgeVerMinor" },
    { ATB, 0x004, 11, 8, RO,    "trAtbBridgeCompType" },
    { ATB, 0x004, 14, 12, WARL, "trAtbBridgeAsyncFreq" },
    { ATB, 0x004, 31, 24, RO,   "trAtbBridgeVendorFeatures" },

    /* Before 1.0. */
    { OLD, 0x000, 0, 0, RW,     "teActive" },
    { OLD, 0x000, 1, 1, RW,     "teEnable" },
    { OLD, 0x000, 2, 2, RW,     "teTracing" },
    { OLD, 0x000, 3, 3, RO,     "teEmpty" },
    { OLD, 0x000, 6, 4, WARL,   "teInstruction" },
    { OLD, 0x000, 8, 7, WARL,   "teInstrumentation" },
    { OLD, 0x000, 12, 12, RW1C, "teStallOrOverflow" },
    { OLD, 0x000, 13, 13, WARL, "teStallEnable" },
    { OLD, 0x000, 14, 14, WARL, "teStopOnWrap" },
    { OLD, 0x000, 15, 15, WARL, "teInhibitSrc" },
    { OLD, 0x000, 19, 16, WARL, "teSyncMaxBTM" },
    { OLD, 0x000, 23, 20, WARL, "teSyncMaxInst" },
    { OLD, 0x000, 26, 24, WARL, "teSliceFormat" },
    { OLD, 0x000, 27, 27, RW1C, "teSinkError" },
    { OLD, 0x000, 31, 28, WARL, "teSink" },
    { OLD, 0x004, 3, 0, RO,     "teVersion" },
    { OLD, 0x004, 4, 4, RO,     "teHasSRAMSink" },
    { OLD, 0x004, 5, 5, RO,     "teHasATBSink" },
    { OLD, 0x004, 6, 6, RO,     "teHasPIBSink" },
    { OLD, 0x004, 7, 7, RO,     "teHasSBASink" },
    { OLD, 0x004, 8, 8, RO,     "teHasFunnelSink" },
    { OLD, 0x004, 17, 16, RO,   "teSinkBytes" },
    { OLD, 0x004, 19, 18, RO,   "teCrossingType" },
    { OLD, 0x004, 23, 20, RO,   "teSrcID" },
    { OLD, 0x004, 26, 24, RO,   "teSrcBits" },
    { OLD, 0x004, 31, 28, RO,   "teHartID" },
    { OLD, 0x01c, 0, 0, WARL,   "teSinkWrapped" },
    { OLD, 0x040, 0, 0, WARL,   "tsActive" },
    { OLD, 0x040, 1, 1, WARL,   "tsCount" },
    { OLD, 0x040, 2, 2, W1,     "tsReset" },
    { OLD, 0x040, 6, 4, WARL,   "tsType" },
    { OLD, 0x040, 9, 8, WARL,   "tsPrescale" },
    { OLD, 0x040, 15, 15, WARL, "tsEnable" },
    { OLD, 0x040, 17, 16, WARL, "tsBranch" },
    { OLD, 0x040, 18, 18, WARL, "tsInstrumentation" },
    { OLD, 0x040, 19, 19, WARL, "tsOwnership" },
    { OLD, 0x040, 31, 24, RO,   "tsWidth" },
};
const size_t tw_trctl_field_count = sizeof tw_trctl_fields / sizeof tw_trctl_fields[0];
/* clang-format on */

const char *tw_trctl_component_name(unsigned component)
{
    switch (component) {
    case TW_TRCTL_ENCODER:
        return "trace encoder";
    case TW_TRCTL_FUNNEL:
        return "trace funnel";
    case TW_TRCTL_RAM_SINK:
        return "RAM sink";
    case TW_TRCTL_PIB_SINK:
        return "PIB sink";
    case TW_TRCTL_ATB_BRIDGE:
        return "ATB bridge";
    case TW_TRCTL_VERSION_0:
        return "trace encoder before 1.0";
    default:
        return "component of unknown type";
    }
}

static bool same_letter(char a, char b)
{
    const char small = (char)(a | 32);

    return a == b || ((a ^ b) == 32 && small >= 'a' && small <= 'z');
}

/* Letters that all names of the table begin with: the component's, which many have in common. */
enum { FIRST_LETTERS = 4 };

static bool same_letters(const char *a, const char *b, size_t count)
{
    size_t at = 0;

    while (at < count && same_letter(a[at], b[at]))
        at++;
    return at == count;
}

/* Whether a name is the one of the table, whose % stands for a number.  The first letters tell least. */
static bool matches(const char *pattern, const char *name, size_t size, unsigned *number)
{
    size_t at = FIRST_LETTERS;

    *number = 0;
    if (size <= FIRST_LETTERS)
        return false;
    for (const char *next = pattern + FIRST_LETTERS; *next; next++) {
        if (*next == '%') {
            const size_t first = at;

            for (; at < size && name[at] >= '0' && name[at] <= '9' && at < first + 2; at++)
                *number = *number * 10 + (unsigned)(name[at] - '0');
            if (at == first)
                return false;
        } else if (at == size || !same_letter(*next, name[at++])) {
            return false;
        }
    }
    return at == size && same_letters(pattern, name, FIRST_LETTERS);
}

static unsigned count_at(unsigned component, uint32_t offset)
{
    const struct tw_trctl_register *found = tw_trctl_at(component, offset);

    return found ? found->count : 1;
}

const struct tw_trctl_register *tw_trctl_find(const char *name, size_t size, uint16_t *offset)
{
    unsigned number;

    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];

        if (matches(row->name, name, size, &number) && number < row->count) {
            *offset = (uint16_t)(row->offset + number * TW_TRCTL_STRIDE);
            return row;
        }
    }
    return NULL;
}

const struct tw_trctl_field *tw_trctl_find_field(const char *name, size_t size,
                                                 uint16_t *offset)
{
    unsigned number;

    for (size_t i = 0; i < tw_trctl_field_count; i++) {
        const struct tw_trctl_field *row = &tw_trctl_fields[i];

        if (matches(row->name, name, size, &number) &&
            number < count_at(row->component, row->offset)) {
            *offset = (uint16_t)(row->offset + number * TW_TRCTL_STRIDE);
            return row;
        }
    }
    return NULL;
}

const struct tw_trctl_register *tw_trctl_at(unsigned component, uint32_t offset)
{
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];
        const uint32_t into = offset - row->offset;

        if (row->component == component && into % TW_TRCTL_STRIDE == 0 &&
            into / TW_TRCTL_STRIDE < row->count)
            return row;
    }
    return NULL;
}

uint32_t tw_trctl_writable(unsigned component, uint32_t offset)
{
    const struct tw_trctl_register *found = tw_trctl_at(component, offset);
    uint32_t mask = 0;

    for (size_t i = 0; found && i < tw_trctl_field_count; i++) {
        const struct tw_trctl_field *row = &tw_trctl_fields[i];

        if (row->component == component && row->offset == found->offset &&
            (row->access == TW_TRCTL_RW || row->access == TW_TRCTL_WARL))
            mask |= tw_trctl_mask(row);
    }
    return mask;
}

void tw_trctl_writable_all(unsigned component, uint32_t masks[TW_TRCTL_SIZE / 4])
{
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];
        const uint32_t mask =
            row->component == component ? tw_trctl_writable(component, row->offset) : 0;

        for (uint32_t n = 0; row->component == component && n < row->count; n++)
            masks[(row->offset + n * TW_TRCTL_STRIDE) / 4] = mask;
    }
}
