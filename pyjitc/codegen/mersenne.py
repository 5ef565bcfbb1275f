"""The Mersenne Twister of random.Random: {i32 index, i32 words[624]}, in LLVM text. Source: Matsumoto and Nishimura,
"Mersenne Twister" (1998), as in CPython's Modules/_randommodule.c."""
from __future__ import annotations

__all__ = ["TEXT"]

TEXT: dict[str, str] = {
    "pyj_mersenne": """
define internal i32 @pyj_mersenne(ptr %s) nounwind {
  %i = load i32, ptr %s, align 4
  %all = icmp sge i32 %i, 624
  br i1 %all, label %renew, label %take
renew:
  call void @pyj_mersenne_renew(ptr %s)
  br label %take
take:
  %n = phi i32 [ %i, %0 ], [ 0, %renew ]
  %next = add i32 %n, 1
  store i32 %next, ptr %s, align 4
  %at = getelementptr i32, ptr %s, i32 %next
  %a = load i32, ptr %at, align 4
  %word = call i32 @pyj_temper(i32 %a)
  ret i32 %word
}""",
    "pyj_temper": """
define internal i32 @pyj_temper(i32 %a) alwaysinline nounwind {
  %a1 = lshr i32 %a, 11
  %b = xor i32 %a, %a1
  %b1 = shl i32 %b, 7
  %b2 = and i32 %b1, -1658038656
  %c = xor i32 %b, %b2
  %c1 = shl i32 %c, 15
  %c2 = and i32 %c1, -272236544
  %d = xor i32 %c, %c2
  %d1 = lshr i32 %d, 18
  %e = xor i32 %d, %d1
  ret i32 %e
}""",
    # A word of a `bitgen_t`: of NumPy's Mersenne Twister, {i32 words[624], i32 pos}, it is taken here until all words
    # are used up; other generators are called.
    "pyj_random_word": """
define internal i32 @pyj_random_word(ptr %bitgen) nounwind {
  %state = load ptr, ptr %bitgen, align 8
  %slot = getelementptr i8, ptr %bitgen, i64 16
  %function = load ptr, ptr %slot, align 8
  %known = icmp eq ptr %function, @pyjitc_random_twister
  br i1 %known, label %look, label %call, !prof !0
look:
  %pos = getelementptr i32, ptr %state, i64 624
  %i = load i32, ptr %pos, align 4
  %left = icmp ult i32 %i, 624
  br i1 %left, label %take, label %call, !prof !0
take:
  %next = add i32 %i, 1
  store i32 %next, ptr %pos, align 4
  %k = zext i32 %i to i64
  %at = getelementptr i32, ptr %state, i64 %k
  %a = load i32, ptr %at, align 4
  %word = call i32 @pyj_temper(i32 %a)
  ret i32 %word
call:
  %drawn = call i32 %function(ptr %state) nounwind willreturn
  ret i32 %drawn
}""",
    "pyj_mersenne_renew": """
define internal void @pyj_mersenne_renew(ptr %s) nounwind noinline cold {
  %words = getelementptr i32, ptr %s, i64 1
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %k1 = add i64 %k, 1
  %last = icmp eq i64 %k1, 624
  %second = select i1 %last, i64 0, i64 %k1
  %far = add i64 %k, 397
  %over = icmp uge i64 %far, 624
  %wrapped = sub i64 %far, 624
  %third = select i1 %over, i64 %wrapped, i64 %far
  %pa = getelementptr i32, ptr %words, i64 %k
  %pb = getelementptr i32, ptr %words, i64 %second
  %pc = getelementptr i32, ptr %words, i64 %third
  %a = load i32, ptr %pa, align 4
  %b = load i32, ptr %pb, align 4
  %c = load i32, ptr %pc, align 4
  %high = and i32 %a, -2147483648
  %low = and i32 %b, 2147483647
  %y = or i32 %high, %low
  %half = lshr i32 %y, 1
  %odd = and i32 %b, 1
  %mask = sub i32 0, %odd
  %x = and i32 %mask, -1727483681
  %m = xor i32 %c, %half
  %new = xor i32 %m, %x
  store i32 %new, ptr %pa, align 4
  br i1 %last, label %done, label %loop
done:
  ret void
}""",
}
