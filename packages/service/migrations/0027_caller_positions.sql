-- expand: where in the write-ahead log the last write of each caller ends
-- Every process reads from a replica only when it has replayed that far. Written only where DATABASE_REPLICA_URLS is set; rows are deleted after a minute or so.
CREATE TABLE jobs.caller_positions (
  -- An account, or the network address of a client.
  caller     text COLLATE "C" PRIMARY KEY,
  position   pg_lsn NOT NULL,
  written_at timestamptz NOT NULL
) WITH (fillfactor = 50);
