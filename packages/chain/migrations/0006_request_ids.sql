-- expand: the requests and traces that a transaction was made for
-- Traces as W3C traceparent. For logs and traces alone: nothing depends on them, and versions before this one leave the defaults.
ALTER TABLE sender.intents
  ADD COLUMN request_ids  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN traceparents text[] NOT NULL DEFAULT '{}';
