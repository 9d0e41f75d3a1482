// Migrates a database with one set of files.
import { pathToFileURL } from 'node:url'
import { connect, migrate } from '../../src/index.ts'

const [url = '', directory = ''] = process.argv.slice(2)
const sql = connect(url, { name: 'migrating child' })
console.log('migrating')
await migrate(sql, [{ name: 'room', directory: pathToFileURL(`${directory}/`) }])
console.log('migrated')
await sql.end()
