"""A compiler for tests of the dispatcher: adds up its arguments and the globals and captured numbers of the function.

It follows the protocol of `pipeline.stages.Compiled` with stubs written by hand, so these tests need neither front end
nor inference. Every argument is an exact Python float or int; the result is a float.
"""
import pytest

from pyjitc.pipeline.portable import Guard
from pyjitc.pipeline.stages import Compiled
from pyjitc.types.kinds import Array, Float, Int, Singleton, Str

llvm = pytest.importorskip("llvmlite.binding")


class FakeCompiler:
    def __init__(self):
        self.compiles = []
        self.error = None
        self.active = True

    def compile_signature(self, function, types, options, form=None):
        self.compiles.append((function.__qualname__, types))
        if self.error is not None:
            raise self.error
        guards = []
        for name in function.__code__.co_names:
            if name in function.__globals__ and isinstance(function.__globals__[name], (int, float)):
                guards.append(Guard(function.__globals__, name, function.__globals__[name], f"guard_{len(guards)}"))
        captured = [t.value for t in types if isinstance(t, Singleton) and hasattr(t.value, "__closure__")]
        for cell in [c for f in (function, *captured) for c in f.__closure__ or ()]:
            guards.append(Guard(cell, None, cell.cell_contents, f"guard_{len(guards)}"))
        constant = float(sum(g.value for g in guards if isinstance(g.value, (int, float))))
        text, objects = self.stub(types, guards, constant)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True, opt=2)
        return Compiled(machine.emit_object(llvm.parse_assembly(text)), (), "stub", "next", objects, Float,
                        tuple(guards))

    def inspect(self, function, types, options, stage):
        return f"{stage} of {function.__qualname__}"

    def stub(self, types, guards, constant):
        objects = {}
        n = len(types)
        lines = ["@next = global ptr null", "@pyjitc_active = global i64 0" if self.active else "",
                 "@PyFloat_Type = external global i8", "@PyLong_Type = external global i8",
                 "@pyjitc_ndarray_type = external global i8", "declare ptr @PyFloat_FromDouble(double)",
                 "declare double @PyLong_AsDouble(ptr)", "declare ptr @PyDict_GetItem(ptr, ptr)",
                 *(f"@{g.symbol} = global ptr null" for g in guards)]
        body = ["define ptr @stub(ptr %self, ptr %args, i64 %nargsf, ptr %kw) {", f"""
  %n = and i64 %nargsf, 9223372036854775807
  %c1 = icmp eq i64 %n, {n}
  %c2 = icmp eq ptr %kw, null
  %c = and i1 %c1, %c2
  br i1 %c, label %guard0, label %miss"""]
        for k, guard in enumerate(guards):
            objects[f"pyjitc_object_{k}"] = guard.container
            lines.append(f"@pyjitc_object_{k} = external global i8")
            if guard.key is None:
                read = f"%gp{k} = getelementptr i8, ptr @pyjitc_object_{k}, i64 16\n  %gv{k} = load ptr, ptr %gp{k}"
            else:
                objects[f"pyjitc_key_{k}"] = guard.key
                lines.append(f"@pyjitc_key_{k} = external global i8")
                read = f"%gv{k} = call ptr @PyDict_GetItem(ptr @pyjitc_object_{k}, ptr @pyjitc_key_{k})"
            body.append(f"""guard{k}:
  {read}
  %ge{k} = load ptr, ptr @{guard.symbol}
  %gc{k} = icmp eq ptr %gv{k}, %ge{k}
  br i1 %gc{k}, label %guard{k + 1}, label %miss""")
        body.append(f"guard{len(guards)}:\n  br label %arg0")
        total = f"{constant!r}"
        for k, t in enumerate(types):
            if isinstance(t, Singleton):
                objects[f"pyjitc_arg_{k}"] = t.value
                lines.append(f"@pyjitc_arg_{k} = external global i8")
                target, load, value = f"@pyjitc_arg_{k}", "", "0.0"
                check = f"%ok{k} = icmp eq ptr %o{k}, {target}"
            else:
                target = {Float: "@PyFloat_Type", Int: "@PyLong_Type"}.get(t, "@pyjitc_ndarray_type")
                check = (f"%tp{k} = getelementptr i8, ptr %o{k}, i64 8\n  %t{k} = load ptr, ptr %tp{k}\n  %ok{k} = "
                         f"icmp eq ptr %t{k}, {target}")
                value = f"%v{k}"
                if t is Float:
                    load = f"%vp{k} = getelementptr i8, ptr %o{k}, i64 16\n  %v{k} = load double, ptr %vp{k}"
                elif t is Int:
                    load = f"%v{k} = call double @PyLong_AsDouble(ptr %o{k})"
                else:
                    assert isinstance(t, Array)
                    load = (f"%vd{k} = getelementptr i8, ptr %o{k}, i64 16\n  %vq{k} = load ptr, ptr %vd{k}\n  %v{k} "
                            f"= load double, ptr %vq{k}")
            assert t is not Str
            body.append(f"""arg{k}:
  %p{k} = getelementptr ptr, ptr %args, i64 {k}
  %o{k} = load ptr, ptr %p{k}
  {check}
  br i1 %ok{k}, label %take{k}, label %miss
take{k}:
  {load}
  %s{k} = fadd double {total}, {value}
  br label %arg{k + 1}""")
            total = f"%s{k}"
        body.append(f"""arg{n}:
  %r = call ptr @PyFloat_FromDouble(double {total})
  ret ptr %r
miss:
  %f = load ptr, ptr @next
  %z = tail call ptr %f(ptr %self, ptr %args, i64 %nargsf, ptr %kw)
  ret ptr %z
}}""")
        return "\n".join(lines + body), objects
