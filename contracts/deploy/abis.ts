// The ABIs that the protocol package exports, and the code of what is not part of a deployment: SettlementProbe, which is called without
// being deployed, and WalletDeployment, which is made anew for each wallet.
import { readFileSync } from 'node:fs'
import { type Artifact, CONTRACT_NAMES, type ContractName, readArtifact } from './artifacts.ts'

export const ABIS = new URL('../../packages/protocol/src/generated/abi.ts', import.meta.url)

export function renderAbis(
  read: (name: ContractName) => Pick<Artifact, 'abi' | 'bytecode' | 'deployedBytecode'> = readArtifact,
) {
  const constants = CONTRACT_NAMES.map((name) => {
    const constant = `${name[0]?.toLowerCase()}${name.slice(1)}Abi`
    const items = read(name).abi.map((item) => `  ${JSON.stringify(item)},`)
    return `export const ${constant} = [\n${items.join('\n')}\n] as const\n`
  })
  constants.push(
    `export const settlementProbeCode =\n  '${read('SettlementProbe').deployedBytecode}' as const\n`,
    `export const walletDeploymentCode =\n  '${read('WalletDeployment').bytecode}' as const\n`,
  )
  return `// Generated from the contracts by \`npm run build -w contracts\`; do not edit.\n\n${constants.join('\n')}`
}

export function readAbis(): string {
  return readFileSync(ABIS, 'utf8')
}
