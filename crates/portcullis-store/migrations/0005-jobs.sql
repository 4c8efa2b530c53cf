-- CI jobs: pipelines, jobs, their queue and admission, controllers, deliveries and runners.
--
-- Times are microseconds since 1970; yes and no are 1 and 0. `root` is the first name of a project's path: it is
-- the first column of primary keys, so that a PostgreSQL that shards can distribute by it. Ids are unique on their
-- own. Columns named `definition`, `origin`, `stages`, `state`, `admission`, `body`, `tries` and
-- `secrets` are JSON and are read whole.

CREATE TABLE pipelines (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    name {text} NOT NULL,
    git_ref {text} NOT NULL,
    for_change {text},
    status {text} NOT NULL,
    -- Whether it isn't finished.
    live {number} NOT NULL,
    -- Raised by every change.
    version {number} NOT NULL,
    created_at {number} NOT NULL,
    finished_at {number},
    -- The parts that every change of a job needs, and all of it.
    origin {text} NOT NULL,
    stages {text} NOT NULL,
    definition {text} NOT NULL,
    PRIMARY KEY (root, id)
);

CREATE INDEX pipelines_id ON pipelines (id);

CREATE INDEX pipelines_project ON pipelines (root, project, id);

CREATE INDEX pipelines_ref ON pipelines (root, project, git_ref, id);

CREATE INDEX pipelines_change ON pipelines (root, project, for_change, id) WHERE for_change IS NOT NULL;

CREATE INDEX pipelines_live ON pipelines (root, project, id) WHERE live = 1;

CREATE INDEX pipelines_finished ON pipelines (finished_at) WHERE live = 0;

CREATE TABLE jobs (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    pipeline {number},
    stage {text} NOT NULL,
    name {text} NOT NULL,
    status {text} NOT NULL,
    -- Whether it isn't finished.
    live {number} NOT NULL,
    attempt {number} NOT NULL,
    -- Raised by every change.
    version {number} NOT NULL,
    created_at {number} NOT NULL,
    queued_at {number},
    started_at {number},
    finished_at {number},
    -- When the server has to look at it, even if nothing happens.
    deadline {number},
    runner {number},
    -- Whether it failed, and that doesn't fail its pipeline.
    allowed_to_fail {number} NOT NULL,
    -- Whether it comes before others in the queue.
    promoted {number} NOT NULL,
    definition {text} NOT NULL,
    state {text} NOT NULL,
    admission {text},
    PRIMARY KEY (root, id)
);

CREATE INDEX jobs_id ON jobs (id);

CREATE INDEX jobs_status ON jobs (status, id);

CREATE INDEX jobs_root_status ON jobs (root, status, id);

CREATE INDEX jobs_project ON jobs (root, project, status, id);

CREATE INDEX jobs_pipeline ON jobs (root, pipeline, id) WHERE pipeline IS NOT NULL;

CREATE INDEX jobs_deadline ON jobs (deadline) WHERE deadline IS NOT NULL;

-- Those of pipelines are deleted with their pipelines.
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE live = 0 AND pipeline IS NULL;

-- The queue: a narrow row for each pending job, so that claiming reads no wide ones.
CREATE TABLE pending_jobs (
    root {text} NOT NULL,
    job {number} NOT NULL,
    project {text} NOT NULL,
    -- Whether it comes before those that aren't promoted.
    promoted {number} NOT NULL,
    -- Whether its ref is protected.
    protected {number} NOT NULL,
    -- A JSON list, sorted: jobs that need the same have the same text.
    tags {text} NOT NULL,
    -- Runner ids as `,1,2,`: one that is listed is found by LIKE '%,1,%'. No accepted list is all runners.
    accepted {text},
    rejected {text},
    queued_at {number} NOT NULL,
    PRIMARY KEY (root, job)
);

-- For instance runners: a few sets of tags fit a runner, and each is read in the order of the queue.
CREATE INDEX pending_jobs_tags ON pending_jobs (tags, protected, promoted, job);

