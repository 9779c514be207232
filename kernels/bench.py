#!/usr/bin/env python3
"""Check and time the kernels under several compilers, interleaved, and print speed-ups over clang -O3.

    python3 kernels/bench.py [--kernels matmul,lcs] [--families dense,image] [--runs 3] [--plugin target/release/libloopwright.so]
                             [--flags "-march=native"] [--variants clang,loopwright,polly,gcc] [--check-only] [--json out.json]

First every program is compiled in its small size by every variant and its hash compared with that of clang -O3 (programs under
violations/ are only checked; with --check-only all are). Then the bench size is built and run: in each of --runs
rounds every variant runs once, so that a change of the machine's mood meets all alike; the best time of each counts.

Exit code: 0 all agree, 1 a program crashed or loopwright computes something else than clang, 2 wrong usage. A peer (polly, gcc)
that computes something else gets a warning and no time for that kernel. gcc may contract a*b+c differently: it is compared under
-ffp-contract=off, and its hash at bench size is not compared.
"""
import argparse
import dataclasses
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILERS = {  # by suffix: clang's driver, gcc's driver, extra flags
    ".c": ("clang-19", "gcc", ["-std=c11"]),
    ".cpp": ("clang++-19", "g++", ["-std=c++17"]),
    ".f90": ("flang-new-19", "gfortran", ["-cpp"]),
}
BASE = "clang"
VARIANTS = [BASE, "loopwright", "polly", "gcc"]
PEERS = ("polly", "gcc")  # their mistakes are reported, but are not ours
UNTIMED = "violations"
SLOWER = 0.95  # a speed-up below this is marked


class Failure(Exception):
    """A program that does not compile, crashes, or does not print what it should."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    family: str
    source: Path

    @property
    def name(self):
        return self.source.stem

    def __str__(self):
        return f"{self.family}/{self.name}"


def usage_error(message):
    print(f"bench.py: {message}", file=sys.stderr)
    sys.exit(2)


def discover(families, names):
    kernels = [Kernel(p.parent.name, p) for p in sorted(HERE.glob("*/*")) if p.suffix in COMPILERS]
    known = {k.name for k in kernels} | {str(k) for k in kernels}
    for name in names:
        if name not in known:
            usage_error(f"no kernel named '{name}' in {HERE}")
    for family in families:
        if family not in {k.family for k in kernels}:
            usage_error(f"no family named '{family}' in {HERE}")
    return [k for k in kernels if (not families or k.family in families) and (not names or k.name in names or str(k) in names)]


def command(kernel, variant, options):
    """The compiler and flags of a variant, or None where that compiler is not installed."""
    clang, gcc, extra = COMPILERS[kernel.source.suffix]
    driver = gcc if variant == "gcc" else clang
    if not shutil.which(driver):
        return None
    flags = {
        "clang": [],
        "loopwright": [f"-fpass-plugin={options.plugin}"],
        "polly": ["-mllvm", "-polly"],
        "gcc": [],
    }[variant]
    return [driver, "-O3", *extra, *options.flags.split(), *flags]


def run(argv, timeout, **more):
    """Output and error text; a process that overstays is ended together with its children."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **more)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no end after {timeout} s")
    if process.returncode:
        raise Failure(f"exit code {process.returncode}: {' | '.join(err.strip().splitlines()[-3:])}")
    return out, err


def build(kernel, argv, output, defines, options):
    try:
        run([*argv, *defines, str(kernel.source), "-o", str(output), "-lm"], options.compile_timeout)
    except Failure as failure:
        raise Failure(f"does not compile: {failure}")


def execute(kernel, program, options):
    """The hash that the program printed and the seconds that its kernel took (None if it has no timer)."""
    out, err = run([str(program)], options.timeout, env={**os.environ, "LW_TIME": "1"})
    words = out.split()
    if len(words) != 2 or words[0] != kernel.name or len(words[1]) != 16:
        raise Failure(f"printed {out!r} instead of its name and hash")
    lines = err.split()
    return words[1], float(lines[-1]) if lines else None


def check(kernel, variants, options, work):
    """Compares the small size under all variants; returns the variants that are fit to be timed, the errors and the warnings."""
    fit, errors, warnings, hashes = [], [], [], {}

    def small_hash(variant, extra=()):
        key = (variant, *extra)
        if key not in hashes:
            program = work / f"{kernel.name}.small"
            build(kernel, [*command(kernel, variant, options), *extra], program, [], options)
            hashes[key] = execute(kernel, program, options)[0]
        return hashes[key]

    for variant in variants:
        if command(kernel, variant, options) is None:
            continue
        extra = ("-ffp-contract=off",) if variant == "gcc" else ()
        problems = warnings if variant in PEERS else errors
        try:
            hash, expected = small_hash(variant, extra), small_hash(BASE, extra)
            if hash == expected:
                fit.append(variant)
            else:
                problems.append(f"{kernel}: {variant} computes {hash}, {BASE} {expected}")
        except Failure as failure:
            problems.append(f"{kernel}: {variant}: {failure}")
    return fit, errors, warnings


