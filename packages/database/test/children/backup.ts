// backup <url> <file> <directory of migrations> or restore …: prints each step, then "done" or why not.
import { pathToFileURL } from 'node:url'
import { backUp } from '../../src/backup/back-up.ts'
import { restore } from '../../src/backup/restore.ts'
import { connect } from '../../src/connect.ts'

const [what, url = '', file = '', directory = ''] = process.argv.slice(2)
const sets = [{ name: 'ledger', directory: pathToFileURL(directory) }]
const sql = connect(url, { max: 1, name: 'child' })
try {
  if (what === 'backup') await backUp(sql, file, { sets })
  else await restore(sql, file, { sets, onStep: (step) => console.log(step) })
  console.log('done')
} catch (error) {
  console.log((error as Error).message)
}
await sql.end()
