-- What the _redirects and _headers in a folder of a deployment say, compiled when it was published; `folder` is '' or such
-- as /dist. Deployments from before have none until they are published again.
CREATE TABLE deployment_routing (
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  folder        TEXT NOT NULL,
  compiled      TEXT NOT NULL CHECK (json_valid(compiled)),
  PRIMARY KEY (deployment_id, folder)
) STRICT;
