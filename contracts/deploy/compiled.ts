// The committed form of the compiled contracts: how it is written, and whether it is up to date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Artifact } from './artifacts.ts'

/** Keeps what we use of what the compiler gives. One ABI entry a line, so that a diff shows what changed. */
export function renderArtifact({
  contractName,
  sourceName,
  abi,
  bytecode,
  deployedBytecode,
}: Artifact): string {
  if (!/^0x[0-9a-f]+$/.test(bytecode))
    throw new Error(`${contractName} cannot be deployed: it is abstract, or a library must be linked to it`)
  const entries = abi.map((entry) => `    ${JSON.stringify(entry)}`)
  return [
    '{',
    `  "contractName": "${contractName}",`,
    `  "sourceName": "${sourceName}",`,
    `  "abi": [\n${entries.join(',\n')}\n  ],`,
    `  "bytecode": "${bytecode}",`,
    `  "deployedBytecode": "${deployedBytecode}"`,
    '}\n',
  ].join('\n')
}

/** The contracts whose file in this folder is missing, differs, or belongs to no contract. `files` is what the sources give, by contract. */
export function outdatedContracts(folder: string, files: ReadonlyMap<string, string>): string[] {
  const present = existsSync(folder) ? readdirSync(folder).map((name) => basename(name, '.json')) : []
  const read = (name: string) =>
    present.includes(name) ? readFileSync(join(folder, `${name}.json`), 'utf8') : undefined
  return [...new Set([...files.keys(), ...present])].filter((name) => read(name) !== files.get(name)).sort()
}

export function writeContracts(folder: string, files: ReadonlyMap<string, string>): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) writeFileSync(join(folder, `${name}.json`), text)
}
