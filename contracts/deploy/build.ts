// npm run build -w contracts: compiles the contracts and writes what is committed of the result. With --check it writes nothing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import hardhatConfig from '../hardhat.config.ts'
import { ABIS, readAbis, renderAbis } from './abis.ts'
import { type Artifact, COMPILED, CONTRACT_NAMES, type ContractName } from './artifacts.ts'
import { outdatedContracts, renderArtifact, writeContracts } from './compiled.ts'

const HELP = `Compiles the contracts and writes contracts/compiled and packages/protocol/src/generated/abi.ts.

  npm run build -w contracts

  --check   write nothing; fail when what is committed is not what the sources give
  --help    this text`

/** Hardhat keeps what it has compiled: only a changed source, or the first time, takes longer than a few seconds. */
async function compile(): Promise<Map<ContractName, Artifact>> {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { tasks, artifacts } = await createHardhatRuntimeEnvironment(hardhatConfig, {}, root)
  await tasks.getTask('build').run({ quiet: true, noTests: true })
  const read = async (name: ContractName) => [name, (await artifacts.readArtifact(name)) as Artifact] as const
  return new Map(await Promise.all(CONTRACT_NAMES.map(read)))
}

const { values: flags } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } })
if (flags.help) {
  console.log(HELP)
  process.exit(0)
}
console.log('compiling the contracts (about a minute after a change, and the first time)')
const compiled = await compile().catch((error: Error) => {
  console.log(`the contracts do not compile: ${error.message}`)
  process.exit(1)
})
const files = new Map([...compiled].map(([name, artifact]) => [name, renderArtifact(artifact)]))
const abis = renderAbis((name) => compiled.get(name) as Artifact)
const folder = fileURLToPath(COMPILED)

if (flags.check) {
  const differing = outdatedContracts(folder, files)
  if (differing.length === 0 && readAbis() !== abis) differing.push('packages/protocol/src/generated/abi.ts')
  if (differing.length > 0) {
    console.log(
      `not what contracts/src gives: ${differing.join(', ')}. Run \`npm run build -w contracts\` and commit the result.`,
    )
    process.exit(1)
  }
  console.log(`contracts/compiled is what contracts/src gives: ${files.size} contracts`)
} else {
  writeContracts(folder, files)
  mkdirSync(new URL('.', ABIS), { recursive: true })
  writeFileSync(ABIS, abis)
  console.log(
    `wrote ${files.size} contracts to contracts/compiled, and packages/protocol/src/generated/abi.ts`,
  )
}
