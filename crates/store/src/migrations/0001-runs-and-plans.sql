-- Unless a column says otherwise: durations are nanoseconds on the run's clock, sizes are bytes, and a number of 2^63 or
-- more, which SQLite cannot hold, is stored as the negative number with the same 64 bits. NULL means unknown. JSON is as
-- the model writes it.

-- What the store knows about itself.
CREATE TABLE setting (
    -- 'facts_version': version of the function that the rows of run_fact and record_fact are from.
    name TEXT PRIMARY KEY,
    -- The value.
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A machine or a target as it was read, each different one once: many runs share it. What changes by itself
-- (temperatures, free space) is kept with the run.
CREATE TABLE record (
    -- Number of the row; means nothing outside this file.
    id INTEGER PRIMARY KEY,
    -- SHA-256 of kind, a line feed and content, in hexadecimal.
    digest TEXT NOT NULL UNIQUE,
    -- 'machine' or 'target'.
    kind TEXT NOT NULL CHECK (kind IN ('machine', 'target')),
    -- The facts, JSON.
    content TEXT NOT NULL
) STRICT;

-- One execution of one workload on one subject.
CREATE TABLE run (
    -- Number of the row; means nothing outside this file.
    id INTEGER PRIMARY KEY,
    -- The run's name in every store it travels to; version 7, so that names sort by time.
    uuid TEXT NOT NULL UNIQUE,
    -- Wall clock at the start, RFC 3339 in UTC.
    started TEXT,
    -- Name of the tool.
    tool TEXT NOT NULL,
    -- Name of the workload within the tool.
    workload TEXT NOT NULL,
    -- Word that the user gave the run.
    label TEXT,
    -- The plan as it ran, every default filled in, JSON.
    plan TEXT NOT NULL,
    -- Where it ran.
    machine INTEGER NOT NULL REFERENCES record (id),
    -- What changes on that machine by itself, as it was at the start, JSON.
    machine_state TEXT,
    -- What was measured on; NULL for work that needs no storage.
    target INTEGER REFERENCES record (id),
    -- What changes on that target by itself, as it was at the start, JSON.
    target_state TEXT,
    -- The kernel's identifier of the boot.
    boot_id TEXT,
    -- What a nanosecond is: 'wall', 'emulated', 'instructions' (then it is no time) or 'scripted'.
    clock TEXT NOT NULL,
    -- The blocked experiment it belongs to.
    session TEXT,
    -- Round of that experiment, from 0.
    block INTEGER,
    -- Place within the round, from 0.
    position INTEGER,
    -- Contender.
    arm TEXT,
    -- SHA-256 of the text that an import is from, in hexadecimal; NULL for a run that this program measured.
    import_digest TEXT,
    -- Name of the file with that text, as given.
    import_file TEXT,
    -- Line of the text on which the figures stand, from 1.
    import_line INTEGER,
    -- What the text says about its statistics and what could not be known, a JSON list of texts.
    import_notes TEXT,
    -- 'complete', 'partial', 'failed' or 'voided'; 'partial' while it runs.
    outcome TEXT NOT NULL,
    -- Why it is not complete.
    reason TEXT,
    -- Time of the whole run, set-up and clean-up included.
    elapsed_ns INTEGER,
    -- User time of the program and its workers.
    user_ns INTEGER,
    -- System time of the program and its workers.
    system_ns INTEGER,
    -- The figures to be shown and how they follow, the deciding one first, JSON.
    metrics TEXT NOT NULL,
    -- Why a reader should be careful, JSON.
    doubts TEXT NOT NULL
) STRICT;

-- Finds the runs of a machine.
CREATE INDEX run_machine ON run (machine);

-- Finds the runs on a target.
CREATE INDEX run_target ON run (target);

-- Finds the runs of a session.
CREATE INDEX run_session ON run (session) WHERE session IS NOT NULL;

-- Finds what was imported from a text.
CREATE INDEX run_import ON run (import_digest) WHERE import_digest IS NOT NULL;

-- Facts of single runs, for selection; derived from the run, and written anew when a later program derives more.
CREATE TABLE run_fact (
    -- The run.
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- 'tool', 'label', 'kernel', 'param.clients' and so on.
    key TEXT NOT NULL,
    -- The value as text.
    value TEXT NOT NULL,
    PRIMARY KEY (run, key, value)
) STRICT, WITHOUT ROWID;

-- Finds runs by a fact.
CREATE INDEX run_fact_value ON run_fact (key, value, run);

-- Facts of machines and targets, for selection; derived like those of run_fact.
CREATE TABLE record_fact (
    -- The machine or target.
    record INTEGER NOT NULL REFERENCES record (id) ON DELETE CASCADE,
    -- 'machine.kernel.release', 'target.vm.dirty_ratio' and so on.
    key TEXT NOT NULL,
    -- The value as text.
    value TEXT NOT NULL,
    PRIMARY KEY (record, key, value)
) STRICT, WITHOUT ROWID;

-- Finds machines and targets by a fact.
CREATE INDEX record_fact_value ON record_fact (key, value, record);

-- Every fact of every run by the run's name: columns uuid, key, value.
CREATE VIEW fact AS
SELECT run.uuid, run_fact.key, run_fact.value FROM run JOIN run_fact ON run_fact.run = run.id
UNION ALL
SELECT run.uuid, record_fact.key, record_fact.value FROM run JOIN record_fact ON record_fact.record IN (run.machine, run.target);

-- A named, timed part of a run.
CREATE TABLE phase (
    -- Number of the row, rising within a run; means nothing outside this file.
    id INTEGER PRIMARY KEY,
    -- The run.
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- Place within the run, from 0.
    position INTEGER NOT NULL,
    -- The name that people know.
    name TEXT NOT NULL,
    -- Where inside the run it was measured, axis to value, JSON.
    point TEXT NOT NULL,
    -- Which repetition of that point, from 1.
    repetition INTEGER NOT NULL,
    -- When the window opened, since the run's start.
    start_ns INTEGER NOT NULL,
    -- Length of the window.
    elapsed_ns INTEGER NOT NULL,
    -- From the workers' release to the opening of the window.
    warm_up_ns INTEGER NOT NULL,
    -- How the workers were made: 'fork', 'exec' or 'thread'; NULL for an import.
    spawn TEXT,
    -- The machine's raw counters before and after: a byte 1, then the deflated JSON of both.
    counters BLOB,
    UNIQUE (run, position)
) STRICT;

-- Name of a kind of operation in a phase.
CREATE TABLE op (
    -- The phase.
    phase INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- Index of the op within the phase, from 0.
    op INTEGER NOT NULL,
    -- The name that people know.
    name TEXT NOT NULL,
    -- 1 for a span of several ops, which is timed but not added to them; else 0.
    span INTEGER NOT NULL,
    -- Which way its bytes go, 'read' or 'write'; NULL for an op that moves none, or both ways.
    direction TEXT,
    PRIMARY KEY (phase, op)
) STRICT, WITHOUT ROWID;

-- What one worker did in a phase.
CREATE TABLE worker (
    -- The phase.
    phase INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- The worker, from 0.
    rank INTEGER NOT NULL,
    -- When its part of the window began, since the phase's start.
    start_ns INTEGER NOT NULL,
    -- When it ended, since the phase's start.
    end_ns INTEGER NOT NULL,
    -- How it ended, JSON: "done", "stopped", {"failed": text} or {"killed": signal}.
    state TEXT NOT NULL,
    -- Index of the op that the end of the window cut; NULL if none was in flight.
    cut_op INTEGER,
    -- How long that op took in all.
    cut_ns INTEGER,
    PRIMARY KEY (phase, rank)
) STRICT, WITHOUT ROWID;

-- Counts and latencies of one op by one worker. No row: it did not happen.
CREATE TABLE op_count (
    -- The phase.
    phase INTEGER NOT NULL,
    -- Rank of the worker.
    worker INTEGER NOT NULL,
    -- Index of the op within the phase.
    op INTEGER NOT NULL,
    -- How many ended in the window.
    count INTEGER NOT NULL,
    -- Bytes they moved.
    bytes INTEGER NOT NULL,
    -- How many of them did not end as they should.
    unexpected INTEGER NOT NULL,
    -- Sum of their latencies.
    total_ns INTEGER NOT NULL,
    -- The longest latency.
    max_ns INTEGER NOT NULL,
    -- How the latencies are spread: a byte 1, the number of buckets, then for each bucket in which something fell the
    -- distance to the one before and the count, all as LEB128. Buckets: below 64 ns one each, then 64 to each doubling.
    histogram BLOB NOT NULL,
    FOREIGN KEY (phase, worker) REFERENCES worker (phase, rank) ON DELETE CASCADE
) STRICT;

-- One row for each op of a worker.
CREATE UNIQUE INDEX op_count_place ON op_count (phase, worker, op);

-- What happened in each interval of a phase.
CREATE TABLE series (
    -- The phase.
    phase INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- Place within the phase, from 0.
    position INTEGER NOT NULL,
    -- 'time' and 'longest_nanos' in ns, 'count', 'bytes', 'dirty_bytes' and 'writeback_bytes' in bytes, 'frequency_khz'.
    kind TEXT NOT NULL,
    -- Name of the op; NULL for all together.
    op TEXT,
    -- Rank of the worker; NULL for all together.
    worker INTEGER,
    -- A byte 1, then deflated LEB128: how many values, then each one's difference to the one before, zig-zag coded.
    data BLOB NOT NULL
) STRICT;

-- One row for each place.
CREATE UNIQUE INDEX series_place ON series (phase, position);

-- One number as measured or as reported.
CREATE TABLE sample (
    -- The phase.
    phase INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- Place within the phase, from 0.
    position INTEGER NOT NULL,
    -- What it is.
    metric TEXT NOT NULL,
    -- Name of the op that it is of; NULL for all.
    op TEXT,
    -- Rank of the worker that it is of; NULL for all.
    worker INTEGER,
    -- Which repetition, from 1.
    repetition INTEGER NOT NULL,
    -- Kind and unit of the value: 'count', 'bytes', 'nanos', 'instructions', 'ratio' or 'reported'.
    kind TEXT NOT NULL CHECK (kind IN ('count', 'bytes', 'nanos', 'instructions', 'ratio', 'reported')),
    -- The number; for 'reported' the text as it was printed.
    value ANY NOT NULL,
    -- For 'reported': half a unit of the last digit, in the figure's unit.
    half_unit REAL,
    -- For 'reported': what it is of the values behind it: 'single', 'mean', 'median', 'sum', 'min', 'max' or 'unknown'.
    statistic TEXT,
    -- For 'reported': how many values are behind it.
    of_values INTEGER,
    PRIMARY KEY (phase, position)
) STRICT, WITHOUT ROWID;

-- Runs that were asked for together, so that an interrupted plan can go on where it stopped.
CREATE TABLE plan (
    -- Version 7: names sort by the time at which the plan began.
    uuid TEXT PRIMARY KEY,
    -- What the user calls it.
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One run of a plan.
CREATE TABLE plan_run (
    -- The plan.
    plan TEXT NOT NULL REFERENCES plan (uuid) ON DELETE CASCADE,
    -- Place within the plan, from 0.
    position INTEGER NOT NULL,
    -- The run as it shall be made, JSON.
    run_plan TEXT NOT NULL,
    -- Name of the run that was made last for it. It may be in no table yet, or deleted since.
    run TEXT,
    -- 'pending', 'running' (also after a kill) or 'done'.
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done')),
    PRIMARY KEY (plan, position)
) STRICT, WITHOUT ROWID;
