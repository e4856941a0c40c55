/* decode_test.c - machine instructions of sm_90 as text and as operands.
 *
 * Each expectation is what nvdisasm of CUDA 13.0 prints for the words beside it, without its scheduling marks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/decode.h"

static const struct {
    uint64_t low, high, address;
    const char *text;
} golden[] = {
    {UINT64_C(0x00000804050075a7), UINT64_C(0x000e62000800017f), 0x1000,
     "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ+0x8], R4"},
    {UINT64_C(0x00002004050075a7), UINT64_C(0x000e64000800007f), 0x1010,
     "SYNCS.PHASECHK.TRANS64 P0, [R5+URZ+0x20], R4"},
    {UINT64_C(0x00001804050085a7), UINT64_C(0x000e64000800007f), 0x1020,
     "@!P0 SYNCS.PHASECHK.TRANS64 P0, [R5+URZ+0x18], R4"},
    {UINT64_C(0x00000803ff0075a7), UINT64_C(0x0020620008000044), 0x1030, "SYNCS.PHASECHK.TRANS64 P0, [UR4+0x8], R3"},
    {UINT64_C(0x00000006030075a7), UINT64_C(0x000e220008000144), 0x1040,
     "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+UR4], R6"},
    {UINT64_C(0x009896800000895d), UINT64_C(0x002fea0003900000), 0x1050, "@!P0 NANOSLEEP.SYNCS 0x989680"},
    {UINT64_C(0x000000ff00ff79a7), UINT64_C(0x000fe2000810003f), 0x1060, "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ"},
    {UINT64_C(0x000008ff000279a7), UINT64_C(0x000e24000810003f), 0x1070,
     "SYNCS.ARRIVE.TRANS64.A1T0 R2, [R0+URZ+0x8], RZ"},
    {UINT64_C(0x0000100700ff79a7), UINT64_C(0x000fe4000850003f), 0x1080,
     "SYNCS.ARRIVE.TRANS64.ART0 RZ, [R0+URZ+0x10], R7"},
    {UINT64_C(0x0000180900ff79a7), UINT64_C(0x000fe4000800003f), 0x1090, "SYNCS.ARRIVE.TRANS64 RZ, [R0+URZ+0x18], R9"},
    {UINT64_C(0x00000002ffff79a7), UINT64_C(0x0001e20008000009), 0x10a0, "SYNCS.ARRIVE.TRANS64 RZ, [UR9], R2"},
    {UINT64_C(0x0000200700ff79a7), UINT64_C(0x000fe4000830043f), 0x10b0,
     "SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R0+URZ+0x20], R7"},
    {UINT64_C(0x0000280900ff79a7), UINT64_C(0x0003e4000840043f), 0x10c0,
     "SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [R0+URZ+0x28], R9"},
    {UINT64_C(0x000030ff00ff79a7), UINT64_C(0x000fe4000810083f), 0x10d0,
     "SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 RZ, [R0+URZ+0x30], RZ"},
    {UINT64_C(0x000000ff04ff79a7), UINT64_C(0x000fe4000810043f), 0x10e0,
     "SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R4+URZ], RZ"},
    {UINT64_C(0x0000080704ff79a7), UINT64_C(0x0003e4000800043f), 0x10f0,
     "SYNCS.ARRIVE.TRANS64.RED RZ, [R4+URZ+0x8], R7"},
    {UINT64_C(0x00001009000479a7), UINT64_C(0x000ee4000850023f), 0x1100,
     "SYNCS.ARRIVE.TRANS64.TMASK.ART0 R4, [R0+URZ+0x10], R9"},
    {UINT64_C(0x00003800000079b1), UINT64_C(0x0004e4000800003f), 0x1110, "SYNCS.CCTL.IV [R0+URZ+0x38]"},
    {UINT64_C(0x000008060a3f75b2), UINT64_C(0x0001e20008000100), 0x1120, "SYNCS.EXCH.64 URZ, [UR10+0x8], UR6"},
    {UINT64_C(0x00000800ff0089b0), UINT64_C(0x000fe20008000a46), 0x1130, "@!P0 ARRIVES.LDGSTSBAR.64.ARVCNT [UR6+0x8]"},
    {UINT64_C(0x0040000000007b1d), UINT64_C(0x000ff00000010000), 0x1140, "BAR.SYNC.DEFER_BLOCKING 0x1"},
    {UINT64_C(0x0141000000007b1d), UINT64_C(0x000fec0000010000), 0x1150, "BAR.SYNC.DEFER_BLOCKING 0x5, 0x40"},
    {UINT64_C(0x0302000000007b1d), UINT64_C(0x000fec0000002000), 0x1160, "BAR.ARV 0xc, 0x80"},
    {UINT64_C(0x000100070000751d), UINT64_C(0x0003f00000010000), 0x1170, "BAR.SYNC.DEFER_BLOCKING R7, 0x40"},
    {UINT64_C(0x000180070000751d), UINT64_C(0x0003ec0000002000), 0x1180, "BAR.ARV R7, 0x60"},
    {UINT64_C(0x010000000000791d), UINT64_C(0x0003f00000010000), 0x1190, "BAR.SYNC.DEFER_BLOCKING 0x4, R0"},
    {UINT64_C(0x000000000000731d), UINT64_C(0x0005e40000010000), 0x11a0, "BAR.SYNC.DEFER_BLOCKING R0, R0"},
    {UINT64_C(0x0140000000007b1d), UINT64_C(0x000fec0000014000), 0x11b0, "BAR.RED.POPC.DEFER_BLOCKING 0x5, P0"},
    {UINT64_C(0x00000000040679a4), UINT64_C(0x001ea8000881457f), 0x11b0, "LDGMC.E.MIN.64.STRONG.SYS R6, [R4.64+URZ]"},
    {UINT64_C(0x00001000040a79a4), UINT64_C(0x000ea2000801437f), 0x11b0,
     "LDGMC.E.ADD.S32.STRONG.SYS R10, [R4.64+URZ+0x10]"},
    {UINT64_C(0x00001000040c79a4), UINT64_C(0x000ea8000b01417f), 0x11b0,
     "LDGMC.E.OR.32.STRONG.SYS R12, [R4.64+URZ+0x10]"},
    {UINT64_C(0x00000000000079c7), UINT64_C(0x000fe20008000000), 0x11c0, "UCGABAR_ARV"},
    {UINT64_C(0x0000000000007dc7), UINT64_C(0x000fe20008000000), 0x11d0, "UCGABAR_WAIT"},
    {UINT64_C(0x0000000000007948), UINT64_C(0x000ff20003800000), 0x11e0, "WARPSYNC.ALL"},
    {UINT64_C(0x000000f0000079c8), UINT64_C(0x000e240008000600), 0x11f0, "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0"},
    {UINT64_C(0x00000028000079c8), UINT64_C(0x000e0000080e0500), 0x1200, "USETMAXREG.DEALLOC.CTAPOOL 0x28"},
    {UINT64_C(0x00000008040075b4), UINT64_C(0x0003e20008008000), 0x1210, "UTMALDG.2D [UR8], [UR4]"},
    {UINT64_C(0x0000000c040073b4), UINT64_C(0x0003e20008008806), 0x1220, "UTMALDG.2D.MULTICAST [UR12], [UR4], UR6"},
    {UINT64_C(0x00000010120073ba), UINT64_C(0x0003e20008000207), 0x1230, "UBLKCP.S.G [UR16], [UR18], UR7"},
    {UINT64_C(0x00000014040073b5), UINT64_C(0x0003e20008008000), 0x1240, "UTMASTG.2D [UR20], [UR4]"},
    {UINT64_C(0x00000012080073ba), UINT64_C(0x0003e20008000407), 0x1250, "UBLKCP.G.S [UR18], [UR8], UR7"},
    {UINT64_C(0x00000000041879f0), UINT64_C(0x000fe2000c0018ff), 0x1260,
     "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0"},
    {UINT64_C(0x00000000000079c5), UINT64_C(0x000fe20000000000), 0x1270, "WARPGROUP.ARRIVE"},
    {UINT64_C(0x00008000000079c5), UINT64_C(0x000fe40000010100), 0x1280, "WARPGROUP.DEPBAR.LE gsb0, 0x1"},
    {UINT64_C(0x00008000000079c5), UINT64_C(0x000fe40000010000), 0x1290, "WARPGROUP.DEPBAR.LE gsb0, 0x0"},
    {UINT64_C(0x00000000003f782f), UINT64_C(0x000fe20003800000), 0x12a0, "ELECT P0, URZ, PT"},
    {UINT64_C(0x000000640000795d), UINT64_C(0x000fea0003800000), 0x12b0, "NANOSLEEP 0x64"},
    {UINT64_C(0x000000020000735d), UINT64_C(0x004fea0003800000), 0x12c0, "NANOSLEEP R2"},
    {UINT64_C(0x00000000000079ab), UINT64_C(0x000fc00000000000), 0x12d0, "ERRBAR"},
    {UINT64_C(0x00000000000075ab), UINT64_C(0x000fec0000000000), 0x12e0, "CGAERRBAR"},
    {UINT64_C(0x000000000000782e), UINT64_C(0x000fe20000000000), 0x12f0, "ACQBULK"},
    {UINT64_C(0x000000000000782d), UINT64_C(0x000fe20000000000), 0x1300, "PREEXIT"},
    {UINT64_C(0x000080000000791a), UINT64_C(0x000fc80000000000), 0x1310, "DEPBAR.LE SB0, 0x0"},
    {UINT64_C(0x00000000000079b7), UINT64_C(0x0001e20000000000), 0x1320, "UTMACMDFLUSH"},
    {UINT64_C(0x00000000ff00798f), UINT64_C(0x000fe20002000000), 0x1330, "CCTL.IVALL"},
    {UINT64_C(0x00000000000073c6), UINT64_C(0x001e220000000000), 0x1340, "FENCE.VIEW.ASYNC.S"},
    {UINT64_C(0x0000000000007992), UINT64_C(0x000fec000000a000), 0x1350, "MEMBAR.ALL.GPU"},
    {UINT64_C(0x0000020000007945), UINT64_C(0x000fe20003800000), 0x1360, "BSSY B0, 0x1570"},
    {UINT64_C(0x0000000000007941), UINT64_C(0x000fea0003800000), 0x1370, "BSYNC B0"},
    {UINT64_C(0x000000040000795c), UINT64_C(0x001fe20000300000), 0x1380, "BPT.TRAP 0x1"},
    {UINT64_C(0x000000000000794d), UINT64_C(0x000fea0003800000), 0x1390, "EXIT"},
    {UINT64_C(0xfffffffc00fc7947), UINT64_C(0x000fc0000383ffff), 0x13a0, "BRA 0x13a0"},
    {UINT64_C(0xfffffffc00f88947), UINT64_C(0x002fea000383ffff), 0x13b0, "@!P0 BRA 0x13a0"},
    {UINT64_C(0xfffffff804f07949), UINT64_C(0x000fea000383ffff), 0x13c0, "BRX R4 -0x440"},
    {UINT64_C(0x0000000006007343), UINT64_C(0x006fea0003c00000), 0x13d0, "CALL.ABS.NOINC R6"},
    {UINT64_C(0xfffffffd00d80947), UINT64_C(0x002ff2000393ffff), 0x13e0, "@P0 BRA.U.ANY 0x1350"},
    {UINT64_C(0x000000040e007dbd), UINT64_C(0x000fe8000c000c3f), 0x13f0, "STAS.128 [R14.64], R4"},
    {UINT64_C(0x000000000c007dbe), UINT64_C(0x000fe8000980013f), 0x1400, "REDAS.INC [R12.64], R0"},
    {UINT64_C(0x00000008040073b6), UINT64_C(0x0003ee0009010000), 0x1410, "UTMAREDG.3D.MAX [UR8], [UR4]"},
    {UINT64_C(0x00000012040075b8), UINT64_C(0x0003e20008008000), 0x1420, "UTMAPF.L2.2D [UR18], [UR4]"},
    {UINT64_C(0x00000010050073bb), UINT64_C(0x0003e20008000604), 0x1430, "UBLKRED.S.S.ADD [UR16], [UR5], UR4"},
    {UINT64_C(0x00000000080073bc), UINT64_C(0x0003e20008000004), 0x1440, "UBLKPF.L2 [UR8], UR4"},
    {UINT64_C(0x00600000082879f3), UINT64_C(0x000fe80008702828), 0x1450,
     "QGMMA.64x32x32.F32.E4M3.E5M2 R40, gdesc[UR8], R40"},
    {UINT64_C(0x01200000081879f1), UINT64_C(0x000fe20008701018), 0x1460, "IGMMA.64x32x32.S8.U8 R24, gdesc[UR8], R24"},
    {UINT64_C(0x00600000081879f2), UINT64_C(0x000fe80008714018), 0x1470,
     "BGMMA.64x32x256.AND.POPC R24, gdesc[UR8], R24"},
    {UINT64_C(0x000020000dff7f8c), UINT64_C(0x000fe8000d80003f), 0x1480, "ATOMS.POPC.INC.32 RZ, [R13+URZ+0x20]"},
    {UINT64_C(0x00000004140473a9), UINT64_C(0x000ee200001ee506), 0x1490,
     "ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R20], R4, R6"},
    {UINT64_C(0x000000150206198a), UINT64_C(0x000ea800081ee1c8), 0x14a0,
     "@P1 ATOM.E.ADD.STRONG.GPU PT, R6, desc[UR8][R2.64], R21"},
    {UINT64_C(0x0000000606087980), UINT64_C(0x001ea4000c10bb00), 0x14b0, "LD.E.64.STRONG.SM R8, desc[UR6][R6.64]"},
    {UINT64_C(0x0000000502007985), UINT64_C(0x000fe6000c115906), 0x14c0, "ST.E.STRONG.SYS desc[UR6][R2.64], R5"},
    {UINT64_C(0x0000f80404097981), UINT64_C(0x000ea8000c1e1900), 0x14d0, "LDG.E R9, desc[UR4][R4.64+0xf8]"},
    {UINT64_C(0x00000011160079a6), UINT64_C(0x0003e4000c10f388), 0x14e0,
     "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR8][R22.64], R17"},
    {UINT64_C(0x000000000000781c), UINT64_C(0x000fe40000703472), 0x14f0, "PLOP3.LUT P0, PT, P0, P1, PT, 0xa2, 0x0"},
    {UINT64_C(0x000000ffff0d7210), UINT64_C(0x000fc600017e240d), 0x1500, "IADD3.X R13, RZ, RZ, R13, P2, P1"},
    {UINT64_C(0x000000070b097211), UINT64_C(0x000fe200018f24ff), 0x1510, "LEA.HI.X R9, R11, R7, RZ, 0x4, P3"},
    {UINT64_C(0x0000000806067c25), UINT64_C(0x000fe2000f8e00ff), 0x1520, "IMAD.WIDE.U32 R6, R6, UR8, RZ"},
    {UINT64_C(0x000000040c0c7824), UINT64_C(0x000fca00078e00ff), 0x1530, "IMAD.SHL.U32 R12, R12, 0x4, RZ"},
    {UINT64_C(0x000000ffff053224), UINT64_C(0x000fe400078e0002), 0x1540, "@P3 IMAD.MOV.U32 R5, RZ, RZ, R2"},
    {UINT64_C(0x0000000100087824), UINT64_C(0x000fc800078e0205), 0x1550, "IMAD.IADD R8, R0, 0x1, R5"},
    {UINT64_C(0x00000000001112ca), UINT64_C(0x000fe400000e0000), 0x1560, "@P1 R2UR UR17, R0"},
    {UINT64_C(0x03e01f0005047f89), UINT64_C(0x004e6400000e0000), 0x1570, "SHFL.IDX PT, R4, R5, 0x1f, 0x1f"},
    {UINT64_C(0x000000080c00780c), UINT64_C(0x040fe40003f42270), 0x1580, "ISETP.EQ.AND P2, PT, R12, 0x8, PT"},
    {UINT64_C(0x00000002ff020212), UINT64_C(0x000fe400078e33ff), 0x1590, "@P0 LOP3.LUT R2, RZ, R2, RZ, 0x33, !PT"},
    {UINT64_C(0x0000000204067819), UINT64_C(0x000fc800000006ff), 0x15a0, "SHF.L.U32 R6, R4, 0x2, RZ"},
    {UINT64_C(0x0000001109097207), UINT64_C(0x000fe40000000000), 0x15b0, "SEL R9, R9, R17, P0"},
    {UINT64_C(0x000076101a0c7816), UINT64_C(0x004fc4000000000c), 0x15c0, "PRMT R12, R26, 0x7610, R12"},
    {UINT64_C(0x00000000000679c3), UINT64_C(0x000e220000002f00), 0x15d0, "S2UR UR6, SR_SWINHI"},
    {UINT64_C(0x0000860000067ab9), UINT64_C(0x000fe20000000a00), 0x15e0, "ULDC.64 UR6, c[0x0][0x218]"},
    {UINT64_C(0x00008400ff2e7b82), UINT64_C(0x000f220000000a00), 0x15f0, "LDC.64 R46, c[0x0][0x210]"},
    {UINT64_C(0x000000053f057290), UINT64_C(0x000fe400087fe43f), 0x1600, "UIADD3.X UR5, URZ, UR5, URZ, UP0, !UPT"},
    {UINT64_C(0x0000001004107291), UINT64_C(0x004fc4000f8ec03f), 0x1610, "ULEA UR16, UR4, UR16, 0x18"},
    {UINT64_C(0x0000000b04057899), UINT64_C(0x000fe4000800063f), 0x1620, "USHF.L.U32 UR5, UR4, 0xb, URZ"},
    {UINT64_C(0x000000030700788c), UINT64_C(0x000fe2000bf04270), 0x1630, "UISETP.GT.AND UP0, UPT, UR7, 0x3, UPT"},
    {UINT64_C(0x0000000000067886), UINT64_C(0x000fc400038e0100), 0x1640, "VOTEU.ANY UR6, UPT, PT"},
    {UINT64_C(0x0000000600097d09), UINT64_C(0x000e220008000000), 0x1650, "POPC R9, UR6"},
    {UINT64_C(0x0000000600067300), UINT64_C(0x000e2400000e0000), 0x1660, "FLO.U32 R6, R6"},
    {UINT64_C(0xffffffdc026c7950), UINT64_C(0x000fec0003c3ffff), 0x2240, "RET.REL.NODEC R2 0x0"},
    {UINT64_C(0x00000000ff047435), UINT64_C(0x001fe200000001ff), 0x1680, "HFMA2.MMA R4, -RZ, RZ, 0, 0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000000000), 0x1690, "REDUX UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000004000), 0x16a0, "REDUX.OR UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000008000), 0x16b0, "REDUX.XOR UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e24000000c000), 0x16c0, "REDUX.SUM UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000010200), 0x16d0, "REDUX.MIN.S32 UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000014000), 0x16e0, "REDUX.MAX UR6, R0"},
    {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000014200), 0x16f0, "REDUX.MAX.S32 UR6, R0"},
    {UINT64_C(0x00000000000073a1), UINT64_C(0x004e240000000000), 0x1700, "MATCH.ALL P0, R0, R0"},
    {UINT64_C(0x00000000000073a1), UINT64_C(0x004e2400000e0000), 0x1700, "MATCH.ALL PT, R0, R0"},
    {UINT64_C(0x00000000020773a1), UINT64_C(0x004e280000000200), 0x1700, "MATCH.ALL.U64 P0, R7, R2"},
    {UINT64_C(0x00000000020773a1), UINT64_C(0x004e2800000e8200), 0x1710, "MATCH.ANY.U64 R7, R2"},
    {UINT64_C(0x00000000000573a1), UINT64_C(0x004e2400000e8000), 0x1720, "MATCH.ANY R5, R0"},
};

static struct wsdbg_instruction decode(uint64_t low, uint64_t high)
{
    const uint64_t words[2] = {low, high};
    struct wsdbg_instruction instruction;
    wsdbg_decode(words, &instruction);
    return instruction;
}

static void instructions_read_as_nvdisasm_shows_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const struct wsdbg_instruction instruction = decode(golden[i].low, golden[i].high);
        char text[WSDBG_INSTRUCTION_TEXT_BYTES];
        wsdbg_instruction_text(&instruction, golden[i].address, text);
        assert_string_equal(text, golden[i].text);
    }
}

/* SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ+0x8], R4 */
static void a_wait_for_an_mbarrier_has_its_address_and_its_phase(void **state)
{
    (void)state;
    const struct wsdbg_instruction in = decode(UINT64_C(0x00000804050075a7), UINT64_C(0x000e62000800017f));
    assert_int_equal(in.operation, WSDBG_OP_SYNCS_PHASECHK);
    assert_true(in.is_try_wait && in.is_whole);
    assert_int_equal(in.destination_count, 1);
    assert_int_equal(in.destinations[0].kind, WSDBG_OPERAND_PREDICATE);
    assert_int_equal(in.destinations[0].number, 0);
    assert_int_equal(in.source_count, 2);
    assert_int_equal(in.sources[0].kind, WSDBG_OPERAND_MEMORY);
    assert_int_equal(in.sources[0].number, 5);
    assert_int_equal(in.sources[0].uniform, WSDBG_URZ);
    assert_int_equal(in.sources[0].value, 8);
    assert_int_equal(in.sources[1].kind, WSDBG_OPERAND_REGISTER);
    assert_int_equal(in.sources[1].number, 4);
}

