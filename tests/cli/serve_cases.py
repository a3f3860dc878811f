# SPDX-License-Identifier: BSD-2-Clause
"""trackway serve: what it refuses; windows are what `timeline --from --to` says of them; the page works over HTTP."""
import http.client
import json
import os
import random
import re
import select
import shutil
import socket
import time

from harness import ROOT, Skip, case, corpus, equal
from report_cases import DEMO, lines_of, read_report, repeated, report, same_functions
from report_data import Data

FULL = bool(os.environ.get("TW_TEST_FULL"))
WINDOW_MEDIAN, WINDOW_MOST = 0.05, 0.25  # seconds of windows up to 4 MiB: half of them, 99 of 100


class Server:
    """A server while it is needed."""

    def __init__(self, tool, *words, command="serve", **more):
        self.process = tool.start(command, *words, "-q", **more)
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?k=([0-9a-f]{32})\n", line)
        if not found:
            said = self.process.communicate()[1].decode()
            if "this build has no server" in said:
                raise Skip("built without libmicrohttpd")
            raise AssertionError(line + said)
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self):
        return self

    def __exit__(self, *about):
        assert self.process.poll() is None, self.process.communicate()[1].decode()[-3000:]
        self.process.terminate()
        said = self.process.communicate(timeout=100)[1].decode()
        assert "Sanitizer" not in said, said[-4000:]

    def ask(self, path, method="GET", headers=None, **words):
        """Status and body."""
        words.setdefault("k", self.token)
        query = "&".join(f"{key}={value}" for key, value in words.items() if value is not None)
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        link.request(method, path + "?" + query, headers=headers or {})
        answer = link.getresponse()
        body = answer.read()
        self.headers = answer.headers
        link.close()
        return answer.status, body

    def data(self, path, **words):
        status, body = self.ask(path, **words)
        equal(status, 200, body[:200])
        return Data(body)


@case
def view_starts_the_browser_that_there_is(tool):
    for name in ("xdg-open", "sensible-browser"):
        browser = tool.write(f"{name}-only/{name}", f"#!/bin/sh\nprintf %s \"$1\" > {tool.folder}/{name}.part\n"
                             f"mv {tool.folder}/{name}.part {tool.folder}/{name}.url\n")
        browser.chmod(0o755)
        for program in ("sh", "mv"):
            (browser.parent / program).symlink_to(shutil.which(program))
        with Server(tool, DEMO, command="view", env=dict(os.environ, PATH=str(browser.parent))) as server:
            told = tool.folder / f"{name}.url"
            end = time.monotonic() + 60
            while not told.exists() and time.monotonic() < end:
                time.sleep(0.01)
            equal(told.read_text(), f"http://127.0.0.1:{server.port}/?k={server.token}", name)


@case
def serve_answers_those_alone_who_know_its_address(tool):
    with Server(tool, DEMO) as server:
        equal(server.ask("/")[0], 200)
        for header in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options", "Cache-Control"):
            assert server.headers[header], header
        assert "connect-src 'self'" in server.headers["Content-Security-Policy"]
        for token in (None, "", "0" * 32, server.token[:-1], server.token + "0", server.token.upper() + "x", server.token[::-1]):
            equal(server.ask("/info", k=token)[0], 403, token)
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"localhost.evil:{server.port}", ""):
            equal(server.ask("/info", headers={"Host": host})[0], 403, host)
        equal(server.ask("/info", headers={"Host": f"localhost:{server.port}"})[0], 200)
        equal(server.ask("/info", headers={"Origin": "http://evil.example"})[0], 403)
        equal(server.ask("/info", headers={"Origin": f"http://127.0.0.1:{server.port}"})[0], 200)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW"):
            equal(server.ask("/info", method=method)[0], 405, method)
        for path in ("/etc/passwd", "/../../etc/passwd", "/info/", "//", "/%2e%2e/", "/window/../info", "/data.html"):
            equal(server.ask(path)[0], 404, path)
        for words in ({}, {"capture": 1}, {"capture": -1}, {"capture": "x"}, {"capture": ""}, {"capture": "18446744073709551616"}):
            equal(server.ask("/data", **words)[0], 400, words)
        for words in ({}, {"from": 0}, {"from": 5, "to": 5}, {"from": 9, "to": 5}, {"from": "0x0", "to": 9}, {"from": 0, "to": "99999999999999999999"}):
            equal(server.ask("/window", capture=0, **words)[0], 400, words)
        equal(server.ask("/window", capture=0, **{"from": 0, "to": 2**40})[0], 413)
        info = json.loads(server.ask("/info")[1])
        equal(info["captures"], [{"words": str(DEMO), "bytes": 2848, "sampled": 0}])


