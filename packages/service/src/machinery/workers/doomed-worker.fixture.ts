// A process that takes a job or a schedule and never finishes it. Its test kills it.
import { connect } from '@referrer/database'
import { createQueueRunner } from './queue-runner.ts'
import { createScheduler } from './schedule.ts'
import { runAlone } from './testing.ts'

const sql = connect(process.env.DATABASE_URL ?? '')
const leaseMs = 1_000
const common = { sql, leaseMs, holder: 'doomed', onEvent() {} }
const hang = async (what: string) => {
  await sql`INSERT INTO effects (what) VALUES (${`${what} started`})`
  await new Promise(() => {})
}
runAlone(createQueueRunner({ ...common, queues: [{ name: 'work', handle: () => hang('job') }] }))
runAlone(
  createScheduler({
    ...common,
    schedules: [{ name: 'sweep', everySeconds: 3_600, run: () => hang('sweep') }],
  }),
)
