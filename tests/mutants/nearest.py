# SPDX-License-Identifier: BSD-2-Clause
"""Which tests are nearest to a folder of src/, and how one of them is run."""
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading

# The folder's own programs come first (test_<folder>, test_<folder>_*), quickest first; then what is
# named here. "cli:word" and "golden:word": cases whose name or file holds the word and no "!word";
# "script:name": a program of its own in tests/, which gets the tool and the corpus.
QUICK = "cli:digests_demo"  # many forms of one small capture
GOLDEN = "golden:!bugfix-exact"  # one capture takes more than all others together
DECODING = ["test_vectors", "test_tree", "test_tree_batch", "test_tree_parallel", "test_index_runs",
            "cli:digest_cases", GOLDEN]
SECOND = {
    "base": ["test_frame", "test_etmv3", "test_etmv4", "test_ptm", "test_stm", "test_itm",
             "test_etrace", "test_etraced", "test_log", "test_capture", "test_index",
             "test_index_file", "test_tree", "test_tree_errors", "test_tree_parallel", "test_hart",
             "test_trbe_sync", "test_etmv3_data", "test_etmv3_batch", "test_path", "test_path_print",
             "test_image_blocks", "test_image_symbols", "test_etmv3_table", "test_ptm_table",
             "test_etmv4_table", "test_etrace_table", "test_stm_table", "test_itm_table"],
    "frame": ["test_tree", "test_capture", "cli:frames_cases", GOLDEN],
    "isa": ["test_image_blocks", "test_path", "test_path_random", "test_vectors",
            "test_etmv4_unit_random", "test_etmv3_data", GOLDEN],
    "image": ["test_path", "test_path_random", "test_vectors", "test_capture",
              "test_capture_perf_images", "test_tree_batch", "cli:decode_cases",
              "cli:profile_cases", "cli:calls_cases", "cli:coverage_cases", "cli:feedback_cases",
              "cli:digest_cases", GOLDEN],
    "log": ["cli:digest_cases", "test_etmv4_unit_corpus", "test_hart_logs", "cli:encode_m_cases",
            "cli:encode_cases", "cli:encode_etrace_cases"],
    "hart": ["test_etrace_corpus", "cli:digest_cases", "cli:encode_etrace_cases"],
    "path": ["test_etmv4", "test_etmv4_decode", "test_ete", "test_etmv3", "test_ptm",
             "test_etrace_decode", "test_etmv4_unit_random", *DECODING],
    "etmv4": ["test_ete", *DECODING],
    "ete": ["test_etmv4", "test_etmv4_decode", "test_etmv4_unit_register", *DECODING],
    "etmv3": ["test_armv7_runs", "test_armv7_taken", *DECODING],
    "ptm": ["test_armv7_runs", "test_armv7_taken", *DECODING],
    "itm": ["cli:channels_cases", *DECODING],
    "stm": ["cli:channels_cases", *DECODING],
    "etrace": ["test_etraced", "test_hart", "test_hart_random", "test_hart_filters",
               "test_hart_data", "test_hart_corpus", "test_tree_parallel", "test_index_runs",
               "test_capture_etrace", "cli:encode_etrace_cases",
               "cli:digest_cases", "cli:corpus_cases"],
    "etraced": ["test_etrace", "test_etrace_corpus", "test_etrace_batch", "test_hart_data",
                "test_hart_corpus"],
    "tree": ["test_vectors", "test_index_seek", "test_index_runs", "test_capture_tree",
             "cli:threads_cases", "cli:decode_cases", GOLDEN],
    "index": ["cli:index_cases"],
    "capture": ["cli:record_cases", "cli:snapshot_cases", "cli:perf_cases", "cli:decode_cases", "cli:bad_input",
                "cli:digest_cases", GOLDEN],
    "trbe": ["cli:trbe_cases", "cli:usage_cases"],
    "run": ["cli:decode_cases", "cli:threads_cases", "cli:perf_cases", "cli:index_cases",
            "cli:listing_cases", "cli:missing_cases", "cli:analysis_loss_cases", "cli:shard_cases",
            "cli:digest_cases", "cli:output_cases !interrupt", GOLDEN],
    "analysis": ["cli:digest_cases", "test_export_memory"],
    "export": ["cli:digest_cases", "cli:calls_view_cases", "cli:timeline_format_cases",
               "cli:calls_cases", "cli:coverage_cases", "cli:feedback_cases", "cli:profile_cases",
               "cli:usage_cases", "cli:output_cases !interrupt"],
    "stage": ["test_etmv3", "test_etmv3_table", "test_ptm", "test_ptm_table", "test_etmv4_table",
              "test_etmv4_decode", "test_etrace_table", "test_ntrace", *DECODING],
    "ntrace": ["test_tree", "test_tree_parallel", "test_index_runs", "test_trsim", "cli:ntrace_cases",
               "cli:digest_cases", "cli:corpus_cases"],
    "trctl": ["test_trbe_sequence", "test_ntrace_pib", "test_trsim", "test_trsim_flow", "cli:sim_riscv_cases", "cli:ntrace_cases",
              "cli:encode_etrace_cases"],
    "trsim": ["cli:sim_riscv_cases"],
    "script": ["test_trbe_sim", "test_trsim", "cli:trbe_cases", "cli:sim_riscv_cases"],
    "swtrace": ["test_itm", "test_itm_batch", "test_itm_table", "test_itm_unit", "test_itm_random",
                "test_stm", "test_stm_batch", "test_stm_table", "test_stm_unit", "test_stm_random",
                "cli:channels_cases", *DECODING],
    "replay": ["cli:gdb_frames_cases", "cli:gdb_machines_cases", "cli:gdb_programs_cases",
               "cli:diff_cases", "cli:gdb_cases"],
    "identify": ["test_ntrace_guess", "cli:doctor_cases",
                 "cli:identify_cases !identify_costs_little"],
    "doctor": ["cli:doctor_cases", "script:doctor"],
    "report": ["cli:report_cases", "cli:serve_cases"],
    "ingress": ["test_trsim", "test_hart", "test_ntrace_unit", "cli:sim_riscv_cases",
                "cli:encode_etrace_cases"],
    "armv7": ["test_etmv3", "test_etmv3_batch", "test_etmv3_data", "test_ptm", "test_ptm_batch",
              *DECODING],
    "": ["test_tree", "test_tree_registry", "test_capture", "cli:message_cases", "test_vectors"],
}
# For --middle: of all digests those nearest to a folder, in place of "cli:digest_cases".
DIGESTS = {
    "etrace": ["rv64_counts"], "etraced": ["rv64_counts"], "hart": ["rv64"], "ntrace": ["rv64_recur"],
    "ptm": ["a32_recur_ptm", "mix_indirect_ptm", "p04"], "etmv3": ["a32_recur_etmv3", "mix_indirect_etmv3", "m4"],
    "etmv4": ["sys_el_etmv4", "a64_coro_etmv4", "m33", "tme"], "ete": ["sys_el_ete", "a64_coro_ete"],
    "stm": ["stm_only"], "itm": ["itm_only"], "swtrace": ["stm_only", "itm_only"],
    "armv7": ["a32_recur", "mix_indirect_etmv3", "p04"],
    "analysis": ["demo", "p01", "p03", "sys_el_ete", "m3_nested", "a64_jumps", "rv64_counts"],
    "log": ["sys_el_ete", "m33", "rv64", "a32_recur_ptm"],
}
BROAD = ["demo", "p03", "p04", "sys_el_ete", "mix_indirect", "rv64"]
# Of some files of a folder that has many: what is nearest to them, behind the folder's row.
FILES = {
    "analysis/(profile|counted|code_|range_counts|walk)": [
        "cli:profile_cases", "cli:profile_table_cases", "cli:saved_cases"],
    "analysis/(call)": ["cli:calls_cases", "cli:calls_view_cases", "cli:analysis_loss_cases",
                        "cli:saved_cases"],
    "analysis/(coverage|edge_|range_counts|outcome)": ["cli:coverage_cases", "cli:saved_cases"],
    "analysis/(timeline|times)": ["cli:timeline_cases", "cli:timeline_format_cases"],
    "analysis/(interrupt)": ["cli:interrupts_cases"],
    "analysis/(channel)": ["cli:channels_cases"],
    "analysis/(autofdo|samples|branch)": ["cli:perf_cases", "cli:feedback_cases"],
    "analysis/(stat)": ["cli:output_cases !interrupt", "cli:listing_cases"],
    "analysis/(builds|sav|load|merge)": ["cli:saved_cases", "cli:shard_cases"],
    "capture/perf": ["cli:perf_cases", "cli:missing_cases"],
    "image/symbols": ["cli:inline_cases", "cli:module_cases", "cli:loop_cases", "cli:profile_table_cases"],
    "tree/bits": ["cli:bits_cases"],
}
OTHER = DECODING  # of a folder that has no row yet
# Limits of a run: processor time, so that a busy machine changes nothing; and time, for what waits.
LEAST, TIMES = 5, 4
WAIT_LEAST, WAIT_TIMES = 60, 30
MEMORY, FILE = 3 << 30, 1 << 28


