-- What runners send while they run jobs: traces and artifacts. And the numbers of projects, which runners are told.
--
-- `day` is the day (days since 1970, UTC) on which the attempt of the job began to run. On PostgreSQL the tables are
-- partitioned by it, and retention drops whole partitions, as it does in the archive. Rows don't move: they are never
-- changed once the job has finished, and are found wherever the job is. Primary keys begin with `root`.

CREATE TABLE traces (
    root {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    day {number} NOT NULL,
    -- Bytes, and their CRC-32.
    size {number} NOT NULL,
    checksum {number} NOT NULL,
    -- How often the runner was asked to send it again from the beginning.
    resets {number} NOT NULL,
    PRIMARY KEY (root, job, attempt, day)
)
--postgres:PARTITION BY RANGE (day)
;

CREATE TABLE trace_chunks (
    root {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    -- The place of its first byte.
    first_byte {number} NOT NULL,
    day {number} NOT NULL,
    content {blob} NOT NULL,
    PRIMARY KEY (root, job, attempt, first_byte, day)
)
--postgres:PARTITION BY RANGE (day)
;

-- Files are on disk, below the directory of the day.
CREATE TABLE artifacts (
    root {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    -- What the runner calls it: `archive`, `metadata`, `junit`.
    kind {text} NOT NULL,
    day {number} NOT NULL,
    -- The name of the file, which the server chose.
    file {text} NOT NULL,
    -- The name the runner gave.
    name {text} NOT NULL,
    size {number} NOT NULL,
    created_at {number} NOT NULL,
    expires_at {number},
    PRIMARY KEY (root, job, attempt, kind, day)
)
--postgres:PARTITION BY RANGE (day)
;

CREATE INDEX artifacts_expiry ON artifacts (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE projects (
    root {text} NOT NULL,
    path {text} NOT NULL,
    id {number} NOT NULL,
    created_at {number} NOT NULL,
    PRIMARY KEY (root, path)
);

-- Where there are no partitions, retention finds old rows by their day.
--sqlite:CREATE INDEX traces_day ON traces (day);
--sqlite:CREATE INDEX trace_chunks_day ON trace_chunks (day);
--sqlite:CREATE INDEX artifacts_day ON artifacts (day);
--sqlite:INSERT INTO counters (name, value) VALUES ('projects', 0);
--postgres:CREATE SEQUENCE projects_ids OWNED BY projects.id;
