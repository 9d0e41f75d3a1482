// Starts the Postgres of a directory, says where it listens, and stays.
import { startPostgres } from '@referrer/database'

const [directory = ''] = process.argv.slice(2)
const { url } = await startPostgres({ directory })
process.stdout.write(`${url}\n`)
setInterval(() => {}, 60_000)