static void arrivals_say_how_they_count(void **state)
{
    (void)state;
    static const struct {
        uint64_t low, high;
        enum wsdbg_arrive_type type;
        bool is_drop, is_reduction, is_no_complete;
    } rows[] = {
        /* arrive */
        {UINT64_C(0x000000ff00ff79a7), UINT64_C(0x000fe2000810003f), WSDBG_ARRIVE_A1T0, false, false, false},
        /* arrive with a count */
        {UINT64_C(0x0000100700ff79a7), UINT64_C(0x000fe4000850003f), WSDBG_ARRIVE_ART0, false, false, false},
        /* arrive.expect_tx */
        {UINT64_C(0x0000180900ff79a7), UINT64_C(0x000fe4000800003f), WSDBG_ARRIVE_A1TR, false, false, false},
        /* expect_tx */
        {UINT64_C(0x0000200700ff79a7), UINT64_C(0x000fe4000830043f), WSDBG_ARRIVE_A0TR, false, true, false},
        /* complete_tx */
        {UINT64_C(0x0000280900ff79a7), UINT64_C(0x0003e4000840043f), WSDBG_ARRIVE_A0TX, false, true, false},
        /* arrive_drop */
        {UINT64_C(0x000030ff00ff79a7), UINT64_C(0x000fe4000810083f), WSDBG_ARRIVE_A1T0, true, false, false},
        /* remote arrive */
        {UINT64_C(0x000000ff04ff79a7), UINT64_C(0x000fe4000810043f), WSDBG_ARRIVE_A1T0, false, true, false},
        /* arrive.noComplete */
        {UINT64_C(0x00001009000479a7), UINT64_C(0x000ee4000850023f), WSDBG_ARRIVE_ART0, false, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction in = decode(rows[i].low, rows[i].high);
        assert_int_equal(in.operation, WSDBG_OP_SYNCS_ARRIVE);
        assert_int_equal(in.mode, rows[i].type);
        assert_int_equal(in.is_drop, rows[i].is_drop);
        assert_int_equal(in.is_reduction, rows[i].is_reduction);
        assert_int_equal(in.is_no_complete, rows[i].is_no_complete);
    }
}

static void a_tensor_copy_reads_its_bundle(void **state)
{
    (void)state;
    /* UTMALDG.2D.MULTICAST [UR12], [UR4], UR6: the place, the mbarrier and two coordinates from UR12 on */
    const struct wsdbg_instruction load = decode(UINT64_C(0x0000000c040073b4), UINT64_C(0x0003e20008008806));
    assert_true(load.writes_shared && load.is_multicast && load.guard_is_uniform);
    assert_int_equal(load.sources[0].kind, WSDBG_OPERAND_UNIFORM);
    assert_int_equal(load.sources[0].number, 12);
    assert_int_equal(load.sources[0].registers, 4);
    assert_int_equal(load.sources[1].number, 4);
    assert_int_equal(load.sources[1].registers, 2);
    assert_int_equal(load.sources[2].number, 6);
    /* UTMASTG.2D [UR20], [UR4]: no mbarrier */
    const struct wsdbg_instruction store = decode(UINT64_C(0x00000014040073b5), UINT64_C(0x0003e20008008000));
    assert_false(store.writes_shared);
    assert_int_equal(store.sources[0].registers, 3);
    /* UBLKCP.S.G [UR16], [UR18], UR7 and UBLKCP.G.S [UR18], [UR8], UR7 and UBLKCP.S.S [UR4], [UR6], UR7 */
    const struct wsdbg_instruction in = decode(UINT64_C(0x00000010120073ba), UINT64_C(0x0003e20008000207)),
                                   out = decode(UINT64_C(0x00000012080073ba), UINT64_C(0x0003e20008000407)),
                                   across = decode(UINT64_C(0x00000004060073ba), UINT64_C(0x0003d80008000607));
    assert_true(in.writes_shared && !in.reads_shared);
    assert_true(!out.writes_shared && out.reads_shared);
    assert_true(across.writes_shared && across.reads_shared);
}

/* Without gsb0 further multiplications belong to the same group. */
static void a_multiplication_says_whether_it_ends_its_group(void **state)
{
    (void)state;
    /* HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], R24 and the same of UR12 with gsb0 */
    assert_false(decode(UINT64_C(0x00e00000041879f0), UINT64_C(0x000fe20008701818)).ends_group);
    assert_true(decode(UINT64_C(0x00e000000c1879f0), UINT64_C(0x000fe20008001818)).ends_group);
    /* WARPGROUP.ARRIVE */
    assert_false(decode(UINT64_C(0x00000000000079c5), UINT64_C(0x000fe20000000000)).ends_group);
}

/* Registers that are written, of those too whose sources are not decoded: a value is not followed past them. */
static void what_is_written_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t low, high;
        unsigned kind, number, registers;
        bool is_whole;
    } rows[] = {
        {"HGMMA.64x256x16.F32.BF16 R24, gdesc[UR12], R24, gsb0", UINT64_C(0x03e000000c1879f0),
         UINT64_C(0x000fe60008001818), WSDBG_OPERAND_REGISTER, 24, 128, true},
        {"HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0", UINT64_C(0x000000003fff79f0), UINT64_C(0x000fe6000c0000ff),
         WSDBG_OPERAND_REGISTER, WSDBG_RZ, 2, true},
        {"LD.E.128.STRONG.SYS R12, desc[UR6][R12.64]", UINT64_C(0x000000060c0c7980), UINT64_C(0x000f62000c115d00),
         WSDBG_OPERAND_REGISTER, 12, 4, true},
        {"IMAD.WIDE R84, R19, 0x2, R4", UINT64_C(0x0000000213547825), UINT64_C(0x000fcc00078e0204),
         WSDBG_OPERAND_REGISTER, 84, 2, true},
        {"ULDC.64 UR4, c[0x0][0x208]", UINT64_C(0x0000820000047ab9), UINT64_C(0x000fe20000000a00),
         WSDBG_OPERAND_UNIFORM, 4, 2, true},
        {"SYNCS.ARRIVE.TRANS64.A1T0 R2, [R0+URZ+0x8], RZ", UINT64_C(0x000008ff000279a7), UINT64_C(0x000e24000810003f),
         WSDBG_OPERAND_REGISTER, 2, 2, true},
        {"FMUL R17, R15, R18", UINT64_C(0x000000120f117220), UINT64_C(0x000fe20000400000), WSDBG_OPERAND_REGISTER, 17,
         1, false},
        {"DMMA.8x8x4 R4, R68, R72, R4", UINT64_C(0x000000484404723f), UINT64_C(0x000fe20000000004),
         WSDBG_OPERAND_REGISTER, 4, 4, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction in = decode(rows[i].low, rows[i].high);
        assert_true(in.destination_count >= 1);
        const struct wsdbg_operand *written = &in.destinations[in.destination_count - 1];
        assert_int_equal(written->kind, rows[i].kind);
        assert_int_equal(written->number, rows[i].number);
        assert_int_equal(written->registers, rows[i].registers);
        assert_int_equal(in.is_whole, rows[i].is_whole);
    }
}

