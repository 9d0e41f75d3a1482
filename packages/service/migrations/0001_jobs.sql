create schema jobs;

-- Work to be done. A row is a live job: waiting, due or running; finished jobs are deleted, hopeless ones move to jobs.dead.
create table jobs.live (
  id            bigint generated always as identity primary key,
  queue         text not null check (queue <> ''),
  key           text check (key <> ''),
  payload       jsonb not null,
  run_at        timestamptz not null default now(),
  -- Counts claims, not failures, so that a job that kills its process is given up too.
  attempts      integer not null default 0 check (attempts >= 0),
  max_attempts  integer not null check (max_attempts > 0),
  -- The last few failures: [{"attempt", "at", "error"}].
  errors        jsonb not null default '[]',
  created_at    timestamptz not null default now(),
  -- Names one claim; whoever holds another token has lost the job.
  lease_token   uuid,
  lease_until   timestamptz,
  leased_by     text,
  check ((lease_token is null) = (lease_until is null) and (lease_token is null) = (leased_by is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create unique index live_key on jobs.live (queue, key) where key is not null;

-- The claim. Running jobs stay at its front, but there are never more of them than the replicas run at once;
-- the lease is no part of it, so that renewing a lease touches no index.
create index live_claim on jobs.live (queue, run_at, id);

create table jobs.dead (
  id            bigint primary key,
  queue         text not null,
  key           text,
  payload       jsonb not null,
  attempts      integer not null,
  max_attempts  integer not null,
  errors        jsonb not null,
  created_at    timestamptz not null,
  died_at       timestamptz not null default now()
);

create index dead_by_queue on jobs.dead (queue, died_at);

create table jobs.schedules (
  name              text primary key check (name <> ''),
  every_seconds     integer not null check (every_seconds > 0),
  next_run_at       timestamptz not null default now(),
  last_started_at   timestamptz,
  last_finished_at  timestamptz,
  last_error        text,
  lease_token       uuid,
  lease_until       timestamptz,
  leased_by         text,
  check ((lease_token is null) = (lease_until is null) and (lease_token is null) = (leased_by is null))
);
