import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentOfService, generate } from './generated.ts'

const folder = join(import.meta.dirname, '../src/generated')
await mkdir(folder, { recursive: true })
for (const [name, text] of Object.entries(await generate(await documentOfService()))) {
  await writeFile(join(folder, name), text)
}
