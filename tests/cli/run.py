#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the built program as a user does: usage: run.py PROGRAM [NAME...]."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
import arm_statement_cases  # noqa: E402,F401
import analysis_loss_cases  # noqa: E402,F401
import bad_input  # noqa: E402,F401
import bits_cases  # noqa: E402,F401
import browser_cases  # noqa: E402,F401
import calls_cases  # noqa: E402,F401
import calls_m_cases  # noqa: E402,F401
import calls_view_cases  # noqa: E402,F401
import channels_cases  # noqa: E402,F401
import colour_cases  # noqa: E402,F401
import corpus_cases  # noqa: E402,F401
import csv_cases  # noqa: E402,F401
import coverage_cases  # noqa: E402,F401
import damaged_cases  # noqa: E402,F401
import decode_cases  # noqa: E402,F401
import gdb_cases  # noqa: E402,F401
import gdb_frontend_cases  # noqa: E402,F401
import gdb_frames_cases  # noqa: E402,F401
import gdb_machines_cases  # noqa: E402,F401
import gdb_protocol_cases  # noqa: E402,F401
import gdb_programs_cases  # noqa: E402,F401
import gdb_real_cases  # noqa: E402,F401
import demo_cases  # noqa: E402,F401
import diff_cases  # noqa: E402,F401
import digest_cases  # noqa: E402,F401
import doctor_cases  # noqa: E402,F401
import encode_cases  # noqa: E402,F401
import encode_m_cases  # noqa: E402,F401
import encode_sw_cases  # noqa: E402,F401
import encode_etrace_cases  # noqa: E402,F401
import etrace_statement_cases  # noqa: E402,F401
import far_cases  # noqa: E402,F401
import fault_cases  # noqa: E402,F401
import feedback_cases  # noqa: E402,F401
import frames_cases  # noqa: E402,F401
import hostile_cases  # noqa: E402,F401
import identify_cases  # noqa: E402,F401
import index_cases  # noqa: E402,F401
import inline_cases  # noqa: E402,F401
import interrupted_cases  # noqa: E402,F401
import interrupts_cases  # noqa: E402,F401
import listing_cases  # noqa: E402,F401
import message_cases  # noqa: E402,F401
import missing_cases  # noqa: E402,F401
import module_cases  # noqa: E402,F401
import loop_cases  # noqa: E402,F401
import ntrace_cases  # noqa: E402,F401
import output_cases  # noqa: E402,F401
import perf_cases  # noqa: E402,F401
import plugin_cases  # noqa: E402,F401
import profile_cases  # noqa: E402,F401
import profile_table_cases  # noqa: E402,F401
import reader_cases  # noqa: E402,F401
import refusal_cases  # noqa: E402,F401
import record_cases  # noqa: E402,F401
import record_dynamic_cases  # noqa: E402,F401
import record_programs_cases  # noqa: E402,F401
import record_system_cases  # noqa: E402,F401
import repeat_cases  # noqa: E402,F401
import report_cases  # noqa: E402,F401
import serve_cases  # noqa: E402,F401
import static_cases  # noqa: E402,F401
import saved_cases  # noqa: E402,F401
import several_cases  # noqa: E402,F401
import shard_cases  # noqa: E402,F401
import small_cases  # noqa: E402,F401
import snapshot_cases  # noqa: E402,F401
import terminal_cases  # noqa: E402,F401
import threads_cases  # noqa: E402,F401
import timeline_cases  # noqa: E402,F401
import timeline_format_cases  # noqa: E402,F401
import timeline_picture_cases  # noqa: E402,F401
import sim_riscv_cases  # noqa: E402,F401
import trbe_cases  # noqa: E402,F401
import usage_cases  # noqa: E402,F401
import witness_cases  # noqa: E402,F401

sys.exit(harness.main())
