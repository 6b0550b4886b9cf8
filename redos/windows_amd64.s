#include "textflag.h"

// func scanBlocks(p *byte, blocks int, t *nibbles) int
//
// Each byte of a window has two tables of buckets, by the lower and by
// the upper half of a byte. VPSHUFB looks up 32 bytes at once; what is left after
// all six look-ups are the buckets whose windows may begin there.
TEXT ·scanBlocks(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVQ t+16(FP), DI
	VBROADCASTI128 0(DI), Y0
	VBROADCASTI128 16(DI), Y1
	VBROADCASTI128 32(DI), Y2
	VBROADCASTI128 48(DI), Y3
	VBROADCASTI128 64(DI), Y4
	VBROADCASTI128 80(DI), Y5
	MOVQ $0x0f0f0f0f0f0f0f0f, AX
	VMOVQ AX, X6
	VPBROADCASTQ X6, Y6
	VPXOR Y7, Y7, Y7
	MOVQ SI, BX

loop:
	VMOVDQU 0(BX), Y8
	VMOVDQU 1(BX), Y9
	VMOVDQU 2(BX), Y10
	VPAND Y6, Y8, Y11
	VPSRLW $4, Y8, Y8
	VPAND Y6, Y8, Y8
	VPSHUFB Y11, Y0, Y11
	VPSHUFB Y8, Y1, Y8
	VPAND Y8, Y11, Y8
	VPAND Y6, Y9, Y12
	VPSRLW $4, Y9, Y9
	VPAND Y6, Y9, Y9
	VPSHUFB Y12, Y2, Y12
	VPSHUFB Y9, Y3, Y9
	VPAND Y9, Y12, Y9
	VPAND Y6, Y10, Y13
	VPSRLW $4, Y10, Y10
	VPAND Y6, Y10, Y10
	VPSHUFB Y13, Y4, Y13
	VPSHUFB Y10, Y5, Y10
	VPAND Y10, Y13, Y10
	VPAND Y8, Y9, Y8
	VPAND Y8, Y10, Y8
	VPTEST Y8, Y8
	JNZ hit
	ADDQ $32, BX
	DECQ CX
	JNZ loop
	VZEROUPPER
	MOVQ $-1, AX
	MOVQ AX, ret+24(FP)
	RET

hit:
	VPCMPEQB Y7, Y8, Y8
	VPMOVMSKB Y8, AX
	NOTL AX
	BSFL AX, AX
	SUBQ SI, BX
	ADDQ BX, AX
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

// func scanEither(p *byte, blocks int, a, b byte) int
TEXT ·scanEither(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	VPBROADCASTB a+16(FP), Y0
	VPBROADCASTB b+17(FP), Y1
	MOVQ SI, BX

loop:
	VMOVDQU 0(BX), Y2
	VPCMPEQB Y0, Y2, Y3
	VPCMPEQB Y1, Y2, Y4
	VPOR Y3, Y4, Y3
	VPTEST Y3, Y3
	JNZ hit
	ADDQ $32, BX
	DECQ CX
	JNZ loop
	VZEROUPPER
	MOVQ $-1, AX
	MOVQ AX, ret+24(FP)
	RET

hit:
	VPMOVMSKB Y3, AX
	BSFL AX, AX
	SUBQ SI, BX
	ADDQ BX, AX
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET
