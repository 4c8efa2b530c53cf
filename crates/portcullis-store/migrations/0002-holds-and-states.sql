-- Autoholds and the states of tenants: what people asked for over the API and must outlive a restart.
--
-- Times are microseconds since 1970; yes and no are 1 and 0.

-- `holds` is the id of the newest hold, so that none is given twice.
INSERT INTO counters (name, value) VALUES ('holds', 0);

CREATE TABLE holds (
    id {number} PRIMARY KEY,
    tenant {text} NOT NULL,
    project {text} NOT NULL,
    job {text} NOT NULL,
    -- The ref or the change it is for; neither means all.
    for_ref {text},
    for_change {text},
    reason {text} NOT NULL,
    -- How often it may hold, and how often it did.
    max_count {number} NOT NULL,
    current_count {number} NOT NULL,
    -- Seconds.
    node_expiration {number},
    placed_by {text} NOT NULL,
    placed_at {number} NOT NULL,
    -- When it will end, and when it did.
    expires_at {number},
    expired_at {number}
);

CREATE INDEX holds_tenant ON holds (tenant, id);

-- A tenant without a row is normal.
CREATE TABLE tenant_states (
    tenant {text} PRIMARY KEY,
    trigger_queue_discarding {number} NOT NULL,
    trigger_queue_paused {number} NOT NULL,
    result_queue_paused {number} NOT NULL,
    reason {text},
    set_by {text},
    set_at {number},
    expires_at {number}
);
