-- Denials that did not count because of an exemption. Rows are only added, so that servers never wait for each other.
CREATE TABLE exemption_uses (
    root {text} NOT NULL,
    exemption {number} NOT NULL,
    used_at {number} NOT NULL
);

CREATE INDEX exemption_uses_exemption ON exemption_uses (exemption, used_at);
