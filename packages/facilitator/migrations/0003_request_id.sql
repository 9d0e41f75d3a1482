-- expand: the request by which a payment came
-- For logs: nothing depends on it. Null: not known, or written by a version before this one.
ALTER TABLE facilitator.settlements ADD COLUMN request_id text;
