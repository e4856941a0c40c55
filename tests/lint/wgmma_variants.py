"""wgmma_variants.py - small kernels around wgmma that differ in one respect each, as CUDA sources.

What changes from kernel to kernel: the tile's size, how accumulators are kept (named scalars, an array, an array that a
loop indexes), how many a warpgroup has, scale-d, where waits stand, what stands inside of a stage, and where the first
matrix comes from.  agreement.py compiles them and compares what ptxas and lint say.
"""
BASE = dict(n=32, type="bf16", form="scalars", tiles=1, steps=2, scale="1", wait="0", last="none", inside="", after="",
            fence=True, helper="", registers=False, body="")

HEAD = """#include <cassert>
#include <cstdint>
#include <cstdio>
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")
"""
ARGUMENTS = "float *out, int steps, uint64_t a, uint64_t b, int run, int *data, float factor"
TYPES = {"bf16": (16, "f32.bf16.bf16", ", 0, 0"), "tf32": (8, "f32.tf32.tf32", "")}


def element(variant, index):
    return f"d.at[{index}]" if variant["form"] != "scalars" else f"d.at{index}"


def multiplication(variant):
    """The type of an accumulator, and d = a * b + (scale ? d : 0)."""
    count, (k, types, transposed) = variant["n"] // 2, TYPES[variant["type"]]
    members = f"at[{count}]" if variant["form"] != "scalars" else ", ".join(f"at{i}" for i in range(count))
    listed = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"+f"({element(variant, i)})' for i in range(count))
    if variant["registers"]:
        first, inputs, places = "uint32_t (&a)[4]", '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])', 4
        matrix, transposed = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}", transposed[:3]
    else:
        first, inputs, places, matrix = "uint64_t a", '"l"(a)', 1, f"%{count}"
    return f"""struct Tile {{ float {members}; }};
__device__ __forceinline__ void multiply(Tile &d, {first}, uint64_t b, int scale)
{{
    asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{count + places + 1}, 0; "
                 "wgmma.mma_async.sync.aligned.m64n{variant['n']}k{k}.{types} "
                 "{{{listed}}}, {matrix}, %{count + places}, p, 1, 1{transposed}; }}"
                 : {outputs} : {inputs}, "l"(b), "r"(scale));
}}
"""


def tile(variant, number):
    return f"d{number}" if variant["form"] == "scalars" else f"d[{number}]"


def stage(variant, scale):
    lines = ["FENCE();"] if variant["fence"] else []
    first = "a_registers" if variant["registers"] else "a + {}"
    if variant["form"] == "indexed":
        lines.append(f"_Pragma(\"unroll 1\") for (int t = 0; t < {variant['tiles']}; t++)")
        lines.append(f"for (int s = 0; s < {variant['steps']}; s++) multiply(d[t], a + 64 * t + 2 * s, b + 2 * s, "
                     f"s ? 1 : {scale});")
    else:
        for s in range(variant["steps"]):
            for t in range(variant["tiles"]):
                lines.append(f"multiply({tile(variant, t)}, {first.format(64 * t + 2 * s)}, b + {2 * s}, "
                             f"{scale if s == 0 else 1});")
                if s == 0 and t == 0:
                    lines.append(variant["inside"])
    return lines + ["COMMIT();", variant["after"]]


def body(variant):
    count, tiles = variant["n"] // 2, range(variant["tiles"])
    if variant["body"]:
        return variant["body"]
    lines = []
    if variant["form"] == "scalars":
        lines += [f"Tile d{t} = {{}};" for t in tiles]
    else:
        lines += [f"Tile d[{len(tiles)}] = {{}};"]
    if variant["registers"]:
        lines.append("uint32_t a_registers[4] = {run, run + 1, run + 2, data[threadIdx.x]};")
    waits = {"0": "WAIT(0);", "1": "WAIT(1);", "none": "", "branch": "if (run) WAIT(0);",
             "last round": "if (k == steps - 1) WAIT(0); else WAIT(1);"}
    wait = waits[variant["wait"]]
    if variant["scale"] == "peeled":
        lines += ["{"] + stage(variant, "0") + [wait.replace("k == steps - 1", "steps == 1"), "}"]
    scale = {"peeled": "1", "k": "k != 0"}.get(variant["scale"], variant["scale"])
    lines.append(f"for (int k = {int(variant['scale'] == 'peeled')}; k < steps; k++) {{")
    lines += stage(variant, scale) + [wait, "a += 512; b += 512;", "}"]
    lines.append({"always": "WAIT(0);", "branch": "if (run) WAIT(0);", "thread": "if (threadIdx.x / 32 < run) WAIT(0);",
                  "none": ""}[variant["last"]])
    for t in tiles:
        for i in range(count):
            lines.append(f"out[{(t * count + i) * 128} + threadIdx.x] = "
                         f"{element(variant, i).replace('d', tile(variant, t), 1)};")
    return "\n    ".join(line for line in lines if line)


def source(name, variant):
    """One kernel of that name, in a namespace of its own."""
    return (f"namespace {name}_ {{\n{multiplication(variant)}{variant['helper']}\n"
            f"extern \"C\" __global__ void __launch_bounds__(128) {name}({ARGUMENTS})\n{{\n    {body(variant)}\n}}\n}}\n")


