-- How runners get jobs: lanes of the queue, what is running, and the machines that ask.

-- Jobs of one lane ask the same of runners: it is a hash of project, tags, protection and runner lists. Jobs that were
-- queued before have lanes of their own, below zero.
ALTER TABLE pending_jobs ADD COLUMN lane {number} NOT NULL DEFAULT 0;

UPDATE pending_jobs SET lane = -job;

-- Each lane in the order of the queue. Lanes are found by skipping from one to the next.
CREATE INDEX pending_jobs_lane ON pending_jobs (lane, promoted DESC, job);

DROP INDEX pending_jobs_tags;

DROP INDEX pending_jobs_project;

-- A narrow row for each job that a runner has.
CREATE TABLE running_jobs (
    root {text} NOT NULL,
    job {number} NOT NULL,
    project {text} NOT NULL,
    runner {number} NOT NULL,
    -- The machine that asked; empty for runners that don't say.
    manager {text} NOT NULL,
    -- Whether it is an instance runner, which projects share.
    shared {number} NOT NULL,
    PRIMARY KEY (root, job)
);

INSERT INTO running_jobs (root, job, project, runner, manager, shared)
SELECT root, id, project, COALESCE(runner, 0), '', 0 FROM jobs WHERE status = 'running';

CREATE INDEX running_jobs_shared ON running_jobs (project) WHERE shared = 1;

-- The machines that ask for jobs with the token of a runner.
CREATE TABLE runner_managers (
    runner {number} NOT NULL,
    system_id {text} NOT NULL,
    contacted_at {number} NOT NULL,
    address {text},
    -- What it says of itself, as JSON.
    info {text} NOT NULL,
    -- The hold because of which it is given no job, and until when.
    hold {number},
    held_until {number},
    PRIMARY KEY (runner, system_id)
);

CREATE INDEX runner_managers_hold ON runner_managers (hold) WHERE hold IS NOT NULL;

CREATE INDEX runner_managers_contact ON runner_managers (contacted_at);