def own(folder, programs):
    return [name for name in programs if re.fullmatch(f"(test|replay)_{folder}(_.*)?", name)]


def second(path, folder, programs):
    """Further tests that are there; nothing that the first row has."""
    first = own(folder, programs)
    names = SECOND.get(folder, OTHER) + [name for pattern, more in FILES.items()
                                         if re.match(f"src/{pattern}", path) for name in more]
    return [name for name in dict.fromkeys(names)
            if name not in first and (":" in name or name in programs)]


def middle(path, folder, programs):
    """Of the further tests those that look at much in little time."""
    found = []
    for name in second(path, folder, programs):
        if name == "cli:digest_cases":
            found += [f"cli:digests_{word}" for word in DIGESTS.get(folder, BROAD)]
        elif not name.startswith("golden:"):
            found.append(name)
    return list(dict.fromkeys(found))


class Runner:
    """Runs tests of one build tree with a limit of time that follows from the unchanged run."""

    def __init__(self, build, is_sanitized):
        self.build, self.programs = build, build.programs()
        self.is_sanitized = is_sanitized
        self.times_file = build.folder / "times.json"
        self.times = {}
        if self.times_file.exists():
            self.times = json.loads(self.times_file.read_text())
        self.environment = dict(os.environ)
        corpus = build.copy.root / ".." / "shared" / "corpus"
        if "TRACKWAY_CORPUS" not in self.environment and corpus.is_dir():
            self.environment["TRACKWAY_CORPUS"] = str(corpus.resolve())
        self.environment["TMPDIR"] = str(build.folder / "tmp")
        (build.folder / "tmp").mkdir(exist_ok=True)

    def command(self, name):
        if name.startswith("script:"):
            return [sys.executable, "-u", self.build.copy.folder / "tests" / f"{name[7:]}.py",
                    self.build.folder / "trackway", self.environment.get("TRACKWAY_CORPUS", ".")]
        if ":" in name:
            script, word = name.split(":")
            words = [sys.executable, "-u", self.build.copy.folder / "tests" / script / "run.py",
                     self.build.folder / "trackway"]
            return words + word.split()
        words = [self.programs[name]]
        if name.startswith("replay_"):
            inputs = self.build.copy.folder / "fuzz" / "corpus" / name[len("replay_"):]
            words += sorted(inputs.iterdir()) if inputs.is_dir() else []
        return words

    def run(self, name, takes):
        """None when it passes, else how it failed: the case's name, "status N", "hang"."""
        seconds = LEAST + int(TIMES * takes)

        def limit():
            """A mutant may run for ever, ask for all memory and fill the disk."""
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.is_sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        with tempfile.TemporaryDirectory(dir=self.environment["TMPDIR"]) as folder:
            process = subprocess.Popen([str(word) for word in self.command(name)], cwd=folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, env=self.environment,
                                       start_new_session=True, preexec_fn=limit)
            is_late = []

            def stop():
                is_late.append(True)
                kill(process)

            timer = threading.Timer(WAIT_LEAST + WAIT_TIMES * takes, stop)
            timer.start()
            failed = None
            for line in process.stdout:
                found = re.match(rb"\[  FAILED  \] (\w+)", line)
                if found and not failed:
                    failed = found.group(1).decode()
                    kill(process)
            status = process.wait()
            timer.cancel()
            process.stdout.close()
        if is_late or status == -signal.SIGKILL and not failed:
            return "hang"
        return failed or (f"status {status}" if status else None)

    def version(self, name):
        """Changes with the unchanged library, and with the test itself."""
        files = [self.programs[name]] if name in self.programs else \
            sorted((self.build.copy.folder / "tests").glob("**/*.py"))
        text = hashlib.sha256(self.build.clean.encode())
        for path in files:
            text.update(path.read_bytes())
        return text.hexdigest()

    def measure(self, names, most=100):
        """Runs tests on the unchanged library and notes the time of each; gives those that fail, and
        can tell nothing of mutants.  One that takes far longer than `most` is not run to its end."""
        for name in names:
            known = self.times.get(name, {})
            version = self.version(name)
            if known.get("of") == version and not (known["failed"] == "hang" and
                                                            known["takes"] < TIMES * most):
                continue
            start = processor_time()
            failed = self.run(name, most)
            self.times[name] = {"of": version, "takes": processor_time() - start,
                                "failed": failed}
            self.times_file.write_text(json.dumps(self.times, indent=1))
        return [f"{name} ({self.times[name]['failed']})" for name in names if self.is_broken(name)]

    def is_broken(self, name):
        return bool(self.times.get(name, {}).get("failed"))

    def first_failure(self, names):
        """(test, how) of the first test that fails; None when all pass."""
        for name in names:
            why = self.run(name, self.takes(name))
            if why:
                return name, why
        return None

    def takes(self, name):
        return self.times.get(name, {}).get("takes", 100)


def processor_time():
    """Of all programs that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
