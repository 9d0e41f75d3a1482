// Starts the Postgres of a directory, says where it listens, and stays.
import { startPostgres } from './embedded.ts'

const [directory = '', settings = '{}'] = process.argv.slice(2)
const { url } = await startPostgres({ directory, settings: JSON.parse(settings) })
process.stdout.write(`${url}\n`)
setInterval(() => {}, 60_000)
