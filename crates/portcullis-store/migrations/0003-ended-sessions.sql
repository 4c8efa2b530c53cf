-- Sessions that were ended before their time.
--
-- Times are microseconds since 1970.

CREATE TABLE ended_sessions (
    -- 0: one session, by its id. 1: all sessions of a subject that began before.
    scope {number} NOT NULL,
    name {text} NOT NULL,
    -- Whose it was.
    subject {text} NOT NULL,
    ended_at {number} NOT NULL,
    -- When all that it ends would have ended by itself.
    expires_at {number} NOT NULL,
    PRIMARY KEY (scope, name)
);

CREATE INDEX ended_sessions_subject ON ended_sessions (subject, scope);
