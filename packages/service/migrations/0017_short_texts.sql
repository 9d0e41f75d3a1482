-- A text of up to 16 KiB costs its author a cent and is read wherever it is shown: beside others it is shown short. The rating, the first
-- 280 characters of the description and up to six small values of its other keys, 4 KiB at most. Null: it is short as it is.
CREATE FUNCTION market.short_content(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '{' || string_agg(to_json(kept.key)::text || ':' || kept.value, ',' ORDER BY kept.place, kept.at) || '}'
  FROM (
    SELECT part.key, part.at, CASE part.key WHEN 'rating' THEN 0 WHEN 'description' THEN 1 ELSE 2 END AS place,
      CASE part.key
        WHEN 'rating' THEN (part.value #>> '{}')::float8::integer::text
        WHEN 'description' THEN to_json(
          left(part.value #>> '{}', 280) || CASE WHEN length(part.value #>> '{}') > 280 THEN '…' ELSE '' END)::text
        ELSE part.value::text
      END AS value
    -- As `json` numbers stay the text that they are: as `jsonb` some that JSON allows are refused.
    FROM json_each(content::json) WITH ORDINALITY AS part (key, value, at)
    WHERE part.key IN ('rating', 'description') OR octet_length(part.key) + octet_length(part.value::text) <= 100
    ORDER BY place, at LIMIT 8
  ) AS kept
$$;

ALTER TABLE market.reviews ADD COLUMN short_content text
  GENERATED ALWAYS AS (CASE WHEN octet_length(content) > 1024 THEN market.short_content(content) END) STORED;
