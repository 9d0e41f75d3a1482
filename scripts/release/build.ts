// Builds the packages as they are published: each into its `dist`, or those that are named into a folder: build.ts --to <folder> signer
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPackages, PUBLISHED, root } from './packages.ts'

const { values, positionals } = parseArgs({ options: { to: { type: 'string' } }, allowPositionals: true })
const folderOf = (name: string) => (values.to ? join(values.to, name) : join(root, 'packages', name, 'dist'))
await buildPackages(folderOf, positionals.length > 0 ? positionals : PUBLISHED)
