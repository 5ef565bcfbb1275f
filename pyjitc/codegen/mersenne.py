"""The Mersenne Twister of random.Random: {i32 index, i32 words[624]}, in LLVM text. Source: Matsumoto and Nishimura,
"Mersenne Twister" (1998), as in CPython's Modules/_randommodule.c."""
from __future__ import annotations

__all__ = ["TEXT"]

TEXT: dict[str, str] = {
    "pyj_mersenne": """
define internal i32 @pyj_mersenne(ptr %s) nounwind {
  %i = load i32, ptr %s, align 4
  br i1 (icmp sge i32 %i, 624), label %renew, label %take
renew:
  call void @pyj_mersenne_renew(ptr %s)
take:
  %n = phi i32 [ %i, %0 ], [ 0, %renew ]
  %next = add i32 %n, 1
  store i32 %next, ptr %s, align 4
  %a = load i32, ptr (getelementptr i32, ptr %s, i32 %next), align 4
  ret i32 (call i32 @pyj_temper(i32 %a))
}""",
    "pyj_temper": """
define internal i32 @pyj_temper(i32 %a) alwaysinline nounwind {
  %b = xor i32 %a, (lshr i32 %a, 11)
  %c = xor i32 %b, (and i32 (shl i32 %b, 7), -1658038656)
  %d = xor i32 %c, (and i32 (shl i32 %c, 15), -272236544)
  ret i32 (xor i32 %d, (lshr i32 %d, 18))
}""",
    # A word of a `bitgen_t`: of NumPy's Mersenne Twister, {i32 words[624], i32 pos}, it is taken here until all words
    # are used up; other generators are called.
    "pyj_random_word": """
define internal i32 @pyj_random_word(ptr %bitgen) nounwind {
  %state = load ptr, ptr %bitgen, align 8
  %function = load ptr, ptr (getelementptr i8, ptr %bitgen, i64 16), align 8
  br i1 (icmp eq ptr %function, @pyjitc_random_twister), label %look, label %call, !prof !0
look:
  %pos = getelementptr i32, ptr %state, i64 624
  %i = load i32, ptr %pos, align 4
  br i1 (icmp ult i32 %i, 624), label %take, label %call, !prof !0
take:
  store i32 (add i32 %i, 1), ptr %pos, align 4
  %a = load i32, ptr (getelementptr i32, ptr %state, i64 (zext i32 %i to i64)), align 4
  ret i32 (call i32 @pyj_temper(i32 %a))
call:
  ret i32 (call i32 %function(ptr %state) nounwind willreturn)
}""",
    "pyj_mersenne_renew": """
define internal void @pyj_mersenne_renew(ptr %s) nounwind noinline cold {
  %words = getelementptr i32, ptr %s, i64 1
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %k1 = add i64 %k, 1
  %last = icmp eq i64 %k1, 624
  %far = add i64 %k, 397
  %third = select i1 (icmp uge i64 %far, 624), i64 (sub i64 %far, 624), i64 %far
  %pa = getelementptr i32, ptr %words, i64 %k
  %a = load i32, ptr %pa, align 4
  %b = load i32, ptr (getelementptr i32, ptr %words, i64 (select i1 %last, i64 0, i64 %k1)), align 4
  %c = load i32, ptr (getelementptr i32, ptr %words, i64 %third), align 4
  %half = lshr i32 (or i32 (and i32 %a, -2147483648), (and i32 %b, 2147483647)), 1
  %mask = sub i32 0, (and i32 %b, 1)
  store i32 (xor i32 (xor i32 %c, %half), (and i32 %mask, -1727483681)), ptr %pa, align 4
  br i1 %last, label %done, label %loop
done:
  ret void
}""",
}