-- For the runners of a group or project.
CREATE INDEX pending_jobs_project ON pending_jobs (root, project, promoted, job);

-- What each controller did; never changed.
CREATE TABLE admission_decisions (
    root {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    position {number} NOT NULL,
    -- No id for the configured policies.
    controller {number},
    verdict {text} NOT NULL,
    decided_at {number} NOT NULL,
    body {text} NOT NULL,
    PRIMARY KEY (root, job, attempt, position)
);

CREATE TABLE controllers (
    id {number} PRIMARY KEY,
    level {text} NOT NULL,
    -- Empty on the instance level.
    path {text} NOT NULL,
    name {text} NOT NULL,
    revision {number} NOT NULL,
    created_at {number} NOT NULL,
    definition {text} NOT NULL,
    secrets {text} NOT NULL,
    UNIQUE (path, level, name)
);

-- The outbox.
CREATE TABLE deliveries (
    root {text} NOT NULL,
    id {number} NOT NULL,
    project {text} NOT NULL,
    job {number} NOT NULL,
    attempt {number} NOT NULL,
    controller {number} NOT NULL,
    -- waiting, delivered, failed or done.
    state {text} NOT NULL,
    webhook_id {text} NOT NULL,
    token_hash {text} NOT NULL,
    created_at {number} NOT NULL,
    -- While it is waiting: when it is due, or due again if whoever claimed it is never heard of.
    next_at {number} NOT NULL,
    leased_until {number},
    leased_by {text},
    deadline {number} NOT NULL,
    tries {text} NOT NULL,
    -- The digest of the answer that ended it.
    answer {text},
    PRIMARY KEY (root, id)
);

CREATE INDEX deliveries_id ON deliveries (id);

CREATE UNIQUE INDEX deliveries_token ON deliveries (token_hash, root);

CREATE INDEX deliveries_job ON deliveries (root, job, id);

CREATE INDEX deliveries_controller ON deliveries (controller, id);

CREATE INDEX deliveries_turn ON deliveries (controller, project, next_at, id) WHERE state = 'waiting';

CREATE INDEX deliveries_due ON deliveries (controller, next_at) WHERE state = 'waiting';

CREATE INDEX deliveries_oldest ON deliveries (controller, created_at) WHERE state = 'waiting';

CREATE TABLE runners (
    id {number} PRIMARY KEY,
    kind {text} NOT NULL,
    -- Empty for instance runners.
    path {text} NOT NULL,
    paused {number} NOT NULL,
    token_hash {text} NOT NULL UNIQUE,
    created_at {number} NOT NULL,
    body {text} NOT NULL
);

CREATE INDEX runners_path ON runners (path, kind, id);

CREATE TABLE exemptions (
    id {number} PRIMARY KEY,
    expires_at {number} NOT NULL,
    body {text} NOT NULL
);

CREATE INDEX exemptions_expiry ON exemptions (expires_at);

-- Keys that all servers share. Each is created once.
CREATE TABLE ci_keys (
    name {text} PRIMARY KEY,
    value {blob} NOT NULL,
    created_at {number} NOT NULL
);

-- The newest ids, so that none is given twice. On PostgreSQL they are sequences: a row of `counters` would make
-- servers wait for each other until the end of their transactions.
--sqlite:INSERT INTO counters (name, value) VALUES ('pipelines', 0), ('jobs', 0), ('controllers', 0), ('deliveries', 0), ('runners', 0), ('exemptions', 0);
--postgres:CREATE SEQUENCE pipelines_ids OWNED BY pipelines.id;
--postgres:CREATE SEQUENCE jobs_ids OWNED BY jobs.id;
--postgres:CREATE SEQUENCE controllers_ids OWNED BY controllers.id;
--postgres:CREATE SEQUENCE deliveries_ids OWNED BY deliveries.id;
--postgres:CREATE SEQUENCE runners_ids OWNED BY runners.id;
--postgres:CREATE SEQUENCE exemptions_ids OWNED BY exemptions.id;
