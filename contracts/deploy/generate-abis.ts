// Writes the ABIs that the protocol package exports, and the code of what is never deployed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { CONTRACT_NAMES, readArtifact } from './artifacts.ts'

const target = new URL('../../packages/protocol/src/generated/abi.ts', import.meta.url)

export function renderAbis(): string {
  const constants = CONTRACT_NAMES.map((name) => {
    const constant = `${name[0]?.toLowerCase()}${name.slice(1)}Abi`
    const items = readArtifact(name).abi.map((item) => `  ${JSON.stringify(item)},`)
    return `export const ${constant} = [\n${items.join('\n')}\n] as const\n`
  })
  constants.push(
    `export const settlementProbeCode =\n  '${readArtifact('SettlementProbe').deployedBytecode}' as const\n`,
  )
  return `// Generated from the contracts by \`npm run abis -w contracts\`; do not edit.\n\n${constants.join('\n')}`
}

export function readAbis(): string {
  return readFileSync(target, 'utf8')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  mkdirSync(new URL('.', target), { recursive: true })
  writeFileSync(target, renderAbis())
}
