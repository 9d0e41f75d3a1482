#!/bin/sh
# Run once by the image of Postgres, on an empty volume: a role and a database for the market, and for the facilitator.
# The passwords are those of the URLs that the programs get.
set -eu
for name in market facilitator; do
  password=$(sed -nE 's#^[a-z]+://[^:/@]+:([^@%]+)@.*#\1#p' "/run/secrets/${name}_database_url")
  if [ -z "$password" ]; then
    echo "secrets/${name}_database_url: expected postgres://${name}:<password>@postgres:5432/${name}, the password of letters and digits" >&2
    exit 1
  fi
  # In the environment: arguments are seen by everybody.
  NAME="$name" PASSWORD="$password" psql -v ON_ERROR_STOP=1 -q -U "${POSTGRES_USER:-postgres}" -d postgres <<'SQL'
\getenv name NAME
\getenv password PASSWORD
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
done
