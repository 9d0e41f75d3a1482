CREATE SCHEMA jobs;

-- Work to be done. A row is a live job: waiting, due or running; finished jobs are deleted, hopeless ones move to jobs.dead.
CREATE TABLE jobs.live (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue         text NOT NULL CHECK (queue <> ''),
  key           text CHECK (key <> ''),
  payload       jsonb NOT NULL,
  run_at        timestamptz NOT NULL DEFAULT now(),
  -- Counts claims, not failures, so that a job that kills its process is given up too.
  attempts      integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  max_attempts  integer NOT NULL CHECK (max_attempts > 0),
  -- The last few failures: [{"attempt", "at", "error"}].
  errors        jsonb NOT NULL DEFAULT '[]',
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- Names one claim; whoever holds another token has lost the job.
  lease_token   uuid,
  lease_until   timestamptz,
  leased_by     text,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL) AND (lease_token IS NULL) = (leased_by IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

CREATE UNIQUE INDEX live_key ON jobs.live (queue, key) WHERE key IS NOT NULL;

-- The claim. Running jobs stay at its front, but there are never more of them than the replicas run at once;
-- the lease is no part of it, so that renewing a lease touches no index.
CREATE INDEX live_claim ON jobs.live (queue, run_at, id);

CREATE TABLE jobs.dead (
  id            bigint PRIMARY KEY,
  queue         text NOT NULL,
  key           text,
  payload       jsonb NOT NULL,
  attempts      integer NOT NULL,
  max_attempts  integer NOT NULL,
  errors        jsonb NOT NULL,
  created_at    timestamptz NOT NULL,
  died_at       timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX dead_by_queue ON jobs.dead (queue, died_at);

CREATE TABLE jobs.schedules (
  name              text PRIMARY KEY CHECK (name <> ''),
  every_seconds     integer NOT NULL CHECK (every_seconds > 0),
  next_run_at       timestamptz NOT NULL DEFAULT now(),
  last_started_at   timestamptz,
  last_finished_at  timestamptz,
  last_error        text,
  lease_token       uuid,
  lease_until       timestamptz,
  leased_by         text,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL) AND (lease_token IS NULL) = (leased_by IS NULL))
);
