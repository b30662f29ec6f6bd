-- Which rules fail is asked for with every look at the projects; a run that went well costs nothing more.
CREATE INDEX pipeline_runs_failed ON pipeline_runs (project_id, rule_id, id) WHERE status >= 500;
