// Starts or joins the server of a directory, says where, and leaves it when stdin closes.
import { startPostgres } from '../../src/index.ts'

const [directory = '', settings = '{}'] = process.argv.slice(2)
const server = await startPostgres({ directory, settings: JSON.parse(settings) }).catch((error: Error) => {
  console.log(`${error.name}: ${error.message}`)
  process.exit(1)
})
console.log(server.url)
process.stdin.resume().on('end', () => server.stop())
