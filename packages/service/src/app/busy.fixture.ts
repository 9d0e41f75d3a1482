// The service with a schedule that waits for its test and another one that does not.

import { failStart } from '@referrer/process'
import { followed } from '../doors/http/testing.ts'
import { until } from '../machinery/workers/testing.ts'
import { runService } from './program.fixture.ts'

await runService({
  chainHealth: async () => [followed],
  work: {
    schedules: [
      {
        name: 'slow',
        everySeconds: 3_600,
        async run({ sql, signal }) {
          await sql`INSERT INTO effects (what) VALUES ('started')`
          await until(async () => {
            signal.throwIfAborted()
            return (await sql`SELECT FROM effects WHERE what = 'go on'`).count
          }, 'the test')
          await sql`INSERT INTO effects (what) VALUES ('finished')`
        },
      },
      {
        name: 'quick',
        everySeconds: 3_600,
        async run({ sql }) {
          await sql`INSERT INTO effects (what) VALUES ('quick')`
        },
      },
    ],
    followers: [],
  },
}).catch(failStart)
