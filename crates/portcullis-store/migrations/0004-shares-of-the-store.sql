-- What each decision takes, and batches of which only some decisions are left.

-- Bytes of the line, before it is compressed; 0 where it was stored before this was counted.
ALTER TABLE decisions ADD COLUMN size {number} NOT NULL DEFAULT 0;

-- How many lines of the batch are gone; they are empty.
ALTER TABLE decision_batches ADD COLUMN removed {number} NOT NULL DEFAULT 0;

-- Whether only refusals are left in it, because there was too much.
ALTER TABLE decision_batches ADD COLUMN thinned {number} NOT NULL DEFAULT 0;

CREATE INDEX decision_batches_whole ON decision_batches (first) WHERE thinned = 0;