@case
def serve_listens_on_this_machine_alone(tool):
    with Server(tool, DEMO) as server:
        lines = open(f"/proc/{server.process.pid}/net/tcp", encoding="ascii").read().splitlines()[1:]
        mine = [line.split()[1] for line in lines if line.split()[1].endswith(f":{server.port:04X}") and line.split()[3] == "0A"]
        equal(mine, [f"0100007F:{server.port:04X}"])


@case
def serve_lives_through_malformed_requests(tool):
    chance = random.Random(20)
    good = b"GET /window?k=%s&capture=0&from=10&to=900 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n"
    with Server(tool, DEMO) as server:
        good = good % (server.token.encode(), server.port)
        for _ in range(10000 if FULL else 300):
            bad = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                at = chance.randrange(len(bad))
                how = chance.randrange(4)
                if how == 0:
                    bad[at] = chance.randrange(256)
                elif how == 1:
                    del bad[at:at + chance.randrange(20)]
                elif how == 2:
                    bad[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(30)))
                else:
                    bad[at:at] = bytes(bad[at:at + 10]) * chance.randrange(200)
                bad = bad or bytearray(b"\r")
            link = socket.create_connection(("127.0.0.1", server.port), timeout=30)
            try:
                link.sendall(bad)
                link.shutdown(socket.SHUT_WR)
                while link.recv(65536):
                    pass
            except OSError:
                pass
            link.close()
        equal(server.ask("/info")[0], 200)


@case
def serve_has_the_data_of_the_report(tool):
    want = read_report(report(tool, "two.html", DEMO, ROOT / "tests" / "captures" / "demo"))
    with Server(tool, DEMO, DEMO) as server:
        for number in (0, 1):
            got = server.data("/data", capture=number)
            equal(got.directory, want[number].directory)
            equal(got.block, want[number].block)


def same_window(tool, server, words, first, end, by=None):
    """A window is what the timeline says of it, bytes or times."""
    mark = "t:" if by else ""
    data = server.data("/window", capture=0, by=by, **{"from": first, "to": end})
    base = int(data.info["first"])
    got = sorted((row["name"].decode("utf-8", "replace"), row["depth"], row["start"] + base, row["start"] + row["length"] + base, row["index"], row["n"])
                 for row in data.rows("spans") if row["kind"] != 3)
    want = sorted((row["name"], row["depth"], row["est"], row["est_end"], row["i"], max(0, row["n1"] - row["n0"]))
                  for row in lines_of(tool, "timeline", *words, "--from", f"{mark}{first}", "--to", f"{mark}{end}") if row["t"] == "SLICE")
    equal(got, want, f"from {first} to {end}")
    return len(got)


