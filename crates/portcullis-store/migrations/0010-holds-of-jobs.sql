-- Which holds a job that fails may have caused.
CREATE INDEX holds_job ON holds (project, job);
