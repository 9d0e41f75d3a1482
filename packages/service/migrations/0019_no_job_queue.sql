-- No part of the service ever put a job into the queue: its tables go with its code. The schema keeps the schedules.
DROP TABLE jobs.live;
DROP TABLE jobs.dead;