/* HFMA2.MMA R4, -RZ, RZ, 0, 5.9604644775390625e-08: how ptxas writes 1 into a register where that unit is idle */
static void a_number_loaded_by_a_multiplication_is_a_move(void **state)
{
    (void)state;
    const struct wsdbg_instruction in = decode(UINT64_C(0x00000001ff047435), UINT64_C(0x000fe200000001ff));
    assert_int_equal(in.operation, WSDBG_OP_MOV);
    assert_true(in.is_whole);
    assert_int_equal(in.source_count, 1);
    assert_int_equal(in.sources[0].kind, WSDBG_OPERAND_IMMEDIATE);
    assert_int_equal(in.sources[0].value, 1);
    char text[WSDBG_INSTRUCTION_TEXT_BYTES];
    wsdbg_instruction_text(&in, 0, text);
    assert_string_equal(text, "HFMA2.MMA R4, -RZ, RZ, 0, 5.9604644775390625e-08");
}

static void branches_say_where_they_lead_and_whether_they_know(void **state)
{
    (void)state;
    /* @!P0 BRA back to the instruction before */
    const struct wsdbg_instruction back = decode(UINT64_C(0xfffffffc00f88947), UINT64_C(0x002fea000383ffff));
    assert_true(back.has_target);
    assert_int_equal(back.target_offset_bytes, -0x10);
    assert_true(back.guard == 0 && back.guard_is_negated);
    assert_int_equal(back.source_count, 0);
    /* BRA.U UP0: its condition is a source */
    const struct wsdbg_instruction uniform = decode(UINT64_C(0x0000000100047547), UINT64_C(0x000fea000b800000));
    assert_true(uniform.has_target);
    assert_int_equal(uniform.sources[0].kind, WSDBG_OPERAND_UNIFORM_PREDICATE);
    /* BRX R4, CALL.ABS R6, RET.REL R2: to where a register says */
    assert_false(decode(UINT64_C(0xfffffff804f07949), UINT64_C(0x000fea000383ffff)).has_target);
    assert_false(decode(UINT64_C(0x0000000006007343), UINT64_C(0x006fea0003c00000)).has_target);
    assert_false(decode(UINT64_C(0xffffffdc026c7950), UINT64_C(0x000fec0003c3ffff)).has_target);
}