@case
def serve_windows_are_what_timeline_says(tool):
    """With an index and without one; sizes log-uniform from 1 KiB on."""
    chance = random.Random(8)
    folder = repeated(tool, 40 if FULL else 16)
    size = (folder / "ETB_0.bin").stat().st_size
    spans = 0
    for number in range(2):
        if number:
            tool.run("index", "build", folder, status=None)
        with Server(tool, folder) as server:
            for _ in range(500 if FULL else 12):
                length = int(1024 * (size / 1024) ** chance.random())
                first = chance.randrange(0, max(1, size - length))
                spans += same_window(tool, server, [folder], first, first + length)
            spans += same_window(tool, server, [folder], 0, size)
            memory = re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{server.process.pid}/status", encoding="ascii").read())
            assert int(memory[1]) < 512 * 1024 or os.environ.get("TW_SANITIZED"), memory[0]
    assert spans > 500, spans


@case
def serve_windows_by_time_are_of_all_sources(tool):
    """Of perf.data two CPUs are in one clock: its first and last microseconds, all of it, and some between."""
    chance = random.Random(9)
    for name in ("p10-walk-percpu-etmv4-v1", "p12-walk-percpu-ete-raw-vmid-v1"):
        words = [corpus() / "perf" / f"{name}.perf.data", "--sysroot", corpus() / "perf" / "root"]
        spans = 0
        with Server(tool, *words) as server:
            whole = server.data("/data", capture=0).info
            first, length = int(whole["first"]), int(whole["length"])
            for number in range(100 if FULL else 8):
                size = length + 1 if not number else chance.randrange(1, length)
                at = first + chance.randrange(0, length - size + 2)
                spans += same_window(tool, server, words, at, at + size, "time")
            equal(server.ask("/perfetto", capture=0, by="time", **{"from": first, "to": first + length})[0], 200)
            equal(server.ask("/window", capture=0, by="luck", **{"from": 0, "to": 9})[0], 400)
        assert spans > 500, spans


@case
def serve_large_windows_are_what_the_commands_say(tool):
    """From 256 KiB on a thread decodes ahead; beyond some ten thousand spans they are merged, and their sums stay."""
    folder = repeated(tool, 500 if FULL else 100)
    tool.run("index", "build", folder, status=None)
    with Server(tool, folder) as server:
        for first, end in ((0, 280000), (3000, 270000), (1000, 1400000)) if FULL else ((3000, 270000),):
            words = ["--from", first, "--to", end]
            if end < 1000000:
                same_window(tool, server, [folder], first, end)
            data = server.data("/window", capture=0, **{"from": first, "to": end})
            same_functions(tool, data, [folder, *words])
            slices = [row for row in lines_of(tool, "timeline", folder, *words) if row["t"] == "SLICE"]
            spans = [row for row in data.rows("spans") if row["kind"] != 3]
            equal(sum(row["count"] for row in spans), len(slices))
            equal(sum(row["n"] for row in spans), sum(max(0, row["n1"] - row["n0"]) for row in slices))


@case
def serve_gives_windows_to_perfetto(tool):
    with Server(tool, DEMO, "--perfetto", "kept") as server:
        status, body = server.ask("/perfetto", capture=0, **{"from": 500, "to": 1500})
        assert not (tool.folder / "kept").exists()
        server.data("/window", capture=0, **{"from": 0, "to": 900})
        server.data("/window", capture=0, **{"from": 500, "to": 1500})
        equal((tool.folder / "kept").read_bytes(), body)
        equal(json.loads(server.ask("/info")[1])["captures"][0]["words"], str(DEMO))
    equal(status, 200)
    equal([path.name for path in tool.folder.iterdir()], ["kept"])
    tool.run("timeline", DEMO, "--from", 500, "--to", 1500, "--format", "perfetto", "-q", "-o", "want")
    want = (tool.folder / "want").read_bytes()
    assert body[:1] == want[:1] == b"\n", body[:20]
    assert abs(len(body) - len(want)) < 200, (len(body), len(want))


