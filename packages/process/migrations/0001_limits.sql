-- expand: a table for the rate limits of clients, which all replicas share

CREATE SCHEMA limits;

-- The token bucket of each client. Not logged: a crash or a fail-over empties it, which costs one burst for each client. The parts of a
-- question are columns because an upsert knows no other values of the row that it proposes.
CREATE UNLOGGED TABLE limits.buckets (
  key      text   COLLATE "C" PRIMARY KEY CHECK (octet_length(key) <= 200),
  -- When the bucket is full again, in milliseconds since 1970.
  full_at  float8 NOT NULL,
  -- The last question: when it came, how many tokens were wanted and granted.
  taken_at float8 NOT NULL,
  wanted   float8 NOT NULL,
  granted  float8 NOT NULL,
  -- Time in which one token comes back, and how many there are at most.
  step_ms  float8 NOT NULL,
  burst    float8 NOT NULL
) WITH (fillfactor = 50);
