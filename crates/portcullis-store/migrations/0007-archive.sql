-- The archive: finished pipelines and jobs, with what belongs to them, moved out of the tables that work is done on.
--
-- The tables have the columns of those that rows come from, and `day`: the day (days since 1970, UTC) on which the
-- pipeline finished, or a job on its own. On PostgreSQL they are partitioned by it, so that retention drops whole
-- partitions; those are created as they are needed. Primary keys begin with `root`, for a PostgreSQL that shards.

CREATE TABLE archived_pipelines (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    name {text} NOT NULL,
    git_ref {text} NOT NULL,
    for_change {text},
    status {text} NOT NULL,
    live {number} NOT NULL,
    version {number} NOT NULL,
    created_at {number} NOT NULL,
    finished_at {number},
    origin {text} NOT NULL,
    stages {text} NOT NULL,
    definition {text} NOT NULL,
    day {number} NOT NULL,
    PRIMARY KEY (root, id, day)
)
--postgres:PARTITION BY RANGE (day)
;

CREATE INDEX archived_pipelines_id ON archived_pipelines (id);

CREATE INDEX archived_pipelines_project ON archived_pipelines (root, project, id);

CREATE INDEX archived_pipelines_ref ON archived_pipelines (root, project, git_ref, id);

CREATE INDEX archived_pipelines_change ON archived_pipelines (root, project, for_change, id) WHERE for_change IS NOT NULL;

CREATE TABLE archived_jobs (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    pipeline {number},
    stage {text} NOT NULL,
    name {text} NOT NULL,
    status {text} NOT NULL,
    live {number} NOT NULL,
    attempt {number} NOT NULL,
    version {number} NOT NULL,
    created_at {number} NOT NULL,
    queued_at {number},
    started_at {number},
    finished_at {number},
    deadline {number},
    runner {number},
    allowed_to_fail {number} NOT NULL,
    promoted {number} NOT NULL,
    definition {text} NOT NULL,
    state {text} NOT NULL,
    admission {text},
    day {number} NOT NULL,
    PRIMARY KEY (root, id, day)
)
--postgres:PARTITION BY RANGE (day)
;

CREATE INDEX archived_jobs_id ON archived_jobs (id);

CREATE INDEX archived_jobs_status ON archived_jobs (status, id);

CREATE INDEX archived_jobs_root_status ON archived_jobs (root, status, id);

CREATE INDEX archived_jobs_project ON archived_jobs (root, project, status, id);

CREATE INDEX archived_jobs_pipeline ON archived_jobs (root, pipeline, id) WHERE pipeline IS NOT NULL;

CREATE TABLE archived_admission_decisions (
    root {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    position {number} NOT NULL,
    controller {number},
    verdict {text} NOT NULL,
    decided_at {number} NOT NULL,
    body {text} NOT NULL,
    day {number} NOT NULL,
    PRIMARY KEY (root, job, attempt, position, day)
)
--postgres:PARTITION BY RANGE (day)
;

-- No index of callback tokens: they are no longer good.
CREATE TABLE archived_deliveries (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    controller {number} NOT NULL,
    state {text} NOT NULL,
    webhook_id {text} NOT NULL,
    token_hash {text} NOT NULL,
    created_at {number} NOT NULL,
    next_at {number} NOT NULL,
    leased_until {number},
    leased_by {text},
    deadline {number} NOT NULL,
    tries {text} NOT NULL,
    answer {text},
    day {number} NOT NULL,
    PRIMARY KEY (root, id, day)
)
--postgres:PARTITION BY RANGE (day)
;

CREATE INDEX archived_deliveries_id ON archived_deliveries (id);

CREATE INDEX archived_deliveries_job ON archived_deliveries (root, job, id);

CREATE INDEX archived_deliveries_controller ON archived_deliveries (controller, id);

-- Where there are no partitions, retention finds old rows by their day.
--sqlite:CREATE INDEX archived_pipelines_day ON archived_pipelines (day);
--sqlite:CREATE INDEX archived_jobs_day ON archived_jobs (day);
--sqlite:CREATE INDEX archived_admission_decisions_day ON archived_admission_decisions (day);
--sqlite:CREATE INDEX archived_deliveries_day ON archived_deliveries (day);
