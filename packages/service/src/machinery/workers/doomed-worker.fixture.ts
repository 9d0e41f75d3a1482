// A process that starts a schedule and never finishes it. Its test kills it.
import { connect } from '@referrer/database'
import { createScheduler } from './schedule.ts'
import { runAlone } from './testing.ts'

const sql = connect(process.env.DATABASE_URL ?? '')

async function hang(): Promise<void> {
  await sql`INSERT INTO effects (what) VALUES ('sweep started')`
  await new Promise(() => {})
}

runAlone(
  createScheduler({
    sql,
    // A busy machine may hold it up for seconds; a lease that it lost would be taken again.
    leaseMs: 5_000,
    holder: 'doomed',
    onEvent() {},
    schedules: [{ name: 'sweep', everySeconds: 3_600, run: hang }],
  }),
)
