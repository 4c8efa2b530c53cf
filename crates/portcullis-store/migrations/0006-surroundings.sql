-- The version of controllers, runners and exemptions: raised by every change of them.
INSERT INTO counters (name, value) VALUES ('surroundings', 1);