def newer_cancels(server):
    """Whether a window that is being made when another is asked for is given up; None: it was made before that."""
    asked = socket.create_connection(("127.0.0.1", server.port), timeout=300)
    spent = processor_seconds(server)
    asked.sendall(f"GET /window?k={server.token}&capture=0&view=7&from=0&to={8 << 20} HTTP/1.1\r\n"
                  f"Host: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
    while processor_seconds(server) < spent + 0.03 and not select.select([asked], [], [], 0.005)[0]:
        pass
    equal(server.ask("/window", capture=0, view=7, **{"from": 0, "to": 4096})[0], 200)
    with asked, asked.makefile("rb") as answer:
        status = int(answer.readline().split()[1])
    assert status in (200, 409), status
    return status == 409


@case
def serve_a_newer_window_cancels_an_older_one(tool):
    folder = repeated(tool, 2900)
    tool.run("index", "build", folder, status=None)
    with Server(tool, folder) as server:
        assert any(newer_cancels(server) for _ in range(20)), "each of 20 was made to its end"
        # those of another view do not
        equal(server.ask("/window", capture=0, view=8, **{"from": 0, "to": 4096})[0], 200)


def processor_seconds(server):
    words = open(f"/proc/{server.process.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def window_seconds(server, first, end):
    """Processor time of the thread that answers, which waits for the one that decodes ahead at most as long as that would
    take alone; of several times the least, where it is too long: others who work make it longer, never shorter."""
    least = 1e9
    for _ in range(4):
        server.data("/window", capture=0, **{"from": first, "to": end})
        words = dict(re.findall(r"(\w+);dur=([\d.]+)", server.headers["Server-Timing"]))
        least = min(least, max(float(words["cpu"]), float(words["decode"])) / 1000)
        if least < WINDOW_MOST:
            break
    return least


def tiles_of(server, first, end):
    return json.loads(server.ask("/tiles", capture=0, **{"from": first, "to": end})[1])


def tiles_known(server, size, wanted):
    """Tiles of all of a capture, once so many of its bytes are known."""
    end = time.time() + 500
    while True:
        tiles = tiles_of(server, 0, size)
        if tiles["done"] >= wanted or time.time() > end:
            return tiles
        time.sleep(0.2)


def same_tiles(server, tile, count):
    """A tile's sums are those of its bytes when they are decoded."""
    first, last = tile << 16, tile + count << 16
    tiles = [one for one in tiles_of(server, first, last)["tiles"] if one["to"] <= last]
    window = server.data("/window", capture=0, **{"from": first, "to": last})
    equal(len(tiles), count)
    equal(sum(one["instructions"] for one in tiles), window.info["instructions"], f"from {first} to {last}")


@case
def serve_shows_large_captures_from_afar(tool):
    """Stretches first, the rest behind them; tiles say what windows say: in the full run any number of them, of each level."""
    if os.environ.get("TW_SANITIZED"):
        raise Skip("64 MiB of trace: asked of the optimised build alone")
    times = 24000
    folder = repeated(tool, times)
    size = (folder / "ETB_0.bin").stat().st_size
    chance = random.Random(5)
    tool.run("index", "build", folder, status=None)
    with Server(tool, folder) as server:
        equal(json.loads(server.ask("/info")[1])["captures"][0]["sampled"], 4 << 20)
        data = server.data("/data", capture=0)
        assert 0 < data.info["instructions"] < 51431 * times / 8, data.info["instructions"]
        tiles = tiles_known(server, size, size if FULL else 1 << 20)
        for _ in range(40 if FULL else 4):
            same_tiles(server, 64 * chance.randrange(0, size // (64 << 16) - 1), chance.randrange(1, 60) if FULL else 1)
    equal(tiles["bytes"], size)
    assert tiles["done"] >= 1 << 20 and len(tiles["tiles"]) <= 1100, tiles["done"]
    equal([tile["from"] for tile in tiles["tiles"][1:]], [tile["to"] for tile in tiles["tiles"][:-1]])
    seen = [tile for tile in tiles["tiles"] if "instructions" in tile]
    assert len(seen) > 10 and all(tile["name"] == "memset" for tile in seen), seen[:2]
    for tile in seen:
        selves = [one["self"] for one in tile["functions"]]
        equal(tile["functions"][0], {"name": tile["name"], "self": tile["self"]})
        assert len(selves) == 8 and selves == sorted(selves, reverse=True) and sum(selves) <= tile["instructions"], tile
    total = sum(tile["instructions"] for tile in seen)
    rate = total / tiles["done"]
    assert abs(rate / (51431 / 2848) - 1) < 0.05, rate
    if FULL:  # all of it, at the level that is shown: as much as is executed in all
        equal(total, json.loads(tool.run("profile", folder, "--format", "jsonl", "--self", "-q", status=None).out.splitlines()[-1])["instructions"])


@case
def serve_keeps_tiles_for_the_next_time(tool):
    """With --build-index: the next server has all tiles at once, but not those of another capture."""
    if os.environ.get("TW_SANITIZED"):
        raise Skip("64 MiB of trace: asked of the optimised build alone")
    folder = repeated(tool, 24000)
    trace = folder / "ETB_0.bin"
    size = trace.stat().st_size
    with Server(tool, f"{folder}/", "--build-index", "--threads", "1") as server:
        first = tiles_known(server, size, size)
        equal(first["done"], size)
        end = time.time() + 100
        while not folder.with_suffix(".twp").exists() and time.time() < end:
            time.sleep(0.05)
    with Server(tool, folder) as server:
        equal(tiles_of(server, 0, size), first)
    with open(trace, "r+b") as file:
        file.write(bytes(64))
    with Server(tool, folder) as server:
        assert tiles_of(server, 0, size)["done"] < size


@case
def serve_keeps_to_its_budgets(tool):
    """On a generated capture of TRACKWAY_SERVE_GIB (1) GiB: processor time of the first picture and of windows, and memory."""
    if not FULL:
        raise Skip("in the full run alone: a gigabyte of trace")
    gigabytes = float(os.environ.get("TRACKWAY_SERVE_GIB", "1"))
    folder = repeated(tool, int(gigabytes * 2**30) // 2848)
    size = (folder / "ETB_0.bin").stat().st_size
    chance = random.Random(12)
    tool.run("index", "build", folder, status=None)
    with Server(tool, folder) as server:
        server.data("/data", capture=0)
        first = processor_seconds(server)
    assert first < 2, first
    with Server(tool, folder, "--build-index") as server:
        saved = tool.folder / "repeated.twp"
        end = time.time() + 3000 * gigabytes
        while not saved.exists() and time.time() < end:
            time.sleep(1)
        building = processor_seconds(server)
    with Server(tool, folder) as server:
        server.data("/data", capture=0)
        again = processor_seconds(server)
        spent = []
        for _ in range(1000):
            length = int(1024 * 4096 ** chance.random())
            at = chance.randrange(0, size - length)
            spent.append(window_seconds(server, at, at + length))
        memory = int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{server.process.pid}/status", encoding="ascii").read())[1])
    spent.sort()
    print(f"{gigabytes:g} GiB: first picture {first:.2f} s, with its pyramid {again:.2f} s; pyramid {building:.0f} s; windows {1000 * spent[500]:.1f} ms, "
          f"99 % within {1000 * spent[989]:.0f} ms; {memory >> 10} MiB")
    assert again < 0.3 and spent[500] < WINDOW_MEDIAN and spent[989] < WINDOW_MOST and memory < 512 << 10, (again, spent[500], spent[989], memory)


@case
def serve_small_captures_have_no_tiles(tool):
    with Server(tool, DEMO) as server:
        equal(server.ask("/tiles", capture=0, **{"from": 0, "to": 2848})[0], 404)
        equal(server.ask("/tiles", capture=0)[0], 400)


@case
def serve_says_what_is_wrong(tool):
    done = tool.run("serve", "nowhere", status=3)
    assert "nowhere" in done.err, done.err
    tool.run("serve", DEMO, "--port", "70000", status=2)
