-- Decisions: a narrow row for lists and filters, and the whole records in compressed batches.
--
-- {number}, {text} and {blob} are the types of the database at hand; a line that begins with
-- `--sqlite:` or `--postgres:` is for that one alone. Statements end with a semicolon at the end of a
-- line.

-- Numbers that are given out once. Whoever raises one holds its row until the end of the transaction,
-- so numbers become visible in their order, whoever writes.
CREATE TABLE counters (
    name {text} PRIMARY KEY,
    value {number} NOT NULL
);

-- `decisions` is the number of the newest decision; `upkeep` is raised by whoever deletes or merges.
INSERT INTO counters (name, value) VALUES ('decisions', 0), ('upkeep', 0);

-- Digests are long and few: rows name them by number.
CREATE TABLE decision_digests (
    number {number} PRIMARY KEY,
    digest {text} NOT NULL UNIQUE
);

CREATE TABLE decisions (
    -- In the order in which decisions were stored; never given twice.
    number {number} PRIMARY KEY,
    -- A ULID: the order in which they were made.
    id {text} NOT NULL UNIQUE,
    time {text} NOT NULL,
    door {text} NOT NULL,
    operation {text} NOT NULL,
    kind {text} NOT NULL,
    namespace {text} NOT NULL,
    name {text} NOT NULL,
    user_name {text} NOT NULL,
    verdict {text} NOT NULL,
    mutated {number} NOT NULL,
    message {text} NOT NULL,
    plugin {text},
    policy {text},
    digest {number},
    gate {number},
    duration_us {number} NOT NULL,
    -- Lists of texts as JSON, each text on a line of its own; nothing where they are empty.
    warnings {text},
    concerned {text},
    traceparent {text}
);

CREATE INDEX decisions_denied ON decisions (id) WHERE verdict = 'deny';

CREATE TABLE decision_batches (
    -- The number of the decision in its first line; the next line is the next number.
    first {number} PRIMARY KEY,
    lines {number} NOT NULL,
    oldest_id {text} NOT NULL,
    newest_id {text} NOT NULL,
    -- Whether it is small and may become a part of a bigger one.
    loose {number} NOT NULL,
    -- Bytes: of the lines, of the body, and about those of the rows in `decisions`.
    raw_size {number} NOT NULL,
    body_size {number} NOT NULL,
    row_size {number} NOT NULL,
    -- The lines, each ended by a newline, compressed with zstd.
    body {blob} NOT NULL
);

CREATE INDEX decision_batches_age ON decision_batches (newest_id);

CREATE INDEX decision_batches_loose ON decision_batches (first) WHERE loose = 1;

-- It is compressed already.
--postgres:ALTER TABLE decision_batches ALTER COLUMN body SET STORAGE EXTERNAL;
