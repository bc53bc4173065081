/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code of the functions that programs call in place of HIP's: hip-wrappers.c and
 * hip-symbols.c have hundreds of them. Each function is a thunk of TS_THUNK_BYTES: it loads its
 * index into a register that carries no argument, and jumps to code that all thunks of the file
 * share. None of HIP's functions has an argument in a register for floating-point numbers
 * (proto/abi/vendor/calls.py checks it), so the shared code saves only the other registers.
 *
 * Unwinding: at a thunk the frame is the caller's; the shared code has rules of its own.
 */
#pragma once

#define TS_THUNK_BYTES	  16

#define TS_THUNK_TEXT_(x) #x
#define TS_THUNK_TEXT(x)  TS_THUNK_TEXT_(x)

#if defined(__x86_64__)

#define TS_THUNK_N_REGISTERS 6u
#define TS_THUNK_STACK_AT    8u

#if defined(__CET__) && __CET__ & 1
#define TS_THUNK_LANDING "\tendbr64\n"
#else
#define TS_THUNK_LANDING ""
#endif

#define TS_THUNK(index, shared)                                                                 \
	"\t.balign " TS_THUNK_TEXT(TS_THUNK_BYTES) ", 0xcc\n" TS_THUNK_LANDING "\tmovl $" index \
						   ", %eax\n"                                   \
						   "\tjmp " shared "\n"

/* Pushes the registers with arguments, so that they lie in memory in their order. */
#define TS_THUNK_FRAME_BEGIN             \
	"\tpushq %rbp\n"                 \
	"\t.cfi_def_cfa_offset 16\n"     \
	"\t.cfi_offset %rbp, -16\n"      \
	"\tmovq %rsp, %rbp\n"            \
	"\t.cfi_def_cfa_register %rbp\n" \
	"\tpushq %r9\n\tpushq %r8\n"     \
	"\tpushq %rcx\n\tpushq %rdx\n"   \
	"\tpushq %rsi\n\tpushq %rdi\n"
#define TS_THUNK_FRAME_END "\tleave\n\t.cfi_def_cfa %rsp, 8\n\t.cfi_restore %rbp\n"

/*
 * Calls function(index, words), and returns its result. The words are TS_THUNK_N_REGISTERS
 * registers with arguments, and from TS_THUNK_STACK_AT on those of the caller's stack.
 */
#define TS_THUNK_SHARED_CALL(label, function)                  \
	label ":\n" TS_THUNK_FRAME_BEGIN "\tmovl %eax, %edi\n" \
	      "\tmovq %rsp, %rsi\n"                            \
	      "\tcall " function "\n" TS_THUNK_FRAME_END "\tret\n"

/*
 * Jumps to the function in targets[index]. If that is NULL, jumps to the one that function(index,
 * return address) returns.
 */
#define TS_THUNK_SHARED_JUMP(label, targets, function)          \
	label ":\n"                                             \
	      "\tleaq " targets "(%rip), %r11\n"                \
	      "\tmovq (%r11,%rax,8), %r11\n"                    \
	      "\ttestq %r11, %r11\n"                            \
	      "\tje 1f\n"                                       \
	      "\tjmp *%r11\n"                                   \
	      "1:\n" TS_THUNK_FRAME_BEGIN "\tmovl %eax, %edi\n" \
	      "\tmovq 8(%rbp), %rsi\n"                          \
	      "\tcall " function "\n"                           \
	      "\tpopq %rdi\n\tpopq %rsi\n"                      \
	      "\tpopq %rdx\n\tpopq %rcx\n"                      \
	      "\tpopq %r8\n\tpopq %r9\n" TS_THUNK_FRAME_END "\tjmp *%rax\n"

#elif defined(__aarch64__)

#define TS_THUNK_N_REGISTERS 8u
#define TS_THUNK_STACK_AT    10u

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define TS_THUNK_LANDING "\thint #34\n" /* bti c */
#else
#define TS_THUNK_LANDING ""
#endif

#define TS_THUNK(index, shared)                                                                    \
	"\t.balign " TS_THUNK_TEXT(TS_THUNK_BYTES) "\n" TS_THUNK_LANDING "\tmov w16, #" index "\n" \
						   "\tb " shared "\n"

/* The registers with arguments lie at sp + 16; x8 is the place of a large result. */
#define TS_THUNK_FRAME_BEGIN            \
	"\tstp x29, x30, [sp, #-96]!\n" \
	"\t.cfi_def_cfa_offset 96\n"    \
	"\t.cfi_offset x29, -96\n"      \
	"\t.cfi_offset x30, -88\n"      \
	"\tmov x29, sp\n"               \
	"\t.cfi_def_cfa_register x29\n" \
	"\tstp x0, x1, [sp, #16]\n"     \
	"\tstp x2, x3, [sp, #32]\n"     \
	"\tstp x4, x5, [sp, #48]\n"     \
	"\tstp x6, x7, [sp, #64]\n"     \
	"\tstr x8, [sp, #80]\n"
#define TS_THUNK_FRAME_END            \
	"\tldp x29, x30, [sp], #96\n" \
	"\t.cfi_def_cfa sp, 0\n"      \
	"\t.cfi_restore x29\n"        \
	"\t.cfi_restore x30\n"

#define TS_THUNK_SHARED_CALL(label, function)              \
	label ":\n" TS_THUNK_FRAME_BEGIN "\tmov w0, w16\n" \
	      "\tadd x1, sp, #16\n"                        \
	      "\tbl " function "\n" TS_THUNK_FRAME_END "\tret\n"

#define TS_THUNK_SHARED_JUMP(label, targets, function)      \
	label ":\n"                                         \
	      "\tadrp x17, " targets "\n"                   \
	      "\tadd x17, x17, #:lo12:" targets "\n"        \
	      "\tadd x17, x17, x16, lsl #3\n"               \
	      "\tldar x17, [x17]\n"                         \
	      "\tcbz x17, 1f\n"                             \
	      "\tbr x17\n"                                  \
	      "1:\n" TS_THUNK_FRAME_BEGIN "\tmov w0, w16\n" \
	      "\tmov x1, x30\n"                             \
	      "\tbl " function "\n"                         \
	      "\tmov x16, x0\n"                             \
	      "\tldp x0, x1, [sp, #16]\n"                   \
	      "\tldp x2, x3, [sp, #32]\n"                   \
	      "\tldp x4, x5, [sp, #48]\n"                   \
	      "\tldp x6, x7, [sp, #64]\n"                   \
	      "\tldr x8, [sp, #80]\n" TS_THUNK_FRAME_END "\tbr x16\n"

#else
#error "HIP's functions have thunks for x86-64 and aarch64 only"
#endif
