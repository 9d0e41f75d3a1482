-- expand: snapshots of the search index, for quick restarts

-- The catalogue of a chain as a search thread wrote it. Unlogged: a crash empties it, a backup leaves it out, and then everything is loaded
-- from the records.
CREATE UNLOGGED TABLE market.index_snapshots (
  chain_id    bigint      PRIMARY KEY,
  snapshot_id uuid        NOT NULL,
  -- Whatever has to be the same where it is read: the server, whose transaction ids say something there only; the bytes and how texts are read;
  -- the vectors and how they are grouped.
  server      text        NOT NULL,
  format      text        NOT NULL,
  model       text        NOT NULL,
  -- Everything visible in it is in the catalogue; what came later is read again.
  reached     pg_snapshot NOT NULL,
  products    integer     NOT NULL,
  parts       integer     NOT NULL,
  written_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Its bytes.
CREATE UNLOGGED TABLE market.index_snapshot_parts (
  snapshot_id uuid    NOT NULL,
  part        integer NOT NULL,
  -- CRC-32 of the bytes.
  checksum    bigint  NOT NULL,
  bytes       bytea   NOT NULL,
  PRIMARY KEY (snapshot_id, part)
);
-- Numbers and vectors hardly become shorter, and to compress them takes longer than to read them.
ALTER TABLE market.index_snapshot_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