/* Any bytes are some instruction or none, and none has a text. */
static void what_no_table_holds_is_other(void **state)
{
    (void)state;
    const struct wsdbg_instruction in = decode(UINT64_C(0x0000000000003fff), 0);
    assert_int_equal(in.operation, WSDBG_OP_OTHER);
    assert_int_equal(in.guard, 3);
    assert_int_equal(in.destination_count + in.source_count, 0);
    char text[WSDBG_INSTRUCTION_TEXT_BYTES] = "x";
    wsdbg_instruction_text(&in, 0, text);
    assert_string_equal(text, "");
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const struct wsdbg_instruction some = decode(random ^ random >> 29, random * 31 ^ random >> 17);
        wsdbg_instruction_text(&some, random, text);
        assert_true(strlen(text) < sizeof text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_read_as_nvdisasm_shows_them),
        cmocka_unit_test(a_wait_for_an_mbarrier_has_its_address_and_its_phase),
        cmocka_unit_test(arrivals_say_how_they_count),
        cmocka_unit_test(a_tensor_copy_reads_its_bundle),
        cmocka_unit_test(a_multiplication_says_whether_it_ends_its_group),
        cmocka_unit_test(what_is_written_is_known),
        cmocka_unit_test(a_number_loaded_by_a_multiplication_is_a_move),
        cmocka_unit_test(branches_say_where_they_lead_and_whether_they_know),
        cmocka_unit_test(what_no_table_holds_is_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