def variants():
    """Pairs of a name and what differs from BASE."""
    rows = {}

    def add(name, **changes):
        rows[name] = {**BASE, **changes}

    for n in (64, 96, 128, 192, 256):
        for form in ("scalars", "array", "indexed"):
            for tiles in (1, 2):
                if n * tiles <= 256 and (form != "indexed" or tiles == 2):
                    add(f"m64n{n}_{form}_{tiles}", n=n, type="tf32", form=form, tiles=tiles)
    add("m64n256_scalars_2", n=256, tiles=2)
    for scale, name in (("k", "k"), ("run", "argument"), ("data[k + threadIdx.x]", "thread"), ("peeled", "peeled")):
        for wait, last in (("0", "none"), ("1", "always")):
            add(f"scale_{name}_wait{wait}", scale=scale, wait=wait, last=last)
    add("scale_thread_each", body="""Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, data[k + threadIdx.x]); multiply(d, a + 2, b, data[k + 1 + threadIdx.x]);
        multiply(d, a + 4, b, data[k + 2 + threadIdx.x]); COMMIT(); WAIT(1); a += 8;
    }
    WAIT(0); for (int i = 0; i < 16; i++) out[i * 128 + threadIdx.x] = d.at[i];""", form="array")
    for wait in ("0", "1", "none", "branch", "last round"):
        for last in ("always", "branch", "none"):
            add(f"wait_{wait.replace(' ', '_')}_last_{last}", wait=wait, last=last)
    add("wait_1_last_thread", wait="1", last="thread")
    first = "d0.at0"
    helper = "__device__ __noinline__ int helper(int *p, int v) { return atomicAdd(p, v) + p[v]; }"
    inside = {
        "read": f"out[k] = {first};", "scale": f"{first} *= factor;", "set": f"{first} = factor;",
        "printf": 'printf("%d", run);', "assert": "assert(data[k] >= 0);", "call": "a += helper(data, k);",
        "syncwarp": "__syncwarp();", "syncthreads": "__syncthreads();", "atomic": "atomicAdd(data, run);",
        "branch": "if (threadIdx.x % 32 == 0) atomicAdd(data, run);", "commit": "COMMIT();",
        "spin": "while (atomicAdd(data, 0) == 0) {}", "trap": "if (data[k] == 7) __trap();",
    }
    for name, text in inside.items():
        for wait, last in (("0", "none"), ("1", "always")):
            add(f"inside_{name}_wait{wait}", inside=text, wait=wait, last=last, helper=helper)
    for name in ("read", "scale", "printf", "assert", "call", "syncwarp"):
        add(f"after_{name}", after=inside[name], wait="1", last="always", helper=helper)
    add("no_fence", fence=False)
    add("registers", registers=True, wait="1", last="always")
    add("registers_written", registers=True, after="for (int i = 0; i < 4; i++) a_registers[i] += data[k * i];",
        wait="1", last="always")
    two = "Tile s = {}, o = {};\n    "
    ends = ("WAIT(0);\n    for (int i = 0; i < 16; i++) "
            "{ out[i * 128 + threadIdx.x] = s.at[i]; out[4096 + i * 128 + threadIdx.x] = o.at[i]; }")
    sum_s = "float m = 0; for (int i = 0; i < 16; i++) m += s.at[i]; out[k * 128 + threadIdx.x] = m;"

    def group(d):
        return f"FENCE(); multiply({d}, a, b, 1); multiply({d}, a + 8, b, 1); COMMIT();"

    def loop(round_):
        return f"for (int k = 0; k < steps; k++) {{ {round_} a += 9; }}\n    {ends}"

    bodies = {
        "two_groups": two + loop(f"{group('s')} {group('o')} WAIT(1); {sum_s} WAIT(0);"),
        "two_groups_late": two + group("s") + loop(f"{group('o')} WAIT(1); {sum_s} {group('s')} WAIT(1);"),
        "ping_pong": two + loop(f"{group('s')} WAIT(1); {group('o')} WAIT(1);"),
        "swapped": two + loop(f"{group('s')} WAIT(1); Tile t = s; s = o; o = t;"),
        "promoted": two + loop(f"{group('s')} WAIT(0); for (int i = 0; i < 16; i++) o.at[i] += s.at[i] * factor;"),
        "early_exit": two + loop(f"{group('s')} if (data[k] == 7) break; WAIT(1);").replace("WAIT(0);", ""),
    }
    for name, text in bodies.items():
        add(name, body=text, form="array")
    stage_call = ("__device__ __noinline__ Tile stage(Tile d, uint64_t a, uint64_t b) "
                  "{ FENCE(); multiply(d, a, b, 1); multiply(d, a + 2, b, 1); COMMIT(); WAIT(0); return d; }")
    add("stage_in_call", helper=stage_call, form="array",
        body="Tile d = {}; for (int k = 0; k < steps; k++) { d = stage(d, a, b); a += 9; }\n    "
             "for (int i = 0; i < 16; i++) out[i * 128 + threadIdx.x] = d.at[i];")
    return rows
