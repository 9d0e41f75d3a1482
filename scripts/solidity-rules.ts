// Which rules a Solidity test names: the ids in the NatSpec directly above the function.
import { ruleIdsIn } from './rule-ids.ts'

export type RuleIdsOf = (file: string, contract: string, test: string) => string[]

interface Contract {
  file: string
  name: string
  bases: string[]
  rules: Map<string, string[]>
}

const CONTRACT = /^(?:abstract\s+)?contract\s+(?<name>\w+)(?:\s+is\s+(?<bases>[^{]+))?\s*\{/
const COMMENTED =
  /(?<comment>(?:^[ \t]*\/\/\/.*\n)+|^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)\s*function\s+(?<test>\w+)/
const EITHER = new RegExp(`${CONTRACT.source}|${COMMENTED.source}`, 'gm')

/** Tests that a suite inherits are found in its bases. A `setUp` answers for all tests of its suite. */
export function solidityRules(sources: { file: string; text: string }[]): RuleIdsOf {
  const contracts = sources.flatMap(readContracts)

  const find = (file: string, name: string) =>
    contracts.find((one) => one.file === file && one.name === name) ??
    contracts.find((one) => one.name === name)

  const withBases = (file: string, name: string): Contract[] => {
    const contract = find(file, name)
    if (!contract) return []
    return [contract, ...contract.bases.flatMap((base) => withBases(contract.file, base))]
  }

  return (file, contract, test) => {
    const family = withBases(file, contract)
    if (test === 'setUp') return [...new Set(family.flatMap(({ rules }) => [...rules.values()].flat()))]
    return family.find(({ rules }) => rules.has(test))?.rules.get(test) ?? []
  }
}

function readContracts({ file, text }: { file: string; text: string }): Contract[] {
  const contracts: Contract[] = []
  for (const { groups = {} } of text.matchAll(EITHER)) {
    const { name, bases, comment, test } = groups
    if (name) {
      const names = (bases ?? '').split(',').map((base) => base.trim().replace(/\(.*$/, ''))
      contracts.push({ file, name, bases: names.filter(Boolean), rules: new Map() })
    } else if (test && comment) {
      contracts.at(-1)?.rules.set(test, ruleIdsIn(comment))
    }
  }
  return contracts
}
