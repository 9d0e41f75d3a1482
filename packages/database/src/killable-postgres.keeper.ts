// Starts the Postgres of a directory, says where it listens, and stays.
import { startPostgres } from './embedded.ts'

const [directory = ''] = process.argv.slice(2)
const { url } = await startPostgres({ directory })
process.stdout.write(`${url}\n`)
setInterval(() => {}, 60_000)