def time_interleaved(kernel, variants, options, work):
    """Seconds of each variant in each round at bench size, errors and warnings."""
    programs, seconds, hashes, errors, warnings = {}, {}, {}, [], []

    def give_up(variant, why):
        (warnings if variant in PEERS else errors).append(f"{kernel}: at bench size: {variant} {why}")
        programs.pop(variant)
        seconds.pop(variant, None)

    for variant in variants:
        programs[variant] = work / f"{kernel.name}.{variant}"
        try:
            build(kernel, command(kernel, variant, options), programs[variant], ["-DBENCH"], options)
        except Failure as failure:
            give_up(variant, failure)
    for _ in range(options.runs):
        for variant, program in list(programs.items()):
            try:
                hashes[variant], took = execute(kernel, program, options)
                seconds.setdefault(variant, []).append(took)
            except Failure as failure:
                give_up(variant, failure)
    for variant in list(programs):
        if variant != "gcc" and BASE in programs and hashes[variant] != hashes[BASE]:
            give_up(variant, f"computes {hashes[variant]}, {BASE} {hashes[BASE]}")
    for program in work.iterdir():
        program.unlink()
    return seconds, errors, warnings


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def print_row(label, variants, best):
    cells = [f"{best[BASE]:9.3f} s" if BASE in best else f"{'-':>11}"]
    for variant in variants:
        if variant != BASE:
            ratio = best[BASE] / best[variant] if BASE in best and variant in best else None
            cells.append(f"{ratio:10.2f}x{'!' if ratio < SLOWER else ' '}" if ratio else f"{'-':>11} ")
    print(f"{label:30}" + " ".join(cells), flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    split = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("--kernels", type=split, default=[], help="names or family/names, separated by commas (default: all)")
    parser.add_argument("--families", type=split, default=[], help="folders, separated by commas (default: all)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plugin", default=str(HERE.parent / "target/release/libloopwright.so"))
    parser.add_argument("--flags", default="-march=native", help="compiler flags for all variants")
    parser.add_argument("--variants", type=split, default=VARIANTS)
    parser.add_argument("--check-only", action="store_true", help="compare the small sizes and stop")
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of one program")
    parser.add_argument("--compile-timeout", type=float, default=300, help="seconds for one compilation")
    options = parser.parse_args()
    unknown = [v for v in options.variants if v not in VARIANTS]
    if unknown:
        usage_error(f"unknown variant '{unknown[0]}' (there are {', '.join(VARIANTS)})")
    if options.runs < 1:
        usage_error("--runs must be at least 1")
    options.variants = [BASE] + [v for v in options.variants if v != BASE]
    if "loopwright" in options.variants:
        if not Path(options.plugin).is_file():
            usage_error(f"no plugin at {options.plugin}: build it with `cargo build --release`, name it with --plugin, "
                        f"or leave it out with --variants clang,polly,gcc")
        options.plugin = str(Path(options.plugin).resolve())
    return options


def main():
    options = parse_arguments()
    kernels = discover(options.families, options.kernels)
    all_errors, all_warnings, rows = [], [], {}
    with tempfile.TemporaryDirectory(prefix="loopwright-bench-") as folder:
        work = Path(folder)
        if not options.check_only:
            print(f"{'kernel':30}{BASE + ' -O3':>11} " + " ".join(f"{v:>11} " for v in options.variants if v != BASE))
        for kernel in kernels:
            fit, errors, warnings = check(kernel, options.variants, options, work)
            if options.check_only:
                print(f"{str(kernel):30}{'DIFFERS' if errors else 'agrees'}{' (with warnings)' if warnings else ''}", flush=True)
            elif kernel.family != UNTIMED and not errors:
                seconds, errors, more_warnings = time_interleaved(kernel, fit, options, work)
                warnings += more_warnings
                best = {variant: min(times) for variant, times in seconds.items()}
                rows[str(kernel)] = {"seconds": seconds, "best": best}
                print_row(str(kernel), options.variants, best)
            all_errors += errors
            all_warnings += warnings
    summary = {}
    for variant in options.variants[1:]:
        ratios = [r["best"][BASE] / r["best"][variant] for r in rows.values() if BASE in r["best"] and variant in r["best"]]
        if ratios:
            summary[variant] = {"geomean": geomean(ratios), "kernels": len(ratios), "slower": sum(x < SLOWER for x in ratios)}
            print(f"geomean {variant:12} {geomean(ratios):6.3f}x over {BASE} -O3 on {len(ratios)} kernels, "
                  f"{summary[variant]['slower']} of them below {SLOWER}")
    for message in all_warnings:
        print(f"warning: {message}")
    for message in all_errors:
        print(f"error: {message}")
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"flags": options.flags, "runs": options.runs, "kernels": rows, "summary": summary, "errors": all_errors, "warnings": all_warnings}, indent=1) + "\n")
    return 1 if all_errors else 0


if __name__ == "__main__":
    sys.exit(main())
